/**
 * A local upstream that makes videos as the Gemini API with a key does: interactions in the background, Veo's old operations,
 * and the files that either leaves. Each start takes the next script of `next`. Sources: ai.google.dev/gemini-api/docs/omni,
 * …/gemini-api/docs/video; googleapis/js-genai, models/interactions.
 */
import {
  mp4Of,
  ok,
  type Recorder,
  type Reply,
  startRecorder,
  type VideoCall,
  videoReply,
} from "../openai-compatible/videos-recorder.ts";
import { jsonReply } from "../vendor-server.ts";
import { errorReply, VENDOR_MARK } from "./errors.ts";

type Members = Readonly<Record<string, unknown>>;

export interface Script {
  /** In place of taking the job; "lost" takes it and resets before the answer. */
  readonly start?: Reply | "lost";
  /** Members of the first answer laid over the true ones; undefined leaves one out. */
  readonly receipt?: Members;
  /**
   * Answers to a poll, in order; the last one stays. Members are an interaction's or an operation's, laid over what it has
   * while it runs. Unset: it runs once and is done.
   */
  readonly polls?: readonly (Reply | "running" | "done" | { readonly members: Members })[];
  /** Of the file, in order. Unset: ACTIVE. */
  readonly fileStates?: readonly (string | Reply)[];
  /** In place of the redirect to the video. */
  readonly content?: Reply;
  readonly cancel?: Reply;
}

export interface GeminiVideoServer extends Recorder {
  /** Ends with /v1beta. */
  readonly url: string;
  readonly charged: number;
  next(...scripts: readonly Script[]): void;
}

interface Job {
  readonly seconds: number;
  readonly script: Script;
  readonly kind: "interaction" | "operation";
  polled: number;
  looked: number;
}

export function startGeminiVideoServer({ apiKey }: { readonly apiKey: string }): GeminiVideoServer {
  const scripts: Script[] = [];
  const jobs = new Map<string, Job>();

  const create = (kind: Job["kind"], seconds: number | string, receiptOf: (id: string) => Members): Reply => {
    const script = scripts.shift() ?? {};
    if (script.start !== undefined && script.start !== "lost") return script.start;
    if (typeof seconds === "string") return invalid(kind, seconds);
    const id =
      kind === "interaction" ? `v1_${crypto.randomUUID().replaceAll("-", "")}` : crypto.randomUUID().slice(0, 12);
    jobs.set(id, { seconds, script, kind, polled: 0, looked: 0 });
    return script.start === "lost" ? { kind: "reset" } : ok({ ...receiptOf(id), ...script.receipt });
  };

  const poll = (job: Job, running: Members, done: Members): Reply => {
    const answers = job.script.polls ?? ["running", "done"];
    const answer = answers[Math.min(job.polled, answers.length - 1)] ?? "done";
    job.polled += 1;
    if (answer === "running") return ok(running);
    if (answer === "done") return ok({ ...running, ...done });
    return "members" in answer ? ok({ ...running, ...answer.members }) : answer;
  };

  const file = (id: string, job: Job): Reply => {
    const states = job.script.fileStates ?? ["ACTIVE"];
    const state = states[Math.min(job.looked, states.length - 1)] ?? "ACTIVE";
    job.looked += 1;
    return typeof state === "string" ? ok({ name: `files/${id}`, state, mimeType: "video/mp4" }) : state;
  };

  const route = (call: VideoCall): Reply => {
    const [, area = "", rest = ""] = /^(?:\/download)?\/v1beta\/(interactions|models|files)(.*)$/.exec(call.path) ?? [];
    const asked = `${call.method} ${area}`;
    if (asked === "POST interactions" && rest === "") {
      return create("interaction", checkInteraction(call.body), (id) => ({ ...interactionOf(id), usage: {} }));
    }
    const veo = /^\/([^/:]+):predictLongRunning$/.exec(rest)?.[1];
    if (asked === "POST models" && veo !== undefined) {
      return create("operation", checkVeo(call.body), (id) => operationOf(veo, id));
    }
    const id =
      rest
        .split("/")
        .findLast((step) => step !== "cancel")
        ?.split(":")[0] ?? "";
    const job = jobs.get(id);
    if (!job)
      return asked.endsWith("interactions")
        ? invalid("interaction", "Invalid interaction name")
        : errorReply("not-found");
    const uri = `${recorder.origin}/v1beta/files/${id}:download?alt=media`;
    if (asked === "POST interactions" && rest.endsWith("/cancel")) {
      return job.script.cancel ?? ok({ ...interactionOf(id), status: "cancelled" });
    }
    if (asked === "GET interactions") return poll(job, interactionOf(id), doneInteraction(uri, job.seconds));
    if (asked === "GET models") return poll(job, operationOf(rest.split("/")[1] ?? "", id), doneOperation(uri));
    if (asked === "GET files" && rest === `/${id}`) return file(id, job);
    // Google's own examples follow redirects here (`curl -L`).
    if (asked === "GET files" && rest === `/${id}:download?alt=media`) {
      return call.path.startsWith("/download/")
        ? videoReply(mp4Of(job.seconds))
        : (job.script.content ?? {
            kind: "reply",
            status: 302,
            headers: { location: `/download${call.path}` },
            body: "",
          });
    }
    return errorReply("not-found");
  };

  const recorder = startRecorder((call) => {
    const key = call.headers["x-goog-api-key"];
    return key === apiKey ? route(call) : errorReply(key === undefined ? "permission-denied" : "key-invalid");
  });
  return {
    ...recorder,
    url: `${recorder.origin}/v1beta`,
    get charged() {
      return jobs.size;
    },
    next: (...more) => void scripts.push(...more),
  };
}

/** Errors of interactions have a word for a code, all others a number and a status. */
function invalid(kind: Job["kind"], message: string): Reply {
  const text = `${message} (${VENDOR_MARK})`;
  const error =
    kind === "interaction"
      ? { code: "invalid_request", message: text }
      : { code: 400, status: "INVALID_ARGUMENT", message: text };
  return jsonReply(400, { error });
}

/** Seconds, or what is wrong with it. */
function checkInteraction(body: unknown): number | string {
  const { model, input, background, response_format: format, generation_config: config = {}, ...rest } = members(body);
  const stranger = Object.keys(rest).find((name) => name !== "service_tier");
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
  if (!["360p", "720p", "1080p", "4k"].includes(String(resolution))) return "Invalid resolution";
  if (!["16:9", "9:16"].includes(String(aspect_ratio))) return "Invalid aspect ratio";
  const { seed = 0, video_config: video = {}, ...others } = members(config);
  if (!Number.isInteger(seed) || Math.abs(Number(seed)) > 2_147_483_648) return "Invalid seed";
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

/** As above, of Veo's body, whoever serves it. */
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
  if (!Number.isInteger(seed) || Number(seed) < 0 || Number(seed) > 4_294_967_295) return "seed";
  if (!["720p", "1080p", "4k"].includes(String(resolution))) return "resolution";
  return typeof durationSeconds === "number" ? durationSeconds : "durationSeconds";
}

function interactionOf(id: string): Members {
  return { id, object: "interaction", model: "omni", status: "in_progress", created: "2026-11-20T10:00:00Z" };
}

/** What a completed interaction has beside what it had while it ran. */
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
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Members) : {};
}
