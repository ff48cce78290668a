/** The sandbox's own words, for prompts that leave the wording open: repeatable, short, and visibly about the prompt. */
import type { Random } from "./random.ts";
import { firstCharacters, headAndTail, topicsOf } from "./words.ts";

export interface TextMaterial {
  /** What the user asked last. */
  readonly prompt: string;
  readonly random: Random;
  /** Images, files and audio of the last user message. */
  readonly media: readonly string[];
  /** User messages so far. */
  readonly turn: number;
}

export interface ToolResult {
  /** The tool's name; empty when the conversation does not tell. */
  readonly name: string;
  readonly text: string;
}

const TOPICS_SHOWN = 4;
const RESULT_CHARACTERS_MAX = 400;
const LONG_WORDS = 150;
const LONG_WORDS_MAX = 5_000;

const ONE_WORD = /\b(?:one|1|(?:a\s+)?single)[- ]word\b/i;
const YES_OR_NO = /\byes\s+or\s+no\b/i;
const BRIEF = /\b(?:brief|briefly|short|concise|(?:one|single)\s+sentence|tl;?dr)\b/i;
const WORD_COUNT = /\b(\d{2,5})[- ]words?\b/i;
const LONG = /\b(?:essay|story|article|long|detailed|in\s+depth|poem)\b/i;

const OPENINGS = [
  "You asked about {topics}.",
  "This is about {topics}.",
  "Here is a short answer about {topics}.",
  "Your question is about {topics}.",
] as const;

const CLOSINGS = [
  "The sandbox wrote this answer: nothing was looked up, and the same request always gets the same text.",
  "The sandbox wrote this without a model, so rely on its form and not on its facts.",
  "No provider was called; the same request with the same seed gets these words again.",
] as const;

const SENTENCES = [
  "Much depends on how {a} and {b} work together.",
  "For {a}, the details matter more than the plan.",
  "A close look at {b} helps to understand {a}.",
  "People who work with {a} every day usually begin with {b}.",
  "It is best to settle {a} before {b}.",
  "A common mistake is to treat {a} as if it were {b}.",
  "A small change in {a} soon shows in {b}.",
  "In other respects, {b} follows its own rules.",
] as const;

/** An answer of the length the prompt seems to want: a word, a sentence or two, or a page. */
export function composeAnswer(material: TextMaterial): string {
  const { prompt, random } = material;
  const request = `${prompt.slice(0, 1_000)}\n${prompt.slice(-1_000)}`;
  if (YES_OR_NO.test(request)) return random.pick(["Yes", "No"]);
  if (ONE_WORD.test(request)) return topicsIn(prompt)[0] ?? "Nothing";
  const opening = composeOpening(material);
  if (BRIEF.test(request)) return opening;
  const words = Math.min(
    LONG_WORDS_MAX,
    Number(WORD_COUNT.exec(request)?.[1] ?? (LONG.test(request) ? LONG_WORDS : 0)),
  );
  if (words > 0) return composePage(material, words, (text) => text.match(/\S+/g)?.length ?? 0);
  return `${opening} ${random.pick(CLOSINGS)}`;
}

/** Sentences about the prompt until `measure` says there is enough of them. */
export function composePage(material: TextMaterial, enough: number, measure: (text: string) => number): string {
  const { prompt, random } = material;
  const topics = topicsIn(prompt, "your message");
  let page = composeOpening(material);
  let size = measure(page);
  for (let at = 0; size < enough; at += 1) {
    const first = topics[at % topics.length] ?? "";
    const second = topics[(at + 1 + random.below(topics.length)) % topics.length] ?? "";
    const sentence = random.pick(SENTENCES).replace("{a}", first).replace("{b}", second);
    const part = `${at % 6 === 5 ? "\n\n" : " "}${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`;
    page += part;
    size += measure(part);
  }
  return page;
}

/** One sentence that names what the prompt is about and what came with it. */
export function composeOpening({ prompt, random, media, turn }: TextMaterial): string {
  const topics = topicsIn(prompt);
  const sentences: string[] = [];
  if (media.length > 0) sentences.push(`You sent ${list(media)}.`);
  if (topics.length > 0) sentences.push(random.pick(OPENINGS).replace("{topics}", list(topics)));
  else if (prompt.trim() !== "") sentences.push(`You wrote "${firstCharacters(prompt.trim(), 80)}".`);
  if (sentences.length === 0) sentences.push("Your message is empty.");
  if (turn > 1) sentences.push(`This is turn ${turn} of our conversation.`);
  return sentences.join(" ");
}

/** What a reasoning model thinks before the answer. */
export function composeReasoning({ prompt, media }: TextMaterial): string {
  const sent = media.length > 0 ? ` They sent ${list(media)}, which I take into account.` : "";
  return `The user asks about ${list(topicsIn(prompt, "your message"))}.${sent} I work out what they want, choose the plainest answer that gives it, and keep it short.`;
}

/** An answer that passes on what the tools returned. */
export function composeFromResults(results: readonly ToolResult[]): string {
  return results.map(({ name, text }) => `${name || "The tool"} returned ${describeResult(text)}.`).join(" ");
}

/** `{"city":"Oslo","celsius":4}` → `city Oslo, celsius 4`; other texts as they are. */
function describeResult(text: string): string {
  const shown = readable(text.trim()).replace(/[.\s]+$/, "");
  const start = firstCharacters(shown, RESULT_CHARACTERS_MAX);
  return start === shown ? shown || "nothing" : `${start}…`;
}

function readable(text: string): string {
  try {
    return describeValue(JSON.parse(text));
  } catch {
    // Plain text is shown as it came.
    return text;
  }
}

function describeValue(value: unknown): string {
  if (Array.isArray(value)) return value.map(describeValue).join("; ") || "an empty list";
  if (typeof value !== "object" || value === null) return String(value);
  return Object.entries(value)
    .map(([key, part]) => `${key.replaceAll("_", " ")} ${describeValue(part)}`)
    .join(", ");
}

function topicsIn(prompt: string, ...otherwise: readonly string[]): readonly string[] {
  const topics = topicsOf(headAndTail(prompt)).slice(0, TOPICS_SHOWN);
  return topics.length > 0 ? topics : otherwise;
}

function list(items: readonly string[]): string {
  return items.length < 2 ? (items[0] ?? "") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}
