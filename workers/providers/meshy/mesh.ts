/**
 * Mesh adapter of Meshy, which runs tasks in one queue. Text becomes a mesh in two tasks, preview and refine, that count as one job with
 * one price. Source: docs.meshy.ai/en/api/task-lifecycle.
 */
import { type Fields, isMedia, type PlacedInput, setField, urlOf } from "../fields.ts";
import { type Endpoint, post } from "../http.ts";
import { isMembers, type Members, membersOf, parseObject, textOf } from "../json.ts";
import { hashOf, isSince } from "../marks.ts";
import type {
  Artifact,
  Found,
  Listed,
  LostStart,
  MediaCall,
  MeshInput,
  Polled,
  ProviderJob,
  QueuedAdapter,
  Starting,
} from "../media.ts";
import {
  isMeshInputName,
  type MeshInputName,
  meshInputs,
  type MeshNeeds,
  rejectedPrompt,
  sentNames,
  unusable,
} from "../mesh-inputs.ts";
import { ProviderError, type ProviderErrorClass } from "../provider.ts";
import { retryAfter } from "../retry-after.ts";
import { postStart } from "../start.ts";

type Mesh = readonly Artifact[];

export function createMeshyMesh(endpoint: Endpoint): QueuedAdapter<MeshInput, Mesh> {
  /**
   * Ids of tasks that we deleted since their last poll, to cancel them. Meshy no longer has them, so the next poll reports them as
   * cancelled.
   */
  const takenBack = new Set<string>();
  return {
    takesUrls: true,

    async start(call) {
      const { name, body, inputNames, refine } = firstTask(call);
      const job = { task: name, given: inputNames, ...(refine === undefined ? {} : { refine }) };
      return begin(endpoint, { job, body, inputNames }, call);
    },

    async poll(job, signal) {
      const known = readJob(job);
      if (!known) return unknown("the stored job is none of Meshy's");
      if (takenBack.delete(known.id)) return cancelled();
      try {
        const task = await ask(endpoint, known, signal);
        return typeof task === "string" ? unknown(task) : polledOf(endpoint, known, task);
      } catch (error) {
        if (error instanceof ProviderError) return unknown(`the poll failed: ${error.kind}, ${error.detail}`);
        throw error;
      }
    },

    find: (lost, signal) => findTask(endpoint, lost, signal),

    nameOf: (job) => readJob(job)?.id,

    /** Cancels a task only if it is pending. Meshy's DELETE cancels a pending task, ignores a running task, and destroys a finished one. */
    async cancel(job, signal) {
      const known = readJob(job);
      if (!known) return;
      const task = await ask(endpoint, known, signal);
      if (typeof task === "string" || task["status"] !== "PENDING") return;
      const { status } = await post(endpoint, { method: "DELETE", path: pathOfTask(known) }, signal);
      if (status >= 200 && status <= 299) takenBack.add(known.id);
    },
  };
}

interface Beginning {
  readonly job: TaskFacts;
  readonly body: Members;
  /** Names of the caller's inputs that the body contains. */
  readonly inputNames: readonly MeshInputName[];
}

/**
 * Sends the request that starts a task, and returns the job to store.
 * @throws ProviderError
 */
async function begin(
  endpoint: Endpoint,
  { job, body, inputNames }: Beginning,
  starting: Starting,
): Promise<ProviderJob> {
  const request = { path: pathOf(job.task), body: JSON.stringify(body) };
  return postStart(endpoint, request, starting, markOf(job, body), ({ status, headers, text }) => {
    if (status < 200 || status > 299) throw classifyStart(status, headers, text, inputNames);
    const id = parseObject(text)?.["result"];
    // The task was accepted and probably runs, but cannot be polled.
    if (!isTaskId(id)) throw new ProviderError("unknown", "the task was taken without an id that can be asked for");
    return { ...job, id };
  });
}

function beginRefine(endpoint: Endpoint, first: MeshyJob, starting: Starting): Promise<ProviderJob> {
  const { task, id: preview, given, refine } = first;
  const body = { ...refine, mode: "refine", preview_task_id: preview };
  return begin(endpoint, { job: { task, given, preview }, body, inputNames: [] }, starting);
}

/**
 * Polls a task. Returns the task, or a text that says why its state is unknown.
 * @throws ProviderError
 */
async function ask(endpoint: Endpoint, job: MeshyJob, signal: AbortSignal): Promise<Members | string> {
  const { status, text } = await post(endpoint, { method: "GET", path: pathOfTask(job) }, signal);
  if (status < 200 || status > 299) return `the task was answered with ${status}`;
  const task = parseObject(text);
  if (!task) return "the task is no JSON object";
  const { id = job.id } = task;
  return id === job.id ? task : "the answer is of another task";
}

function polledOf(endpoint: Endpoint, job: MeshyJob, task: Members): Polled<Mesh> {
  switch (task["status"]) {
    case "PENDING":
    case "IN_PROGRESS":
      return { state: "pending", progress: progressOf(task["progress"], job) };
    case "SUCCEEDED":
      if (job.refine) return { state: "next", start: (starting) => beginRefine(endpoint, job, starting) };
      return resultOf(task);
    case "FAILED":
      return { state: "failed", error: classifyTaskError(task["task_error"], job.given) };
    case "CANCELED":
      return cancelled();
    default:
      return unknown(`the status is ${JSON.stringify(task["status"])?.slice(0, 100) ?? "absent"}`);
  }
}

function resultOf(task: Members): Polled<Mesh> {
  const mesh = readMesh(task);
  if (mesh === "none") return { state: "failed", error: new ProviderError("failed", "the task ended without a mesh") };
  return mesh ? { state: "done", output: [mesh], usage: {} } : unknown("the result is not understood");
}

/** Returns the progress of a job from 0 to 1. In a job of two phases, each phase counts as half. */
function progressOf(percent: unknown, { refine, preview }: MeshyJob): number {
  const done = typeof percent === "number" && percent >= 0 ? Math.min(1, percent / 100) : 0;
  if (preview !== undefined) return 0.5 + done / 2;
  return refine ? done / 2 : done;
}

function pathOfTask({ task, id }: MeshyJob): string {
  return `${pathOf(task)}/${id}`;
}

function cancelled(): { readonly state: "failed"; readonly error: ProviderError } {
  return { state: "failed", error: new ProviderError("failed", "the task was cancelled") };
}

function unknown(detail: string): { readonly state: "unknown"; readonly detail: string } {
  return { state: "unknown", detail };
}

// Mesh of a successful task. Addresses are signed and valid for three days: docs.meshy.ai/en/api/asset-retention.

/**
 * Mesh formats in order of preference. GLB comes first, because it is one self-contained file. Others follow by how much of the model one
 * file contains. `mtl` is excluded because it is no mesh, and `pre_remeshed_glb` because it is not the requested mesh.
 */
const FORMATS: readonly (readonly [member: string, contentType?: string])[] = [
  ["glb", "model/gltf-binary"],
  ["usdz", "model/vnd.usdz+zip"],
  ["fbx"],
  ["3mf", "model/3mf"],
  ["obj", "model/obj"],
  ["stl", "model/stl"],
];

/** Member names that contain the files of a rigging task, by format. */
const RIGGED: Readonly<Record<string, string>> = { glb: "rigged_character_glb_url", fbx: "rigged_character_fbx_url" };

/**
 * Returns the mesh of a finished task. Returns "none" if the task has no mesh file. Returns undefined for an unknown format; the outcome of
 * the job is then unknown.
 */
function readMesh({ model_urls: urls, result }: Members): Artifact | "none" | undefined {
  const files = isMembers(urls) ? urls : isMembers(result) ? rigged(result) : undefined;
  if (!files) return undefined;
  const listed = FORMATS.filter(([name]) => files[name] !== undefined && files[name] !== null && files[name] !== "");
  if (listed.length === 0) return "none";
  for (const [name, contentType] of listed) {
    const url = files[name];
    if (isAddress(url)) return { url, ...(contentType === undefined ? {} : { contentType }) };
  }
  return undefined;
}

function rigged(result: Members): Members {
  return Object.fromEntries(Object.entries(RIGGED).map(([name, theirs]) => [name, result[theirs]]));
}

function isAddress(value: unknown): value is string {
  return typeof value === "string" && /^https?:\/\//i.test(value) && URL.canParse(value);
}

// Finds tasks whose start had no response in the list of their kind, newest first. The list contains prompts but no media. For media, only
// the absence of a task is certain. Sources: docs.meshy.ai/en/api/{text-to-3d,image-to-3d,retexture,remesh}.

/** Maximum number of tasks per page that Meshy allows. */
const PAGE_SIZE = 50;
const PAGES_MAX = 20;

/** Returns the mark that finds a task in Meshy's list; null for kinds of tasks that Meshy does not list. */
function markOf(job: TaskFacts, body: Members): ProviderJob | null {
  if (!isListed(job.task)) return null;
  const { prompt } = body;
  return { ...job, ...(typeof prompt === "string" ? { prompt: hashOf(prompt) } : {}) };
}

/**
 * Searches Meshy's list for a task whose start response was lost.
 * @throws ProviderError
 */
async function findTask(endpoint: Endpoint, { mark, sentMs }: LostStart, signal: AbortSignal): Promise<Found> {
  const job = readJob({ ...mark, id: "unknown" });
  if (!job || !isListed(job.task)) return unknown("the stored mark is none of Meshy's");
  const alike: (Listed & { readonly job: ProviderJob })[] = [];
  const unclear: Listed[] = [];
  for (let page = 1; page <= PAGES_MAX; page++) {
    const tasks = await tasksOf(endpoint, job.task, page, signal);
    if (typeof tasks === "string") return unknown(tasks);
    for (const task of tasks) {
      const { created_at: createdAt } = task;
      const one = {
        name: textOf(task["id"]),
        createdMs: typeof createdAt === "number" ? Math.trunc(createdAt) : Number.NaN,
      };
      if (!isTaskId(one.name) || !isSince(sentMs, one)) continue;
      const how = Number.isNaN(one.createdMs) ? "unclear" : likeness(job, mark["prompt"], task);
      if (how === "alike") alike.push({ ...one, job: { ...job, id: one.name } });
      if (how === "unclear") unclear.push(one);
    }
    const oldest = tasks.at(-1)?.["created_at"];
    const isWhole = typeof oldest === "number" && !isSince(sentMs, { createdMs: oldest });
    if (isWhole || tasks.length < PAGE_SIZE) return { state: "listed", alike, unclear, mayRing: false };
  }
  return unknown("too many tasks have been made since");
}

/** Requests one page of Meshy's task list. Returns the tasks, or a text that says why the list is unavailable. */
async function tasksOf(
  endpoint: Endpoint,
  task: TaskName,
  page: number,
  signal: AbortSignal,
): Promise<Members[] | string> {
  const path = `${pathOf(task)}?page_num=${page}&page_size=${PAGE_SIZE}&sort_by=-created_at`;
  const { status, text } = await post(endpoint, { method: "GET", path }, signal);
  // The response is an array, but the reader accepts objects only.
  const list = status >= 200 && status <= 299 ? parseObject(`{"tasks":${text}}`)?.["tasks"] : undefined;
  return Array.isArray(list) ? membersOf(list) : `the list was answered with ${status}`;
}

function likeness({ task, preview }: MeshyJob, prompt: unknown, listed: Members): "alike" | "unclear" | "other" {
  if (task !== "text-to-3d") return "unclear";
  const phase = phaseOf(listed);
  if (preview !== undefined) {
    if (phase === "preview") return "other";
    const { preview_task_id: of } = listed;
    return of === undefined ? "unclear" : of === preview ? "alike" : "other";
  }
  if (phase === "refine" || hashOf(listed["prompt"]) !== prompt) return "other";
  return phase === "preview" ? "alike" : "unclear";
}

/** Returns the phase of a task; undefined if the task does not contain it. */
function phaseOf({ type, mode }: Members): string | undefined {
  const said = [mode, textOf(type).split("-").at(-1)];
  return ["preview", "refine"].find((phase) => said.includes(phase));
}

// Maps Meshy's errors to error classes: `{message}` of a request, `task_error {type, code, message}` of a failed task. Sources:
// docs.meshy.ai/en/api/errors, …/api/task-lifecycle, …/api/rate-limits.

/** Error classes by Meshy's error code, or by its error type if the code is not listed. */
const CLASS_OF_CODE: Readonly<Record<string, ProviderErrorClass>> = {
  moderation_blocked: "refused",
  format_conversion_failed: "failed",
  timeout: "timeout",
  service_unavailable: "busy",
  server_error: "failed",
};

/** Meshy's error codes that concern one input, with the name of that input. */
const INPUT_OF_CODE: Readonly<Record<string, MeshInputName>> = {
  image_too_complex: "image",
  model_missing_uv: "mesh",
  model_insufficient_uv: "mesh",
};

/**
 * Returns the error for a rejected start request. Statuses that leave its outcome unknown are handled in start.ts.
 * @param inputNames names of the caller's inputs in the request; empty for a request that only we composed, whose rejection is never the
 * caller's error
 */
export function classifyStart(
  status: number,
  headers: Headers,
  text: string,
  inputNames: readonly MeshInputName[],
): ProviderError {
  const { message, code } = parseObject(text) ?? {};
  const detail = [code, message].filter((part) => typeof part === "string" && part !== "").join(": ");
  const said = detail || text.slice(0, 500) || `status ${status}`;
  const retryAfterMs = retryAfter(headers);
  const facts = { status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  if (status === 429 || status === 503) return new ProviderError("busy", said, facts);
  if (status < 400 || status > 499 || status === 408 || status === 409) return new ProviderError("failed", said, facts);
  if ([401, 402, 403, 404, 410].includes(status)) return new ProviderError("misconfigured", said, facts);
  if (/\bmoderation/i.test(said)) return new ProviderError("refused", said, facts);
  if (inputNames.length === 0) return new ProviderError("misconfigured", said, facts);
  return blame(said, inputNames, status);
}

/** Returns the error of a task that Meshy reports as failed. Every such error is final, whatever its message. */
export function classifyTaskError(error: unknown, inputNames: readonly MeshInputName[]): ProviderError {
  const { type, code, message } = (error ?? {}) as Readonly<Record<string, unknown>>;
  const detail = [type, code, message].filter((part) => typeof part === "string" && part !== "").join(" ");
  const said = detail || "the task failed without a reason";
  for (const reportedCode of [code, type]) {
    if (typeof reportedCode !== "string") continue;
    const known = Object.hasOwn(CLASS_OF_CODE, reportedCode) ? CLASS_OF_CODE[reportedCode] : undefined;
    if (known) return new ProviderError(known, said);
    const ours = Object.hasOwn(INPUT_OF_CODE, reportedCode) ? INPUT_OF_CODE[reportedCode] : undefined;
    if (ours) return unusable(said, inputNames.includes(ours) ? [ours] : inputNames);
  }
  return type === "invalid_input" ? unusable(said, inputNames) : new ProviderError("failed", said);
}

/**
 * Returns the error that names the caller's input that caused a rejection. With 413 or 422, Meshy could not process a valid input. With
 * other statuses, the input is recognized by words in the message.
 */
function blame(said: string, inputNames: readonly MeshInputName[], status: number): ProviderError {
  const media = inputNames.filter((name) => name !== "prompt");
  if (status === 413 || status === 422) return unusable(said, inputNames, status);
  if (/prompt/i.test(said) && inputNames.includes("prompt")) return rejectedPrompt(said, undefined, status);
  if (/(?:image|model|texture|style)[ _]?url|download|unreachable|\bfile/i.test(said) && media.length > 0) {
    return unusable(said, media, status);
  }
  // A model that no longer exists is an error of the catalogue.
  if (/ai[ _]?model/i.test(said)) return new ProviderError("misconfigured", said, { status });
  return new ProviderError("rejected", said, { status, code: "invalid_request", param: null });
}

// Stored state of a job at Meshy, sufficient for another process to poll it and to start its second phase.

interface MeshyJob extends ProviderJob, TaskFacts {
  readonly id: string;
}

/** Facts of a task that are known before its id. */
interface TaskFacts {
  readonly task: TaskName;
  /** Names of the caller's inputs that were sent for the task. */
  readonly given: readonly MeshInputName[];
  /** Request body of the second task. Present only in the first of two phases. */
  readonly refine?: Readonly<Record<string, unknown>>;
  /** Id of the first task. Present only in the second of two phases. */
  readonly preview?: string;
}

const ID = /^[A-Za-z0-9_-]{1,128}$/;

/** Returns true for a valid id, which is inserted into a path. */
function isTaskId(value: unknown): value is string {
  return typeof value === "string" && ID.test(value);
}

/** Returns a stored job; undefined for jobs of other families. */
function readJob({ task, id, given, refine, preview }: ProviderJob): MeshyJob | undefined {
  if (!isTaskName(task) || !isTaskId(id)) return undefined;
  if (!Array.isArray(given) || !given.every(isMeshInputName)) return undefined;
  if (preview !== undefined && !isTaskId(preview)) return undefined;
  if (refine !== undefined && (typeof refine !== "object" || refine === null)) return undefined;
  return {
    task,
    id,
    given,
    ...(refine === undefined ? {} : { refine: refine as Readonly<Record<string, unknown>> }),
    ...(preview === undefined ? {} : { preview }),
  };
}

// Meshy's kinds of task as data. The source's model name is a kind, followed by a slash and the `ai_model` where the kind has models.
// Sources: docs.meshy.ai/en/api/{text-to-3d,image-to-3d,retexture,remesh,rigging}.

/** Maximum length of a prompt, in characters. Newer versions of Meshy's docs say 800; all versions accept 600. */
const PROMPT_MAX = 600;

interface TaskKind extends MeshNeeds {
  readonly path: string;
  readonly hasModels: boolean;
  /** True if Meshy lists tasks of this kind. Default: true. */
  readonly isListed?: boolean;
  /** True if the job has two tasks. The first generates an untextured mesh, and the second textures it at the same URL path. */
  readonly isTwoPhase?: boolean;
}

const kind = (
  path: string,
  usual: Fields,
  needs: MeshNeeds["needs"],
  more: Pick<TaskKind, "hasModels" | "isListed" | "isTwoPhase">,
): TaskKind => ({ path, usual, needs, promptMax: PROMPT_MAX, ...more });

const KINDS = {
  "text-to-3d": kind("/openapi/v2/text-to-3d", { prompt: "prompt" }, [["prompt"]], {
    hasModels: true,
    isTwoPhase: true,
  }),
  "image-to-3d": kind("/openapi/v1/image-to-3d", { image: "image_url" }, [["image"]], { hasModels: true }),
  retexture: kind(
    "/openapi/v1/retexture",
    { mesh: "model_url", image: "image_style_url", prompt: "text_style_prompt" },
    // With two styles, Meshy uses the image.
    [["mesh"], ["image", "prompt"]],
    { hasModels: true },
  ),
  remesh: kind("/openapi/v1/remesh", { mesh: "model_url" }, [["mesh"]], { hasModels: false }),
  rigging: kind("/openapi/v1/rigging", { mesh: "model_url" }, [["mesh"]], { hasModels: false, isListed: false }),
} as const satisfies Readonly<Record<string, TaskKind>>;

type TaskName = keyof typeof KINDS;

function isTaskName(value: unknown): value is TaskName {
  return typeof value === "string" && Object.hasOwn(KINDS, value);
}

function pathOf(name: TaskName): string {
  return KINDS[name].path;
}

function isListed(name: TaskName): boolean {
  const { isListed: is = true }: TaskKind = KINDS[name];
  return is;
}

interface FirstTask {
  readonly name: TaskName;
  readonly body: Readonly<Record<string, unknown>>;
  readonly inputNames: readonly MeshInputName[];
  /** Body of the second task of a two-phase job, without the id of the first task. */
  readonly refine?: Readonly<Record<string, unknown>>;
}

/**
 * Builds the request of the first task of a job. The source's `overrides` contain members of the second task's body in an object `refine`,
 * because the two bodies have little in common.
 * @throws ProviderError `misconfigured` for a wrong catalogue entry, `rejected` for an unsuitable input
 */
function firstTask({ input, sourceModel, fields, adapt }: MediaCall<MeshInput>): FirstTask {
  const [name, model] = splitOnce(sourceModel);
  if (!isTaskName(name)) throw new ProviderError("misconfigured", `Meshy has no task "${name}"`);
  const known: TaskKind = KINDS[name];
  if (known.hasModels ? !model : model !== undefined) {
    throw new ProviderError("misconfigured", `"${sourceModel}" names ${model ? "a" : "no"} model`);
  }
  const placed = meshInputs(input, fields, known);
  const body: Record<string, unknown> = {
    ...(known.isTwoPhase ? { mode: "preview" } : {}),
    ...(model === undefined ? {} : { ai_model: model }),
  };
  for (const one of placed) setField(body, one.theirs, valueOf(one));
  adapt(body);
  const { refine: overrides, ...first } = body;
  const inputNames = sentNames(placed);
  if (!known.isTwoPhase) return { name, body: first, inputNames };
  // Without a model, Meshy would choose one and its price.
  const refine = { ai_model: first["ai_model"], ...(isMembers(overrides) ? overrides : {}) };
  return { name, body: first, inputNames, refine };
}

/**
 * Returns the value for a request field. Media without a URL become data URLs. A mesh gets the general type `application/octet-stream`, an
 * image its own type.
 */
function valueOf({ ours, value }: PlacedInput): unknown {
  if (!isMedia(value)) return value;
  if (ours !== "mesh" || "url" in value) return urlOf(value);
  return urlOf({ bytes: value.bytes, contentType: "application/octet-stream" });
}

function splitOnce(name: string): [string, string | undefined] {
  const slash = name.indexOf("/");
  return slash < 0 ? [name, undefined] : [name.slice(0, slash), name.slice(slash + 1)];
}
