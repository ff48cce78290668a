/**
 * Mesh adapter of Tripo, which runs tasks in one queue. Cancellation is not supported. The signed URL of a finished mesh is valid only for
 * minutes, and each poll returns a new one. Sources: developers.tripo3d.ai/en/docs/{task,limits}.
 */
import { isMedia, type PlacedInput, setField } from "../fields.ts";
import { type Endpoint, post } from "../http.ts";
import { isMembers, type Members, parseObject } from "../json.ts";
import type { Artifact, MediaCall, MediaInput, MeshInput, Polled, ProviderJob, QueuedAdapter } from "../media.ts";
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

/**
 * Members that contain the mesh, in order of preference. Meshes with PBR textures come first, then the meshes from which they were created.
 */
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
      const { path, body, inputNames } = await taskOf(call, async (media, ours) =>
        "url" in media ? media.url : uploadFile(endpoint, media, ours, call.signal),
      );
      const request = { path, body: JSON.stringify(body) };
      return postStart(endpoint, request, call, null, ({ status, headers, text }) => {
        const answer = readAnswer(status, text);
        if (answer.state === "refused") throw classifyRefusal(status, headers, answer, inputNames);
        const id = answer.data?.["task_id"];
        // The task was accepted and probably runs, but cannot be polled.
        if (!isTaskId(id)) throw new ProviderError("unknown", "the task was taken without an id that can be asked for");
        return { task_id: id, given: inputNames } satisfies TripoJob;
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

/** Returns the result of a task. An output without a list of files is `unknown`, because it is no definite failure. */
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
  /** Names of the caller's inputs that the task uses. */
  readonly given: readonly MeshInputName[];
}

const ID = /^[A-Za-z0-9_-]{1,128}$/;

/** Returns true for a valid task id, which can be inserted into a URL path. */
function isTaskId(value: unknown): value is string {
  return typeof value === "string" && ID.test(value);
}

/** Parses a stored job; undefined for a job of another family. */
function readJob({ task_id, given }: ProviderJob): TripoJob | undefined {
  if (!isTaskId(task_id) || !Array.isArray(given) || !given.every(isMeshInputName)) return undefined;
  return { task_id, given };
}

// Uploads. Files are sent before the task that uses them, and the task contains their tokens. Source: developers.tripo3d.ai/en/docs/upload.
// Uploads are free, so an upload whose response was lost may be repeated.

/** File extensions by media type. Tripo detects the type of a file from its extension. */
const ENDINGS: Readonly<Record<string, string>> = {
  "image/png": "png",
  "image/jpeg": "jpg",
  "image/webp": "webp",
  "model/gltf-binary": "glb",
  "model/gltf+json": "gltf",
  "model/obj": "obj",
  "model/stl": "stl",
};

/**
 * Uploads a file and returns its token.
 * @throws ProviderError when the upload fails; the paid task has not been started then
 */
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

/** Returns the file extension of a mesh whose media type is unknown, detected from its bytes. */
function endingOf(bytes: Uint8Array): string {
  const head = Buffer.from(bytes.buffer, bytes.byteOffset, Math.min(bytes.byteLength, 16)).toString("latin1");
  return head.startsWith("Kaydara FBX") ? "fbx" : "glb";
}

// Tripo's tasks as data. The source's model name is a task, followed by a slash and the dated `model` that runs it. Sources:
// developers.tripo3d.ai/en/docs/{text-to-model,image-to-model,texture,decimate,segment,rig}.

const PROMPT_MAX = 1_024;

interface TaskKind extends MeshNeeds {
  readonly path: string;
}

const kind = (path: string, usual: MeshNeeds["usual"], needs: MeshNeeds["needs"]): TaskKind => ({
  path,
  usual,
  needs,
  promptMax: PROMPT_MAX,
});

const KINDS: Readonly<Record<string, TaskKind>> = {
  "text-to-model": kind("/generation/text-to-model", { prompt: "prompt", seed: "model_seed" }, [["prompt"]]),
  "image-to-model": kind("/generation/image-to-model", { image: "input", seed: "model_seed" }, [["image"]]),
  texture: kind(
    "/models/texture",
    { mesh: "input", image: "texture_prompt.image", prompt: "texture_prompt.text", seed: "texture_seed" },
    [["mesh"], ["image", "prompt"]],
  ),
  decimate: kind("/mesh/decimate", { mesh: "input" }, [["mesh"]]),
  segment: kind("/mesh/segment", { mesh: "input" }, [["mesh"]]),
  rig: kind("/animations/rig", { mesh: "input" }, [["mesh"]]),
};

interface TripoTask {
  readonly path: string;
  readonly body: Readonly<Record<string, unknown>>;
  readonly inputNames: readonly MeshInputName[];
}

/**
 * Uploads media to Tripo and returns the file token for the request body.
 * @throws ProviderError when the upload fails
 */
type Upload = (media: MediaInput, ours: MeshInputName) => Promise<string>;

/**
 * Builds the request that starts a Tripo task, and uploads its media.
 * @throws ProviderError `misconfigured` for an unknown task; the errors of `meshInputs` and `upload`
 */
async function taskOf({ input, sourceModel, fields, adapt }: MediaCall<MeshInput>, upload: Upload): Promise<TripoTask> {
  const slash = sourceModel.indexOf("/");
  const [name, model] = [sourceModel.slice(0, Math.max(0, slash)), sourceModel.slice(slash + 1)];
  const known = Object.hasOwn(KINDS, name) ? KINDS[name] : undefined;
  // Without a model, Tripo would choose one and its price.
  if (!known || model === "") throw new ProviderError("misconfigured", `Tripo has no task and model "${sourceModel}"`);
  const placed = meshInputs(input, fields, known);
  const body: Record<string, unknown> = { model };
  for (const one of placed) setField(body, one.theirs, await valueOf(one, upload));
  adapt(body);
  return { path: known.path, body, inputNames: sentNames(placed) };
}

async function valueOf({ ours, value }: PlacedInput, upload: Upload): Promise<unknown> {
  if (!isMedia(value)) return value;
  return "url" in value ? value.url : upload(value, ours === "mesh" ? "mesh" : "image");
}

// Maps Tripo's errors to error classes: `{code, message, suggestion}`, where a code other than 0 is an error for every status. Source:
// developers.tripo3d.ai/en/docs/errors.

const CLASS_OF_CODE: Readonly<Record<string, ProviderErrorClass>> = {
  // Keys and permissions
  1000: "misconfigured",
  1001: "misconfigured",
  1002: "misconfigured",
  1005: "misconfigured",
  // Invalid body, which we composed
  1003: "misconfigured",
  1007: "busy",
  2000: "busy",
  2008: "refused",
  2010: "misconfigured",
  2014: "failed",
  2015: "misconfigured",
  2016: "misconfigured",
  2017: "misconfigured",
  2019: "failed",
};

/** Tripo's error codes for a file that is empty, of an unknown type, or too complex for the model. */
const UNUSABLE: ReadonlySet<string> = new Set(["2003", "2004", "2018"]);
const BAD_PROMPT = "2009";
/** Tripo's error codes for an invalid or unsupported parameter. Only the message names the parameter. */
const BAD_PARAMETER: ReadonlySet<string> = new Set(["1004", "2002"]);

type Answer =
  /** Accepted request. `data` is undefined for a response that is not in Tripo's format, whatever its status. */
  | { readonly state: "taken"; readonly data: Members | undefined }
  | { readonly state: "refused"; readonly code: string; readonly message: string };

export function readAnswer(status: number, text: string): Answer {
  const body = parseObject(text);
  const code = codeOf(body?.["code"]);
  if (status >= 200 && status <= 299 && (code === "0" || code === "")) {
    const data = body?.["data"];
    return { state: "taken", data: code === "0" && isMembers(data) ? data : undefined };
  }
  return { state: "refused", code, message: codeOf(body?.["message"]) || text.slice(0, 500) };
}

/**
 * Returns the error for a request that Tripo rejected. Statuses that leave the outcome of a start unknown are handled in start.ts.
 * @param inputNames the caller's inputs that the request contains
 */
export function classifyRefusal(
  status: number,
  headers: Headers,
  { code, message }: Extract<Answer, { readonly state: "refused" }>,
  inputNames: readonly MeshInputName[],
): ProviderError {
  const said = [code, message].filter((part) => part !== "").join(": ") || `status ${status}`;
  const retryAfterMs = retryAfter(headers);
  const facts = { status, ...(retryAfterMs === undefined ? {} : { retryAfterMs }) };
  const known = errorOf(code, said, inputNames, status);
  if (known) return known.kind === "busy" ? new ProviderError("busy", said, facts) : known;
  if (status === 429 || status === 503) return new ProviderError("busy", said, facts);
  if (status < 400 || status > 499 || status === 408) return new ProviderError("failed", said, facts);
  if ([401, 402, 403, 404, 410].includes(status)) return new ProviderError("misconfigured", said, facts);
  return new ProviderError("rejected", said, { ...facts, code: "invalid_request", param: null });
}

/** Returns the error of a failed task. The failure is definite, even if Tripo reports no reason or an unknown code. */
export function classifyTaskError(
  { error_code: code, error_message: message }: Members,
  inputNames: readonly MeshInputName[],
): ProviderError {
  const said = [codeOf(code), codeOf(message)].filter((part) => part !== "").join(": ");
  const detail = said || "the task failed without a reason";
  return errorOf(codeOf(code), detail, inputNames) ?? new ProviderError("failed", detail);
}

function errorOf(
  code: string,
  said: string,
  inputNames: readonly MeshInputName[],
  status?: number,
): ProviderError | undefined {
  const facts = status === undefined ? {} : { status };
  const known = Object.hasOwn(CLASS_OF_CODE, code) ? CLASS_OF_CODE[code] : undefined;
  if (known) return new ProviderError(known, said, facts);
  if (UNUSABLE.has(code)) return unusable(said, inputNames, status);
  if (code === BAD_PROMPT)
    return rejectedPrompt(said, "The prompt contains characters that this model does not accept.", status);
  return BAD_PARAMETER.has(code) ? badParameter(said, inputNames, facts) : undefined;
}

function badParameter(
  said: string,
  inputNames: readonly MeshInputName[],
  facts: { readonly status?: number },
): ProviderError {
  if (/prompt/i.test(said) && inputNames.includes("prompt")) return rejectedPrompt(said, undefined, facts.status);
  if (/seed/i.test(said)) {
    return new ProviderError("rejected", said, { ...facts, code: "unsupported_value", param: "seed" });
  }
  if (/\b(?:input|file|image|url)/i.test(said)) return unusable(said, inputNames, facts.status);
  // The catalogue set the rest of the body, so another source may be correct.
  return new ProviderError("misconfigured", said, facts);
}

function codeOf(value: unknown): string {
  return typeof value === "string" ? value : typeof value === "number" ? String(value) : "";
}
