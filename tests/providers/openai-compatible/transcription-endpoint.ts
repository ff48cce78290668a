/** The transcription side of the local upstream. Source: openai/openai-openapi, CreateTranscriptionRequest. */
import { type AnswerBehaviour, type Members, ok, type ReplyBehaviour } from "../engine/behaviour.ts";
import { isObject } from "../engine/content.ts";
import { checkBody, fault, usageMember } from "./check-request.ts";

const COMMON = ["model", "file", "language", "prompt", "response_format", "temperature", "stream"];
const FORMATS = new Set(["json", "text", "srt", "verbose_json", "vtt"]);
const ENDINGS = /\.(?:flac|mp3|mp4|mpeg|mpga|m4a|ogg|wav|webm)$/;

/** The fault OpenAI would name first, or null. Models that begin with gpt- give JSON without times only. */
export const checkTranscriptionRequest = checkBody(
  [...COMMON, "timestamp_granularities[]"],
  ({ model, file, response_format: format = "json", "timestamp_granularities[]": granularities }) => {
    if (!isObject(file)) return fault("file", "missing");
    if (!ENDINGS.test(String(file["filename"])))
      return fault("file", "Invalid file format. Supported formats: ['flac'");
    if (!FORMATS.has(String(format))) return fault("response_format", "unknown");
    if (String(model).startsWith("gpt-") && format !== "json" && format !== "text") {
      return fault("response_format", `response_format '${String(format)}' is not compatible with this model`);
    }
    if (granularities === undefined) return null;
    if (format !== "verbose_json") return fault("timestamp_granularities", "needs verbose_json");
    const isKnown = [granularities].flat().every((value) => value === "word" || value === "segment");
    return isKnown ? null : fault("timestamp_granularities", "unknown");
  },
  "multipart/form-data",
);

const WORDS = [
  { word: "Good", start: 0, end: 0.6600000262260437 },
  { word: "morning", start: 0.6600000262260437, end: 0.8999999761581421 },
];

/** Segment that a Whisper model gives. */
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

/** A whole answer in the format that the request asks for; usage is reported by the second unless it is told otherwise. */
export function transcriptionReply(body: Members, { usage }: AnswerBehaviour = {}): ReplyBehaviour {
  const { response_format: format, "timestamp_granularities[]": asked = "segment" } = body;
  if (format === "text") {
    return { status: 200, headers: { "content-type": "text/plain; charset=UTF-8" }, body: " Good morning.\n" };
  }
  const text = "Good morning.";
  const report = usageMember(usage, { type: "duration", seconds: 2 });
  if (format !== "verbose_json") return ok({ text, ...report });
  const granularities = [asked].flat();
  return ok({
    task: "transcribe",
    language: "english",
    duration: 1.25,
    text,
    ...(granularities.includes("word") ? { words: WORDS } : {}),
    ...(granularities.includes("segment") ? { segments: [SEGMENT] } : {}),
    ...report,
  });
}
