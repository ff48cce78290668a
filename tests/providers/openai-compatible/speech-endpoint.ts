/** The speech side of the local upstream. Source: openai/openai-openapi, CreateSpeechRequest. */
import { isSpeechFormat, SPEECH_TYPES } from "#workers/providers/speech.ts";

import {
  type AnswerBehaviour,
  bytesReply,
  eventReply,
  type Members,
  type ReplyBehaviour,
} from "../engine/behaviour.ts";
import { isText } from "../engine/jobs.ts";
import { soundOf } from "../sounds.ts";
import { checkBody, fault, usageMember } from "./check-request.ts";

const MEMBERS = ["model", "input", "voice", "response_format", "speed", "instructions", "stream_format"];

/** The fault OpenAI would name first, or null. */
export const checkSpeechRequest = checkBody(MEMBERS, (body) => {
  const { input, voice, response_format: format = "mp3", speed = 1, stream_format: stream = "audio" } = body;
  if (!isText(input)) return fault("input", "string_too_short");
  if (String(input).length > 4_096) return fault("input", "string_too_long: at most 4096 characters");
  if (!isText(voice)) return fault("voice", "missing");
  if (!isSpeechFormat(format)) return fault("response_format", "unknown");
  if (typeof speed !== "number" || speed < 0.25 || speed > 4) return fault("speed", "out of range");
  return stream === "audio" || stream === "sse" ? null : fault("stream_format", "unknown");
});

/** A whole answer: bytes, or events with a report of tokens, as the request asks. `usage` as for chat. */
export function speechReply(body: Members, { usage }: AnswerBehaviour = {}): ReplyBehaviour {
  const { response_format: format = "mp3", stream_format: stream } = body;
  if (!isSpeechFormat(format)) throw new Error("the request was not checked");
  const sound = soundOf(format);
  if (stream !== "sse") return bytesReply(SPEECH_TYPES[format], sound);
  const half = sound.length >> 1;
  const deltas = [sound.subarray(0, half), sound.subarray(half)].map((piece) => ({
    type: "speech.audio.delta",
    audio: piece.toString("base64"),
  }));
  const honest = { input_tokens: 4, output_tokens: 60, total_tokens: 64 };
  return eventReply(...deltas, { type: "speech.audio.done", ...usageMember(usage, honest) });
}
