/** A local upstream that speaks Deepgram's transcription and speech, and refuses what the vendor would. */
import { bytesReply, ok, type ReplyBehaviour } from "../engine/behaviour.ts";
import { isObject } from "../engine/content.ts";
import { textUpTo } from "../engine/jobs.ts";
import type { RecordedCall } from "../engine/recorder.ts";
import { startUpstream, type Upstream } from "../engine/upstream.ts";
import { soundOf } from "../sounds.ts";
import { ERRORS } from "./errors.ts";

const LISTEN_QUERY = new Set(["model", "smart_format", "utterances", "language", "detect_language", "keyterm"]);
const SPEAK_QUERY = new Set(["model", "encoding", "container", "sample_rate", "bit_rate", "speed"]);

/** Encodings with the containers they may have and, where it can be chosen, the rates. */
const SPOKEN: Readonly<
  Record<string, { as: "mp3" | "opus" | "aac" | "flac"; type: string; containers: readonly string[]; rates: number[] }>
> = {
  mp3: { as: "mp3", type: "audio/mpeg", containers: [], rates: [] },
  opus: { as: "opus", type: "audio/ogg;codecs=opus", containers: ["ogg"], rates: [] },
  aac: { as: "aac", type: "audio/aac", containers: [], rates: [] },
  flac: { as: "flac", type: "audio/flac", containers: [], rates: [8_000, 16_000, 22_050, 32_000, 48_000] },
};
const LINEAR_RATES = [8_000, 16_000, 24_000, 32_000, 48_000];

/** Result of the server for every recording, in the shape of Deepgram. */
export const HEARD = {
  metadata: { transaction_key: "deprecated", request_id: "r1", duration: 3.744, channels: 1 },
  results: {
    channels: [
      {
        alternatives: [
          {
            transcript: "Good morning. All of you.",
            confidence: 0.99,
            words: [
              { word: "good", punctuated_word: "Good", start: 0.16, end: 0.4, confidence: 0.99 },
              { word: "morning", punctuated_word: "morning.", start: 0.4, end: 0.96, confidence: 0.99 },
              { word: "all", start: 2.1, end: 2.4, confidence: 0.99 },
              { word: "of", punctuated_word: "of", start: 2.4, end: 2.5, confidence: 0.99 },
              { word: "you", punctuated_word: "you.", start: 2.5, end: 3, confidence: 0.99 },
            ],
          },
          { transcript: "Good mourning.", confidence: 0.1, words: [] },
        ],
        detected_language: "en",
        language_confidence: 0.99,
      },
    ],
    utterances: [
      { start: 0.16, end: 0.96, confidence: 0.99, channel: 0, transcript: "Good morning.", words: [], id: "u1" },
      { start: 2.1, end: 3, confidence: 0.99, channel: 0, transcript: "All of you.", words: [], id: "u2" },
    ],
  },
} as const;

export function startDeepgramServer(apiKey: string): Upstream {
  return startUpstream({
    base: "/v1",
    errors: ERRORS,
    streamError: ERRORS["server-error"].body,
    modelOf: ({ query }) => query["model"] ?? "",
    refuse: (call) => (call.headers["authorization"] === `Token ${apiKey}` ? refuse(call) : ERRORS["invalid-key"]),
    answer: (_behaviour, { pathname, query }) => {
      if (pathname === "/v1/listen") return ok(HEARD);
      const { encoding = "mp3", container } = query;
      if (encoding !== "linear16") return bytesReply(SPOKEN[encoding]!.type, soundOf(SPOKEN[encoding]!.as));
      return container === "none" ? bytesReply("audio/l16", soundOf("pcm")) : bytesReply("audio/wav", soundOf("wav"));
    },
  });
}

function refuse(call: RecordedCall): ReplyBehaviour | null {
  if (call.method !== "POST") return ERRORS["no-project"];
  if (call.pathname === "/v1/listen") return refuseListen(call);
  return call.pathname === "/v1/speak" ? refuseSpeak(call) : ERRORS["no-project"];
}

function refuseListen({ query, headers, bytes }: RecordedCall): ReplyBehaviour | null {
  if (Object.keys(query).some((name) => !LISTEN_QUERY.has(name))) return ERRORS["bad-query"];
  if (query["language"] !== undefined && query["detect_language"] !== undefined) return ERRORS["bad-query"];
  if (!/^(?:audio|video)\/[a-z0-9.+-]+$/.test(headers["content-type"] ?? "")) return ERRORS["wrong-type"];
  return bytes.length === 0 ? ERRORS.corrupt : null;
}

function refuseSpeak({ query, headers, body }: RecordedCall): ReplyBehaviour | null {
  if (Object.keys(query).some((name) => !SPEAK_QUERY.has(name))) return ERRORS["bad-query"];
  if (headers["content-type"] !== "application/json") return ERRORS["wrong-type"];
  const text = isObject(body) ? body["text"] : undefined;
  if (typeof text !== "string" || text === "") return ERRORS["bad-json"];
  if (!textUpTo(2_000)(text)) return ERRORS["too-long"];
  const speed = Number(query["speed"] ?? 1);
  return isCombination(query) && speed >= 0.7 && speed <= 1.5 ? null : ERRORS["bad-query"];
}

function isCombination({ encoding = "", container, sample_rate: rate }: Readonly<Record<string, string>>): boolean {
  if (encoding === "linear16") {
    return (container === "wav" || container === "none") && LINEAR_RATES.includes(Number(rate));
  }
  const spoken = SPOKEN[encoding];
  if (spoken === undefined) return false;
  const hasContainer = container === undefined || spoken.containers.includes(container);
  return hasContainer && (rate === undefined || spoken.rates.includes(Number(rate)));
}
