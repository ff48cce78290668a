/** What the local server does with one call, as data. `{}` is a flawless answer. */
import type { RawRequest } from "../raw-request.ts";
import type { Wire } from "../raw-server.ts";

export type Behaviour = MessageBehaviour | ReplyBehaviour | HangBehaviour | ResetBehaviour | CustomBehaviour;

/** A message, streamed or plain as the request asks. */
export interface MessageBehaviour extends MessageContent, StreamPlay {
  readonly kind?: "message";
  /** Before the first byte of the answer. */
  readonly delayMs?: number;
}

export interface MessageContent {
  /** Exact text of the answer. Unset: the text after "say " in the last user turn, else a fixed sentence. */
  readonly text?: string;
  /** An answer of this many one-word tokens instead of a text. */
  readonly tokens?: number;
  /** Tool uses after the text, if there is one; "requested" uses every tool of the request once. */
  readonly toolUses?: readonly MockToolUse[] | "requested";
  /** Streamed tool uses alternate piece by piece instead of following one another. */
  readonly interleaved?: boolean;
  /** A signed thinking block before everything else. */
  readonly thinking?: string;
  /** A block of thinking that nobody may read. */
  readonly redacted?: string;
  /** null leaves it out: the answer never finishes. */
  readonly stopReason?: string | null;
  /** No block at all, as in a refusal. */
  readonly isEmpty?: boolean;
  readonly usage?: UsageReport;
}

export interface MockToolUse {
  readonly id?: string;
  readonly name: string;
  /** JSON text, streamed as it is: invalid text stays invalid. Empty: the tool takes none. */
  readonly input: string;
}

/** A named fault, or exactly these members. */
export type UsageReport =
  | "honest"
  | "cached"
  | "missing"
  | "zero"
  | "negative"
  | "fractional"
  | "huge"
  | "nan"
  | "late"
  | "growing"
  | Readonly<Record<string, unknown>>;

/** How frames of a stream travel. Positions count frames from 0, which is `message_start`. */
export interface StreamPlay {
  /** Between two writes. */
  readonly intervalMs?: number;
  /** Bytes of one write; 1 with an interval is a drip. Unset: a frame at a time. */
  readonly splitBytes?: number;
  /** Nothing for `ms` before this frame, then it goes on; Infinity never does. */
  readonly silence?: { readonly beforeFrame: number; readonly ms: number };
  /** The stream stops in or before this frame. */
  readonly cut?: StreamCut;
  readonly omitMessageStop?: boolean;
  /** An `error` event takes the place of this frame and the stream ends; 0 is an error inside a 200. */
  readonly errorFrame?: number;
  /** This frame is preceded by one that is no JSON. */
  readonly malformedFrame?: number;
  /** `message_start` comes again behind this frame: the same message, or another one. */
  readonly startAgain?: { readonly afterFrame: number; readonly as: "same" | "other" };
  /** Frames are preceded by a comment and by an event of a kind nobody knows. */
  readonly foreignEvents?: boolean;
  readonly eol?: "\n" | "\r\n" | "\r";
  readonly bom?: boolean;
}

export interface StreamCut {
  readonly frame: number;
  /** `border`: before the frame; `json`: in the middle of it; `utf8`: inside a character of several bytes. */
  readonly inside: "border" | "json" | "utf8";
  /** `end` finishes the HTTP message as if all were well; `fin` and `rst` leave it unfinished. */
  readonly how: "end" | "fin" | "rst";
}

/** One fixed HTTP answer: error statuses, HTML, truncated JSON, redirects, recorded traffic. */
export interface ReplyBehaviour {
  readonly kind: "reply";
  readonly delayMs?: number;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** Sends this many bytes of the body, then ends the connection although content-length promised more. */
  readonly cutAfterBytes?: number;
}

/** Takes the request and stays silent: before the answer's head, or after it. */
export interface HangBehaviour {
  readonly kind: "hang";
  readonly after?: "head";
}

/** RST instead of an answer, or after its head. */
export interface ResetBehaviour {
  readonly kind: "reset";
  readonly after?: "head";
}

/** Full control of the bytes. */
export interface CustomBehaviour {
  readonly kind: "custom";
  play(request: RawRequest, wire: Wire): Promise<void>;
}
