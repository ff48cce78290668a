/** Suggests known names that are similar to an unknown one. */

/** Maximum number of suggestions. */
const NEAR_NAMES_MAX = 3;
/** Longer names are not compared: callers send unknown names, and in an error about a missing member also the names beside it. */
const NAME_CHARS_MAX = 100;
/** Maximum number of edits between similar names, as a share of the name's length. */
const EDITS_SHARE_MAX = 0.25;

/** Returns similar names, the closest first. For example, `openai/gpt-4o` and `gpt-4o-2024-08-06` match `gpt-4o`. */
export function nearNames(names: Iterable<string>, asked: string): string[] {
  if (asked.length > NAME_CHARS_MAX) return [];
  const plain = plainOf(asked);
  if (plain === "") return [];
  return Array.from(names)
    .filter((name) => name.length <= NAME_CHARS_MAX)
    .map((name) => ({ name, edits: editsTo(plainOf(name), plain, editsMax(name)) }))
    .filter(({ edits }) => edits !== Infinity)
    .toSorted((a, b) => a.edits - b.edits || (a.name < b.name ? -1 : 1))
    .slice(0, NEAR_NAMES_MAX)
    .map(({ name }) => name);
}

/**
 * Returns ` Did you mean a or b?` for an error message; an empty string if no name is similar.
 * @param names known names
 * @param asked unknown name, as the caller sent it
 */
export function didYouMean(names: Iterable<string>, asked: string): string {
  const near = nearNames(names, asked);
  return near.length === 0 ? "" : ` Did you mean ${near.join(" or ")}?`;
}

function editsMax(name: string): number {
  return Math.max(1, Math.floor(EDITS_SHARE_MAX * name.length));
}

/** Normalizes a name: removes the provider, a date suffix, and differences in common spellings. */
function plainOf(name: string): string {
  return name
    .toLowerCase()
    .slice(name.lastIndexOf("/") + 1)
    .replace(/[-@:](?:latest|\d{8}|\d{4}-\d{2}-\d{2})$/, "")
    .replaceAll(/[-_. :]/g, "");
}

/**
 * Returns the edit distance of two names: the number of added, removed or replaced characters, and of swapped neighbours. Returns Infinity
 * above `max`, which is detected early: a catalogue has hundreds of names, and any call may contain an unknown one.
 */
function editsTo(one: string, other: string, max: number): number {
  if (Math.abs(one.length - other.length) > max) return Infinity;
  // A row is at most as long as the longest name, and so are its counts.
  let before = new Uint8Array(other.length + 1);
  let last = Uint8Array.from({ length: other.length + 1 }, (_, at) => at);
  let row = new Uint8Array(other.length + 1);
  let leastBefore = 0;
  for (let i = 1; i <= one.length; i++) {
    row[0] = i;
    let least = i;
    for (let j = 1; j <= other.length; j++) {
      const isSame = one.charCodeAt(i - 1) === other.charCodeAt(j - 1);
      const replaced = at(last, j - 1) + (isSame ? 0 : 1);
      let edits = Math.min(replaced, at(last, j) + 1, at(row, j - 1) + 1);
      if (isSwapped(one, i, other, j)) edits = Math.min(edits, at(before, j - 2) + 1);
      row[j] = edits;
      if (edits < least) least = edits;
    }
    // A swap reaches back over two rows.
    if (least > max && leastBefore > max) return Infinity;
    leastBefore = least;
    [before, last, row] = [last, row, before];
  }
  const edits = at(last, other.length);
  return edits > max ? Infinity : edits;
}

function at(row: Uint8Array, index: number): number {
  return row[index] ?? 0;
}

/** Returns true if the two characters before position `i` and before position `j` are the same but swapped. */
function isSwapped(one: string, i: number, other: string, j: number): boolean {
  return i > 1 && j > 1 && one[i - 1] === other[j - 2] && one[i - 2] === other[j - 1];
}
