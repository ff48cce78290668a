/** Suggestions of model names for an unknown name. */

/** Maximum number of suggestions. */
const NEAR_NAMES_MAX = 3;
/** Longer names are not compared. */
const NAME_CHARS_MAX = 100;
/** Maximum edits between similar names, as a share of the length of the name. */
const EDITS_SHARE_MAX = 0.25;

/** Returns similar names, the closest first: `openai/gpt-4o` and `gpt-4o-2024-08-06` match `gpt-4o`. */
export function nearNames(names: Iterable<string>, asked: string): string[] {
  if (asked.length > NAME_CHARS_MAX) return [];
  const plain = plainOf(asked);
  if (plain === "") return [];
  return Array.from(names, (name) => ({ name, edits: editsTo(plainOf(name), plain, editsMax(name)) }))
    .filter(({ edits }) => edits !== Infinity)
    .toSorted((a, b) => a.edits - b.edits || (a.name < b.name ? -1 : 1))
    .slice(0, NEAR_NAMES_MAX)
    .map(({ name }) => name);
}

function editsMax(name: string): number {
  return Math.max(1, Math.floor(EDITS_SHARE_MAX * name.length));
}

/** Removes the provider's name, a date suffix, and differences in common spellings. */
function plainOf(name: string): string {
  return name
    .toLowerCase()
    .slice(name.lastIndexOf("/") + 1)
    .replace(/[-@:](?:latest|\d{8}|\d{4}-\d{2}-\d{2})$/, "")
    .replaceAll(/[-_. :]/g, "");
}

/**
 * Returns the Levenshtein distance: added, removed or replaced characters. Returns Infinity above `max`, detected early: a catalogue has
 * hundreds of names, and any call may contain an unknown one.
 */
function editsTo(one: string, other: string, max: number): number {
  if (Math.abs(one.length - other.length) > max) return Infinity;
  // A row is at most as long as the longest name, and so are its counts.
  const row = Uint8Array.from({ length: other.length + 1 }, (_, at) => at);
  for (let i = 1; i <= one.length; i++) {
    let [diagonal = 0] = row;
    row[0] = i;
    let least = i;
    for (let j = 1; j <= other.length; j++) {
      const above = row[j] ?? 0;
      const replaced = diagonal + (one.charCodeAt(i - 1) === other.charCodeAt(j - 1) ? 0 : 1);
      const edits = Math.min(replaced, above + 1, (row[j - 1] ?? 0) + 1);
      row[j] = edits;
      diagonal = above;
      if (edits < least) least = edits;
    }
    if (least > max) return Infinity;
  }
  const edits = row[other.length] ?? 0;
  return edits > max ? Infinity : edits;
}
