/**
 * Meshy's tasks as one queue. Text becomes a mesh in two tasks, preview and refine: one job, one price. Source:
 * docs.meshy.ai/en/api/task-lifecycle.
 */
import { type Endpoint, post } from "../http.ts";
import { isMembers, type Members, parseObject } from "../json.ts";
import type { Artifact, MeshInput, Polled, ProviderJob, QueuedAdapter, Starting } from "../media.ts";
import type { MeshInputName } from "../mesh-inputs.ts";
import { ProviderError } from "../provider.ts";
import { postStart } from "../start.ts";

import { classifyStart, classifyTaskError } from "./errors.ts";
import { isTaskId, type MeshyJob, readJob, type TaskFacts } from "./job.ts";
import { findTask, markOf } from "./listing.ts";
import { firstTask, pathOf } from "./tasks.ts";

type Mesh = readonly Artifact[];

export function createMeshyMesh(endpoint: Endpoint): QueuedAdapter<MeshInput, Mesh> {
  /** Ids of tasks that were deleted since their last poll: Meshy no longer knows them. */
  const takenBack = new Set<string>();
  return {
    takesUrls: true,

    async start(call) {
      const { name, body, given, refine } = firstTask(call);
      const job = { task: name, given, ...(refine === undefined ? {} : { refine }) };
      return begin(endpoint, { job, body, given }, call);
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

    /** Deletes only a pending task: DELETE cancels a pending task, ignores a running one, and destroys a finished one. */
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
  /** Names of the caller's inputs in the body. */
  readonly given: readonly MeshInputName[];
}

/** @throws ProviderError */
async function begin(endpoint: Endpoint, { job, body, given }: Beginning, starting: Starting): Promise<ProviderJob> {
  const request = { path: pathOf(job.task), body: JSON.stringify(body) };
  return postStart(endpoint, request, starting, markOf(job, body), ({ status, headers, text }) => {
    if (status < 200 || status > 299) throw classifyStart(status, headers, text, given);
    const id = parseObject(text)?.["result"];
    // The task was accepted and probably runs, but cannot be polled.
    if (!isTaskId(id)) throw new ProviderError("unknown", "the task was taken without an id that can be asked for");
    return { ...job, id };
  });
}

function beginRefine(endpoint: Endpoint, first: MeshyJob, starting: Starting): Promise<ProviderJob> {
  const { task, id: preview, given, refine } = first;
  const body = { ...refine, mode: "refine", preview_task_id: preview };
  return begin(endpoint, { job: { task, given, preview }, body, given: [] }, starting);
}

/** Returns the task, or the reason why it is unknown. @throws ProviderError */
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

/** Returns the progress; each phase counts as half. */
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
 * Formats in order of preference: GLB first, as a self-contained file, then by how much of the model one file contains. `mtl` is no mesh,
 * and `pre_remeshed_glb` is not the requested mesh.
 */
const FORMATS: readonly (readonly [member: string, contentType?: string])[] = [
  ["glb", "model/gltf-binary"],
  ["usdz", "model/vnd.usdz+zip"],
  ["fbx"],
  ["3mf", "model/3mf"],
  ["obj", "model/obj"],
  ["stl", "model/stl"],
];

/** Members with the files of a rigging task, by format. */
const RIGGED: Readonly<Record<string, string>> = { glb: "rigged_character_glb_url", fbx: "rigged_character_fbx_url" };

/** Returns "none" if the task's files contain no mesh; undefined for an unknown format, which is no definite failure. */
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
