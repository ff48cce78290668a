/**
 * Maps fal's three error formats to error classes: `{detail: [{loc, msg, type}]}` of models, `{detail, error_type}` of the platform,
 * `{error: {message, code}}` of the gateway. Sources: fal.ai/docs/documentation/model-apis/errors and …/request-errors.
 */
import { clientParam, type Fields, inputOf } from "../fields.ts";
import { unreadableImage } from "../image-fields.ts";
import type { MediaKind } from "../media.ts";
import { isMembers, type Members, parseObject } from "../json.ts";
import { ProviderError, type ProviderErrorClass } from "../provider.ts";
import { retryAfter } from "../retry-after.ts";

/** One error of any format; the type decides. */
interface Said {
  readonly type: string;
  readonly message: string;
  /** fal's name of the invalid field. */
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

/** Statuses about our access or a temporary state instead of the job. */
const NO_VERDICT: ReadonlySet<number> = new Set([401, 402, 403, 404, 408, 410, 429]);

/** Kind of a job, and the fields of its inputs. */
export interface JobRequest {
  readonly kind: MediaKind;
  readonly fields: Fields;
}

/** Classifies a rejected submit; start.ts decides the statuses with an unknown outcome. */
export function classifyStart(status: number, headers: Headers, text: string, asked: JobRequest): ProviderError {
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

/** Returns the error of a completed job without a result; undefined without a definite error in status and result. */
export function verdictOf(
  status: Members,
  answer: { readonly status: number; readonly headers: Headers },
  body: Members | undefined,
  asked: JobRequest,
): ProviderError | undefined {
  const told = readStatusError(status);
  const said = readError(body, answer.headers);
  const isVerdict = said !== undefined && !NO_VERDICT.has(answer.status) && isDefinite(said, answer.status);
  if (isVerdict) return toError(said, answer.status, asked);
  return told && toError(told, undefined, asked);
}

/** Returns true for an error of the job, false for one that may concern this poll only. Untyped errors count for 400 and 422. */
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

/** Returns the error for an unreadable medium: an image by default, a video if the type says so. */
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
