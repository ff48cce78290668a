/** Composes texts of the sandbox for open prompts. The texts are repeatable, short, and visibly about the prompt. */
import type { Random } from "./random.ts";
import { firstCharacters, headAndTail, topicsOf } from "./words.ts";

export interface TextMaterial {
  /** Text of the user's last message. */
  readonly prompt: string;
  readonly random: Random;
  /** Images, files and audio of the last user message. */
  readonly media: readonly string[];
  /** Number of user messages in the conversation so far. */
  readonly turn: number;
}

export interface ToolResult {
  /** Name of the tool; empty if the conversation does not contain the call. */
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

/** Sentences about the prompt's topics. Topics are quoted, so that any word fits, regardless of number and article. */
const OPENINGS = [
  "Your message mentions {topics}.",
  "What stands out in your message is {topics}.",
  "You wrote about {topics}.",
  "I see that your message is about {topics}.",
] as const;

const CLOSINGS = [
  "The sandbox wrote this answer: nothing was looked up, and the same request always gets the same text.",
  "The sandbox wrote this without a model, so rely on its form and not on its facts.",
  "No provider was called; the same request with the same seed gets these words again.",
] as const;

const SENTENCES = [
  "Much depends on what is meant by {a}.",
  "Texts about {a} often mention {b} too.",
  "A close look at {b} helps to understand {a}.",
  "There is more to say about {a} than about {b}.",
  "It is best to begin with {a} and to turn to {b} later.",
  "It is a common mistake to confuse {a} with {b}.",
  "People disagree about {a} more often than about {b}.",
  "A few lines are not enough for {b}.",
] as const;

/** Returns an answer of the length that the prompt implies: a word, a sentence or two, or a page. */
export function composeAnswer(material: TextMaterial): string {
  const { prompt, random } = material;
  const request = `${prompt.slice(0, 1_000)}\n${prompt.slice(-1_000)}`;
  if (YES_OR_NO.test(request)) return random.pick(["Yes", "No"]);
  if (ONE_WORD.test(request)) return topicsIn(prompt)[0] ?? "Nothing";
  const opening = composeOpening(material);
  if (BRIEF.test(request)) return opening;
  const wordCount = Math.min(
    LONG_WORDS_MAX,
    Number(WORD_COUNT.exec(request)?.[1] ?? (LONG.test(request) ? LONG_WORDS : 0)),
  );
  if (wordCount > 0) return composePage(material, wordCount, (text) => text.match(/\S+/g)?.length ?? 0);
  return `${opening} ${random.pick(CLOSINGS)}`;
}

/**
 * Composes sentences about the prompt.
 * @param enough length at which the text is complete
 * @param measure returns the length of the text in the unit of `enough`
 */
export function composePage(material: TextMaterial, enough: number, measure: (text: string) => number): string {
  const { prompt, random } = material;
  const quoted = topicsIn(prompt).map(inQuotes);
  const topics = quoted.length > 1 ? quoted : [...quoted, "your message", "what it leaves out"];
  let page = composeOpening(material);
  let size = measure(page);
  for (let at = 0; size < enough; at += 1) {
    const first = topics[at % topics.length] ?? "";
    const second = topics[(at + 1 + random.below(topics.length - 1)) % topics.length] ?? "";
    const sentence = random.pick(SENTENCES).replace("{a}", first).replace("{b}", second);
    const part = `${at % 6 === 5 ? "\n\n" : " "}${sentence.charAt(0).toUpperCase()}${sentence.slice(1)}`;
    page += part;
    size += measure(part);
  }
  return page;
}

/** Returns one sentence that mentions the topics of the prompt and its media. */
export function composeOpening({ prompt, random, media, turn }: TextMaterial): string {
  const topics = topicsIn(prompt);
  const sentences: string[] = [];
  if (media.length > 0) sentences.push(`You sent ${list(media)}.`);
  if (topics.length > 0) sentences.push(random.pick(OPENINGS).replace("{topics}", list(topics.map(inQuotes))));
  else if (prompt.trim() !== "") sentences.push(`You wrote "${firstCharacters(prompt.trim(), 80)}".`);
  if (sentences.length === 0) sentences.push("Your message is empty.");
  if (turn > 1) sentences.push(`This is turn ${turn} of our conversation.`);
  return sentences.join(" ");
}

/** Returns the reasoning that precedes the answer. */
export function composeReasoning({ prompt, media }: TextMaterial): string {
  const topics = topicsIn(prompt).map(inQuotes);
  const asked = topics.length > 0 ? `The user writes about ${list(topics)}.` : "The user names no topic.";
  const sent = media.length > 0 ? ` They sent ${list(media)}, which I take into account.` : "";
  return `${asked}${sent} I work out what they want, choose the plainest answer that gives it, and keep it short.`;
}

/** Returns an answer that contains the tool results. */
export function composeFromResults(results: readonly ToolResult[]): string {
  return results.map(({ name, text }) => `${name || "The tool"} returned ${describeResult(text)}.`).join(" ");
}

/** Describes a tool result in words. `{"city":"Oslo","celsius":4}` becomes `city Oslo, celsius 4`; other texts stay unchanged. */
function describeResult(text: string): string {
  const readableText = readable(text.trim()).replace(/[.\s]+$/, "");
  const start = firstCharacters(readableText, RESULT_CHARACTERS_MAX);
  return start === readableText ? readableText || "nothing" : `${start}…`;
}

function readable(text: string): string {
  try {
    return describeValue(JSON.parse(text));
  } catch {
    // Plain text stays unchanged.
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

function topicsIn(prompt: string): readonly string[] {
  return topicsOf(headAndTail(prompt)).slice(0, TOPICS_SHOWN);
}

function inQuotes(topic: string): string {
  return `"${topic}"`;
}

function list(items: readonly string[]): string {
  return items.length < 2 ? (items[0] ?? "") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}
