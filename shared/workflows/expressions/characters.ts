/** Texts as expressions count them: in characters (code points), where JavaScript counts UTF-16 units. */

/** The characters of the first `end` units. */
export function countCharacters(of: string, end = of.length): number {
  let count = 0;
  for (let at = 0; at < end; count += 1) at += unitsAt(of, at);
  return count;
}

/** The unit that the character `index` begins at; undefined beyond the end of the text. */
export function unitOf(of: string, index: number): number | undefined {
  let at = 0;
  for (let left = index; left > 0; left -= 1) {
    if (at >= of.length) return undefined;
    at += unitsAt(of, at);
  }
  return at;
}

/** At most `max` of them. */
export function charactersOf(of: string, max: number): string[] {
  const characters: string[] = [];
  for (let at = 0; at < of.length && characters.length < max;) {
    const end = at + unitsAt(of, at);
    characters.push(of.slice(at, end));
    at = end;
  }
  return characters;
}

/** True if a part may stand in a text: half a character of its own is no part of a whole one. */
export function mayHold(of: string, part: string): boolean {
  return part.isWellFormed() || !of.isWellFormed();
}

/** The order of code points. */
export function isTextBefore(one: string, other: string): boolean {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at += 1) {
    const [a, b] = [rankOf(one.charCodeAt(at)), rankOf(other.charCodeAt(at))];
    if (a !== b) return a < b;
  }
  return one.length < other.length;
}

/** Characters of two units come behind all others. */
function rankOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

function unitsAt(of: string, at: number): 1 | 2 {
  return (of.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}
