/** Reads the tags of a file through FFmpeg. */
import type * as Library from "node-av/lib";

/** Separators between names and values, and between tags. They do not occur in texts. */
const [EQUALS, NEXT] = ["\u0001", "\u0002"];

/**
 * Returns the tags of a file. They are read as one string, because node-av crashes on tag names that are not UTF-8 when it returns an
 * object. Invalid UTF-8 becomes U+FFFD.
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
    // A backslash escapes the next character.
    else part[side] += letter === "\\" ? (text[++at] ?? "") : letter;
  }
  if (text !== "") tags.push([part[0] ?? "", part[1] ?? ""]);
  return Object.fromEntries(tags);
}
