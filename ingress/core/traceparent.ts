import type { Span } from "#shared/tracing/tracing.ts";

/** Version 00 of W3C Trace Context; neither id is all zeros. */
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * Returns the span of the service when tracing is on, recorded or not: linked work is then sampled by a trace id that no client chose.
 * Otherwise the client's header; a malformed one is ignored, as the specification requires.
 */
export function traceOf(of: { readonly headers: Headers; readonly span?: Span | undefined }): {
  readonly traceparent?: string;
} {
  const value = of.span?.link ?? of.headers.get("traceparent");
  return value !== null && TRACEPARENT.test(value) ? { traceparent: value } : {};
}
