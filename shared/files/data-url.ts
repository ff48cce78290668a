/** Data URLs (RFC 2397) whose data is base64. */

/** Characters of a data URL before its data: a type and its parameters. */
const HEAD_MAX = 1_000;

export interface DataUrl {
  /** Media type without parameters; empty when the URL names none. */
  readonly type: string;
  readonly base64: string;
}

/** True for text that begins as a data URL, of whatever encoding. */
export function isDataUrl(text: string): boolean {
  return /^data:/i.test(text);
}

/** Undefined for data that is not base64, or empty. */
export function readDataUrl(text: string): DataUrl | undefined {
  // Split before any pattern sees the text: millions of semicolons would be kept for stepping back.
  const comma = text.indexOf(",");
  if (comma < 0 || comma > HEAD_MAX) return undefined;
  const head = /^data:([^;,]*)(?:;[^;,]*)*;base64$/i.exec(text.slice(0, comma));
  const base64 = text.slice(comma + 1);
  return head === null || base64 === "" ? undefined : { type: head[1] ?? "", base64 };
}
