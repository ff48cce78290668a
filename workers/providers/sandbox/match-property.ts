/** Finds what a prompt says about a property: by its name, by what such names usually mean, by what is left over. */
import type { Facts } from "./facts.ts";
import { asList, type JsonRecord, own } from "./json.ts";
import type { NameGroup } from "./names.ts";
import { isStopWord, nameWords, singular } from "./words.ts";

/** What a property of such a name usually holds. */
type Meaning =
  | "place"
  | "origin"
  | "destination"
  | "person"
  | "date"
  | "email"
  | "url"
  | "arithmetic"
  | "language"
  | "query"
  | "prose"
  | "identifier"
  | "other";

const MEANINGS: readonly (readonly [Meaning, string])[] = [
  ["email", "email mail"],
  ["url", "url uri link website href"],
  ["origin", "origin from source departure"],
  ["destination", "destination to arrival"],
  ["place", "city location place country region town address area capital venue where locality"],
  ["arithmetic", "expression formula equation calculation arithmetic"],
  ["date", "date day deadline birthday when due"],
  ["language", "language lang locale"],
  ["identifier", "id identifier number"],
  ["query", "query q search term keyword question prompt input topic subject title text message content body"],
  [
    "prose",
    "answer response reply summary description explanation reason reasoning thought comment note output result caption step",
  ],
  [
    "person",
    "name person user username author customer recipient contact attendee participant owner assignee student patient member people",
  ],
];

const MEANING_BY_WORD = new Map(
  MEANINGS.flatMap(([meaning, words]) => words.split(" ").map((word) => [word, meaning])),
);
const PLACE_PREPOSITIONS = new Set("in at for near around of between about visit to from".split(" "));
const PERSON_PREPOSITIONS = new Set("named called by with".split(" "));
const ITEMS_USUAL_MAX = 5;

/** The last telling word decides: `user_email` is an e-mail address, `city_name` a city. */
function meaningOf(name: string): Meaning {
  const meanings = nameWords(name).map((word) => MEANING_BY_WORD.get(singular(word)));
  return (
    meanings.findLast((meaning) => meaning !== undefined && meaning !== "person" && meaning !== "identifier") ??
    meanings.findLast((meaning) => meaning !== undefined) ??
    "other"
  );
}

export interface TextSources {
  readonly facts: Facts;
  readonly prose: () => string;
  readonly focus: number;
  /** Pieces of the prompt already given to another property. */
  readonly used: ReadonlySet<string>;
}

/** Texts for a property, the best first; may be empty. */
export function* textsFor(name: string, format: unknown, sources: TextSources): Generator<string, void, void> {
  const { facts, used } = sources;
  const words = nameWords(name);
  const said = facts.valueOf(words);
  if (said !== undefined) yield said;
  const meaning = meaningOf(name);
  if (format === "email" || meaning === "email") yield* unused(facts.emails(), used);
  if (format === "uri" || meaning === "url") yield* unused(facts.urls(), used);
  if (format === "date" || meaning === "date") yield* unused([...facts.dates(), ...facts.days()], used);
  yield* textsOf(meaning, words, sources);
  yield* unused(facts.quoted(), used);
  yield* unused(allNames(facts, sources.focus), used);
  yield* unused(facts.topics(), used);
}

function* textsOf(meaning: Meaning, words: readonly string[], sources: TextSources): Generator<string, void, void> {
  const { facts, used, focus } = sources;
  switch (meaning) {
    case "origin":
      yield* unused(
        placesAfter(facts, focus, (preposition) => preposition === "from"),
        used,
      );
      yield* unused(
        placesAfter(facts, focus, (preposition) => preposition === "between"),
        used,
      );
      return;
    case "destination":
      yield* unused(
        placesAfter(facts, focus, (preposition) => preposition === "to"),
        used,
      );
      yield* unused(
        placesAfter(facts, focus, (preposition) => preposition === "between"),
        used,
      );
      return;
    case "place":
      for (const place of unused(
        placesAfter(facts, focus, (one) => PLACE_PREPOSITIONS.has(one)),
        used,
      )) {
        yield words.includes("city") || words.includes("town") ? (place.split(",", 1)[0] ?? place) : place;
      }
      return;
    case "language":
      yield* unused(
        placesAfter(facts, focus, (one) => one === "to" || one === "into" || one === "in"),
        used,
      );
      return;
    case "person":
      yield* personNames(words, sources);
      return;
    case "arithmetic": {
      const found = facts.arithmetic();
      if (found !== undefined) yield found;
      return;
    }
    case "identifier": {
      const said = facts.valueOf(words.filter((word) => MEANING_BY_WORD.get(word) !== "identifier"));
      if (said !== undefined) yield said;
      return;
    }
    case "query":
      if (facts.text !== "") yield facts.query();
      return;
    case "prose":
      yield sources.prose();
      return;
    case "date":
    case "email":
    case "url":
    case "other":
  }
}

function* personNames(words: readonly string[], sources: TextSources): Generator<string, void, void> {
  const { facts, used, focus } = sources;
  const isLikely = (group: NameGroup): boolean => group.isSubject || PERSON_PREPOSITIONS.has(group.preposition);
  const likely = facts.names().filter((group) => isLikely(group) && !group.isDoubtful);
  for (const person of unused(
    [
      ...rotate(
        likely.flatMap((group) => group.names),
        focus,
      ),
      ...facts.quoted(),
    ],
    used,
  )) {
    const parts = person.split(" ");
    if (words.includes("first")) yield parts[0] ?? person;
    else if (words.includes("last") && parts.length > 1) yield parts.at(-1) ?? person;
    else yield person;
  }
}

function placesAfter(facts: Facts, focus: number, isRight: (preposition: string) => boolean): readonly string[] {
  return rotate(
    facts
      .names()
      .filter((group) => isRight(group.preposition))
      .flatMap((group) => group.names),
    focus,
  );
}

function allNames(facts: Facts, focus: number): readonly string[] {
  const groups = facts.names();
  const certain = groups.filter((group) => !group.isDoubtful).flatMap((group) => group.names);
  const doubtful = groups.filter((group) => group.isDoubtful).flatMap((group) => group.names);
  return [...rotate(certain, focus), ...rotate(doubtful, focus)];
}

/** Numbers for a property, the best first. */
export function* numbersFor(name: string, facts: Facts, used: ReadonlySet<string>): Generator<number, void, void> {
  const words = nameWords(name);
  const said = facts.valueOf(words);
  if (said !== undefined && /^-?[\d.,]+$/.test(said)) yield Number(said.replaceAll(",", ""));
  for (const word of words.toReversed()) {
    const counted =
      isStopWord(word) || word.length < 3 ? undefined : facts.numberBefore(word === "age" ? "year" : word);
    if (counted !== undefined) yield counted;
  }
  for (const number of facts.numbers()) if (!used.has(String(number))) yield number;
}

/** Whether the prompt says anything definite about an optional property. */
export function speaksOf(name: string, schema: JsonRecord, facts: Facts): boolean {
  const words = nameWords(name);
  if (facts.valueOf(words) !== undefined) return true;
  if (asList(own(schema, "enum")).some((member) => typeof member === "string" && facts.mentions(member))) return true;
  const type = own(schema, "type");
  if (type === "boolean") return facts.mentions(words.join(" "));
  if (type === "integer" || type === "number")
    return words.some((word) => !isStopWord(word) && word.length > 2 && facts.numberBefore(word) !== undefined);
  const meaning = meaningOf(name);
  if (meaning === "email") return facts.emails().length > 0;
  if (meaning === "url") return facts.urls().length > 0;
  if (meaning === "date") return facts.dates().length + facts.days().length > 0;
  if (meaning === "origin") return placesAfter(facts, 0, (one) => one === "from").length > 0;
  if (meaning === "destination") return placesAfter(facts, 0, (one) => one === "to").length > 0;
  return (meaning === "place" || meaning === "person") && facts.names().some((group) => !group.isDoubtful);
}

/** How many items an array gets when its schema leaves that open: as many as the prompt names, else one or two. */
export function countItems(
  name: string,
  items: JsonRecord,
  options: { readonly facts: Facts; readonly optional: "all" | "mentioned" },
): number {
  const { facts } = options;
  const members = asList(own(items, "enum"));
  const type = own(items, "type");
  const named = Math.max(0, ...facts.names().map((group) => (group.isDoubtful ? 0 : group.names.length)));
  const subjects = facts
    .names()
    .filter((group) => group.isSubject)
    .flatMap((group) => group.names).length;
  let count = Math.max(named, subjects, facts.quoted().length);
  if (members.length > 0) count = members.filter((one) => typeof one === "string" && facts.mentions(one)).length;
  else if (type === "number" || type === "integer") count = facts.numbers().length;
  else if (meaningOf(name) === "other" && type === "string" && count < 2) count = Math.min(3, facts.topics().length);
  return Math.min(ITEMS_USUAL_MAX, Math.max(count, options.optional === "all" && members.length !== 1 ? 2 : 1));
}

/** Names that stand together and would fill the same text property of several calls. */
export function namesTogether(facts: Facts): readonly string[] {
  const groups = facts.names().map((group) => group.names);
  return [...groups, facts.quoted()].find((names) => names.length > 1) ?? [];
}

/** Whether a text property would take a name out of a list, so that a list asks for several calls. */
export function takesName(name: string): boolean {
  return ["place", "person", "other", "query", "origin", "destination"].includes(meaningOf(name));
}

/** Whether a property is one end of a journey: two of them take two names in one call. */
export function isEndpoint(name: string): boolean {
  return meaningOf(name) === "origin" || meaningOf(name) === "destination";
}

function* unused(values: readonly string[], used: ReadonlySet<string>): Generator<string, void, void> {
  for (const value of values) if (!used.has(value)) yield value;
}

function rotate(values: readonly string[], by: number): readonly string[] {
  const start = values.length === 0 ? 0 : by % values.length;
  return [...values.slice(start), ...values.slice(0, start)];
}
