/**
 * Adapter for fal's queue. The URL of the start request contains the model's full name. The response contains the URLs for polling. fal has
 * no status for failed jobs: they are COMPLETED, and their result is an error.
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

/** Header value that makes fal keep results for one day (in seconds). All our retries to copy a result end before that. */
const KEEP = JSON.stringify({ expiration_duration_seconds: 86_400 });

interface FalModel<Input, Output> {
  readonly kind: MediaKind;
  /**
   * Builds the request body of a call.
   * @throws ProviderError if the source or model does not support an input
   */
  body(call: MediaCall<Input>): FalBody;
  /**
   * Parses the result of a job. Returns undefined if the result is unknown or unreadable; the outcome of the job is then unknown.
   * @throws ProviderError for a result without files, or with filtered files only
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
 * Returns the query string that passes the callback URL to fal; empty without a callback URL. fal calls the URL when the job ends. Source:
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

/**
 * Job at fal, as stored in the job's row. URL paths are relative to the endpoint's base URL, so that our credentials are sent only to that
 * host.
 */
interface FalJob extends ProviderJob {
  readonly request_id: string;
  readonly status_path: string;
  readonly result_path: string;
  readonly cancel_path: string;
  /** Number of results requested. */
  readonly asked: number;
  /** Request fields of our inputs. If an error of fal names a field, they identify the caller's parameter. */
  readonly fields: Fields;
}

/** Mark of a job at fal: stored facts that suffice to create its record once fal's callback reports the id. */
interface FalMark extends ProviderJob, Pick<FalJob, "asked" | "fields"> {
  /** Name of the model at the source. */
  readonly model: string;
}

const ID = /^[A-Za-z0-9_-]{1,128}$/;

/**
 * Creates the record of a job from the response to its start request. Returns undefined if the response has no valid id. URLs in the
 * response are used only if they are on the endpoint's host and contain the id; otherwise, the documented URLs are used.
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

/** One error in any of fal's error formats. The error class depends on `type`. */
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

/** Matches error types that blame an image or video of the input. */
const MEDIA_TYPES =
  /^(?:image_(?:too_large|too_small|load_error)|file_(?:too_large|download_error)|unsupported_(?:image|video)_format|face_detection_error|video_duration_too_(?:long|short))$/;

/** HTTP statuses that concern our access to fal or a temporary state. A response with one of them does not mean that the job has failed. */
const NO_VERDICT: ReadonlySet<number> = new Set([401, 402, 403, 404, 408, 410, 429]);

/** Kind of a job and request fields of its inputs, from which the parameter in an error is chosen. */
interface JobRequest {
  readonly kind: MediaKind;
  readonly fields: Fields;
}

/** Returns the error for a rejected start request. Statuses that leave its outcome unknown are handled in start.ts. */
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

/**
 * Returns the error of a job that is COMPLETED without a result. Returns undefined if neither its status nor its result contains an error
 * of the job itself.
 */
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
 * Returns true if an error means that the job has failed. Returns false if it may concern only the current poll. An error without a type
 * means a failed job for the statuses 400 and 422.
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

/** Returns the name of our input that was sent in a field of fal; undefined if no input was. */
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
