/** Streamed answers of each family as frames that a test may bend before they are sent. */
import type { Wire } from "../providers/raw-server.ts";
import type { CustomBehaviour } from "../providers/engine/behaviour.ts";
import { VENDOR_MARK } from "../providers/engine/behaviour.ts";
import { BEFORE_RESET_MS, sendChunk } from "../providers/engine/play.ts";
import type { FamilyName } from "./families.ts";

export interface RawFrame {
  /** Name of the event; only Anthropic gives one. */
  readonly event?: string;
  readonly data: string;
}

/** Tokens of the prompt in every report of usage here; each word of the answer counts as one. */
export const PROMPT_TOKENS = 7;

export interface RawAnswer {
  /** Everything before the first word. */
  readonly opening: readonly RawFrame[];
  /** One for each word. */
  readonly words: readonly RawFrame[];
  /** The finish reason and the usage. */
  readonly closing: readonly RawFrame[];
  /** The dialect's end marker, where it has one. */
  readonly end: readonly RawFrame[];
}

/** A whole answer of these words. */
export function rawAnswer(family: FamilyName, words: readonly string[]): RawAnswer {
  return ANSWERS[family](words);
}

/** The family's own error, to stand where a frame would. */
export function rawError(family: FamilyName): RawFrame {
  return ERRORS[family];
}

const ANSWERS: Readonly<Record<FamilyName, (words: readonly string[]) => RawAnswer>> = {
  openai(words) {
    const head = { id: "chatcmpl-raw", object: "chat.completion.chunk", created: 1_770_000_000, model: "raw" };
    const piece = (delta: object, finish: string | null = null): RawFrame =>
      json({ ...head, choices: [{ index: 0, delta, finish_reason: finish }] });
    const usage = { prompt_tokens: PROMPT_TOKENS, completion_tokens: words.length };
    return {
      opening: [piece({ role: "assistant", content: "" })],
      words: words.map((content) => piece({ content })),
      closing: [piece({}, "stop"), json({ ...head, choices: [], usage })],
      end: [{ data: "[DONE]" }],
    };
  },
  anthropic(words) {
    const head = { id: "msg_raw", type: "message", role: "assistant", model: "raw", content: [] };
    const usage = { input_tokens: PROMPT_TOKENS, output_tokens: 1 };
    return {
      opening: [
        named({ type: "message_start", message: { ...head, stop_reason: null, usage } }),
        named({ type: "content_block_start", index: 0, content_block: { type: "text", text: "" } }),
      ],
      words: words.map((text) => named({ type: "content_block_delta", index: 0, delta: { type: "text_delta", text } })),
      closing: [
        named({ type: "content_block_stop", index: 0 }),
        named({
          type: "message_delta",
          delta: { stop_reason: "end_turn", stop_sequence: null },
          usage: { input_tokens: PROMPT_TOKENS, output_tokens: words.length },
        }),
      ],
      end: [named({ type: "message_stop" })],
    };
  },
  gemini(words) {
    const piece = (text: string, count: number, finish?: string): RawFrame =>
      json({
        candidates: [
          { content: { parts: [{ text }], role: "model" }, index: 0, ...(finish ? { finishReason: finish } : {}) },
        ],
        usageMetadata: {
          promptTokenCount: PROMPT_TOKENS,
          candidatesTokenCount: count,
          totalTokenCount: PROMPT_TOKENS + count,
        },
        modelVersion: "raw",
        responseId: "raw",
      });
    return {
      opening: [],
      words: words.map((text, at) => piece(text, at + 1)),
      closing: [piece("", words.length, "STOP")],
      end: [],
    };
  },
};

const ERRORS: Readonly<Record<FamilyName, RawFrame>> = {
  openai: json({ error: { message: VENDOR_MARK, type: "server_error", param: null, code: null } }),
  anthropic: named({ type: "error", error: { type: "api_error", message: VENDOR_MARK } }),
  gemini: json({ error: { code: 500, message: VENDOR_MARK, status: "INTERNAL" } }),
};

function json(value: object): RawFrame {
  return { data: JSON.stringify(value) };
}

function named(value: { readonly type: string; readonly [member: string]: unknown }): RawFrame {
  return { event: value.type, data: JSON.stringify(value) };
}

/** One event as bytes. `lines`: its data is spread over several lines. */
export function frameText({ event, data }: RawFrame, eol = "\n", isSpread = false): string {
  const name = event === undefined ? "" : `event: ${event}${eol}`;
  // A line break between two members is legal JSON.
  const lines = isSpread ? data.split(/(?<=,)(?=")/u) : [data];
  return `${name}${lines.map((line) => `data: ${line}${eol}`).join("")}${eol}`;
}

export type StreamEnd = "end" | "fin" | "rst";

/**
 * Sends these pieces, one HTTP chunk each, with a pause in between, and ends: `end` finishes the HTTP message as if all
 * were well, the others leave it unfinished.
 * @param beforeEnd waited for before the end: a break that arrives together with the last pieces takes them along
 */
export function rawStream(
  pieces: readonly (string | Uint8Array)[],
  end: StreamEnd,
  pauseMs = 0,
  beforeEnd?: () => Promise<unknown>,
): CustomBehaviour {
  return {
    kind: "custom",
    async play(_request, wire) {
      await writeHead(wire);
      for (const piece of pieces) {
        if (!(await sendChunk(wire, Buffer.from(piece))) || !(await wire.wait(pauseMs))) return;
      }
      await beforeEnd?.();
      if (end === "end") await wire.write("0\r\n\r\n");
      else if (end === "fin") wire.end();
      else {
        await wire.wait(BEFORE_RESET_MS);
        wire.reset();
      }
    },
  };
}

/** Sends `piece(0)`, `piece(1)` … without end, until the other side leaves. */
export function endlessStream(piece: (at: number) => string, pauseMs: number): CustomBehaviour {
  return {
    kind: "custom",
    async play(_request, wire) {
      await writeHead(wire);
      // At least a turn of the event loop, or a fast reader would keep the test's own process from running.
      for (let at = 0; await sendChunk(wire, Buffer.from(piece(at))); at += 1) await wire.wait(Math.max(1, pauseMs));
    },
  };
}

async function writeHead(wire: Wire): Promise<void> {
  await wire.write("HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n");
}
