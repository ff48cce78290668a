/** Data URLs (RFC 2397) with base64 data. */

/** Maximum characters of a data URL before its data: media type and parameters. */
const HEAD_MAX = 1_000;

export interface DataUrl {
  /** Media type without parameters; empty if the URL names none. */
  readonly type: string;
  /** Parameter `charset` of the media type; absent if there is none. */
  readonly charset?: string;
  readonly base64: string;
}

/** Returns true for a text that begins like a data URL, in any encoding. */
export function isDataUrl(text: string): boolean {
  return /^data:/i.test(text);
}

/** Parses a data URL. Returns undefined if its data is empty or not base64. */
export function readDataUrl(text: string): DataUrl | undefined {
  // Split before a pattern is applied: with millions of semicolons, backtracking would keep them all.
  const comma = text.indexOf(",");
  if (comma < 0 || comma > HEAD_MAX) return undefined;
  const head = /^data:([^;,]*)(?:;[^;,]*)*;base64$/i.exec(text.slice(0, comma));
  const base64 = text.slice(comma + 1);
  if (head === null || base64 === "") return undefined;
  const charset = /;charset=([\w:.+-]{1,40})/i.exec(head[0])?.[1];
  return { type: head[1] ?? "", base64, ...(charset === undefined ? {} : { charset }) };
}
