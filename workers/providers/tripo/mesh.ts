/**
 * Tripo's tasks as one queue; cancellation is not supported. Sources: developers.tripo3d.ai/en/docs/{task,limits}. The signed address of a
 * finished mesh is valid for minutes: each poll returns a new one.
 */
import { type Endpoint, post } from "../http.ts";
import type { Members } from "../json.ts";
import type { Artifact, MediaInput, MeshInput, Polled, ProviderJob, QueuedAdapter } from "../media.ts";
import { isMeshInputName, type MeshInputName } from "../mesh-inputs.ts";
import { ProviderError } from "../provider.ts";
import { postStart } from "../start.ts";

import { classifyRefusal, classifyTaskError, readAnswer } from "./errors.ts";
import { taskOf } from "./tasks.ts";

type Mesh = readonly Artifact[];

/** Members in order of preference: PBR textures first, then the meshes from which it was created. */
const MESHES = ["model_url", "pbr_model_url", "base_model_url"] as const;

const CONTENT_TYPES: Readonly<Record<string, string>> = {
  glb: "model/gltf-binary",
  gltf: "model/gltf+json",
  usdz: "model/vnd.usdz+zip",
  obj: "model/obj",
  stl: "model/stl",
};

export function createTripoMesh(endpoint: Endpoint): QueuedAdapter<MeshInput, Mesh> {
  return {
    takesUrls: true,

    async start(call) {
      const { path, body, given } = await taskOf(call, async (media, ours) =>
        "url" in media ? media.url : uploadFile(endpoint, media, ours, call.signal),
      );
      const request = { path, body: JSON.stringify(body) };
      return postStart(endpoint, request, call, null, ({ status, headers, text }) => {
        const answer = readAnswer(status, text);
        if (answer.state === "refused") throw classifyRefusal(status, headers, answer, given);
        const id = answer.data?.["task_id"];
        // The task was accepted and probably runs, but cannot be polled.
        if (!isTaskId(id)) throw new ProviderError("unknown", "the task was taken without an id that can be asked for");
        return { task_id: id, given } satisfies TripoJob;
      });
    },

    async poll(job, signal) {
      const known = readJob(job);
      if (!known) return unknown("the stored job is none of Tripo's");
      try {
        const { status, text } = await post(endpoint, { method: "GET", path: `/tasks/${known.task_id}` }, signal);
        const answer = readAnswer(status, text);
        if (answer.state === "refused") return unknown(`the task was answered with ${status} ${answer.code}`);
        return answer.data ? polledOf(known, answer.data) : unknown("the answer has no task");
      } catch (error) {
        if (error instanceof ProviderError) return unknown(`the poll failed: ${error.kind}, ${error.detail}`);
        throw error;
      }
    },
  };
}

function polledOf(job: TripoJob, task: Members): Polled<Mesh> {
  const { task_id: id = job.task_id, status, progress, output } = task;
  if (id !== job.task_id) return unknown("the answer is of another task");
  switch (status) {
    case "queued":
    case "running":
      return { state: "pending", progress: progressOf(progress) };
    case "success":
      return resultOf(output);
    case "failed":
      return { state: "failed", error: classifyTaskError(task, job.given) };
    case "banned":
      return { state: "failed", error: new ProviderError("refused", "the task was banned") };
    case "cancelled":
    case "expired":
      return { state: "failed", error: new ProviderError("failed", `the task was ${status}`) };
    default:
      return unknown(`the status is ${JSON.stringify(status)?.slice(0, 100) ?? "absent"}`);
  }
}

/** Returns the result. An output without a list of files is unknown, which is no definite failure. */
function resultOf(output: unknown): Polled<Mesh> {
  if (typeof output !== "object" || output === null) return unknown("the result is not understood");
  const urls = MESHES.map((name) => (output as Members)[name]).filter((url) => typeof url === "string" && url !== "");
  if (urls.length === 0)
    return { state: "failed", error: new ProviderError("failed", "the task ended without a mesh") };
  const url = urls.find(isAddress);
  return url === undefined ? unknown("the mesh has no address") : { state: "done", output: [meshAt(url)], usage: {} };
}

function meshAt(url: string): Artifact {
  const ending = /\.([a-z0-9]+)$/i.exec(new URL(url).pathname)?.[1]?.toLowerCase() ?? "";
  const contentType = Object.hasOwn(CONTENT_TYPES, ending) ? CONTENT_TYPES[ending] : undefined;
  return { url, ...(contentType === undefined ? {} : { contentType }) };
}

function isAddress(value: unknown): value is string {
  return typeof value === "string" && /^https?:\/\//i.test(value) && URL.canParse(value);
}

function progressOf(percent: unknown): number {
  return typeof percent === "number" && percent >= 0 ? Math.min(1, percent / 100) : 0;
}

function unknown(detail: string): { readonly state: "unknown"; readonly detail: string } {
  return { state: "unknown", detail };
}

// Stored state of a job at Tripo, sufficient for polling by another process.

interface TripoJob extends ProviderJob {
  readonly task_id: string;
  /** Names of the task's inputs. */
  readonly given: readonly MeshInputName[];
}

const ID = /^[A-Za-z0-9_-]{1,128}$/;

/** Returns true for a valid id, which is inserted into a path. */
function isTaskId(value: unknown): value is string {
  return typeof value === "string" && ID.test(value);
}

/** Returns a stored job; undefined for jobs of other families. */
function readJob({ task_id, given }: ProviderJob): TripoJob | undefined {
  if (!isTaskId(task_id) || !Array.isArray(given) || !given.every(isMeshInputName)) return undefined;
  return { task_id, given };
}

// Uploads. Files are sent before the task that uses them, and the task contains their tokens. Source: developers.tripo3d.ai/en/docs/upload.
// Uploads are free, so an upload whose response was lost may be repeated.

/** File extensions, from which Tripo detects the type. */
const ENDINGS: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/webp": "webp",
  "model/gltf-binary": "glb",
  "model/gltf+json": "gltf",
  "model/obj": "obj",
  "model/stl": "stl",
};

/** Returns the token of the file. @throws ProviderError of a task that was not started */
async function uploadFile(
  endpoint: Endpoint,
  media: Exclude<MediaInput, { readonly url: string }>,
  ours: MeshInputName,
  signal: AbortSignal,
): Promise<string> {
  const { bytes, contentType } = media;
  const type = contentType.split(";", 1)[0]!.trim().toLowerCase();
  const name = `${ours}.${ENDINGS[type] ?? (ours === "mesh" ? endingOf(bytes) : "jpg")}`;
  const form = new FormData();
  form.append("file", new Blob([bytes], { type: contentType }), name);
  try {
    const { status, headers, text } = await post(endpoint, { path: "/files", body: form }, signal);
    const answer = readAnswer(status, text);
    if (answer.state === "refused") throw classifyRefusal(status, headers, answer, [ours]);
    const token = answer.data?.["file_token"];
    if (typeof token === "string" && token !== "") return token;
    throw new ProviderError("failed", "the upload was answered without a token");
  } catch (error) {
    // The paid task was not sent.
    throw error instanceof ProviderError && error.kind === "failed" ? error.unsent() : error;
  }
}

/** Returns the file extension of a mesh of unknown type. */
function endingOf(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 16)).toString("latin1");
  return head.startsWith("Kaydara FBX") ? "fbx" : "glb";
}
