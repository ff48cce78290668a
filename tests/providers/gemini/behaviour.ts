/** What the local server does with one call, as data. `{}` is a flawless answer. */
import type {
  CustomBehaviour,
  HangBehaviour,
  ReplyBehaviour,
  ResetBehaviour,
  StreamPlay,
} from "../openai-compatible/behaviour.ts";

export type Behaviour = ChatBehaviour | ReplyBehaviour | HangBehaviour | ResetBehaviour | CustomBehaviour;

/** An answer, streamed or plain as the path asks; for embeddings only `delayMs` and `usage` count. */
export interface ChatBehaviour extends ChatContent, StreamPlay {
  readonly kind?: "chat";
  /** Before the first byte of the answer. */
  readonly delayMs?: number;
}

export interface ChatContent {
  /** Exact text of the answer. Unset: the text after "say " in the last user turn, else a fixed sentence. */
  readonly text?: string;
  /** Thought summaries, sent only when the request asks for thoughts; they are counted either way. */
  readonly thoughts?: string;
  readonly toolCalls?: readonly MockCall[];
  /** Arguments of streamed calls come in pieces with paths. */
  readonly partialArguments?: boolean;
  /** null leaves it out: the answer never finishes. */
  readonly finishReason?: string | null;
  /** A block reason in place of any candidate. */
  readonly blockReason?: string;
  readonly usage?: UsageReport;
  /** Refuses, as Gemini 3 does, calls of the running turn that carry no signature. */
  readonly needsSignatures?: boolean;
}

export interface MockCall {
  readonly id?: string;
  readonly name: string;
  readonly args?: Readonly<Record<string, string>>;
  readonly signature?: string;
}

/** A named fault, or exactly these members. `late` comes in an event of its own behind the finish reason. */
export type UsageReport =
  | "honest"
  | "late"
  | "missing"
  | "empty"
  | "zero"
  | "negative"
  | "fractional"
  | "huge"
  | "text"
  | Readonly<Record<string, unknown>>;
