/** A local upstream that speaks ElevenLabs' speech, transcription and music, and refuses what the vendor would. */
import { bytesReply, ok, type ReplyBehaviour } from "../engine/behaviour.ts";
import { isObject } from "../engine/content.ts";
import type { RecordedCall } from "../engine/recorder.ts";
import { startUpstream, type Upstream } from "../engine/upstream.ts";
import { soundOf } from "../sounds.ts";
import { ERRORS } from "./errors.ts";
import { MUSIC_PATH, musicReply, refuseMusic } from "./music-endpoint.ts";
import { MUSIC_ERRORS } from "./music-errors.ts";

const FORMATS: Readonly<Record<string, readonly ["mp3" | "opus" | "wav" | "pcm", string]>> = {
  mp3_44100_128: ["mp3", "audio/mpeg"],
  opus_48000_128: ["opus", "audio/ogg"],
  wav_24000: ["wav", "audio/wav"],
  pcm_24000: ["pcm", "application/octet-stream"],
};

const SPEECH_PATH = /^\/v1\/text-to-speech\/([A-Za-z0-9]+)$/;
const SPEECH_MEMBERS = new Set(["text", "model_id", "language_code", "voice_settings", "seed"]);
const FORM_MEMBERS = new Set([
  "model_id",
  "file",
  "language_code",
  "tag_audio_events",
  "timestamps_granularity",
  "diarize",
  "temperature",
  "seed",
]);

/** Result of the server for every recording: in the shape of ElevenLabs, spaces and noises included. */
export const HEARD = {
  language_code: "eng",
  language_probability: 0.98,
  text: "Good morning, all of you.",
  words: [
    { text: "Good", start: 0.1, end: 0.3, type: "word", speaker_id: "speaker_0", logprob: 0 },
    { text: " ", start: 0.3, end: 0.32, type: "spacing", speaker_id: "speaker_0", logprob: 0 },
    { text: "morning,", start: 0.32, end: 0.8, type: "word", speaker_id: "speaker_0", logprob: 0 },
    { text: "(birds)", start: 0.8, end: 0.9, type: "audio_event", speaker_id: "speaker_0", logprob: 0 },
    { text: "all", start: 0.9, end: 1, type: "word", speaker_id: "speaker_0", logprob: 0 },
    { text: "of", start: 1, end: 1.1, type: "word", speaker_id: "speaker_0", logprob: 0 },
    { text: "you.", start: 1.1, end: 1.4, type: "word", speaker_id: "speaker_0", logprob: 0 },
    { text: "lost", start: null, end: null, type: "word", speaker_id: null, logprob: 0 },
  ],
  transcription_id: "t1",
} as const;

export function startElevenLabsServer(apiKey: string): Upstream {
  return startUpstream({
    base: "/v1",
    errors: { ...ERRORS, ...MUSIC_ERRORS },
    streamError: ERRORS["server-error"].body,
    modelOf: ({ body }) => String((body as Record<string, unknown>)["model_id"]),
    refuse: (call) => (call.headers["xi-api-key"] === apiKey ? refuse(call) : ERRORS["invalid-key"]),
    answer: (_behaviour, call) => {
      if (call.pathname === "/v1/speech-to-text") return ok(HEARD);
      if (call.pathname === MUSIC_PATH) return musicReply(call);
      const [format, type] = FORMATS[call.query["output_format"] ?? ""]!;
      return bytesReply(type, soundOf(format));
    },
  });
}

/** Pieces of music that passed every check, and so are paid for unless an error was asked for by name. */
export function composed({ requests, refusals }: Upstream): number {
  return requests.filter(({ pathname }) => pathname === MUSIC_PATH).length - refusals.length;
}

function refuse(call: RecordedCall): ReplyBehaviour | null {
  if (call.method !== "POST") return ERRORS["plain-detail-405"];
  if (call.pathname === MUSIC_PATH) return refuseMusic(call);
  const members = isObject(call.body) ? call.body : undefined;
  if (call.pathname === "/v1/speech-to-text") return members === undefined ? ERRORS["fault-body"] : refuseForm(members);
  if (!SPEECH_PATH.test(call.pathname)) return ERRORS["plain-detail"];
  if (members === undefined) return ERRORS["fault-body"];
  if (FORMATS[call.query["output_format"] ?? ""] === undefined) return ERRORS["fault-format"];
  if (typeof members["text"] !== "string" || members["text"] === "") return ERRORS["fault-text"];
  if (Object.keys(members).some((name) => !SPEECH_MEMBERS.has(name))) return ERRORS["fault-body"];
  const { speed = 1 } = (members["voice_settings"] ?? {}) as { speed?: number };
  return speed >= 0.7 && speed <= 1.2 ? null : ERRORS["fault-speed"];
}

function refuseForm(members: Readonly<Record<string, unknown>>): ReplyBehaviour | null {
  if (Object.keys(members).some((name) => !FORM_MEMBERS.has(name))) return ERRORS["fault-body"];
  if (typeof members["model_id"] !== "string") return ERRORS["fault-model"];
  return typeof members["file"] === "object" ? null : ERRORS["bad-audio"];
}
