/** What can be drawn from a prompt: names, places, numbers, quoted texts, pairs such as "age: 42". */
import { findNames, type NameGroup } from "./names.ts";
import { firstCharacters, isStopWord, paddedWords } from "./words.ts";

export interface Facts {
  readonly text: string;
  /** Content words in order, without repetition. */
  topics(): readonly string[];
  /** In order; the digits of dates, times and addresses are left out. */
  numbers(): readonly number[];
  quoted(): readonly string[];
  emails(): readonly string[];
  urls(): readonly string[];
  /** ISO dates, such as 2026-02-28. */
  dates(): readonly string[];
  /** Days by name: "Friday", "tomorrow", "3 May". */
  days(): readonly string[];
  /** Names that stand together, as in "Paris, Rome and Oslo", with the preposition before them. */
  names(): readonly NameGroup[];
  /** What to look for: a quoted text, what follows "search for" or "about", else the whole prompt. */
  query(): string;
  /** The longest piece of arithmetic, such as "3 * (4 + 5)". */
  arithmetic(): string | undefined;
  /** The value a prompt gives to a name: "age: 42", "city is Oslo", "limit 5". */
  valueOf(words: readonly string[]): string | undefined;
  /** The number that stands before a noun: "5 results" for `results`. */
  numberBefore(word: string): number | undefined;
  mentions(phrase: string): boolean;
}

/** Of longer prompts this much is read at the start and at the end. */
const HEAD_CHARACTERS = 6_000;
const TAIL_CHARACTERS = 2_000;
const TOPICS_MAX = 8;
const TEXT_VALUE_MAX = 200;

const EMAIL = /[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+/g;
const URL_PATTERN = /https?:\/\/[^\s"'<>)\]]+[^\s"'<>)\].,;:!?]/g;
const DATE = /\b\d{4}-(?:0[1-9]|1[0-2])-(?:0[1-9]|1\d|2[0-8])\b/g;
const DATE_OR_TIME = /\b\d{4}-\d{2}-\d{2}(?:[T ]\d{2}:\d{2}\S*)?|\b\d{1,2}:\d{2}(?::\d{2})?\b/g;
const MONTH = "(?:January|February|March|April|May|June|July|August|September|October|November|December)";
const DAY = new RegExp(
  `\\b(?:(?:next\\s+)?(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|today|tonight|tomorrow|\\d{1,2}\\s+${MONTH}|${MONTH}\\s+\\d{1,2})\\b`,
  "gi",
);
const NUMBER =
  /(?<![\p{L}\d.])-?\d{1,15}(?:,\d{3})*(?:\.\d{1,15})?|\b(?:two|three|four|five|six|seven|eight|nine|ten|eleven|twelve)\b/giu;
const NUMBER_WORDS = "zero one two three four five six seven eight nine ten eleven twelve".split(" ");
const QUOTED =
  /"([^"\n]{1,400})"|“([^”\n]{1,400})”|(?<![\p{L}\p{N}])'([^'\n]{1,400})'(?![\p{L}\p{N}])|`([^`\n]{1,400})`/gu;
const WORD = /\p{L}[\p{L}\p{M}\p{N}'’-]*/gu;
const ARITHMETIC = /[-(\d.][\d\s().+\-*/^×÷%]{0,160}[\d)]/g;
const SEARCH_FOR =
  /\b(?:search(?:ing)?|look(?:ing)?|google|find|query)\b(?:\s+(?:(?:in|on|the|web|internet|docs?|documentation|database|online|up))\b)*(?:\s+(?:for|about))?\s+([^\n]+)/i;
const ABOUT = /\b(?:saying|that\s+says|about|regarding|for)\s+([^\n]+)/i;
const QUOTED_VALUE = '"([^"\\s][^"\\n]{0,200})"';
const CAPITALISED_WORD = "(?-i:\\p{Lu})[\\p{L}\\p{M}'’-]*";
/** What may follow a name: `: anything to the end of the clause`, `"quoted"`, `5`, `Big Words`, `is anything`. */
const VALUE_FORMS = [
  `[:=]\\s*(?:${QUOTED_VALUE}|'([^'\\n]{1,200})'|([^\\n,;]{1,200}))`,
  `(?:(?:is|of|to|as|at|equals)\\s+)?(?:${QUOTED_VALUE}|(-?\\d[\\d.,]*|${CAPITALISED_WORD}(?:\\s${CAPITALISED_WORD})*))`,
  "is\\s+([\\p{L}\\p{N}_-]+)",
];
const TOOL_MENTION =
  /^(?:please\s+)?(?:use|call|invoke|run)\s+(?:the\s+)?\S+(?:\s+(?:tool|function))?\s+(?:to|with|for|and)\s+/i;

export function createFacts(prompt: string): Facts {
  const text =
    prompt.length <= HEAD_CHARACTERS + TAIL_CHARACTERS
      ? prompt
      : `${prompt.slice(0, HEAD_CHARACTERS)}\n${prompt.slice(-TAIL_CHARACTERS)}`.toWellFormed();
  const all = (pattern: RegExp): readonly string[] => text.match(pattern) ?? [];
  const padded = once(() => paddedWords(text));
  // A pattern for each property costs 0.1 ms to build: most of them are not in the prompt at all.
  const compact = once(() => padded().replaceAll(" ", ""));
  const quoted = once(() => [...text.matchAll(QUOTED)].map((m) => (m[1] ?? m[2] ?? m[3] ?? m[4] ?? "").trim()));
  const withoutDates = once(() => text.replace(URL_PATTERN, " ").replace(EMAIL, " ").replace(DATE_OR_TIME, " "));
  return {
    text,
    topics: once(() => findTopics(text)),
    numbers: once(() => (withoutDates().match(NUMBER) ?? []).map(toNumber)),
    quoted,
    emails: once(() => all(EMAIL)),
    urls: once(() => all(URL_PATTERN)),
    dates: once(() => all(DATE)),
    days: once(() => all(DAY)),
    names: once(() => findNames(text)),
    query: once(() => findQuery(text, quoted())),
    arithmetic: once(() => findArithmetic(withoutDates())),
    valueOf: (words) => (compact().includes(words.join("")) ? findValue(text, words) : undefined),
    numberBefore: (word) => findNumberBefore(withoutDates(), word),
    mentions: (phrase) => {
      const words = paddedWords(phrase);
      return words !== "  " && padded().includes(words);
    },
  };
}

function findTopics(text: string): readonly string[] {
  const topics = new Map<string, string>();
  for (const word of text.match(WORD) ?? []) {
    const plain = word.replace(/['’]s$/, "");
    const key = plain.toLowerCase();
    if (isStopWord(key) || isStopWord(word) || (/^[a-z]{1,2}$/.test(key) && plain === key) || topics.has(key)) continue;
    topics.set(key, plain.length > 40 ? firstCharacters(plain, 12) : plain);
    if (topics.size === TOPICS_MAX) break;
  }
  return [...topics.values()];
}

function toNumber(text: string): number {
  const word = NUMBER_WORDS.indexOf(text.toLowerCase());
  return word === -1 ? Number(text.replaceAll(",", "")) : word;
}

function findQuery(text: string, quoted: readonly string[]): string {
  const [first] = quoted;
  if (first !== undefined) return first;
  const found = SEARCH_FOR.exec(text)?.[1] ?? ABOUT.exec(text)?.[1] ?? text.replace(TOOL_MENTION, "");
  const sentence = found.split(/[.?!](?:\s|$)|\n/, 1)[0]?.trim() ?? "";
  return firstCharacters(sentence === "" ? text.trim() : sentence, TEXT_VALUE_MAX);
}

function findArithmetic(text: string): string | undefined {
  const found = (text.match(ARITHMETIC) ?? []).map((piece) => piece.trim());
  return found.filter((piece) => /\d\s*[-+*/^×÷%]\s*[-(\d.]/.test(piece)).toSorted((a, b) => b.length - a.length)[0];
}

function findValue(text: string, words: readonly string[]): string | undefined {
  if (words.length === 0 || words.length > 8) return undefined;
  const name = words.map((word) => RegExp.escape(word)).join("[\\s_-]*");
  const pattern = new RegExp(`(?<![\\p{L}\\p{N}])${name}["'\`]?\\s*(?:${VALUE_FORMS.join("|")})`, "iu");
  const match = pattern.exec(text);
  if (match === null) return undefined;
  const value = match.slice(1).find((group) => group !== undefined);
  return value?.replace(/\s+and\s+[\p{L}_]+\s*(?:[:=]|\bis\b).*$/u, "").replace(/[.,;!?)\s]+$/, "");
}

function findNumberBefore(text: string, word: string): number | undefined {
  const stem = RegExp.escape(word.replace(/s$/, ""));
  const match = new RegExp(`(-?\\d{1,15}(?:\\.\\d{1,15})?)\\s*(?:[a-z]+\\s+)?${stem}s?\\b`, "i").exec(text);
  return match?.[1] === undefined ? undefined : Number(match[1]);
}

function once<T>(compute: () => T): () => T {
  let known: { readonly value: T } | undefined;
  return () => (known ??= { value: compute() }).value;
}
