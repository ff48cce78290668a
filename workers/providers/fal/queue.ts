/**
 * Adapter for fal's queue. A job is submitted under its model's full name and polled at the URL paths in the response. fal has no failed
 * status: a failed job is COMPLETED, and its result is an error.
 */
import { clientParam, type Fields, inputOf } from "../fields.ts";
import { type Endpoint, post, type ProviderAnswer } from "../http.ts";
import { unreadableImage } from "../image-fields.ts";
import { isMembers, type Members, parseObject } from "../json.ts";
import type {
  Found,
  LostStart,
  MediaCall,
  MediaKind,
  MediaResult,
  Polled,
  ProviderJob,
  QueuedAdapter,
} from "../media.ts";
import { ProviderError, type ProviderErrorClass } from "../provider.ts";
import { retryAfter } from "../retry-after.ts";
import { postStart } from "../start.ts";
import type { FalBody } from "./body.ts";

/** Time for which fal keeps results: one day, in seconds. This is longer than all our retries to copy a result. */
const KEEP = JSON.stringify({ expiration_duration_seconds: 86_400 });

interface FalModel<Input, Output> {
  readonly kind: MediaKind;
  /** Builds the request body of a call. @throws ProviderError */
  body(call: MediaCall<Input>): FalBody;
  /**
   * Parses the result of a job. Undefined for an unknown result, which is no definite failure. @throws ProviderError for a result with an
   * error
   */
  result(answer: Members, asked: number): MediaResult<Output> | undefined;
}

type TextAnswer = ProviderAnswer & { readonly text: string };

export function falQueue<Input, Output>(
  endpoint: Endpoint,
  model: FalModel<Input, Output>,
): QueuedAdapter<Input, Output> {
  return {
    takesUrls: true,

    async start(call) {
      const { input, asked, usual } = model.body(call);
      call.adapt(input);
      const path = `/${call.sourceModel.split("/").map(encodeURIComponent).join("/")}${ringing(call.callbackUrl)}`;
      const headers = { "x-fal-object-lifecycle-preference": KEEP };
      const fields = call.fields ?? usual;
      const request = { path, body: JSON.stringify(input), headers };
      // The queue cannot be listed, so only a callback finds a job whose response was lost.
      const mark: FalMark | null = call.callbackUrl === undefined ? null : { model: call.sourceModel, asked, fields };
      return postStart(endpoint, request, call, mark, (answer) => {
        const { status, text } = answer;
        if (!isSuccess(answer)) throw classifyStart(status, answer.headers, text, { fields, kind: model.kind });
        const job = newJob(endpoint, call.sourceModel, parseObject(text), { asked, fields });
        // The job was accepted and probably runs, but cannot be polled.
        if (!job) throw new ProviderError("unknown", "the job was taken without an id that can be asked for");
        return job;
      });
    },

    async poll(job, signal) {
      const known = readJob(job);
      if (!known) return unknown("the stored job is none of fal's");
      try {
        return await ask(endpoint, model, known, signal);
      } catch (error) {
        if (error instanceof ProviderError) return unknown(`the poll failed: ${error.kind}, ${error.detail}`);
        throw error;
      }
    },

    find: async (lost) => findRung(endpoint, lost),

    async cancel(job, signal) {
      const known = readJob(job);
      // The response is ignored, because the next poll returns the outcome.
      if (known) await post(endpoint, { method: "PUT", path: known.cancel_path }, signal);
    },
  };
}

function findRung(endpoint: Endpoint, { mark, callbackJobName }: LostStart): Found {
  const known = readMark(mark);
  if (!known) return unknown("the stored mark is none of fal's");
  const { model, ...facts } = known;
  const job =
    callbackJobName === undefined ? undefined : newJob(endpoint, model, { request_id: callbackJobName }, facts);
  return job ? { state: "found", job } : unknown("fal has not rung for it yet");
}

/**
 * Returns the query string with the URL that fal calls when the job ends. Empty without a callback URL. Source:
 * fal.ai/docs/documentation/model-apis/inference/webhooks.
 */
function ringing(callbackUrl: string | undefined): string {
  return callbackUrl === undefined ? "" : `?fal_webhook=${encodeURIComponent(callbackUrl)}`;
}

async function ask<Input, Output>(
  endpoint: Endpoint,
  model: FalModel<Input, Output>,
  job: FalJob,
  signal: AbortSignal,
): Promise<Polled<Output>> {
  const asked = await post(endpoint, { method: "GET", path: job.status_path }, signal);
  if (!isSuccess(asked)) return unknown(`the status was answered with ${asked.status}`);
  const status = parseObject(asked.text);
  if ((status?.["request_id"] ?? job.request_id) !== job.request_id) return unknown("the answer is of another job");
  switch (status?.["status"]) {
    case "IN_QUEUE":
    case "IN_PROGRESS":
      return { state: "pending" };
    case "COMPLETED":
      return readResult(model, job, status, await post(endpoint, { method: "GET", path: job.result_path }, signal));
    default:
      return unknown(`the status is ${JSON.stringify(status?.["status"])?.slice(0, 100) ?? "absent"}`);
  }
}

function readResult<Input, Output>(
  model: FalModel<Input, Output>,
  job: FalJob,
  status: Members,
  answer: TextAnswer,
): Polled<Output> {
  if (answer.status === 202) return { state: "pending" };
  if (answer.status === 400 && /\bstill in progress\b/i.test(answer.text)) return { state: "pending" };
  const body = parseObject(answer.text);
  if (isSuccess(answer) && body) {
    try {
      const result = model.result(body, job.asked);
      if (result) return { state: "done", ...result };
    } catch (error) {
      if (error instanceof ProviderError) return { state: "failed", error };
      throw error;
    }
  }
  const error = verdictOf(status, answer, body, { fields: job.fields, kind: model.kind });
  return error ? { state: "failed", error } : unknown(`the result was answered with ${answer.status}`);
}

function isSuccess({ status }: ProviderAnswer): boolean {
  return status >= 200 && status <= 299;
}

function unknown(detail: string): { readonly state: "unknown"; readonly detail: string } {
  return { state: "unknown", detail };
}

// Stored state of a job at fal, sufficient for polling by another process.

/** Stored job at fal. Its URL paths are relative to the endpoint's base URL, so that credentials are sent only there. */
interface FalJob extends ProviderJob {
  readonly request_id: string;
  readonly status_path: string;
  readonly result_path: string;
  readonly cancel_path: string;
  /** Number of results requested. */
  readonly asked: number;
  /** Field names of the inputs. They are used to name the caller's parameter when an error of fal names a field. */
  readonly fields: Fields;
}

/** Stored facts from which a job can be recreated when only the job name in fal's callback is known. */
interface FalMark extends ProviderJob, Pick<FalJob, "asked" | "fields"> {
  /** Name of the model at the source. */
  readonly model: string;
}

const ID = /^[A-Za-z0-9_-]{1,128}$/;

/**
 * Creates the job from the response to a submission. Undefined if the response has no id. URLs in the response are used if they are on the
 * submitted host and contain the id. Otherwise the documented URLs are used.
 */
export function newJob(
  endpoint: Endpoint,
  sourceModel: string,
  answer: Members | undefined,
  facts: Pick<FalJob, "asked" | "fields">,
): FalJob | undefined {
  const id = answer?.["request_id"];
  if (typeof id !== "string" || !ID.test(id)) return undefined;
  const [owner = "", app = ""] = sourceModel.split("/");
  // Further parts of the model's name, after owner and app, are only used by the submit.
  const usual = `/${encodeURIComponent(owner)}/${encodeURIComponent(app)}/requests/${id}`;
  const pathOf = (name: string, otherwise: string): string => pathOn(endpoint, answer?.[name], id) ?? otherwise;
  return {
    request_id: id,
    status_path: pathOf("status_url", `${usual}/status`),
    result_path: pathOf("response_url", usual),
    cancel_path: pathOf("cancel_url", `${usual}/cancel`),
    ...facts,
  };
}

/** Returns a stored job; undefined for other values. */
function readJob(job: ProviderJob): FalJob | undefined {
  const { request_id, status_path, result_path, cancel_path, asked, fields } = job;
  if (!isPath(status_path) || !isPath(result_path) || !isPath(cancel_path)) return undefined;
  if (typeof request_id !== "string" || typeof asked !== "number" || !isFields(fields)) return undefined;
  return { request_id, status_path, result_path, cancel_path, asked, fields };
}

/** Parses a stored mark. Undefined for any other value. */
function readMark({ model, asked, fields }: ProviderJob): FalMark | undefined {
  if (typeof model !== "string" || typeof asked !== "number" || !isFields(fields)) return undefined;
  return { model, asked, fields };
}

function pathOn({ baseUrl }: Endpoint, url: unknown, id: string): string | undefined {
  if (typeof url !== "string" || !URL.canParse(url)) return undefined;
  const there = new URL(url);
  const base = new URL(baseUrl);
  const prefix = base.pathname.replace(/\/+$/, "");
  if (there.origin !== base.origin || !there.pathname.startsWith(`${prefix}/`)) return undefined;
  if (!there.pathname.split("/").includes(id)) return undefined;
  return there.pathname.slice(prefix.length) + there.search;
}

function isPath(value: unknown): value is string {
  return typeof value === "string" && value.startsWith("/");
}

function isFields(value: unknown): value is Fields {
  return isMembers(value) && Object.values(value).every((field) => typeof field === "string");
}

// Maps fal's three error formats to error classes: `{detail: [{loc, msg, type}]}` of models, `{detail, error_type}` of the platform,
// `{error: {message, code}}` of the gateway. Sources: fal.ai/docs/documentation/model-apis/errors and …/request-errors.

/** One error of any of fal's formats. Its `type` decides the error class. */
interface Said {
  readonly type: string;
  readonly message: string;
  /** fal's name of the invalid field; absent if the error names no field. */
  readonly field?: string;
}

const CLASS_OF_TYPE: Readonly<Record<string, ProviderErrorClass>> = {
  content_policy_violation: "refused",
  content_policy_error: "refused",
  internal_server_error: "failed",
  downstream_service_error: "failed",
  downstream_service_unavailable: "failed",
  no_media_generated: "failed",
  generation_timeout: "timeout",
  request_timeout: "timeout",
  startup_timeout: "timeout",
  runner_scheduling_failure: "busy",
  internal_error: "failed",
  client_cancelled: "failed",
  client_disconnected: "failed",
};

/** Error types about input media. */
const MEDIA_TYPES =
  /^(?:image_(?:too_large|too_small|load_error)|file_(?:too_large|download_error)|unsupported_(?:image|video)_format|face_detection_error|video_duration_too_(?:long|short))$/;

/** HTTP statuses that concern our access or a temporary state. They say nothing about the outcome of the job. */
const NO_VERDICT: ReadonlySet<number> = new Set([401, 402, 403, 404, 408, 410, 429]);

/** Kind of a job, and the fields of its inputs. */
interface JobRequest {
  readonly kind: MediaKind;
  readonly fields: Fields;
}

/** Classifies a rejected submission. Statuses that leave the outcome unknown are handled in start.ts. */
function classifyStart(status: number, headers: Headers, text: string, asked: JobRequest): ProviderError {
  const said = readError(parseObject(text), headers);
  const retryAfterMs = retryAfter(headers);
  const facts = { status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  const detail = said?.message || text.slice(0, 500) || `status ${status}`;
  if (status === 429 || status === 503) return new ProviderError("busy", detail, facts);
  if (status >= 500) return new ProviderError("failed", detail, facts);
  if (NO_VERDICT.has(status) && status !== 408) return new ProviderError("misconfigured", detail, facts);
  if (status < 400 || status === 408) return new ProviderError("failed", detail, facts);
  return toError(said ?? { type: "", message: detail }, status, asked);
}

/** Returns the error of a completed job without a result. Undefined if neither status nor result contains a definite error. */
function verdictOf(
  status: Members,
  answer: { readonly status: number; readonly headers: Headers },
  body: Members | undefined,
  asked: JobRequest,
): ProviderError | undefined {
  const reported = readStatusError(status);
  const said = readError(body, answer.headers);
  const isVerdict = said !== undefined && !NO_VERDICT.has(answer.status) && isDefinite(said, answer.status);
  if (isVerdict) return toError(said, answer.status, asked);
  return reported && toError(reported, undefined, asked);
}

/**
 * Returns true for an error of the job. Returns false for an error that may concern only this poll. An error without a type counts as the
 * job's for 400 and 422.
 */
function isDefinite({ type }: Said, status: number): boolean {
  if (type === "") return status === 400 || status === 422;
  return type !== "internal_error" && type !== "bad_request";
}

function toError(said: Said, status: number | undefined, { fields, kind: asked }: JobRequest): ProviderError {
  const facts = status === undefined ? {} : { status };
  const detail = `${said.type} ${said.message}`.trim();
  const ours = oursOf(said.field, fields);
  if (MEDIA_TYPES.test(said.type)) return unreadableMedia(said.type, detail, ours, { ...facts, kind: asked });
  const kind = kindOf(said.type, status);
  if (kind !== "rejected") return new ProviderError(kind, detail, facts);
  // The catalogue set a field without an input, so another source may be correct.
  if (said.field !== undefined && ours === undefined) return new ProviderError("misconfigured", detail, facts);
  return new ProviderError("rejected", detail, {
    ...facts,
    code: ours === undefined || ours === "prompt" ? "invalid_request" : "unsupported_value",
    param: ours === undefined ? null : clientParam(ours, asked),
  });
}

/** Returns the error for unreadable input media. It blames the image, or the video if fal's error type says so. */
function unreadableMedia(
  type: string,
  detail: string,
  ours: string | undefined,
  facts: { readonly status?: number; readonly kind: MediaKind },
): ProviderError {
  const what = ours ?? (type.includes("video") ? "video" : "image");
  if (what !== "video" && what !== "mesh") return unreadableImage(detail, what, facts);
  const { kind, ...about } = facts;
  return new ProviderError("rejected", detail, {
    ...about,
    code: "unprocessable_input",
    param: clientParam(what, kind),
    say: `The model cannot process this ${what}; send another one.`,
  });
}

function kindOf(type: string, status: number | undefined): ProviderErrorClass {
  const known = Object.hasOwn(CLASS_OF_TYPE, type) ? CLASS_OF_TYPE[type] : undefined;
  if (known) return known;
  if (type.startsWith("runner_")) return "failed";
  return status !== undefined && status >= 400 && status < 500 ? "rejected" : "failed";
}

/** Maps a field of fal to our input. */
function oursOf(field: string | undefined, fields: Fields): string | undefined {
  return field === undefined || field === "prompt" ? field : inputOf(field, fields);
}

function readError(body: Members | undefined, headers: Headers): Said | undefined {
  const named = headers.get("x-fal-error-type") ?? "";
  const { detail, error, error_type: type } = body ?? {};
  if (Array.isArray(detail)) return readModelError(detail);
  if (typeof type === "string" || named !== "") {
    return { type: typeof type === "string" ? type : named, message: textOf(detail) };
  }
  if (typeof detail === "string") return { type: "", message: detail };
  if (!isMembers(error)) return undefined;
  return { type: textOf(error["code"]), message: textOf(error["message"]) };
}

function readModelError(detail: readonly unknown[]): Said | undefined {
  const all = detail.filter(isMembers);
  // A refusal takes precedence over other errors.
  const first = all.find((item) => kindOf(textOf(item["type"]), 422) === "refused") ?? all[0];
  if (!first) return undefined;
  const loc: unknown = first["loc"];
  const field: unknown = Array.isArray(loc) && loc[0] === "body" ? loc[1] : undefined;
  return {
    type: textOf(first["type"]),
    message: textOf(first["msg"]),
    ...(typeof field === "string" ? { field } : {}),
  };
}

/** Reads the error of a completed status. */
function readStatusError({ error, error_type: type }: Members): Said | undefined {
  if (typeof type === "string" && type !== "") return { type, message: textOf(error) };
  if (typeof error === "string" && error !== "") return { type: "", message: error };
  return isMembers(error) ? { type: textOf(error["code"]), message: textOf(error["message"]) } : undefined;
}

function textOf(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}
