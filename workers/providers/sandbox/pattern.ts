/** Writes a text that matches a pattern, and tells whether a text does, in time linear in the text. */
import { characterCount } from "./words.ts";
import { parsePattern, type PatternNode } from "./pattern-parser.ts";
import type { Random } from "./random.ts";

type CharacterSet = PatternNode & { readonly kind: "set" };

export interface Pattern {
  /** Steps of its automaton: reading a character costs that many at most. */
  readonly size: number;
  matches(text: string): boolean;
  /** A matching text of this many characters, or null when none was found. */
  sample(random: Random, lengthMin: number, lengthMax: number): string | null;
}

/** null for what `parsePattern` does not take, and for patterns whose repetitions multiply beyond our bounds. */
export function readPattern(source: string): Pattern | null {
  const node = parsePattern(source);
  if (node === null) return null;
  const program = compile(node);
  if (program === null) return null;
  const matches = (text: string): boolean => run(program, text);
  const pools: Writing["pools"] = new Map();
  return {
    size: program.steps.length,
    matches,
    sample(random, lengthMin, lengthMax) {
      for (const repeats of REPEATS) {
        const text = write(node, random, repeats, { left: WORK_MAX, pools });
        const length = characterCount(text);
        for (const candidate of [text, text + "a".repeat(Math.max(0, Math.min(lengthMin, PADDING_MAX) - length))]) {
          const size = characterCount(candidate);
          if (size >= lengthMin && size <= lengthMax && matches(candidate)) return candidate;
        }
      }
      return null;
    },
  };
}

/** How often a repetition is written that leaves it open: a natural number first, then for length, then for brevity. */
const REPEATS = [5, 3, 8, 16, 32, 64, 128, 512, 2, 1, 0];
const PADDING_MAX = 10_000;
const STEPS_MAX = 1_100;
/** Nodes visited while compiling or writing: repetitions of nothing cost time and leave no other trace. */
const WORK_MAX = 20_000;
/** Characters × steps of one comparison, about 50 ms; longer ones count as no match. */
const RUN_MAX = 2_000_000;

interface Writing {
  left: number;
  /** The characters each set is written with. */
  readonly pools: Map<CharacterSet, readonly number[]>;
}

function write(node: PatternNode, random: Random, repeats: number, work: Writing): string {
  if ((work.left -= 1) < 0) return "";
  switch (node.kind) {
    case "set":
      return writeCharacter(node, random, work.pools);
    case "sequence":
      return node.items.map((item) => write(item, random, repeats, work)).join("");
    case "either":
      return write(node.options[random.below(node.options.length)]!, random, repeats, work);
    case "repeat": {
      const times = Math.max(node.min, Math.min(node.max, repeats));
      let text = "";
      for (let i = 0; i < times && work.left > 0; i += 1) text += write(node.item, random, repeats, work);
      return text;
    }
    default:
      return "";
  }
}

const PREFERRED = Array.from(
  "abcdefghijklmnopqrstuvwxyz0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ-_.,:;/@#!?()+=*&%$ ",
  (character) => character.codePointAt(0)!,
);

function writeCharacter(set: CharacterSet, random: Random, pools: Writing["pools"]): string {
  let pool = pools.get(set);
  if (pool === undefined) {
    const usual = PREFERRED.filter((point) => contains(set, point));
    // Small letters when there are any: words look like words.
    const letters = usual.filter((point) => point >= 97 && point <= 122);
    pool = letters.length > 0 ? letters : usual.length > 0 ? usual : [set.ranges[0]?.[0] ?? 0xe000];
    pools.set(set, pool);
  }
  return String.fromCodePoint(pool[random.below(pool.length)]!);
}

function contains(set: CharacterSet, point: number): boolean {
  return set.ranges.some(([from, to]) => point >= from && point <= to) !== set.isNegated;
}

/** One step of a Thompson automaton: read a character of the set, or go on to `next` if the position allows. */
interface Step {
  readonly set: CharacterSet | null;
  readonly at: "anywhere" | "start" | "end";
  next: number[];
}

interface Program {
  readonly steps: readonly Step[];
  readonly first: number;
  readonly last: number;
}

/** null when repetition makes the automaton too large. */
function compile(root: PatternNode): Program | null {
  const steps: Step[] = [];
  let work = WORK_MAX;
  let isTooLarge = false;

  function add(step: Step): number {
    isTooLarge ||= steps.length >= STEPS_MAX;
    if (isTooLarge) return 0;
    return steps.push(step) - 1;
  }

  /** Compiles from the end to the start: returns the step to begin with in order to reach `then` afterwards. */
  function build(node: PatternNode, then: number): number {
    isTooLarge ||= (work -= 1) < 0;
    if (isTooLarge) return then;
    switch (node.kind) {
      case "set":
        return add({ set: node, at: "anywhere", next: [then] });
      case "start":
      case "end":
        return add({ set: null, at: node.kind, next: [then] });
      case "sequence":
        return node.items.reduceRight((following, item) => build(item, following), then);
      case "either":
        return add({ set: null, at: "anywhere", next: node.options.map((option) => build(option, then)) });
      case "repeat": {
        let following = then;
        if (node.max === Infinity) {
          const loop: Step = { set: null, at: "anywhere", next: [then] };
          following = add(loop);
          loop.next.push(build(node.item, following));
        } else {
          for (let i = node.min; i < node.max && !isTooLarge; i += 1) {
            following = add({ set: null, at: "anywhere", next: [build(node.item, following), then] });
          }
        }
        for (let i = 0; i < node.min && !isTooLarge; i += 1) following = build(node.item, following);
        return following;
      }
      default:
        return then;
    }
  }

  const last = add({ set: null, at: "anywhere", next: [] });
  const first = build(root, last);
  return isTooLarge ? null : { steps, first, last };
}

/** Searches the text for a match beginning anywhere, all possibilities at once. */
function run(program: Program, text: string): boolean {
  const points = Array.from(text, (character) => character.codePointAt(0)!);
  if (points.length * program.steps.length > RUN_MAX) return false;
  const seenAt = new Int32Array(program.steps.length).fill(-1);
  let current: number[] = [];

  for (let at = 0; at <= points.length; at += 1) {
    const ready: number[] = [];
    const pending = [...current, program.first];
    while (pending.length > 0) {
      const index = pending.pop()!;
      if (seenAt[index] === at) continue;
      seenAt[index] = at;
      if (index === program.last) return true;
      const step = program.steps[index]!;
      if (step.set !== null) ready.push(index);
      else if (step.at === "anywhere" || (step.at === "start" ? at === 0 : at === points.length))
        pending.push(...step.next);
    }
    if (at === points.length) return false;
    current = ready
      .filter((index) => contains(program.steps[index]!.set!, points[at]!))
      .flatMap((index) => program.steps[index]!.next);
  }
  return false;
}
