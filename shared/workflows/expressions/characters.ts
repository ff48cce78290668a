/** Text functions that count characters (code points), whereas JavaScript counts UTF-16 units. */

/** Returns the number of characters in the first `end` units. */
export function countCharacters(of: string, end = of.length): number {
  let count = 0;
  for (let at = 0; at < end; count += 1) at += unitsAt(of, at);
  return count;
}

/** Returns the unit at which character `index` begins; undefined beyond the end of the text. */
export function unitOf(of: string, index: number): number | undefined {
  let at = 0;
  for (let remaining = index; remaining > 0; remaining -= 1) {
    if (at >= of.length) return undefined;
    at += unitsAt(of, at);
  }
  return at;
}

/** Returns at most `max` characters. */
export function charactersOf(of: string, max: number): string[] {
  const characters: string[] = [];
  for (let at = 0; at < of.length && characters.length < max;) {
    const end = at + unitsAt(of, at);
    characters.push(of.slice(at, end));
    at = end;
  }
  return characters;
}

/** Returns true if the text may contain the part: an unpaired surrogate is no part of a whole character. */
export function mayHold(of: string, part: string): boolean {
  return part.isWellFormed() || !of.isWellFormed();
}

/** Compares by code points. */
export function isTextBefore(one: string, other: string): boolean {
  const length = Math.min(one.length, other.length);
  for (let at = 0; at < length; at += 1) {
    const [a, b] = [rankOf(one.charCodeAt(at)), rankOf(other.charCodeAt(at))];
    if (a !== b) return a < b;
  }
  return one.length < other.length;
}

/** Characters of two units sort after all others. */
function rankOf(unit: number): number {
  return unit >= 0xd800 && unit <= 0xdfff ? unit + 0x10000 : unit;
}

function unitsAt(of: string, at: number): 1 | 2 {
  return (of.codePointAt(at) ?? 0) > 0xffff ? 2 : 1;
}
