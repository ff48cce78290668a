/** What a prompt asks to see: things, how many, in which colour, and where. */
import { MEDIA_LIMITS } from "#workers/providers/sandbox/media/limits.ts";

import { COLOURS, type Colour } from "./colours.ts";
import { readScene, type Setting } from "./settings.ts";
import { THINGS } from "./things.ts";
import { COUNTS, PHRASES, PREPOSITIONS, SYNONYMS, type How } from "./words.ts";

export interface Wish {
  readonly thing: string;
  /** null leaves it to the thing. */
  readonly colour: Colour | null;
  readonly count: number;
  /** How it stands to another wish, of that index; null by itself. */
  readonly at: { readonly how: How; readonly whom: number } | null;
}

export interface Motif extends Setting {
  readonly wishes: readonly Wish[];
  /** Colours that belong to no thing, in the prompt's order. */
  readonly colours: readonly Colour[];
}

export function readPrompt(prompt: string, negativePrompt = ""): Motif {
  const text = plain(prompt);
  const unwanted = new Set((plain(negativePrompt).match(/\p{L}+/gu) ?? []).map((word) => thingOf(word) ?? word));
  const { wishes, colours } = readWishes(text, unwanted);
  const allowed = text.replaceAll(/\p{L}+/gu, (word) => (unwanted.has(thingOf(word) ?? word) ? " " : word));
  return {
    wishes,
    colours,
    ...readScene(
      allowed,
      wishes.map(({ thing }) => thing),
    ),
  };
}

function plain(prompt: string): string {
  const text = prompt.slice(0, MEDIA_LIMITS.promptCharactersMax).toLowerCase();
  return PHRASES.reduce((said, [phrase, word]) => said.replaceAll(phrase, word), text);
}

function readWishes(text: string, unwanted: ReadonlySet<string>): { wishes: Wish[]; colours: Colour[] } {
  const words = text.match(/\p{L}+|\d+|[,.;!?]/gu) ?? [];
  const wishes: Wish[] = [];
  const colours: Colour[] = [];
  let colour: Colour | null = null;
  let count: number | null = null;
  let sinceColour = 0;
  let left: number = MEDIA_LIMITS.objectsMax;
  /** What a preposition is said of: "a cat and a dog on …". */
  let subjects: number[] = [];
  let how: How | "holds" | null = null;
  words.forEach((word, at) => {
    const named = unwanted.has(word) || !Object.hasOwn(COLOURS, word) ? undefined : COLOURS[word];
    const thing = named !== undefined && isColour(words, at) ? undefined : thingOf(word);
    sinceColour += 1;
    if (named !== undefined && thing === undefined) {
      if (colour !== null) colours.push(colour);
      colour = named;
      sinceColour = 0;
    } else if (Object.hasOwn(COUNTS, word) || /^\d$/.test(word)) {
      count = COUNTS[word] ?? Number(word);
    } else if (thing !== undefined && !unwanted.has(thing)) {
      // "a red and white balloon": a colour reaches two words far.
      const own = sinceColour <= 3 ? colour : null;
      if (own === null && colour !== null) colours.push(colour);
      const isMany = word.endsWith("s") && word !== thing;
      const wanted = Math.min(left, count ?? (isMany ? 3 : 1));
      const known = wishes.findIndex((wish) => wish.thing === thing && wish.colour === own);
      const index = known < 0 ? wishes.length : known;
      if (known < 0 && wanted > 0) {
        wishes.push({ thing, colour: own, count: wanted, at: null });
        left -= wanted;
      }
      if (index < wishes.length) {
        if (how === "holds") relate(wishes, index, "in", subjects.at(-1) ?? index);
        else if (how === "beside" && isOnTop(wishes[subjects[0] ?? -1], thing))
          relate(wishes, index, "on", subjects[0] ?? 0);
        else if (how !== null) for (const subject of subjects) relate(wishes, subject, how, index);
        // What comes next is said of the vase, not of its flowers.
        if (how === null) subjects = [...subjects, index];
        else if (how !== "holds") subjects = [index];
      }
      how = null;
      colour = null;
      count = null;
    } else if (word === "it" && how === "on" && subjects.length === 1) {
      // "a table with a lamp on it"
      const on = subjects[0] ?? 0;
      const host = wishes.findIndex((wish) => wish.at?.how === "beside" && wish.at.whom === on);
      if (host >= 0) {
        wishes[host] = Object.assign({}, wishes[host], { at: null });
        relate(wishes, on, "on", host);
      }
      how = null;
    } else if (/^[.;!?]$/.test(word)) {
      subjects = [];
      how = null;
    } else if (word === ",") {
      how = null;
    } else if (word === "of" || word === "with" || Object.hasOwn(PREPOSITIONS, word)) {
      const holder = THINGS[wishes[subjects.at(-1) ?? -1]?.thing ?? ""];
      const holds = (word === "of" || word === "with") && holder?.inside !== undefined && how === null;
      how = holds ? "holds" : word === "of" ? how : (PREPOSITIONS[word] ?? null);
    }
  });
  if (colour !== null) colours.push(colour);
  return { wishes, colours };
}

/** The first word on it holds, and nothing stands on what stands on itself. */
function relate(wishes: Wish[], subject: number, how: How, whom: number): void {
  const wish = wishes[subject];
  if (wish === undefined || wish.at !== null) return;
  for (let at: number | undefined = whom; at !== undefined; at = wishes[at]?.at?.whom) if (at === subject) return;
  wishes[subject] = { ...wish, at: { how, whom } };
}

/** "a table with a candle": where it stands needs no saying. */
function isOnTop(host: Wish | undefined, thing: string): boolean {
  const { home, top } = THINGS[host?.thing ?? ""] ?? {};
  return home === "room" && top !== undefined && THINGS[thing]?.home === "studio";
}

/** "an orange cat" has the colour, "an orange on a table" is the fruit. */
function isColour(words: readonly string[], at: number): boolean {
  const [word, before, next, after] = [words[at] ?? "", words[at - 1] ?? "", words[at + 1], words[at + 2] ?? ""];
  if (word === "rose") return next !== undefined && thingOf(next) !== undefined;
  if (word !== "orange") return true;
  if (!/^(an|the|one|fresh|ripe|juicy|sliced|half)$/.test(before)) return true;
  if (next === undefined || /^[,.;!?]$/.test(next)) return false;
  return next === "and" ? Object.hasOwn(COLOURS, after) : !Object.hasOwn(PREPOSITIONS, next);
}

function thingOf(word: string): string | undefined {
  const forms = [word, word.replace(/s$/, ""), word.replace(/es$/, ""), word.replace(/ies$/, "y")];
  for (const form of forms) {
    if (Object.hasOwn(THINGS, form)) return form;
    if (Object.hasOwn(SYNONYMS, form)) return SYNONYMS[form];
  }
  return undefined;
}
