import type { Span } from "#shared/tracing/tracing.ts";

/** Pattern of a `traceparent` header, version 00 of W3C Trace Context. Neither id may be all zeros. */
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/**
 * Returns the `traceparent` for work that a request starts. If tracing is on, it names the service's own span, whether recorded or not, so
 * that a client's trace id cannot influence sampling. Otherwise the client's header is returned. A malformed header is ignored, as the
 * specification requires.
 */
export function traceOf(of: { readonly headers: Headers; readonly span?: Span | undefined }): {
  readonly traceparent?: string;
} {
  const value = of.span?.link ?? of.headers.get("traceparent");
  return value !== null && TRACEPARENT.test(value) ? { traceparent: value } : {};
}
