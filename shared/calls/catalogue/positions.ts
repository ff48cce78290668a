/**
 * Finds the line of each key and item in a YAML text. Bun's parser reports no lines and accepts duplicate keys. This module therefore
 * parses the block structure again: indentation, keys and list items. It skips scalars and flow collections.
 */

export interface Positions {
  /** Returns the line (from 1) of a JSON path such as `models[0].pricing`, or of its nearest ancestor with a known line. */
  lineOf(path: string): number | undefined;
  /** Keys that occur twice in one mapping, with the line of the second occurrence. */
  readonly repeated: readonly { readonly path: string; readonly line: number }[];
}

interface Container {
  readonly indent: number;
  readonly path: string;
  /** Keys of the mapping that were found so far; absent for a list. */
  readonly keys?: Set<string>;
  count: number;
}

const ITEM = /^-(\s+|$)/;
const KEY = /^("(?:[^"\\]|\\.)*"|'(?:[^']|'')*'|[^\s"'#[\]{},&*!|>%@`-][^#]*?|-[^\s][^#]*?)\s*:(?=\s|$)\s*/;
const PROPERTY = /^[&!]\S*\s+/;

/** Reads the structure of a YAML text that the parser has accepted. */
export function locate(text: string): Positions {
  const lines = text.split("\n");
  const found = new Map<string, number>();
  const repeated: { path: string; line: number }[] = [];
  const open: Container[] = [];
  /** JSON path of the last key or item, which contains the lines with deeper indentation. */
  let parent = "";
  const budget = { lines: UNCLOSED_LINES_MAX };

  for (let index = 0; index < lines.length; index += 1) {
    const line = lines[index] ?? "";
    let indent = line.length - line.trimStart().length;
    let rest = line.trim();
    if (rest === "" || rest.startsWith("#") || rest === "---" || rest === "...") continue;

    for (let item = ITEM.exec(rest); item !== null; item = ITEM.exec(rest)) {
      const list = enter(open, indent, "list", parent);
      parent = `${list.path}[${list.count}]`;
      list.count += 1;
      found.set(parent, index + 1);
      indent += item[0].length;
      rest = rest.slice(item[0].length);
    }
    rest = rest.replace(PROPERTY, "");
    const key = KEY.exec(rest);
    if (key !== null) {
      const map = enter(open, indent, "map", parent);
      const name = unquote(key[1] ?? "");
      parent = map.path === "" ? name : `${map.path}.${name}`;
      if (map.keys?.has(name) && name !== "<<") repeated.push({ path: parent, line: index + 1 });
      map.keys?.add(name);
      if (!found.has(parent)) found.set(parent, index + 1);
      rest = rest.slice(key[0].length).replace(PROPERTY, "");
    }
    index = endOfValue(lines, index, rest, { indent, budget });
  }

  return {
    repeated,
    lineOf(path) {
      // Names in a file may contain dots and brackets, so each step must shorten the path, whatever it is.
      for (let at = path; at !== ""; at = at.slice(0, Math.max(at.lastIndexOf("."), at.lastIndexOf("["), 0))) {
        const line = found.get(at);
        if (line !== undefined) return line;
      }
      return undefined;
    },
  };
}

/** Returns the list or mapping that contains a line with this indentation. Opens it if the line is its first. */
function enter(open: Container[], indent: number, kind: "list" | "map", parent: string): Container {
  for (;;) {
    const top = open.at(-1);
    if (top === undefined || top.indent < indent) break;
    const isList = top.keys === undefined;
    if (top.indent === indent && isList === (kind === "list")) return top;
    // A list may have the same indentation as its key, so the key's mapping stays open.
    if (top.indent === indent && kind === "list") break;
    open.pop();
  }
  const path = open.length === 0 ? "" : parent;
  const container: Container =
    kind === "map" ? { indent, path, count: 0, keys: new Set() } : { indent, path, count: 0 };
  open.push(container);
  return container;
}

/** Returns the index of the last line of a value that begins with `rest`. Block scalars, quotes and flow collections can span lines. */
function endOfValue(
  lines: readonly string[],
  start: number,
  rest: string,
  { indent, budget }: { readonly indent: number; readonly budget: { lines: number } },
): number {
  if (/^[|>][+\-0-9]*\s*(#.*)?$/.test(rest)) {
    let end = start;
    for (let next = start + 1; next < lines.length; next += 1) {
      const line = lines[next] ?? "";
      if (line.trim() === "") continue;
      if (line.length - line.trimStart().length <= indent) break;
      end = next;
    }
    return end;
  }
  if (!/^["'[{]/.test(rest) || budget.lines <= 0) return start;
  let state: Flow = { depth: 0, quote: "" };
  for (let next = start; next < lines.length; next += 1) {
    state = scanFlow(next === start ? rest : (lines[next] ?? ""), state);
    if (state.depth === 0 && state.quote === "") return next;
  }
  budget.lines -= lines.length - start;
  return start;
}

/**
 * Maximum number of lines that are searched for the ends of unclosed quotes and flow collections. A plain text line can begin like an
 * unclosed one, and is then searched for up to the end of the file. Without this maximum, a file of 100,000 such lines would take minutes.
 */
const UNCLOSED_LINES_MAX = 2_000_000;

interface Flow {
  readonly depth: number;
  readonly quote: string;
}

function scanFlow(text: string, from: Flow): Flow {
  let { depth, quote } = from;
  for (let at = 0; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (quote !== "") {
      if (quote === '"' && character === "\\") at += 1;
      else if (character === quote) {
        if (quote === "'" && text[at + 1] === "'") at += 1;
        else quote = "";
      }
    } else if (character === '"' || character === "'") quote = character;
    else if (character === "[" || character === "{") depth += 1;
    else if (character === "]" || character === "}") depth -= 1;
    else if (character === "#" && (at === 0 || /\s/.test(text.charAt(at - 1)))) break;
  }
  return { depth, quote };
}

function unquote(key: string): string {
  if (key.startsWith('"')) {
    try {
      return String(JSON.parse(key));
    } catch {
      return key.slice(1, -1);
    }
  }
  return key.startsWith("'") ? key.slice(1, -1).replaceAll("''", "'") : key;
}

/**
 * Returns the line of the first syntax error: the line after the longest beginning of the text that can be parsed. A text that is cut
 * before a list item or key with little indentation is a complete document. A binary search over these places finds the invalid entry.
 * Afterwards, each line of the entry is tried.
 */
export function syntaxLine(text: string, parse: (text: string) => unknown): number {
  const lines = text.split("\n");
  const parses = (count: number): boolean => {
    try {
      parse(lines.slice(0, count).join("\n"));
      return true;
    } catch {
      return false;
    }
  };
  const cuts = lines.flatMap((line, index) => (/^(\S|\s{0,4}- )/.test(line) && !line.startsWith("#") ? [index] : []));
  let low = 0;
  let high = cuts.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (parses(cuts[middle] ?? 0)) low = middle + 1;
    else high = middle;
  }
  let good = low === 0 ? 0 : (cuts[low - 1] ?? 0);
  const end = Math.min(
    lines.length,
    low < cuts.length ? (cuts[low] ?? lines.length) + 1 : lines.length,
    good + WALK_LINES_MAX,
  );
  for (let count = end; count > good; count -= 1) {
    if (parses(count)) {
      good = count;
      break;
    }
  }
  while (good < lines.length - 1 && /^\s*(#.*)?$/.test(lines[good] ?? "")) good += 1;
  return good + 1;
}

/** Maximum number of lines that are tried one by one. Each try parses the whole beginning of the file again. */
const WALK_LINES_MAX = 60;
