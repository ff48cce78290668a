/** What a prompt asks to make: things, how many, in which colour, of what, how large, and what stands on what. */
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";

import { singular } from "../../words.ts";
import { COLOURS, type Colour } from "../images/colours.ts";
import { finishNamed, finishOf, MATERIAL_COLOURS, type FinishName } from "./finishes.ts";
import { THINGS } from "./things/index.ts";
import { thingNamed, withoutPairs } from "./things/names.ts";

export interface ThingWish {
  readonly thing: string;
  /**
   * At most two, the first for the thing itself, the second for what sets itself off from it; null is the colour that the
   * material has by itself.
   */
  readonly colours: readonly (Colour | null)[];
  /** null leaves it to the thing. */
  readonly finish: FinishName | null;
  readonly count: number;
  /** Of the usual size. */
  readonly size: number;
  /** Whether it stands on the wish that follows. */
  readonly isOnNext: boolean;
  /** Of what it holds and shows by itself: the red tulips of a vase. */
  readonly contentColours: readonly (Colour | null)[];
}

export interface Motif {
  readonly wishes: readonly ThingWish[];
  /** Colours and materials that belong to no thing. */
  readonly colours: readonly (Colour | null)[];
  readonly finish: FinishName | null;
  readonly isLowPoly: boolean;
  /** Wholly of one material, on a plinth. */
  readonly isStatue: boolean;
  /** Of the usual form. */
  readonly tallness: number;
  readonly width: number;
  readonly words: ReadonlySet<string>;
}

const COUNTS: Readonly<Record<string, number>> = {
  two: 2,
  pair: 2,
  couple: 2,
  three: 3,
  four: 4,
  five: 5,
  six: 6,
  several: 3,
  some: 3,
  many: 5,
};

/** Metres may be meant, but clients look at one thing at a time: giants are twice as large. */
const SIZES: Readonly<Record<string, number>> = {
  tiny: 0.4,
  miniature: 0.4,
  mini: 0.5,
  small: 0.7,
  little: 0.7,
  big: 1.4,
  large: 1.4,
  huge: 1.8,
  giant: 2,
  gigantic: 2,
  enormous: 2,
};

/** Metals as the colours of what lives: a golden retriever is not made of gold. */
const FUR_COLOURS: Readonly<Record<string, Colour>> = { golden: "#d9a352", silver: "#b8bcc2", silvery: "#b8bcc2" };
const LIVING = /\b(golden|silver|silvery) (retriever|labrador|fur|hair|eagle|wolf|fox|leaves|blossoms?|fish)\b/;

/** How many words an attribute reaches ahead: "a red and white striped wooden boat". */
const REACH_WORDS = 5;

const ON = new Set(["on", "atop", "upon", "riding"]);

interface Pending {
  colours: (Colour | null)[];
  finish: FinishName | null;
  count: number | null;
  size: number;
  age: number;
}

const nothingPending = (): Pending => ({ colours: [], finish: null, count: null, size: 1, age: 0 });

/** As it is kept in the file. */
export function plainPrompt(prompt: string): string {
  return prompt.slice(0, MEDIA_LIMITS.promptCharactersMax).trim().replaceAll(/\s+/g, " ").toWellFormed();
}

export function readPrompt(prompt: string): Motif {
  const plain = prompt.slice(0, MEDIA_LIMITS.promptCharactersMax).toLowerCase().replaceAll(/[-_]/g, " ");
  const text = withoutPairs(plain);
  const words = text.match(/\p{L}+|\d+|[,;.&+]/gu) ?? [];
  const isFur = LIVING.test(text);
  const wishes: ThingWish[] = [];
  let pending = nothingPending();
  let left: number = MEDIA_LIMITS.meshThingsMax;
  for (const [at, word] of words.entries()) {
    pending.age += 1;
    if (["no", "without"].includes(words[at - 1] ?? "")) continue;
    const thing = thingAt(words, at);
    if (thing !== undefined) {
      const wish = wishFor(thing, word, pending.age <= REACH_WORDS ? pending : nothingPending(), left);
      if (wish.count > 0 && !wishes.some((other) => other.thing === thing)) {
        wishes.push(wish);
        left -= wish.count;
        pending = nothingPending();
      }
    } else if (Object.hasOwn(COUNTS, word) || /^[1-9]$/.test(word)) {
      pending.count = COUNTS[word] ?? Number(word);
    } else if (Object.hasOwn(SIZES, word)) {
      pending.size = SIZES[word] ?? 1;
      pending.age = 0;
    } else if (ON.has(word)) {
      const last = wishes.at(-1);
      if (last !== undefined) wishes[wishes.length - 1] = { ...last, isOnNext: true };
    } else {
      take(pending, word, words[at - 1] ?? "", isFur);
    }
  }
  const rest = attachRest(wishes, pending);
  const has = (pattern: RegExp): boolean => pattern.test(text);
  return {
    wishes: withoutContents(wishes).map((wish, index, all) => ({
      ...wish,
      isOnNext: wish.isOnNext && index + 1 < all.length,
    })),
    ...rest,
    isLowPoly: has(/\blow ?poly(gon(al)?)?\b|\bfaceted\b|\borigami\b/),
    isStatue: has(/\b(statue|sculpture|figurine|statuette|bust|monument|skulptur|estatua)s?\b/),
    tallness: has(/\b(tall|high|long|slender)\b/) ? 1.25 : has(/\b(short|squat|flat)\b/) ? 0.78 : 1,
    width: has(/\b(fat|chubby|wide|thick|plump)\b/) ? 1.2 : has(/\b(thin|slim|skinny|narrow)\b/) ? 0.82 : 1,
    words: new Set(words.flatMap((word) => [word, singular(word)])),
  };
}

/** Of two things side by side the second is meant: a desk lamp, an apple tree. */
function thingAt(words: readonly string[], at: number): string | undefined {
  if (isAttribute(words, at)) return undefined;
  const isFirst = thingNamed(words[at + 1] ?? "") !== undefined && !isAttribute(words, at + 1);
  return isFirst ? undefined : thingNamed(words[at] ?? "");
}

/** "glass" before a thing is what it is made of; alone it is a thing. */
function isAttribute(words: readonly string[], at: number): boolean {
  const isDouble = (word: string): boolean => finishNamed(word) !== undefined || Object.hasOwn(COLOURS, word);
  const word = words[at] ?? "";
  if (!isDouble(word)) return false;
  if (thingNamed(word) === undefined) return true;
  // "made of crystal"
  if (["of", "from", "in"].includes(words[at - 1] ?? "") && at > 1) return true;
  // "a glass vase", "a glass and gold vase"
  for (let next = at + 1; next <= at + 3 && next < words.length; next += 1) {
    const other = words[next] ?? "";
    if (thingNamed(other) !== undefined && !isDouble(other)) return true;
    if (!isDouble(other) && other !== "and") return false;
  }
  return false;
}

/** A word may say both what a thing is and what it is made of: a ruby, a zebra. */
function wishFor(thing: string, word: string, { colours, finish, count, size }: Pending, left: number): ThingWish {
  const isMany = singular(word) !== word && thingNamed(singular(word)) === thing;
  const own = Object.hasOwn(MATERIAL_COLOURS, word) ? MATERIAL_COLOURS[word] : undefined;
  return {
    thing,
    colours: colours.length === 0 && own !== undefined ? [own] : colours.slice(0, 2),
    finish: finish ?? finishNamed(word) ?? null,
    count: Math.min(left, count ?? (isMany ? 2 : 1)),
    size,
    isOnNext: false,
    contentColours: [],
  };
}

function take(pending: Pending, word: string, before: string, isFur: boolean): void {
  const fur = isFur && Object.hasOwn(FUR_COLOURS, word) ? FUR_COLOURS[word] : undefined;
  const finish = fur === undefined ? finishNamed(word) : undefined;
  const own = Object.hasOwn(MATERIAL_COLOURS, word) ? MATERIAL_COLOURS[word] : undefined;
  const named = finish === undefined && Object.hasOwn(COLOURS, word) ? COLOURS[word] : undefined;
  const colour = fur ?? own ?? named;
  if (finish === undefined && colour === undefined) return;
  // "Rusty metal": the general word adds nothing.
  if (finish === "metal" && pending.finish !== null) return;
  const [first] = pending.colours;
  const isSecond = before === "and";
  const former = pending.finish === null ? undefined : finishOf(pending.finish).colour;
  if (finish !== undefined && former !== undefined) {
    const isNext = finishNamed(before) !== undefined;
    // "Blue and gold marble": what another material follows at once only names a colour.
    if (isNext) pending.colours = first === undefined ? [former] : pending.colours.map((value) => value ?? former);
    // "Rusty with copper details": the second material gives the second colour.
    else pending.colours = [first ?? null, colour ?? finishOf(finish).colour ?? null];
    if (isNext) pending.finish = finish;
    pending.age = 0;
    return;
  }
  // "gold and blue": gold has its own colour, blue is the second. "Blue and gold" means the same.
  if (finish !== undefined && own === undefined && isSecond && first !== undefined) pending.colours = [null, first];
  if (finish === undefined && isSecond && pending.finish !== null && first === undefined) pending.colours = [null];
  if (colour !== undefined) pending.colours.push(colour);
  pending.finish = finish ?? pending.finish;
  pending.age = 0;
}

/** "A chair made of gold", "a car, red and shiny": what is left over belongs to the first thing that has none of it. */
function attachRest(wishes: ThingWish[], pending: Pending): Pick<Motif, "colours" | "finish"> {
  const [first] = wishes;
  if (first === undefined) return { colours: pending.colours, finish: pending.finish };
  const colours = first.colours.length === 0 ? pending.colours.slice(0, 2) : first.colours;
  wishes[0] = { ...first, colours, finish: first.finish ?? pending.finish };
  return { colours: first.colours.length === 0 ? [] : pending.colours, finish: null };
}

/** What some things show themselves when the prompt names it. */
const CONTENTS: Readonly<Record<string, readonly string[]>> = {
  vase: ["flower"],
  bowl: ["apple", "banana", "strawberry"],
  tree: ["apple", "flower"],
  chest: ["coin", "gem"],
  cake: ["candle"],
  knight: ["sword", "shield"],
  person: ["crown", "hat"],
  wizard: ["hat"],
  snowman: ["hat", "carrot"],
  crown: ["gem"],
  ring: ["gem"],
  cactus: ["flower"],
  island: ["palm", "tree"],
  landscape: ["tree", "pine", "mountain"],
  mountain: ["tree", "pine"],
  planet: ["ring"],
  // A picture of anything.
  frame: Object.keys(THINGS),
};

function withoutContents(wishes: readonly ThingWish[]): readonly ThingWish[] {
  const isInside = (thing: string, holder: string): boolean =>
    thing !== holder && (CONTENTS[holder] ?? []).includes(thing);
  return wishes
    .filter(({ thing }) => !wishes.some((holder) => isInside(thing, holder.thing)))
    .map((holder) => ({
      ...holder,
      contentColours: wishes.flatMap(({ thing, colours }) => (isInside(thing, holder.thing) ? colours : [])),
    }));
}
