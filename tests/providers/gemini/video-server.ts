/**
 * A local upstream that makes videos as the Gemini API with a key does: interactions in the background, Veo's old operations,
 * and the files that either leaves. Each start takes the next script of `next`. Sources: ai.google.dev/gemini-api/docs/omni,
 * …/gemini-api/docs/video; googleapis/js-genai, models/interactions.
 */
import {
  jsonReply,
  type Members,
  ok,
  type Reply,
  type ReplyBehaviour,
  type TextReply,
  VENDOR_MARK,
} from "../engine/behaviour.ts";
import { isObject } from "../engine/content.ts";
import { type JobServer, jobBook, oneOf, type Script as JobScript, startJobServer, whole } from "../engine/jobs.ts";
import type { RecordedCall } from "../engine/recorder.ts";
import { mp4Of, videoReply } from "../video-calls.ts";
import { ERRORS } from "./errors.ts";

type Word = "running" | "done";

export interface Script extends JobScript<Word> {
  /** States of the file, in order. Unset: ACTIVE. */
  readonly fileStates?: readonly (string | ReplyBehaviour)[];
}

interface Facts {
  readonly seconds: number;
  looked: number;
}

export type GeminiVideoServer = JobServer<Facts, Word, Script>;

export function startGeminiVideoServer({ apiKey }: { readonly apiKey: string }): GeminiVideoServer {
  const newId = (): string => `v1_${crypto.randomUUID().replaceAll("-", "")}`;
  const book = jobBook<Facts, Word, Script>({ plain: ["running", "done"], newId });

  const create = (isVeo: boolean, seconds: number | string, receiptOf: (id: string) => Members): Reply =>
    book.start(
      () => (typeof seconds === "string" ? invalid(isVeo, seconds) : { facts: { seconds, looked: 0 } }),
      ({ id, script }) => ok({ ...receiptOf(id), ...script.receipt }),
    );

  const answer = ({ method, path, headers, body }: RecordedCall, { url }: { url: string }): Reply => {
    const key = headers["x-goog-api-key"];
    if (key !== apiKey) return ERRORS[key === undefined ? "permission-denied" : "key-invalid"];
    const [, area = "", rest = ""] = /^(?:\/download)?\/v1beta\/(interactions|models|files)(.*)$/.exec(path) ?? [];
    const asked = `${method} ${area}`;
    if (asked === "POST interactions" && rest === "") {
      return create(false, checkInteraction(body), (id) => ({ ...interactionOf(id), usage: {} }));
    }
    const veo = /^\/([^/:]+):predictLongRunning$/.exec(rest)?.[1];
    if (asked === "POST models" && veo !== undefined) return create(true, checkVeo(body), (id) => operationOf(veo, id));
    const steps = rest.split("/");
    const id = steps.findLast((step) => step !== "cancel")?.split(":")[0] ?? "";
    const job = book.jobs.get(id);
    if (!job) return asked.endsWith("interactions") ? invalid(false, "Invalid interaction name") : ERRORS["not-found"];
    const uri = `${url}/files/${id}:download?alt=media`;
    const poll = (running: Members, done: Members): Reply =>
      book.poll(job, (word, more = word === "done" ? done : {}) => ok({ ...running, ...more }));
    if (asked === "POST interactions" && rest.endsWith("/cancel")) {
      return job.script.cancel ?? ok({ ...interactionOf(id), status: "cancelled" });
    }
    if (asked === "GET interactions") return poll(interactionOf(id), doneInteraction(uri, job.facts.seconds));
    if (asked === "GET models") return poll(operationOf(steps[1] ?? "", id), doneOperation(uri));
    if (asked === "GET files" && rest === `/${id}`) {
      const { fileStates: states = ["ACTIVE"] } = job.script;
      const state = states[Math.min(job.facts.looked++, states.length - 1)] ?? "ACTIVE";
      return typeof state === "string" ? ok({ name: `files/${id}`, state, mimeType: "video/mp4" }) : state;
    }
    if (asked !== "GET files" || rest !== `/${id}:download?alt=media`) return ERRORS["not-found"];
    // Google's own examples follow redirects here (`curl -L`).
    if (path.startsWith("/download/")) return videoReply(mp4Of(job.facts.seconds));
    return job.script.file ?? jsonReply(302, "", { location: `/download${path}` });
  };
  return startJobServer(book, { base: "/v1beta", answer });
}

/** Errors of interactions have a word for a code, all others a number and a status. */
function invalid(isVeo: boolean, text: string): TextReply {
  const message = `${text} (${VENDOR_MARK})`;
  const error = isVeo ? { code: 400, status: "INVALID_ARGUMENT", message } : { code: "invalid_request", message };
  return jsonReply(400, { error });
}

/** Seconds, or what is wrong with it. */
function checkInteraction(body: unknown): number | string {
  const { model, input, background, response_format: format, generation_config: config = {}, ...rest } = members(body);
  const { uris = ["https://"] } = members(rest["webhook_config"]);
  if (!Array.isArray(uris) || !uris.every((uri) => String(uri).startsWith("https://"))) return "webhook_config";
  const stranger = Object.keys(rest).find((name) => name !== "service_tier" && name !== "webhook_config");
  if (stranger !== undefined) return `Unknown parameter '${stranger}'.`;
  if (typeof model !== "string" || model === "") return "model is required";
  if (background !== true) return "would block for minutes";
  const parts = typeof input === "string" ? [{ type: "text", text: input }] : Array.isArray(input) ? input : [];
  if (!parts.some((part) => members(part)["type"] === "text")) return "input is required";
  for (const part of parts.map(members).filter(({ type }) => type !== "text")) {
    const isMedia =
      typeof part["data"] === "string" && String(part["mime_type"]).startsWith(`${String(part["type"])}/`);
    if (!isMedia) return "Unable to process input image.";
  }
  const {
    type,
    delivery = "inline",
    duration = "10s",
    resolution = "720p",
    aspect_ratio = "16:9",
    ...more
  } = members(format);
  if (type !== "video" || !["inline", "uri"].includes(String(delivery)) || Object.keys(more).length > 0)
    return "response_format";
  if (!/^\d+(\.\d+)?s$/.test(String(duration))) return "Invalid duration";
  if (!oneOf("360p", "720p", "1080p", "4k")(resolution)) return "Invalid resolution";
  if (!oneOf("16:9", "9:16")(aspect_ratio)) return "Invalid aspect ratio";
  const { seed = 0, video_config: video = {}, ...others } = members(config);
  if (!whole(-2_147_483_648, 2_147_483_648)(seed)) return "Invalid seed";
  const task = members(video)["task"] ?? "text_to_video";
  const isTask = typeof task === "string" && TASKS.includes(task);
  return isTask && Object.keys(others).length === 0 ? Number.parseFloat(String(duration)) : "Invalid task";
}

const TASKS = ["text_to_video", "image_to_video", "reference_to_video", "edit", "extend"];

const PARAMETERS = [
  "sampleCount",
  "durationSeconds",
  "resolution",
  "aspectRatio",
  "seed",
  "negativePrompt",
  "personGeneration",
  "generateAudio",
  "storageUri",
];

/** Seconds of Veo's body, whoever serves it, or what is wrong with it. */
export function checkVeo(body: unknown): number | string {
  const { instances, parameters, ...rest } = members(body);
  if (Object.keys(rest).length > 0 || !Array.isArray(instances) || instances.length !== 1)
    return "one instance is expected";
  const { prompt, ...media } = members(instances[0]);
  if (typeof prompt !== "string" || prompt === "") return "The prompt is required";
  for (const [name, value] of Object.entries(media)) {
    const { bytesBase64Encoded: data, mimeType } = members(value);
    if (!["image", "video", "lastFrame"].includes(name)) return `Unknown name "${name}"`;
    if (typeof data !== "string" || typeof mimeType !== "string") return "Unable to process input image.";
  }
  const given = members(parameters);
  const stranger = Object.keys(given).find((name) => !PARAMETERS.includes(name));
  if (stranger !== undefined) return `Unknown name "${stranger}"`;
  const { sampleCount, durationSeconds = 8, seed = 0, resolution = "720p" } = given;
  if (sampleCount !== 1) return "sampleCount";
  if (!whole(0, 4_294_967_295)(seed)) return "seed";
  if (!oneOf("720p", "1080p", "4k")(resolution)) return "resolution";
  return typeof durationSeconds === "number" ? durationSeconds : "durationSeconds";
}

function interactionOf(id: string): Members {
  return { id, object: "interaction", model: "omni", status: "in_progress", created: "2026-11-20T10:00:00Z" };
}

/** Members of a completed interaction beside those it had while it ran. */
export function doneInteraction(uri: string, seconds = 4): Members {
  const video = { type: "video", mime_type: "video/mp4", uri };
  return {
    status: "completed",
    usage: {
      total_output_tokens: 5_792 * seconds,
      output_tokens_by_modality: [{ modality: "video", tokens: 5_792 * seconds }],
    },
    steps: [
      { type: "user_input", content: [{ type: "text", text: "…" }] },
      { type: "thought", signature: "c2ln" },
      { type: "model_output", content: [video] },
    ],
  };
}

function operationOf(model: string, id: string): Members {
  return { name: `models/${model}/operations/${id}` };
}

/** The same of an operation. */
export function doneOperation(uri: string): Members {
  const type = "type.googleapis.com/google.ai.generativelanguage.v1beta.PredictLongRunningResponse";
  return { done: true, response: { "@type": type, generateVideoResponse: { generatedSamples: [{ video: { uri } }] } } };
}

function members(value: unknown): Members {
  return isObject(value) ? value : {};
}
