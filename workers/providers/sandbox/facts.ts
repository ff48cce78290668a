/** Extracts facts that a prompt states explicitly: names, numbers, dates, addresses, quoted texts, and pairs such as "age: 42". */
import { firstCharacters, isStopWord, paddedWords } from "./words.ts";

/** Adjacent names, as in "in Paris, Rome and Oslo", with the preposition that precedes them. */
export interface NameGroup {
  readonly preposition: string;
  readonly names: readonly string[];
}

export interface Facts {
  readonly text: string;
  /** Numbers in the prompt's order, without the digits of dates, times and addresses. */
  readonly numbers: readonly number[];
  readonly quoted: readonly string[];
  readonly emails: readonly string[];
  readonly urls: readonly string[];
  /** Dates in the prompt. ISO dates come first, then dates by name: "2026-02-28", "Friday", "3 May". */
  readonly dates: readonly string[];
  readonly names: readonly NameGroup[];
  /** Search text of the prompt. It is a quoted text, else the text after "search for" or "about", else the whole prompt. */
  readonly query: string;
  /** Returns the value that the prompt gives for a name, as in "age: 42", "city is Oslo", "limit 5", "5 results". */
  valueOf(name: readonly string[]): string | undefined;
}

const QUERY_CHARACTERS_MAX = 200;
const MONTHS = "(?:January|February|March|April|May|June|July|August|September|October|November|December)";
const DAYS = "(?:(?:next )?(?:Mon|Tues|Wednes|Thurs|Fri|Satur|Sun)day|today|tonight|tomorrow)";
const WORD = "(?-i:\\p{Lu})[\\p{L}\\p{M}'’-]*";
/** Matches a name such as "Ada Lovelace" or "Austin, TX". */
const NAME = `${WORD}(?: ${WORD})*(?:, (?-i:[A-Z]{2})\\b)?`;
const JOINT = `(?:, (?:and |or )?| and | or | & )(?:(?:in|at|for|from) )?`;

const EMAIL = /[A-Za-z0-9._%+-]{1,64}@[A-Za-z0-9-]{1,63}(?:\.[A-Za-z0-9-]{1,63})+/g;
const URLS = /https?:\/\/[^\s"'<>)\]]+[^\s"'<>)\].,;:!?]/g;
const DATE_OR_TIME = /\b\d{4}-\d{2}-\d{2}(?:T\S+)?|\b\d{1,2}:\d{2}(?::\d{2})?\b/g;
const DATE = /\b\d{4}-\d{2}-\d{2}\b/g;
const DAY = new RegExp(`\\b(?:${DAYS}|\\d{1,2} ${MONTHS}|${MONTHS} \\d{1,2})\\b`, "gi");
const NUMBER = /(?<![\p{L}\d.])-?\d{1,15}(?:,\d{3})*(?:\.\d{1,15})?/gu;
const QUOTED =
  /"([^"\n]{1,400})"|“([^”\n]{1,400})”|(?<![\p{L}\p{N}])'([^'\n]{1,400})'(?![\p{L}\p{N}])|`([^`\n]{1,400})`/gu;
const ARITHMETIC = /[-(\d.][\d\s().+\-*/^×÷%]{0,160}[\d)]/g;
const SEARCH =
  /\b(?:search|look|google|find|query)\b(?: (?:in|on|the|web|docs|online|up))*(?: (?:for|about))? ([^\n]+)/i;
const ABOUT = /\b(?:saying|that says|about|regarding|for) ([^\n]+)/i;
/** Matches capitalised names and, after a preposition of place, also a lower-case word. */
const NAMES = new RegExp(
  `(?:\\b(in|at|for|near|around|of|to|from|into|between|about|visit|with|by|named|called) (?:the )?)?(?<![\\p{L}\\p{N}])(${NAME}(?:${JOINT}${NAME})*)|\\b(in|at|near|for|from|to) (\\p{Ll}{3,})\\b`,
  "giu",
);
const EVERY_NAME = new RegExp(NAME, "giu");
const NO_NAME = new RegExp(`^(?:${DAYS}|${MONTHS}|celsius|fahrenheit|weather|invent|total|order)$`, "i");

export function createFacts(text: string): Facts {
  const plain = text.replace(URLS, " ").replace(EMAIL, " ").replace(DATE_OR_TIME, " ");
  const all = (pattern: RegExp): readonly string[] => text.match(pattern) ?? [];
  const quoted = [...text.matchAll(QUOTED)].map((match) => match.slice(1).find(Boolean)?.trim() ?? "");
  const compact = paddedWords(text).replaceAll(" ", "");
  return {
    text,
    numbers: (plain.match(NUMBER) ?? []).map((digits) => Number(digits.replaceAll(",", ""))),
    quoted,
    emails: all(EMAIL),
    urls: all(URLS),
    dates: [...all(DATE), ...all(DAY)],
    names: findNames(plain),
    query: findQuery(text, quoted),
    // Building a pattern takes 0.1 ms, and most names are not in the prompt.
    valueOf: (name) => (compact.includes(name.join("").replace(/s$/, "")) ? findValue(text, name) : undefined),
  };
}

/** Returns the longest arithmetic expression in a text, such as "3 * (4 + 5)". */
export function findArithmetic(text: string): string | undefined {
  const found = (text.replace(DATE_OR_TIME, " ").match(ARITHMETIC) ?? []).map((piece) => piece.trim());
  return found.filter((piece) => /\d\s*[-+*/^×÷%]\s*[-(\d.]/.test(piece)).toSorted((a, b) => b.length - a.length)[0];
}

function findNames(text: string): readonly NameGroup[] {
  const groups = [...text.matchAll(NAMES)].map(([, before, names, beforePlace = "", place = ""]): NameGroup => {
    const list = names?.match(EVERY_NAME) ?? [place];
    return { preposition: (before ?? beforePlace).toLowerCase(), names: list.map(withoutOpening).filter(Boolean) };
  });
  return groups.filter(({ names }) => names.length > 0);
}

/**
 * Removes words at the start of a name that are no part of it, such as the capitalised first word of a sentence. Empty if no word remains.
 */
function withoutOpening(name: string): string {
  const words = name.replace(/['’]s?$/, "").split(" ");
  const start = words.findIndex((word) => !isStopWord(word) && !NO_NAME.test(word));
  return start === -1 ? "" : words.slice(start).join(" ");
}

function findQuery(text: string, [quoted]: readonly string[]): string {
  const found = quoted ?? SEARCH.exec(text)?.[1] ?? ABOUT.exec(text)?.[1] ?? text;
  const sentence = found.split(/[.?!](?:\s|$)|\n/, 1)[0]?.trim() ?? "";
  return firstCharacters(sentence === "" ? text.trim() : sentence, QUERY_CHARACTERS_MAX);
}

function findValue(text: string, words: readonly string[]): string | undefined {
  if (words.length === 0 || words.length > 8) return undefined;
  const name = words.map((word) => RegExp.escape(word)).join("[\\s_-]*");
  const after = `\\s*[:=]\\s*"?([^\\n,;"]{1,200})|(?: (?:is|of|to|as|at|equals))? (?:"([^"\\n]{1,200})"|(-?\\d[\\d.,]*|${NAME}))| is ([\\p{L}\\p{N}_-]+)`;
  const found =
    new RegExp(`(?<![\\p{L}\\p{N}])${name}["'\`]?(?:${after})`, "iu").exec(text) ??
    new RegExp(`(?<![\\p{L}\\p{N}.-])(-?\\d[\\d.]*) (?:\\p{Ll}+ )?${name.replace(/s$/, "")}s?\\b`, "iu").exec(text);
  const value = found?.slice(1).find((group) => group !== undefined);
  return value?.replace(/\s+and\s+[\p{L}_]+\s*(?:[:=]|\bis\b).*$/u, "").replace(/[.,;!?)\s]+$/, "");
}
