/** One byte range of a request (RFC 9110, part 14). Several ranges, or what is no range, ask for the whole. */

export type Ranged =
  | { readonly kind: "whole" }
  /** `to` is the byte behind the last. */
  | { readonly kind: "part"; readonly from: number; readonly to: number }
  | { readonly kind: "none" };

/**
 * @param header `Range` as it came
 * @param ifRange `If-Range` as it came: a range of another version is not wanted
 */
export function rangeOf(header: string | null, ifRange: string | null, etag: string, bytes: number): Ranged {
  const [, first = "", last = ""] = /^bytes=\s*(\d{0,16})-(\d{0,16})\s*$/i.exec(header ?? "") ?? [];
  if (first === "" && last === "") return { kind: "whole" };
  if (ifRange !== null && ifRange.trim() !== etag) return { kind: "whole" };
  if (first === "") {
    const wanted = Math.min(Number(last), bytes);
    return wanted === 0 ? { kind: "none" } : { kind: "part", from: bytes - wanted, to: bytes };
  }
  const from = Number(first);
  if (last !== "" && Number(last) < from) return { kind: "whole" };
  if (from >= bytes) return { kind: "none" };
  return { kind: "part", from, to: last === "" ? bytes : Math.min(bytes, Number(last) + 1) };
}
