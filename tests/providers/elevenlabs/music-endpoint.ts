/** Requests and answers of ElevenLabs' music. Source: elevenlabs.io/docs/api-reference/music/compose. */
import { bytesReply, type Members, type ReplyBehaviour } from "../engine/behaviour.ts";
import { isObject } from "../engine/content.ts";
import { isFlag, textUpTo, whole } from "../engine/jobs.ts";
import type { RecordedCall } from "../engine/recorder.ts";
import { soundOf } from "../sounds.ts";
import { ERRORS } from "./errors.ts";
import { MUSIC_ERRORS } from "./music-errors.ts";

export const MUSIC_PATH = "/v1/music";

const MEMBERS = new Set([
  "prompt",
  "music_length_ms",
  "model_id",
  "force_instrumental",
  "lyrics_text",
  "generation_mode",
  "sign_with_c2pa",
]);
const MODELS = /^(?:music_v1|music_v2|music_v2_5|mock-.+)$/;

const SOUNDS: Readonly<Record<string, readonly ["mp3" | "opus", string]>> = {
  mp3_44100_128: ["mp3", "audio/mpeg"],
  opus_48000_128: ["opus", "audio/ogg"],
};

export function refuseMusic({ body: members, query }: RecordedCall): ReplyBehaviour | null {
  if (!isObject(members) || Object.keys(members).some((name) => !MEMBERS.has(name))) return ERRORS["fault-body"];
  const { prompt, music_length_ms: length, model_id: model, force_instrumental: instrumental } = members;
  if (!/^(?:mp3_44100_128|opus_48000_128|pcm_44100)$/.test(query["output_format"] ?? "")) {
    return ERRORS["fault-format"];
  }
  if (!textUpTo(4_100)(prompt)) return MUSIC_ERRORS["fault-prompt"];
  if (!MODELS.test(String(model))) return ERRORS["fault-model"];
  if (instrumental !== undefined && !isFlag(instrumental)) return ERRORS["fault-body"];
  return length === undefined || whole(3_000, 600_000)(length) ? null : MUSIC_ERRORS["fault-length"];
}

/** Samples are as long as was asked for, three seconds where nothing was, in two channels. */
export function musicReply(call: RecordedCall): ReplyBehaviour {
  const sound = SOUNDS[call.query["output_format"] ?? ""];
  if (sound) return bytesReply(sound[1], soundOf(sound[0]));
  const { music_length_ms: length = 3_000 } = call.body as Members;
  return bytesReply("audio/pcm", samples(Number(length) / 1_000, 2));
}

/** Samples of 44.1 kHz and 16 bits: left and right are told apart by their values. */
export function samples(seconds: number, channels: 1 | 2): Buffer {
  const bytes = Buffer.alloc(Math.round(seconds * 44_100) * channels * 2);
  for (let at = 0; at < bytes.length; at += 2) bytes.writeInt16LE((at / 2) % channels === 0 ? 1 : -2, at);
  return bytes;
}
