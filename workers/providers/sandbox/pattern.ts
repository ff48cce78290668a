/**
 * Matches and generates texts for patterns of clients. A pattern never reaches RegExp, because backtracking could run forever. Instead it
 * is parsed, and all matching alternatives are followed at once.
 */
import { type AST, RegExpParser } from "@eslint-community/regexpp";

import type { Random } from "./random.ts";
import { characterCount } from "./words.ts";

export interface Pattern {
  /**
   * Returns true if the text matches the pattern. Also returns true if the work budget is used up, or if the pattern requires a
   * back-reference.
   */
  matches(text: string): boolean;
  /** Returns a matching text whose length is in the given range, in characters; null if none was found. */
  sample(random: Random, lengthMin: number, lengthMax: number): string | null;
}

const SOURCE_CHARACTERS_MAX = 1_000;
/** Maximum number of pattern nodes written for one sample. */
const WRITE_WORK_MAX = 20_000;
const PADDED_MAX = 20_000;
/** Counts to try for an unbounded repetition. A natural count comes first, then long ones, then short ones. */
const REPEATS = [5, 3, 8, 16, 32, 64, 128, 512, 2, 1, 0];
const LETTERS = "abcdefghijklmnopqrstuvwxyz";
const PRINTABLE = `${LETTERS}0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_.,:;/@#!?()+=*&%$ éßΩя漢`;

type Single = AST.Character | AST.CharacterClass | AST.CharacterSet | AST.ExpressionCharacterClass;
type Branches = readonly AST.Alternative[];
type Positions = ReadonlySet<number>;

class Unknowable extends Error {}

/** Remaining work budget, in positions visited and nodes written. 10,000 take about 1 ms. */
export interface Work {
  remaining: number;
}

/** Parses a pattern, once per distinct pattern. Null for an invalid or too long pattern. */
export type ReadPattern = (source: string) => Pattern | null;

/**
 * Creates a reader of patterns.
 * @param work budget shared by all patterns; after it is used up, every text matches every pattern, and `sample` returns null
 */
export function createPatternReader(work: Work): ReadPattern {
  const known = new Map<string, Pattern | null>();
  return (source) => {
    const pattern = known.get(source) ?? readPattern(source, work);
    known.set(source, pattern);
    return pattern;
  };
}

function readPattern(source: string, work: Work): Pattern | null {
  if (source.length > SOURCE_CHARACTERS_MAX) return null;
  try {
    const { alternatives } = new RegExpParser().parsePattern(source, 0, source.length, { unicode: true });
    const matches = (text: string): boolean => matchesAny(alternatives, text, work);
    return { matches, sample: (...params) => sample(alternatives, matches, work, ...params) };
  } catch {
    return null;
  }
}

function matchesAny(root: Branches, text: string, work: Work): boolean {
  work.remaining -= text.length;
  if (work.remaining < 0) return true;
  const characters = Array.from(text);

  function either(branches: Branches, starts: Positions): Positions {
    return new Set(branches.flatMap(({ elements }) => [...elements.reduce((at, one) => ends(one, at), starts)]));
  }

  /** Returns the positions where an element that begins at one of `starts` may end. */
  function ends(element: AST.Element, starts: Positions): Positions {
    work.remaining -= 1 + starts.size;
    if (work.remaining < 0 || element.type === "Backreference") throw new Unknowable();
    if (element.type === "Group" || element.type === "CapturingGroup") return either(element.alternatives, starts);
    if (element.type === "Quantifier") return repeat(element, starts);
    if (element.type === "Assertion") return new Set([...starts].filter((at) => holds(element, at)));
    const isOne = testOf(element);
    return new Set([...starts].filter((at) => at < characters.length && isOne(characters[at]!)).map((at) => at + 1));
  }

  function repeat({ element, min, max }: AST.Quantifier, starts: Positions): Positions {
    let reached = starts;
    for (let times = 0; times < min && reached.size > 0; times += 1) reached = ends(element, reached);
    const found = new Set(reached);
    for (let times = min; times < max && reached.size > 0; times += 1) {
      reached = new Set([...ends(element, reached)].filter((at) => !found.has(at)));
      for (const at of reached) found.add(at);
    }
    return found;
  }

  function holds(node: AST.Assertion, at: number): boolean {
    switch (node.kind) {
      case "start":
        return at === 0;
      case "end":
        return at === characters.length;
      case "lookahead":
        return either(node.alternatives, new Set([at])).size > 0 !== node.negate;
      default:
        throw new Unknowable();
    }
  }

  try {
    return either(root, new Set(Array.from({ length: characters.length + 1 }, (_, at) => at))).size > 0;
  } catch (error) {
    if (error instanceof Unknowable) return true;
    throw error;
  }
}

/** Returns a function that tests one character. A character set is tested by RegExp, which cannot backtrack on a single character. */
function testOf(node: Single): (character: string) => boolean {
  if (node.type === "Character") return (character) => character.codePointAt(0) === node.value;
  const one = new RegExp(`^${node.raw}$`, "u");
  return (character) => one.test(character);
}

function sample(
  root: Branches,
  matches: Pattern["matches"],
  work: Work,
  random: Random,
  least: number,
  most: number,
): string | null {
  for (const repeats of REPEATS) {
    for (const usual of [LETTERS, PRINTABLE]) {
      if (work.remaining < 0) return null;
      const text = write(root, random, repeats, usual, work);
      // A pattern without an end anchor also matches a longer text.
      const length = characterCount(text);
      const padded = length < least && least <= PADDED_MAX ? text + "a".repeat(least - length) : text;
      if (Math.max(length, least) <= most && matches(padded)) return padded;
    }
  }
  return null;
}

function write(root: Branches, random: Random, repeats: number, usual: string, work: Work): string {
  const end = work.remaining - WRITE_WORK_MAX;
  const isOver = (): boolean => work.remaining < Math.max(0, end);

  function element(node: AST.Element): string {
    work.remaining -= 1;
    if (isOver() || node.type === "Assertion" || node.type === "Backreference") return "";
    if (node.type === "Group" || node.type === "CapturingGroup") return branch(node.alternatives);
    if (node.type === "Character") return String.fromCodePoint(node.value);
    if (node.type !== "Quantifier") {
      const fitting = Array.from(PRINTABLE).filter(testOf(node));
      const likely = fitting.filter((character) => usual.includes(character));
      const pool = likely.length > 0 ? likely : fitting;
      return pool[random.below(Math.max(1, pool.length))] ?? "";
    }
    let text = "";
    const times = Math.max(node.min, Math.min(node.max, repeats));
    for (let at = 0; at < times && !isOver(); at += 1) text += element(node.element);
    return text;
  }

  function branch(branches: Branches): string {
    return (branches[random.below(branches.length)]?.elements ?? []).map(element).join("");
  }

  return branch(root);
}
