/** Behaviour of a local provider in one call, as data. `{}` is a flawless answer in the words of its dialect. */
import type { RawRequest } from "../raw-request.ts";
import type { Wire } from "../raw-server.ts";

export type Members = Readonly<Record<string, unknown>>;

export type Behaviour = AnswerBehaviour | Reply;

/** An answer that depends on no dialect, or none. */
export type Reply = ReplyBehaviour | HugeBehaviour | CustomBehaviour | Fault;

/** Silence, RST, and a body that ends although its length promised more. */
export type Fault = "hang" | "hang-after-head" | "reset" | "reset-after-head" | "cut";

/** One fixed HTTP answer. A body that is neither text nor bytes is written as JSON. */
export interface ReplyBehaviour {
  readonly status: number;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body: unknown;
  readonly delayMs?: number;
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

/** Full control of the bytes. */
export interface CustomBehaviour {
  readonly kind: "custom";
  play(request: RawRequest, wire: Wire): Promise<void>;
}

/** An answer of the model, streamed or whole as the call asks. Media endpoints know `usage` and `delayMs` alone. */
export interface AnswerBehaviour extends StreamPlay {
  readonly kind?: undefined;
  /** Before the first byte of the answer. */
  readonly delayMs?: number;
  /** Exact text of the answer. Unset: the text after "say " in the last user turn, else a fixed sentence. */
  readonly text?: string;
  /** An answer of this many one-word tokens instead of a text. */
  readonly tokens?: number;
  /** Tool calls, in place of a text that is not set; "requested" calls every tool of the request once. */
  readonly toolCalls?: readonly MockToolCall[] | "requested";
  /** Streamed tool calls alternate piece by piece instead of following one another. */
  readonly interleaved?: boolean;
  /** Shown as the dialect shows the thoughts of a model. */
  readonly thoughts?: string;
  /** In the dialect's own words; null leaves it out: the answer never finishes. */
  readonly finishReason?: string | null;
  readonly usage?: UsageReport;
  /** OpenAI: a refusal in words, in place of content. */
  readonly refusal?: string;
  /** Anthropic: a block of thinking that is not readable. */
  readonly redacted?: string;
  /** Anthropic: no block at all, as in a refusal. */
  readonly isEmpty?: boolean;
  /** Anthropic: `message_start` comes again behind this frame: the same message, or another one. */
  readonly startAgain?: { readonly afterFrame: number; readonly as: "same" | "other" };
  /** Gemini: a block reason in place of any candidate. */
  readonly blockReason?: string;
  /** Gemini: arguments of streamed calls come in pieces with paths. */
  readonly partialArguments?: boolean;
  /** Gemini: refuses, as Gemini 3 does, calls of the running turn that carry no signature. */
  readonly needsSignatures?: boolean;
}

export interface MockToolCall {
  readonly id?: string;
  readonly name: string;
  /** JSON text, sent as it is where the dialect can: invalid text stays invalid. Empty: the tool takes none. */
  readonly arguments: string;
  /** Gemini alone signs calls. */
  readonly signature?: string;
}

/** A named report, of which a dialect may not know the later ones, or exactly these members. */
export type UsageReport = UsageName | Members;
export type UsageName = "honest" | "missing" | UsageFault | "growing" | "late" | "cached" | "null" | "empty";
/** Counts that cannot be true; "bare-nan" is no JSON either. */
export type UsageFault = "zero" | "negative" | "fractional" | "huge" | "nan" | "bare-nan";

/** Way in which frames of a stream travel. Positions count frames from 0. */
export interface StreamPlay {
  /** Between two writes. */
  readonly intervalMs?: number;
  /** Bytes of one write; 1 with an interval is a drip. Unset: a frame at a time. */
  readonly splitBytes?: number;
  /** Nothing for `ms` before this frame, then it goes on; Infinity never does. */
  readonly silence?: { readonly beforeFrame: number; readonly ms: number };
  /** The stream stops in or before this frame. */
  readonly cut?: StreamCut;
  /** Leaves out the dialect's end marker. */
  readonly omitEnd?: boolean;
  /** This frame is sent twice. */
  readonly repeatFrame?: number;
  /** The dialect's error takes the place of this frame and the stream ends; 0 is an error inside a 200. */
  readonly errorFrame?: number;
  /** This frame is preceded by one that is no JSON. */
  readonly malformedFrame?: number;
  /** Frames are preceded by a comment. */
  readonly comments?: boolean;
  /** Frames are preceded by an event of a kind that no dialect knows. */
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
  /** This frame is repeated without end, until the client leaves. */
  readonly endlessFrame?: number;
}

export interface StreamCut {
  readonly frame: number;
  /** `border`: before the frame; `json`: in the middle of it; `utf8`: inside the next character of several bytes. */
  readonly inside: "border" | "json" | "utf8";
  /** `end` finishes the HTTP message as if all were well; `fin` and `rst` leave it unfinished. */
  readonly how: "end" | "fin" | "rst";
}

/** A fixed answer whose text is written already, so that a test may read it. */
export type TextReply = ReplyBehaviour & { readonly body: string };

/** One whole JSON answer; a text is sent as it is. */
export function jsonReply(status: number, body: unknown, headers: Readonly<Record<string, string>> = {}): TextReply {
  const text = typeof body === "string" ? body : JSON.stringify(body);
  return { status, headers: { "content-type": "application/json", ...headers }, body: text };
}

export const ok = (body: unknown): TextReply => jsonReply(200, body);

/** A 200 of these bytes. */
export const bytesReply = (
  contentType: string,
  body: Uint8Array,
  more: Partial<ReplyBehaviour> = {},
): ReplyBehaviour => ({
  status: 200,
  headers: { "content-type": contentType },
  body,
  ...more,
});

/** A stream of these events; a text is sent as it is. */
export function eventReply(...events: readonly unknown[]): TextReply {
  return { ...jsonReply(200, eventsText(events)), headers: { "content-type": "text/event-stream" } };
}

export function eventsText(events: readonly unknown[], eol = "\n"): string {
  const texts = events.map((event) => (typeof event === "string" ? event : JSON.stringify(event)));
  return texts.map((text) => `data: ${text}${eol}${eol}`).join("");
}

/** Leads to this very server, which must not be asked there. */
export const redirect: Reply = jsonReply(302, "", { location: "/stolen" });

/** Marker in every vendor message: a client of ours must never see it. */
export const VENDOR_MARK = "vendor-internal-detail";
