/** The speech side of the local upstream. Source: openai/openai-openapi, CreateSpeechRequest. */
import { isSpeechFormat, SPEECH_TYPES } from "#workers/providers/speech.ts";

import { soundOf } from "../sounds.ts";
import type { ChatBehaviour, ReplyBehaviour } from "./behaviour.ts";
import { isObject, type RequestFault } from "./check-request.ts";

const MEMBERS = new Set(["model", "input", "voice", "response_format", "speed", "instructions", "stream_format"]);

/** The fault OpenAI would name first, or null. */
export function checkSpeechRequest(contentType: string | undefined, body: unknown): RequestFault | null {
  const fault = (param: string | null, message: string): RequestFault => ({ param, message });
  if (!contentType?.startsWith("application/json")) return fault(null, "unsupported content type");
  if (!isObject(body)) return fault(null, "the body is no JSON object");
  const stranger = Object.keys(body).find((name) => !MEMBERS.has(name));
  if (stranger !== undefined) return fault(stranger, "unrecognized request argument");
  const { model, input, voice, response_format: format = "mp3", speed = 1, stream_format: stream = "audio" } = body;
  if (typeof model !== "string" || model === "") return fault("model", "missing");
  if (typeof input !== "string" || input === "") return fault("input", "string_too_short");
  if (input.length > 4_096) return fault("input", "string_too_long: at most 4096 characters");
  if (typeof voice !== "string" || voice === "") return fault("voice", "missing");
  if (!isSpeechFormat(format)) return fault("response_format", "unknown");
  if (typeof speed !== "number" || speed < 0.25 || speed > 4) return fault("speed", "out of range");
  return stream === "audio" || stream === "sse" ? null : fault("stream_format", "unknown");
}

/** A whole answer: bytes, or events with a report of tokens, as the request asks. `usage` as for chat. */
export function speechReply(body: Readonly<Record<string, unknown>>, { usage }: ChatBehaviour = {}): ReplyBehaviour {
  const { response_format: format = "mp3", stream_format: stream } = body;
  if (!isSpeechFormat(format)) throw new Error("the request was not checked");
  const sound = soundOf(format);
  if (stream !== "sse") {
    return { kind: "reply", status: 200, headers: { "content-type": SPEECH_TYPES[format] }, body: sound };
  }
  const half = sound.length >> 1;
  const deltas = [sound.subarray(0, half), sound.subarray(half)].map((piece) => ({
    type: "speech.audio.delta",
    audio: piece.toString("base64"),
  }));
  const report = typeof usage === "object" ? usage : { input_tokens: 4, output_tokens: 60, total_tokens: 64 };
  const events = [...deltas, { type: "speech.audio.done", ...(usage === "missing" ? {} : { usage: report }) }];
  const text = events.map((event) => `data: ${JSON.stringify(event)}\n\n`).join("");
  return { kind: "reply", status: 200, headers: { "content-type": "text/event-stream; charset=utf-8" }, body: text };
}
