/**
 * Keeps requests and responses of durable work for callers that asked for it: lines of batches, messages of NATS publishers, steps of runs
 * and background responses. The process that ends a job keeps its bodies. Nothing here delays or fails the end of a job.
 */
import type { JobMessage, ModelResponse } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import type { BodySetting } from "#shared/base/body-setting.ts";
import { ERROR_CODES } from "#shared/base/errors.ts";
import { KINDS } from "#shared/calls/kinds/kinds.ts";
import type { JobError } from "#shared/database/jobs.ts";
import type { CallCapture } from "#shared/kept-bodies/capture.ts";
import { type BodyKeeper, ERROR_STATUS } from "#shared/kept-bodies/keeper.ts";
import { KEPT_BODY_BYTES_MAX } from "#shared/kept-bodies/store.ts";
import type { ResponseStore } from "#shared/responses/store.ts";
import { readClaim } from "#shared/storage/claim-check.ts";
import type { Storage } from "#shared/storage/client.ts";

export interface KeepContext {
  /** Absent in commands that keep nothing. */
  readonly bodyKeeper?: Pick<BodyKeeper, "add" | "capture"> | undefined;
  readonly storage: Storage;
  /** Store of responses; undefined in processes that cannot decrypt them. */
  readonly responses?: Pick<ResponseStore, "read"> | undefined;
}

/** A job that has ended. */
export interface KeptJob {
  readonly id: string;
  readonly workspace_id: string;
  /** Queue message of the job, without its request. */
  readonly work: Readonly<Record<string, unknown>>;
  readonly request: string | null;
  readonly request_ref: string | null;
}

export type KeptEnd =
  | { readonly error: JobError; readonly result?: null | undefined }
  | { readonly error: null; readonly result: string };

/**
 * Keeps the bodies of an ended job if its caller asked for it at admission.
 * @param onReleased called when the stored request is no longer needed; called at once if nothing is kept
 */
export function keepJob(context: KeepContext, job: KeptJob, end: KeptEnd, onReleased: () => void): void {
  const work = job.work as unknown as JobMessage;
  const setting = work.bodies as BodySetting | undefined;
  const status = end.error === null ? 200 : statusOf(end.error);
  const { bodyKeeper } = context;
  const isKept = setting !== undefined && (setting.keep === "all" || status >= ERROR_STATUS);
  const capture = isKept
    ? bodyKeeper?.capture({
        workspaceId: job.workspace_id,
        keyId: work.key_id,
        requestId: job.id,
        setting,
        endpoint: `POST ${endpointOf(work)}`,
        mediaType: JSON_TYPE,
        requestBytes: null,
        load: (own) => loadBodies(context, job, own),
        onReleased,
      })
    : undefined;
  if (bodyKeeper === undefined || capture === undefined) {
    onReleased();
    return;
  }
  capture.status = status;
  capture.response.mediaType = JSON_TYPE;
  // The response of a background call is in the store of responses.
  if (work.background !== true || context.responses === undefined) {
    capture.onResponse(ENCODER.encode(end.error === null ? end.result : JSON.stringify({ error: end.error })));
  }
  bodyKeeper.add(capture);
}

/** A call that was refused before it became a job. */
interface RefusedWork {
  readonly id: string;
  readonly caller: Pick<Caller, "bodies" | "keyId" | "workspaceId">;
  /** Path of the endpoint over HTTP. */
  readonly endpoint: string;
  readonly request: Uint8Array;
  readonly error: JobError;
}

/** Keeps the bodies of refused work if its caller asked for it. Calls that the rate limit refused are never kept. */
export function keepRefused(
  { bodyKeeper }: { readonly bodyKeeper: Pick<BodyKeeper, "add" | "capture"> },
  { id, caller: { bodies: setting, keyId, workspaceId }, endpoint, request, error }: RefusedWork,
): void {
  if (setting === undefined || error.code === "rate_limit_exceeded") return;
  const call = { workspaceId, keyId, requestId: id, setting, endpoint: `POST ${withoutId(endpoint)}` };
  const capture = bodyKeeper.capture({ ...call, mediaType: JSON_TYPE, requestBytes: request.length });
  if (capture === undefined) return;
  // A view would keep the whole buffer in memory, which may have many requests.
  capture.onRequest(new Uint8Array(request.subarray(0, KEPT_BODY_BYTES_MAX + 1)));
  capture.request.bytes = request.length;
  capture.status = statusOf(error);
  capture.response.mediaType = JSON_TYPE;
  capture.onResponse(ENCODER.encode(JSON.stringify({ error })));
  bodyKeeper.add(capture);
}

const JSON_TYPE = "application/json";

/** Returns the path of the endpoint over HTTP, with `{id}` for the id of a capability. */
function endpointOf({ kind, api }: Pick<JobMessage, "api" | "kind">): string {
  if (kind === "capability") return "/v1/capabilities/{id}/run";
  return api === "responses" ? "/v1/responses" : KINDS[kind].endpoint;
}

/** Replaces the id in the path of a capability or a workflow by `{id}`, as in the paths of routes. */
function withoutId(path: string): string {
  return path.replace(/^(\/v1\/(?:capabilities|workflows)\/)[^/]+\//, "$1{id}/");
}

function statusOf({ code }: JobError): number {
  return ERROR_CODES[code].status;
}

async function loadBodies(context: KeepContext, job: KeptJob, capture: CallCapture): Promise<void> {
  const { background } = job.work as unknown as JobMessage;
  if (background !== true || context.responses === undefined) {
    const text = job.request_ref === null ? (job.request ?? "") : await readClaim(context.storage, job.request_ref);
    capture.onRequest(ENCODER.encode(requestOf(job.work, text)));
    return;
  }
  const stored = await context.responses.read(job.id);
  // A caller who deletes a response expects that nothing of it is kept.
  if (stored === undefined) {
    capture.release();
    return;
  }
  capture.onRequest(ENCODER.encode(JSON.stringify(requestOfResponse(stored.response, { input: stored.input }))));
  capture.onResponse(ENCODER.encode(JSON.stringify(stored.response)));
}

const ENCODER = new TextEncoder();

/** Returns a stored request without the members that the service adds for its workers. */
function requestOf({ api, checked }: Pick<JobMessage, "api" | "checked">, text: string): string {
  // A longer text is cut off. Parsing it would block the thread.
  if ((api !== "responses" && checked !== true) || text.length > KEPT_BODY_BYTES_MAX) return text;
  const members = JSON.parse(text) as Readonly<Record<string, unknown>>;
  const { checked: _check, response, response_input: input, response_tools: _tools, messages, ...request } = members;
  if (api !== "responses" || response === undefined) return JSON.stringify({ ...request, messages });
  return JSON.stringify(requestOfResponse(response as ModelResponse, input === undefined ? { messages } : { input }));
}

/** Members of a response object that its request does not have. */
const RESULT_MEMBERS: ReadonlySet<string> = new Set([
  "id",
  "object",
  "created_at",
  "completed_at",
  "status",
  "error",
  "incomplete_details",
  "output",
  "usage",
]);

/** Returns the request that a response object repeats. @param asked input of the model, which the object does not repeat */
function requestOfResponse(response: ModelResponse, asked: object): object {
  return { ...Object.fromEntries(Object.entries(response).filter(([name]) => !RESULT_MEMBERS.has(name))), ...asked };
}
