/** The tags of a file, as FFmpeg tells them. */
import type * as Library from "node-av/lib";

/** Neither stands in a text. */
const [EQUALS, NEXT] = ["\u0001", "\u0002"];

/**
 * By way of one text: taken as an object, names that are no UTF-8 crash the process. What is not becomes U+FFFD.
 */
export function tagsOf(dictionary: Library.Dictionary | null | undefined): Record<string, string> {
  const text = dictionary?.getString(EQUALS, NEXT) ?? "";
  const tags: [name: string, value: string][] = [];
  let part = ["", ""];
  let side = 0;
  for (let at = 0; at < text.length; at++) {
    const letter = text[at] ?? "";
    if (letter === EQUALS) side = 1;
    else if (letter === NEXT) {
      tags.push([part[0] ?? "", part[1] ?? ""]);
      [part, side] = [["", ""], 0];
    }
    // What follows a backslash is meant as it is.
    else part[side] += letter === "\\" ? (text[++at] ?? "") : letter;
  }
  if (text !== "") tags.push([part[0] ?? "", part[1] ?? ""]);
  return Object.fromEntries(tags);
}
