import type { Span } from "#shared/tracing/tracing.ts";

/** Version 00 of W3C Trace Context; neither of its ids is all zeros. */
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * Returns our own span where requests are traced, recorded or not: whoever links to it is sampled by its trace, of which no client chooses the
 * id. Else the client's; a malformed header is left out, as its rules ask.
 */
export function traceOf(of: { readonly headers: Headers; readonly span?: Span | undefined }): {
  readonly traceparent?: string;
} {
  const value = of.span?.link ?? of.headers.get("traceparent");
  return value !== null && TRACEPARENT.test(value) ? { traceparent: value } : {};
}
