/** Text functions that count characters (code points). JavaScript's own functions count UTF-16 units. */

/** Returns the number of characters in the first `end` UTF-16 units of a text. */
export function countCharacters(of: string, end = of.length): number {
  let count = 0;
  for (let at = 0; at < end; count += 1) at += unitsAt(of, at);
  return count;
}

/** Returns the UTF-16 offset at which character `index` begins; undefined beyond the end of the text. */
export function unitOf(of: string, index: number): number | undefined {
  let at = 0;
  for (let remaining = index; remaining > 0; remaining -= 1) {
    if (at >= of.length) return undefined;
    at += unitsAt(of, at);
  }
  return at;
}

/** Returns the first characters of a text, at most `max`. */
export function charactersOf(of: string, max: number): string[] {
  const characters: string[] = [];
  for (let at = 0; at < of.length && characters.length < max;) {
    const end = at + unitsAt(of, at);
    characters.push(of.slice(at, end));
    at = end;
  }
  return characters;
}

/**
 * Returns false if the text cannot contain `part`: `part` has an unpaired surrogate, and the text has none. A search by UTF-16 units would
 * otherwise find half of a character.
 */
export function mayHold(of: string, part: string): boolean {
  return part.isWellFormed() || !of.isWellFormed();
}

/** Returns true if the first text sorts before the other one, by code points. */
export function isTextBefore(one: string, other: string): boolean {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at += 1) {
    const [a, b] = [rankOf(one.charCodeAt(at)), rankOf(other.charCodeAt(at))];
    if (a !== b) return a < b;
  }
  return one.length < other.length;
}

/** Returns the sort order of a UTF-16 unit. Characters of two units sort after all others. */
function rankOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

function unitsAt(of: string, at: number): 1 | 2 {
  return (of.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}
