/** Chooses texts from a prompt for a property: by its name, by the usual content of such names, and then from the remaining values. */
import { type Facts, findArithmetic, type NameGroup } from "./facts.ts";
import { asList } from "./json.ts";
import { nameWords, paddedWords, singular, topicsOf } from "./words.ts";

export interface Sources {
  readonly facts: Facts;
  /** Returns a sentence or two, for properties that contain prose. */
  readonly prose: () => string;
}

type TextFinder = (sources: Sources) => readonly string[];

const after =
  (...prepositions: readonly string[]): TextFinder =>
  ({ facts }) =>
    namesWhere(facts, ({ preposition }) => prepositions.includes(preposition));

const PATHS = /(?<![^\s"'`])(?:~|\.{1,2})?\/[\w./-]*[\w/]/g;

/** Meanings of property names. The first row with a word of the name applies. The name's last word is tried first. */
const MEANINGS: readonly (readonly [words: string, offer: TextFinder])[] = [
  ["email mail", ({ facts }) => facts.emails],
  ["url uri link website href", ({ facts }) => facts.urls],
  ["path directory dir folder file", ({ facts }) => facts.text.match(PATHS) ?? []],
  ["origin from source departure", after("from", "between")],
  ["destination to arrival", after("to", "between")],
  ["city town", (sources) => placesIn(sources).map((place) => place.split(",", 1)[0] ?? place)],
  ["location place country region address area capital where", placesIn],
  ["language lang locale", after("to", "into", "in")],
  ["expression formula equation calculation", ({ facts }) => [findArithmetic(facts.text) ?? ""]],
  ["date day deadline birthday when", ({ facts }) => facts.dates],
  ["query q search term keyword question prompt input topic subject title text message content body", queryOf],
  [
    "answer response reply summary description explanation reason reasoning thought comment note",
    (all) => [all.prose()],
  ],
  ["name person user author customer contact participant attendee member", personsIn],
];
const TEXT_FINDERS = new Map(
  MEANINGS.flatMap(([names, findTexts]) => names.split(" ").map((name) => [name, findTexts] as const)),
);

/** Returns texts for a property, the best match first. */
export function textsFor(name: string, sources: Sources): readonly string[] {
  const { facts } = sources;
  const said = facts.valueOf(nameWords(name));
  const otherTexts = [...facts.quoted, ...namesWhere(facts, () => true), ...topicsOf(facts.text)];
  return [...(said === undefined ? [] : [said]), ...(textFinderOf(name)?.(sources) ?? []), ...otherTexts].filter(
    Boolean,
  );
}

/** Returns numbers for a property, the best match first. */
export function numbersFor(name: string, facts: Facts): readonly number[] {
  const words = nameWords(name);
  const said = facts.valueOf(words.at(-1) === "age" ? ["years"] : words) ?? facts.valueOf(words);
  const isNumber = said !== undefined && /^-?[\d.,]+$/.test(said);
  return [...(isNumber ? [Number(said.replaceAll(",", ""))] : []), ...facts.numbers];
}

/** Returns the members of an enumeration that the prompt mentions, in the prompt's order. */
export function membersIn(members: unknown, { text }: Facts): readonly unknown[] {
  const prompt = paddedWords(text);
  const place = (member: unknown): number => prompt.indexOf(paddedWords(String(member)));
  const mentioned = asList(members).filter((member) => typeof member === "string" && place(member) !== -1);
  return mentioned.toSorted((a, b) => place(a) - place(b));
}

/** Returns true if the prompt contains a specific text for a property. Decides whether an optional property is written. */
export function hasTextFor(name: string, sources: Sources): boolean {
  const findTexts = textFinderOf(name);
  return findTexts !== undefined && findTexts !== queryOf && findTexts(sources).some((text) => text !== "");
}

function textFinderOf(name: string): TextFinder | undefined {
  const finders = nameWords(name).map((word) => TEXT_FINDERS.get(singular(word)));
  return finders.findLast((finder) => finder !== undefined && finder !== personsIn) ?? finders.findLast(Boolean);
}

function namesWhere(facts: Facts, isRight: (group: NameGroup) => boolean): readonly string[] {
  return facts.names.filter(isRight).flatMap(({ names }) => names);
}

function placesIn(sources: Sources): readonly string[] {
  return after("in", "at", "for", "near", "around", "of", "between", "about", "visit", "to", "from")(sources);
}

function personsIn({ facts }: Sources): readonly string[] {
  return namesWhere(facts, ({ preposition }) => ["", "named", "called", "by", "with"].includes(preposition));
}

function queryOf({ facts }: Sources): readonly string[] {
  return [facts.query];
}
