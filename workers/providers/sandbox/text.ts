/** The sandbox's own words, for prompts that leave the wording open. Repeatable, short, and visibly about the prompt. */
import type { Facts } from "./facts.ts";
import type { Random } from "./random.ts";
import { firstCharacters } from "./words.ts";

export interface TextMaterial {
  readonly facts: Facts;
  readonly random: Random;
  /** Pictures, files and recordings of the last user message. */
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

/** An answer of the length the prompt seems to want: a word, a sentence or two, or a page. */
export function composeAnswer(material: TextMaterial): string {
  const { facts, random } = material;
  const request = `${facts.text.slice(0, 1_000)}\n${facts.text.slice(-1_000)}`;
  if (YES_OR_NO.test(request)) return random.pick(["Yes", "No"]);
  if (ONE_WORD.test(request)) return facts.topics()[0] ?? "Nothing";
  const opening = composeOpening(material);
  if (BRIEF.test(request)) return opening;
  const words = Number(WORD_COUNT.exec(request)?.[1] ?? (LONG.test(request) ? LONG_WORDS : 0));
  if (words > 0)
    return composePage(material, Math.min(words, LONG_WORDS_MAX), (text) => text.match(/\S+/g)?.length ?? 0);
  return `${opening} ${random.pick(CLOSINGS)}`;
}

/** Sentences about the prompt until `measure` says there is enough of them. */
export function composePage(material: TextMaterial, enough: number, measure: (text: string) => number): string {
  const { random } = material;
  const topics = shownTopics(material.facts);
  const parts = [composeOpening(material)];
  let size = measure(parts[0] ?? "");
  for (let at = 0; size < enough; at += 1) {
    const sentence = random
      .pick(SENTENCES)
      .replace("{a}", topics[at % topics.length] ?? "")
      .replace("{b}", topics[(at + 1 + random.below(topics.length)) % topics.length] ?? "");
    const part = `${at % 6 === 5 ? "\n\n" : " "}${sentence}`;
    parts.push(part);
    size += measure(part);
  }
  return parts.join("");
}

/** One sentence that names what the prompt is about and what came with it. */
export function composeOpening({ facts, random, media, turn }: TextMaterial): string {
  const topics = facts.topics().slice(0, TOPICS_SHOWN);
  const sentences: string[] = [];
  if (media.length > 0) sentences.push(`You sent ${list(media)}.`);
  if (topics.length > 0) sentences.push(random.pick(OPENINGS).replace("{topics}", list(topics)));
  else if (facts.text.trim() !== "") sentences.push(`You wrote "${firstCharacters(facts.text.trim(), 80)}".`);
  if (sentences.length === 0) sentences.push("Your message is empty, so there is nothing to go by yet.");
  if (turn > 1) sentences.push(`This is turn ${turn} of our conversation.`);
  return sentences.join(" ");
}

/** What a reasoning model thinks aloud before the answer. */
export function composeReasoning({ facts, media }: TextMaterial): string {
  const subject = list(shownTopics(facts));
  const seen = media.length > 0 ? ` They sent ${list(media)}, so I take that into account.` : "";
  return `The user asks about ${subject}.${seen} First I settle what they want, then I choose the plainest answer that gives it, and I keep it short.`;
}

/** An answer that passes on what the tools returned. */
export function composeFromResults(results: readonly ToolResult[]): string {
  return results
    .map(({ name, text }) => `${name === "" ? "The tool" : name} returned ${describeResult(text)}.`)
    .join(" ");
}

/** `{"city":"Oslo","celsius":4}` → `city Oslo, celsius 4`; other texts as they are. */
function describeResult(text: string): string {
  const trimmed = text.trim();
  if (trimmed === "") return "nothing";
  let shown = trimmed;
  try {
    shown = describeValue(JSON.parse(trimmed));
  } catch {
    // Not JSON: plain text is shown as it came.
  }
  shown = shown.replace(/[.\s]+$/, "");
  const start = firstCharacters(shown, RESULT_CHARACTERS_MAX);
  return start === shown ? shown : `${start}…`;
}

function describeValue(value: unknown): string {
  if (Array.isArray(value)) return value.length === 0 ? "an empty list" : value.map(describeValue).join("; ");
  if (typeof value !== "object" || value === null) return String(value);
  const entries = Object.entries(value);
  return entries.length === 0
    ? "nothing"
    : entries.map(([key, part]) => `${key.replaceAll("_", " ")} ${describeValue(part)}`).join(", ");
}

function shownTopics(facts: Facts): readonly string[] {
  const topics = facts.topics().slice(0, TOPICS_SHOWN);
  return topics.length > 0 ? topics : ["your message"];
}

function list(items: readonly string[]): string {
  return items.length < 2 ? (items[0] ?? "") : `${items.slice(0, -1).join(", ")} and ${items.at(-1)}`;
}

const OPENINGS = [
  "You asked about {topics}.",
  "This is about {topics}.",
  "Here is a word on {topics}.",
  "Your question turns on {topics}.",
] as const;

const CLOSINGS = [
  "This answer comes from the sandbox: nothing was looked up, and the same request always reads the same.",
  "The sandbox wrote this by itself, without a model behind it, so take the form and not the facts from it.",
  "No outside model was called; with the same seed you get these very words again.",
] as const;

const SENTENCES = [
  "Much depends on how {a} and {b} meet in practice.",
  "Seen from the side of {a}, the matter looks simpler than it is.",
  "One careful look at {b} is worth more than three quick ones at {a}.",
  "Those who work with {a} every day tend to speak of {b} first.",
  "There is no need to settle {b} before {a} is understood.",
  "The usual mistake is to treat {a} as if it were {b}.",
  "A small change in {a} shows up in {b} sooner or later.",
  "For the rest, {b} follows its own rules.",
] as const;
