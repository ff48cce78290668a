/** A local upstream that speaks ElevenLabs' speech, transcription and music, and refuses what the vendor would. */
import { parseForm } from "../multipart.ts";
import type { ReplyBehaviour } from "../openai-compatible/behaviour.ts";
import { soundOf } from "../sounds.ts";
import {
  jsonOf,
  jsonReply,
  soundReply,
  startVendorServer,
  type VendorCall,
  type VendorServer,
} from "../vendor-server.ts";
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

/** What the server heard in every recording: in the shape of ElevenLabs, spaces and noises included. */
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

export interface ElevenLabsServer extends VendorServer {
  /** Pieces of music that passed every check, and so are paid for unless an error was asked for by name. */
  readonly composed: number;
}

export function startElevenLabsServer(apiKey: string): ElevenLabsServer {
  let composed = 0;
  const server = startVendorServer({
    errors: { ...ERRORS, ...MUSIC_ERRORS },
    modelOf: (call) => (membersOf(call)?.["model_id"] ?? "") as string,
    refuse: (call) => {
      const refusal = call.headers["xi-api-key"] === apiKey ? refuse(call) : ERRORS["invalid-key"];
      if (refusal === null && call.path === MUSIC_PATH) composed += 1;
      return refusal;
    },
    answer: (call) => {
      if (call.path === "/v1/speech-to-text") return jsonReply(200, HEARD);
      if (call.path === MUSIC_PATH) return musicReply(call);
      const [format, type] = FORMATS[call.query["output_format"] ?? ""]!;
      return soundReply(type, soundOf(format));
    },
  });
  return Object.defineProperty(server, "composed", { get: () => composed }) as ElevenLabsServer;
}

function refuse(call: VendorCall): ReplyBehaviour | null {
  if (call.method !== "POST") return ERRORS["plain-detail-405"];
  if (call.path === MUSIC_PATH) return refuseMusic(call);
  const members = membersOf(call);
  if (call.path === "/v1/speech-to-text") return members === undefined ? ERRORS["fault-body"] : refuseForm(members);
  if (!SPEECH_PATH.test(call.path)) return ERRORS["plain-detail"];
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

function membersOf(call: VendorCall): Record<string, unknown> | undefined {
  return parseForm(call.headers["content-type"], call.bytes) ?? jsonOf(call);
}
