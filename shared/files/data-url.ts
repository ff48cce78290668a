/** Data URLs (RFC 2397) whose data is base64. */

/** Characters of a data URL before its data: a type and its parameters. */
const HEAD_MAX = 1_000;

export interface DataUrl {
  /** Media type without parameters; empty when the URL names none. */
  readonly type: string;
  /** Parameter `charset` of the media type; absent if there is none. */
  readonly charset?: string;
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
  if (head === null || base64 === "") return undefined;
  const charset = /;charset=([\w:.+-]{1,40})/i.exec(head[0])?.[1];
  return { type: head[1] ?? "", base64, ...(charset === undefined ? {} : { charset }) };
}
