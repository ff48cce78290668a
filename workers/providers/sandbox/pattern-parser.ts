/**
 * Parses the plain part of regular expressions, enough for what JSON Schemas use: literals, classes, groups,
 * alternatives, repetition, anchors. A client's pattern never reaches RegExp, whose backtracking it could make endless.
 */

/** Inclusive ranges of code points. */
export type Ranges = readonly (readonly [from: number, to: number])[];

export type PatternNode =
  | { readonly kind: "set"; readonly ranges: Ranges; readonly isNegated: boolean }
  | { readonly kind: "sequence"; readonly items: readonly PatternNode[] }
  | { readonly kind: "either"; readonly options: readonly PatternNode[] }
  | { readonly kind: "repeat"; readonly item: PatternNode; readonly min: number; readonly max: number }
  | { readonly kind: "start" }
  | { readonly kind: "end" };

const SOURCE_CHARACTERS_MAX = 1_000;
const DEPTH_MAX = 20;
const REPEAT_MAX = 1_000;

const DIGIT: Ranges = [[48, 57]];
const LETTER: Ranges = [
  [65, 90],
  [97, 122],
];
const WORD: Ranges = [...DIGIT, ...LETTER, [95, 95]];
const SPACE: Ranges = [
  [9, 13],
  [32, 32],
  [0xa0, 0xa0],
  [0x1680, 0x1680],
  [0x2000, 0x200a],
  [0x2028, 0x2029],
  [0x202f, 0x202f],
  [0x205f, 0x205f],
  [0x3000, 0x3000],
  [0xfeff, 0xfeff],
];
const LINE_END: Ranges = [
  [10, 10],
  [13, 13],
  [0x2028, 0x2029],
];
const CLASSES: Readonly<Record<string, Ranges>> = { d: DIGIT, w: WORD, s: SPACE };
const CONTROLS: Readonly<Record<string, number>> = { t: 9, n: 10, v: 11, f: 12, r: 13, "0": 0 };
/** The ASCII part of each property: too narrow for telling what matches, right for writing what does. */
const PROPERTIES: ReadonlyMap<string, Ranges> = new Map([
  ["L", LETTER],
  ["Letter", LETTER],
  ["Lu", [[65, 90]]],
  ["Ll", [[97, 122]]],
  ["N", DIGIT],
  ["Nd", DIGIT],
]);

class Unsupported extends Error {}

/** null for a pattern with look-around, back-references, word boundaries or another thing beyond the plain part. */
export function parsePattern(source: string): PatternNode | null {
  if (source.length > SOURCE_CHARACTERS_MAX) return null;
  const characters = Array.from(source);
  let at = 0;

  function parseEither(depth: number): PatternNode {
    if (depth > DEPTH_MAX) throw new Unsupported();
    const options = [parseSequence(depth)];
    while (take("|")) options.push(parseSequence(depth));
    return options.length === 1 ? options[0]! : { kind: "either", options };
  }

  function parseSequence(depth: number): PatternNode {
    const items: PatternNode[] = [];
    while (at < characters.length && characters[at] !== "|" && characters[at] !== ")") {
      items.push(parseRepeat(parseAtom(depth)));
    }
    return { kind: "sequence", items };
  }

  function parseAtom(depth: number): PatternNode {
    const character = characters[at++]!;
    switch (character) {
      case "^":
        return { kind: "start" };
      case "$":
        return { kind: "end" };
      case ".":
        return { kind: "set", ranges: LINE_END, isNegated: true };
      case "[":
        return parseClass();
      case "(":
        return parseGroup(depth);
      case "\\":
        return parseEscape();
      case "*":
      case "+":
      case "?":
        throw new Unsupported();
      default:
        return literal(character.codePointAt(0)!);
    }
  }

  function parseGroup(depth: number): PatternNode {
    if (take("?")) {
      if (take("<")) {
        if (characters[at] === "=" || characters[at] === "!") throw new Unsupported();
        while (at < characters.length && characters[at] !== ">") at += 1;
        at += 1;
      } else if (!take(":")) throw new Unsupported();
    }
    const inner = parseEither(depth + 1);
    if (!take(")")) throw new Unsupported();
    return inner;
  }

  function parseEscape(): PatternNode {
    const set = parseClassEscape();
    if (set !== null) return set;
    if (/[bB1-9k]/.test(characters[at] ?? "b")) throw new Unsupported();
    return literal(parseCharacterEscape());
  }

  /** `\d`, `\W`, `\p{L}` and their like; null when the escape stands for one character. */
  function parseClassEscape(): (PatternNode & { kind: "set" }) | null {
    const name = characters[at] ?? "";
    const ranges = CLASSES[name.toLowerCase()];
    if (ranges !== undefined) {
      at += 1;
      return { kind: "set", ranges, isNegated: name !== name.toLowerCase() };
    }
    if (name !== "p" && name !== "P") return null;
    const property = PROPERTIES.get(/^\{(\w+)\}/.exec(characters.slice(at + 1, at + 12).join(""))?.[1] ?? "");
    if (name === "P" || property === undefined) throw new Unsupported();
    at = characters.indexOf("}", at) + 1;
    return { kind: "set", ranges: property, isNegated: false };
  }

  function parseCharacterEscape(): number {
    const name = characters[at++]!;
    const control = CONTROLS[name];
    if (control !== undefined) return control;
    const hex = /^(?:x([\da-fA-F]{2})|u([\da-fA-F]{4})|u\{([\da-fA-F]{1,6})\})/.exec(
      characters.slice(at - 1, at + 9).join(""),
    );
    if (hex === null) {
      if (/[a-zA-Z]/.test(name)) throw new Unsupported();
      return name.codePointAt(0)!;
    }
    at += hex[0].length - 1;
    return Number.parseInt(hex[1] ?? hex[2] ?? hex[3] ?? "0", 16);
  }

  function parseClass(): PatternNode {
    const isNegated = take("^");
    const ranges: (readonly [number, number])[] = [];
    while (!take("]")) {
      const from = parseClassMember(ranges, isNegated);
      if (from === null) continue;
      if (characters[at] === "-" && characters[at + 1] !== "]" && at + 1 < characters.length) {
        at += 1;
        const to = parseClassMember(ranges, isNegated);
        if (to === null || to < from) throw new Unsupported();
        ranges.push([from, to]);
      } else ranges.push([from, from]);
    }
    return { kind: "set", ranges, isNegated };
  }

  /** A code point, or null after adding a whole class to the ranges. */
  function parseClassMember(ranges: (readonly [number, number])[], isNegated: boolean): number | null {
    if (at >= characters.length) throw new Unsupported();
    if (!take("\\")) return characters[at++]!.codePointAt(0)!;
    const isProperty = characters[at] === "p";
    const set = parseClassEscape();
    if (set === null) return take("b") ? 8 : parseCharacterEscape();
    if (isProperty && isNegated) throw new Unsupported();
    ranges.push(...(set.isNegated ? complement(set.ranges) : set.ranges));
    return null;
  }

  function parseRepeat(item: PatternNode): PatternNode {
    const counts = parseCounts();
    if (counts === null) return item;
    if (item.kind === "start" || item.kind === "end") throw new Unsupported();
    const [min, max] = counts;
    if (min > REPEAT_MAX || min > max) throw new Unsupported();
    take("?");
    if (parseCounts() !== null) throw new Unsupported();
    return { kind: "repeat", item, min, max };
  }

  function parseCounts(): readonly [number, number] | null {
    if (take("*")) return [0, Infinity];
    if (take("+")) return [1, Infinity];
    if (take("?")) return [0, 1];
    const match = /^\{(\d{1,6})(,(\d{1,6})?)?\}/.exec(characters.slice(at, at + 16).join(""));
    if (match === null) return null;
    at += match[0].length;
    const min = Number(match[1]);
    return [min, match[2] === undefined ? min : match[3] === undefined ? Infinity : Number(match[3])];
  }

  function take(character: string): boolean {
    if (characters[at] !== character) return false;
    at += 1;
    return true;
  }

  try {
    const node = parseEither(0);
    return at === characters.length ? node : null;
  } catch (error) {
    if (error instanceof Unsupported) return null;
    throw error;
  }
}

function literal(point: number): PatternNode {
  return { kind: "set", ranges: [[point, point]], isNegated: false };
}

function complement(ranges: Ranges): Ranges {
  const rest: [number, number][] = [];
  let from = 0;
  for (const [start, end] of ranges.toSorted((a, b) => a[0] - b[0])) {
    if (start > from) rest.push([from, start - 1]);
    from = Math.max(from, end + 1);
  }
  return [...rest, [from, 0x10ffff]];
}
