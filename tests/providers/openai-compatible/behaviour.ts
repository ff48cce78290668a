/** What the local server does with one call, as data. `{}` is a flawless answer. */
import type { RawRequest } from "../raw-request.ts";
import type { Wire } from "../raw-server.ts";

export type Behaviour =
  | ChatBehaviour
  | ReplyBehaviour
  | HugeBehaviour
  | HangBehaviour
  | ResetBehaviour
  | CustomBehaviour;

/** A chat answer, streamed or plain as the request asks. */
export interface ChatBehaviour extends ChatContent, StreamPlay {
  readonly kind?: "chat";
  /** Before the first byte of the answer. */
  readonly delayMs?: number;
}

export interface ChatContent {
  /** Exact text of the answer. Unset: the text after "say " in the last user message, else a fixed sentence. */
  readonly text?: string;
  /** An answer of this many one-word tokens instead of a text. */
  readonly tokens?: number;
  /** Tool calls instead of a text; "requested" calls every tool of the request once. */
  readonly toolCalls?: readonly MockToolCall[] | "requested";
  /** Streamed tool calls alternate piece by piece instead of following one another. */
  readonly interleaved?: boolean;
  /** Refusal text in place of content. */
  readonly refusal?: string;
  /** Emitted as `reasoning_content` before the answer, as vLLM, DeepSeek and xAI do. */
  readonly reasoning?: string;
  /** null leaves it out: the answer never finishes. */
  readonly finishReason?: string | null;
  readonly usage?: UsageReport;
}

export interface MockToolCall {
  readonly id?: string;
  readonly name: string;
  /** JSON text, sent as it is: invalid text stays invalid. */
  readonly arguments: string;
}

/** A named fault, or exactly these members. */
export type UsageReport =
  | "honest"
  | "details"
  | "missing"
  | "null"
  | "zero"
  | "negative"
  | "fractional"
  | "huge"
  | "nan"
  | "bare-nan"
  | "growing"
  | Readonly<Record<string, unknown>>;

/** How frames of a stream travel. Positions count frames from 0; the first carries the role. */
export interface StreamPlay {
  /** Between two writes. */
  readonly intervalMs?: number;
  /** Bytes of one write; 1 with an interval is a drip. Unset: a frame at a time. */
  readonly splitBytes?: number;
  /** Nothing for `ms` before this frame, then it goes on; Infinity never does. */
  readonly silence?: { readonly beforeFrame: number; readonly ms: number };
  /** The stream stops in or before this frame. */
  readonly cut?: StreamCut;
  readonly omitDone?: boolean;
  /** This frame is sent twice. */
  readonly repeatFrame?: number;
  /** An OpenAI error object takes the place of this frame and the stream ends; 0 is an error inside a 200. */
  readonly errorFrame?: number;
  /** This frame is preceded by one that is no JSON. */
  readonly malformedFrame?: number;
  /** Frames are preceded by a comment. */
  readonly comments?: boolean;
  /** Frames are preceded by an event of a kind OpenAI does not know. */
  readonly foreignEvents?: boolean;
  /** Every frame carries this `event:` name. */
  readonly eventName?: string;
  readonly eol?: "\n" | "\r\n" | "\r";
  readonly bom?: boolean;
  /** Each JSON object is spread over several `data:` lines. */
  readonly multiLine?: boolean;
  /** The very last line has no line end. */
  readonly omitLastNewline?: boolean;
  /** Pads the second frame to a line of this size with an unknown member. */
  readonly longLineBytes?: number;
  /** Content frames without end, until the client leaves. */
  readonly endless?: boolean;
}

export interface StreamCut {
  readonly frame: number;
  /** `border`: before the frame; `json`: in the middle of it; `utf8`: inside its first character of several bytes. */
  readonly inside: "border" | "json" | "utf8";
  /** `end` finishes the HTTP message as if all were well; `fin` and `rst` leave it unfinished. */
  readonly how: "end" | "fin" | "rst";
}

/** One fixed HTTP answer: error statuses, HTML, truncated JSON, redirects. */
export interface ReplyBehaviour {
  readonly kind: "reply";
  readonly delayMs?: number;
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
  /** Sends this many bytes of the body, then ends the connection although content-length promised more. */
  readonly cut?: { readonly afterBytes: number; readonly how: "fin" | "rst" };
}

/** A 200 whose body is generated while it is sent and is never whole in memory. */
export interface HugeBehaviour {
  readonly kind: "huge";
  readonly bytes: number;
  /** Sent gzipped: few bytes that inflate to many. */
  readonly gzip?: boolean;
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
