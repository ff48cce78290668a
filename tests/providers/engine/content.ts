/** Content of a model's answer before a dialect puts it into its own words. */
import type { AnswerBehaviour, MockToolCall, UsageFault, UsageReport } from "./behaviour.ts";

const DEFAULT_TEXT = "A local answer, word by word, with an é and a 🙂 in it.";

export interface Content {
  /** The text as streamed, piece by piece. */
  readonly pieces: readonly string[];
  readonly toolCalls: readonly MockToolCall[];
  /** True if the token limit of the call ended it: one word is one token. */
  readonly isCut: boolean;
}

export interface CallOf {
  /** Text of the last user turn. */
  readonly text: string;
  readonly tools: readonly string[];
  readonly tokensMax: number | null | undefined;
}

export function contentOf(behaviour: AnswerBehaviour, { text, tools, tokensMax }: CallOf): Content {
  const { toolCalls: calls = [] } = behaviour;
  const toolCalls = calls === "requested" ? tools.map((name) => ({ name, arguments: "{}" })) : calls;
  const isSilent = behaviour.isEmpty === true || behaviour.refusal !== undefined || toolCalls.length > 0;
  const all = isSilent && behaviour.text === undefined ? [] : wordsSaid(behaviour, text);
  const pieces = all.slice(0, tokensMax ?? Infinity);
  return { pieces, toolCalls, isCut: pieces.length < all.length };
}

function wordsSaid({ tokens, text }: AnswerBehaviour, asked: string): string[] {
  if (tokens !== undefined) return Array.from({ length: tokens }, (_, at) => (at === 0 ? "tok" : " tok"));
  return words(text ?? /^say ([\s\S]*)$/i.exec(asked)?.[1] ?? DEFAULT_TEXT);
}

/** Words with the space before them: joined they are the text again. */
export function words(text = ""): string[] {
  return text.match(/\s*\S+|\s+$/gu) ?? [];
}

/** Pieces of a few characters, never inside one. */
export function pieces(text: string): string[] {
  return text.match(/[\s\S]{1,5}/gu) ?? [];
}

/** The lists one after the other, or an item of each in turn. */
export function joined<T>(lists: readonly (readonly T[])[], isInterleaved = false): T[] {
  if (!isInterleaved) return lists.flat();
  const length = Math.max(0, ...lists.map((list) => list.length));
  return Array.from({ length }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat();
}

/** Counts as a report tells them; text where it is no number at all. */
export interface Counts {
  readonly input: number | string;
  readonly output: number | string;
}

const BENT: Readonly<Record<UsageFault, (input: number, output: number) => Counts>> = {
  zero: () => ({ input: 0, output: 0 }),
  negative: (input, output) => ({ input, output: -output - 1 }),
  fractional: (input, output) => ({ input: input + 0.5, output: output + 0.25 }),
  huge: () => ({ input: 1e18, output: 1e18 }),
  nan: () => ({ input: "NaN", output: "NaN" }),
  "bare-nan": () => ({ input: "NaN", output: "NaN" }),
};

/** Returns the counts that a report states when these are true. */
export function bent(report: UsageReport, input: number, output: number): Counts {
  return typeof report === "string" && report in BENT ? BENT[report as UsageFault](input, output) : { input, output };
}

/** A stand-in for a tokenizer that a test can compute in its head: four characters are a token. */
export function countTokens(text: string): number {
  return Math.ceil(text.length / 4);
}

/** A JSON object. */
export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
