/** The transcription side of the local upstream. Source: openai/openai-openapi, CreateTranscriptionRequest. */
import type { ChatBehaviour, ReplyBehaviour } from "./behaviour.ts";
import { isObject, type RequestFault } from "./check-request.ts";

const MEMBERS = new Set([
  "model",
  "file",
  "language",
  "prompt",
  "response_format",
  "temperature",
  "timestamp_granularities[]",
]);
const FORMATS = new Set(["json", "text", "srt", "verbose_json", "vtt"]);
const ENDINGS = /\.(?:flac|mp3|mp4|mpeg|mpga|m4a|ogg|wav|webm)$/;

/** The fault OpenAI would name first, or null. Models that begin with gpt- give JSON without times only. */
export function checkTranscriptionRequest(contentType: string | undefined, body: unknown): RequestFault | null {
  const fault = (param: string | null, message: string): RequestFault => ({ param, message });
  if (!contentType?.startsWith("multipart/form-data")) return fault(null, "unsupported content type");
  if (!isObject(body)) return fault(null, "the body is no form");
  const stranger = Object.keys(body).find((name) => !MEMBERS.has(name));
  if (stranger !== undefined) return fault(stranger, "unrecognized request argument");
  const { model, file, response_format: format = "json", "timestamp_granularities[]": granularities } = body;
  if (typeof model !== "string" || model === "") return fault("model", "missing");
  if (!isObject(file)) return fault("file", "missing");
  if (!ENDINGS.test(String(file["filename"]))) return fault("file", "Invalid file format. Supported formats: ['flac'");
  if (!FORMATS.has(String(format))) return fault("response_format", "unknown");
  if (model.startsWith("gpt-") && format !== "json" && format !== "text") {
    return fault("response_format", `response_format '${String(format)}' is not compatible with model '${model}'`);
  }
  if (granularities === undefined) return null;
  if (format !== "verbose_json") return fault("timestamp_granularities", "needs verbose_json");
  const isKnown = [granularities].flat().every((value) => value === "word" || value === "segment");
  return isKnown ? null : fault("timestamp_granularities", "unknown");
}

const WORDS = [
  { word: "Good", start: 0, end: 0.6600000262260437 },
  { word: "morning", start: 0.6600000262260437, end: 0.8999999761581421 },
];

/** As a Whisper model gives it. */
export const SEGMENT = {
  id: 0,
  seek: 0,
  start: 0,
  end: 1.25,
  text: " Good morning.",
  tokens: [50364, 2205, 2446, 13, 50414],
  temperature: 0,
  avg_logprob: -0.25,
  compression_ratio: 0.65,
  no_speech_prob: 0.0125,
};

/** A whole answer in the format that the request asks for. `usage` as for chat; it is reported by the second else. */
export function transcriptionReply(
  body: Readonly<Record<string, unknown>>,
  { usage }: ChatBehaviour = {},
): ReplyBehaviour {
  const { response_format: format, "timestamp_granularities[]": asked = "segment" } = body;
  if (format === "text") {
    return {
      kind: "reply",
      status: 200,
      headers: { "content-type": "text/plain; charset=UTF-8" },
      body: " Good morning.\n",
    };
  }
  const granularities = [asked].flat();
  const report =
    typeof usage === "object" ? { usage } : usage === "missing" ? {} : { usage: { type: "duration", seconds: 2 } };
  const answer =
    format === "verbose_json"
      ? {
          task: "transcribe",
          language: "english",
          duration: 1.25,
          text: "Good morning.",
          ...(granularities.includes("word") ? { words: WORDS } : {}),
          ...(granularities.includes("segment") ? { segments: [SEGMENT] } : {}),
          ...report,
        }
      : { text: "Good morning.", ...report };
  return { kind: "reply", status: 200, headers: { "content-type": "application/json" }, body: JSON.stringify(answer) };
}
