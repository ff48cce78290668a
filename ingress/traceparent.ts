/** Version 00 of W3C Trace Context; neither of its ids is all zeros. */
const TRACEPARENT = /^00-(?!0{32})[0-9a-f]{32}-(?!0{16})[0-9a-f]{16}-[0-9a-f]{2}$/;

/** Any other header is left out, as its rules ask. */
export function traceOf(headers: Headers): { readonly traceparent?: string } {
  const value = headers.get("traceparent");
  return value !== null && TRACEPARENT.test(value) ? { traceparent: value } : {};
}
