/**
 * A local upstream that speaks OpenAI's video API: create by multipart, status, content, delete. Each create takes the next
 * script of `next`; a job plays its own statuses, of which the last one stays. Source: openai/openai-openapi, VideoResource.
 */
import { jsonReply } from "../vendor-server.ts";
import type { FormFile } from "../multipart.ts";
import { errorReply, VENDOR_MARK } from "./errors.ts";
import { mp4Of, ok, type Recorder, type Reply, startRecorder, type VideoCall, videoReply } from "./videos-recorder.ts";

type Members = Readonly<Record<string, unknown>>;
type Word = "queued" | "in_progress" | "completed" | "failed";

export interface Script {
  /** In place of taking the job; "lost" takes it and resets before the answer. */
  readonly start?: Reply | "lost";
  /** Members of the first answer laid over the true ones; undefined leaves one out. */
  readonly receipt?: Members;
  /** Answers to the status, in order; words and members are laid over the true resource. Unset: as a flawless job goes. */
  readonly statuses?: readonly (Reply | Word | { readonly members: Members })[];
  /** In place of the video. */
  readonly content?: Reply;
}

export interface VideosServer extends Recorder {
  /** Ends with /v1. */
  readonly url: string;
  /** Jobs that were taken, and so would be paid for. */
  readonly charged: number;
  next(...scripts: readonly Script[]): void;
}

interface Job {
  readonly form: Members;
  readonly script: Script;
  asked: number;
}

const FLAWLESS: readonly Word[] = ["queued", "in_progress", "completed"];
/** What the description of the API names, and what servers like it add. */
const FIELDS = ["model", "prompt", "seconds", "size", "input_reference", "seed", "negative_prompt", "extra"];

export function startVideosServer({ apiKey }: { readonly apiKey: string }): VideosServer {
  const scripts: Script[] = [];
  const jobs = new Map<string, Job>();

  const create = ({ headers, body }: VideoCall): Reply => {
    const script = scripts.shift() ?? {};
    if (script.start !== undefined && script.start !== "lost") return script.start;
    if (!headers["content-type"]?.startsWith("multipart/form-data")) return blamed(null, "unsupported content type");
    const form = (body ?? {}) as Members;
    const fault = faultOf(form);
    if (fault !== null) return blamed(fault, `Invalid value: '${fault}'.`);
    const id = `video_${crypto.randomUUID().replaceAll("-", "")}`;
    jobs.set(id, { form, script, asked: 0 });
    if (script.start === "lost") return { kind: "reset" };
    return ok({ ...resourceOf(id, form, "queued"), ...script.receipt });
  };

  const statusOf = (id: string, job: Job): Reply => {
    const answers = job.script.statuses ?? FLAWLESS;
    const answer = answers[Math.min(job.asked, answers.length - 1)] ?? "completed";
    job.asked += 1;
    if (typeof answer === "string") return ok(resourceOf(id, job.form, answer));
    return "members" in answer ? ok({ ...resourceOf(id, job.form, "completed"), ...answer.members }) : answer;
  };

  const recorder = startRecorder((call) => {
    if (call.headers["authorization"] !== `Bearer ${apiKey}`) return errorReply("unauthorized");
    if (call.path === "/v1/videos" && call.method === "POST") return create(call);
    const [, id = "", content] = /^\/v1\/videos\/([^/?]+)(\/content)?$/.exec(call.path) ?? [];
    const job = jobs.get(decodeURIComponent(id));
    if (!job || call.method !== "GET") return jsonReply(404, { error: { message: `Not found (${VENDOR_MARK})` } });
    if (content === undefined) return statusOf(id, job);
    return job.script.content ?? videoReply(mp4Of(Number(job.form["seconds"] ?? 4)));
  });

  return {
    ...recorder,
    url: `${recorder.origin}/v1`,
    get charged() {
      return jobs.size;
    },
    next: (...more) => void scripts.push(...more),
  };
}

function faultOf(form: Members): string | null {
  const stranger = Object.keys(form).find((name) => !FIELDS.includes(name));
  if (stranger !== undefined) return stranger;
  const { model, prompt, seconds = "4", size = "720x1280", input_reference: image } = form;
  if (typeof model !== "string" || model === "") return "model";
  if (typeof prompt !== "string" || prompt === "") return "prompt";
  if (!["4", "8", "12"].includes(String(seconds))) return "seconds";
  if (!/^\d{3,4}x\d{3,4}$/.test(String(size))) return "size";
  const { bytes, contentType = "" } = (image ?? {}) as Partial<FormFile>;
  const isPicture = image === undefined || (Buffer.isBuffer(bytes) && /^image\/(png|jpeg|webp)$/.test(contentType));
  return isPicture ? null : "input_reference";
}

function resourceOf(id: string, form: Members, status: Word): Members {
  const { model, prompt, seconds = "4", size = "720x1280" } = form;
  const isDone = status === "completed";
  return {
    id,
    object: "video",
    model,
    prompt,
    status,
    progress: { queued: 0, in_progress: 45, completed: 100, failed: 60 }[status],
    created_at: 1_770_935_200,
    completed_at: isDone ? 1_770_935_260 : null,
    expires_at: isDone ? 1_770_938_800 : null,
    seconds,
    size,
    remixed_from_video_id: null,
    error: null,
  };
}

/** An error of OpenAI's that names a parameter. */
export function blamed(param: string | null, message: string, code: string | null = null): Reply {
  return jsonReply(400, {
    error: { message: `${message} (${VENDOR_MARK})`, type: "invalid_request_error", param, code },
  });
}
