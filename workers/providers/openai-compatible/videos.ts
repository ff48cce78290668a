/**
 * Video adapter for OpenAI's wire format. A job is started by multipart, polled until it ends, and downloaded with our credentials. OpenAI
 * itself ended this API on 24 September 2026; compatible servers still offer it. Source: openai/openai-openapi, /videos.
 *
 * Cancellation is not supported. `DELETE` is for ended videos, and the outcome of a deleted running job could not be read.
 */
import { clientParam, type Fields, inputOf, isMedia, place, setField } from "../fields.ts";
import { type Endpoint, post } from "../http.ts";
import { unreadableImage } from "../image-fields.ts";
import { isMembers, parseObject } from "../json.ts";
import { videoValues } from "../media-fields.ts";
import type { Artifact, Media, MediaCall, Polled, ProviderJob, QueuedAdapter, VideoInput } from "../media.ts";
import { ProviderError } from "../provider.ts";
import { postStart } from "../start.ts";
import { secondsUsed } from "../transcription.ts";
import { bytesOf, checkPlaced, openVideo, VIDEO_TYPE } from "../video-media.ts";
import { classifyAnswer, classifyErrorMember } from "./errors.ts";
import { unsupported } from "./rejected.ts";

/** OpenAI's default fields for inputs. A source with a seed or a negative prompt sets its own fields. */
const USUAL: Fields = { image: "input_reference", duration: "seconds:text", size: "size" };

export function createOpenAiVideos(endpoint: Endpoint): QueuedAdapter<VideoInput, readonly Artifact[]> {
  return {
    async start(call) {
      const fields = call.fields ?? USUAL;
      const request = { path: "/videos", body: formOf(call, fields) };
      return postStart(endpoint, request, call, null, ({ status, headers, text }) => {
        if (status < 200 || status > 299) throw classifyVideos(status, headers, text, fields);
        return readStarted(text, fields);
      });
    },

    async poll(stored, signal) {
      const job = readJob(stored);
      if (!job) return { state: "unknown", detail: "the stored job is none of this family's" };
      try {
        const { status, text } = await post(endpoint, { method: "GET", path: pathOf(job.id) }, signal);
        if (status >= 200 && status <= 299) return readStatus(endpoint, job, text);
        return { state: "unknown", detail: `the status was answered with ${status}` };
      } catch (error) {
        if (!(error instanceof ProviderError)) throw error;
        return { state: "unknown", detail: `the poll failed: ${error.kind}, ${error.detail}` };
      }
    },
  };
}

/**
 * Builds the multipart form of a start request. `sizes` in the source's overrides is a table of the source's own video sizes; it is not
 * sent.
 */
function formOf(call: MediaCall<VideoInput>, fields: Fields): FormData {
  const own: Record<string, unknown> = {};
  call.adapt(own);
  const size = fields["size"] === undefined ? undefined : sizeOf(call.input, own["sizes"]);
  const placed = place({ ...videoValues(call.input), size }, { prompt: "prompt", ...fields });
  checkPlaced(call.input, placed);
  const body: Record<string, unknown> = { model: call.sourceModel };
  for (const { ours, theirs, value } of placed) {
    setField(body, theirs, isMedia(value) ? fileOf(ours, bytesOf(value)) : value);
  }
  call.adapt(body);
  delete body["sizes"];
  const form = new FormData();
  for (const [name, value] of Object.entries(body)) {
    if (value === undefined || value === null) continue;
    if (value instanceof File) form.append(name, value);
    else form.append(name, typeof value === "string" ? value : JSON.stringify(value));
  }
  return form;
}

/** Returns the image as a file. Servers detect its format by file name and media type. */
function fileOf(name: string, { bytes, contentType }: Media): File {
  const extension = contentType.replace(/^[a-z]+\//, "").replace(/[^a-z0-9]/g, "");
  return new File([bytes], `${name}.${extension}`, { type: contentType });
}

// Computes the width and height for this family from a caller's resolution and ratio: `720p` in `16:9` is 1280x720.

/** Default resolution and aspect ratio, for a call that sets only one of the two. */
const USUAL_RESOLUTION = "720p";
const USUAL_RATIO = "16:9";

const LINES_OF_NAME: ReadonlyMap<string, number> = new Map([
  ["2k", 1_440],
  ["4k", 2_160],
]);

/**
 * Returns the size; undefined when the call sets neither resolution nor aspect ratio.
 * @param sizes the source's own sizes that differ from the computed ones, by resolution and ratio, such as `1024p 16:9: 1792x1024`
 * @throws ProviderError `rejected` for an unknown size
 */
function sizeOf({ resolution, aspectRatio }: VideoInput, sizes: unknown): string | undefined {
  if (resolution === undefined && aspectRatio === undefined) return undefined;
  const name = resolution ?? USUAL_RESOLUTION;
  const ratio = aspectRatio ?? USUAL_RATIO;
  const listed =
    typeof sizes === "object" && sizes !== null ? (sizes as Record<string, unknown>)[`${name} ${ratio}`] : undefined;
  if (typeof listed === "string") return listed;
  const lines = linesOf(name);
  const [across, down] = sidesOf(ratio);
  // The resolution is the number of lines of the shorter side, in both orientations.
  const long = even((lines * Math.max(across, down)) / Math.min(across, down));
  return across < down ? `${lines}x${long}` : `${long}x${lines}`;
}

function linesOf(resolution: string): number {
  const lines = /^(\d{3,4})p$/i.exec(resolution)?.[1] ?? LINES_OF_NAME.get(resolution.toLowerCase());
  if (lines !== undefined) return Number(lines);
  throw unsupported("resolution", "Expected a resolution such as 720p.");
}

function sidesOf(ratio: string): readonly [number, number] {
  const [, across, down] = /^([1-9]\d?):([1-9]\d?)$/.exec(ratio) ?? [];
  if (across !== undefined && down !== undefined) return [Number(across), Number(down)];
  throw unsupported("aspect_ratio", "Expected an aspect ratio such as 16:9.");
}

/** Rounds a number of pixels to an even number, which encoders require. */
function even(pixels: number): number {
  return 2 * Math.round(pixels / 2);
}

// Responses of a videos endpoint: a job with its progress, or an error. Source: openai/openai-openapi, VideoResource.

/** Job at a videos endpoint. Its id is inserted into URL paths unescaped, so the id must not begin with a dot. */
interface VideoJob extends ProviderJob {
  readonly id: string;
}

const ID = /^[A-Za-z0-9_-][A-Za-z0-9_.:=~-]{0,255}$/;

/** Returns a stored job; undefined for jobs of other families. */
function readJob({ id }: ProviderJob): VideoJob | undefined {
  return typeof id === "string" && ID.test(id) ? { id } : undefined;
}

/**
 * Parses the response to a start request.
 * @throws ProviderError the error that the response contains; `unknown` if the response has no usable id, because the job may run
 */
function readStarted(text: string, fields: Fields): VideoJob {
  const answer = parseObject(text);
  const job = answer && readJob(answer);
  if (job) return job;
  const error = answer?.["error"];
  if (isMembers(error)) throw sharpened(classifyErrorMember(error), error, fields);
  throw new ProviderError("unknown", "the job was taken without an id that can be asked for");
}

/** Returns the error of a response that is not 2xx. */
function classifyVideos(status: number, headers: Headers, text: string, fields: Fields): ProviderError {
  return sharpened(classifyAnswer(status, headers, text), parseObject(text)?.["error"], fields);
}

/** Returns the state of a job. */
function readStatus(endpoint: Endpoint, { id }: VideoJob, text: string): Polled<readonly Artifact[]> {
  const video = parseObject(text);
  const { status, progress, error, seconds } = video ?? {};
  if ((video?.["id"] ?? id) !== id) return { state: "unknown", detail: "the answer is of another video" };
  switch (status) {
    case "queued":
    case "in_progress":
      return { state: "pending", ...progressOf(progress) };
    case "completed":
      // A completed job with an error has failed.
      if (isMembers(error)) return { state: "failed", error: classifyErrorMember(error) };
      return {
        state: "done",
        output: [{ contentType: VIDEO_TYPE, open: (signal) => openVideo(endpoint, `${pathOf(id)}/content`, signal) }],
        usage: secondsUsed(lengthOf(seconds)),
      };
    case "failed":
      return { state: "failed", error: classifyErrorMember(error) };
    default:
      return { state: "unknown", detail: `the status is ${JSON.stringify(status)?.slice(0, 100) ?? "absent"}` };
  }
}

function pathOf(id: string): string {
  return `/videos/${id}`;
}

/** Converts a progress in percent to a fraction from 0 to 1; empty for any other value. */
function progressOf(value: unknown): { readonly progress?: number } {
  return typeof value === "number" && value >= 0 && value <= 100 ? { progress: value / 100 } : {};
}

/** Maximum plausible duration of a video, in seconds. A longer report is a fault and must never reach the ledger. */
const SECONDS_MAX = 3_600;

/** Parses a duration in seconds. It is a text or, from some servers, a number. */
function lengthOf(value: unknown): number | undefined {
  const isDecimal = typeof value === "number" || (typeof value === "string" && /^\d{1,6}(?:\.\d{1,6})?$/.test(value));
  const seconds = isDecimal ? Number(value) : 0;
  return seconds > 0 && seconds <= SECONDS_MAX ? seconds : undefined;
}

const UNREADABLE_IMAGE =
  /^(?:invalid|unsupported|empty)_(?:[a-z0-9]+_)*image|^image_(?:file_)?(?:parse|too)|^inpaint_image/;

/**
 * Replaces the provider's field name in an error by the caller's parameter. For a field that is unknown to the provider, returns
 * `misconfigured`, because the catalogue has chosen it.
 */
function sharpened(error: ProviderError, said: unknown, fields: Fields): ProviderError {
  if (error.kind !== "rejected") return error;
  const code = isMembers(said) && typeof said["code"] === "string" ? said["code"] : "";
  const facts = error.status === undefined ? {} : { status: error.status };
  if (code === "unknown_parameter") return new ProviderError("misconfigured", error.detail, facts);
  const field = error.param ?? "";
  const ours = field === "prompt" ? field : inputOf(field, fields);
  if (ours === "image" || UNREADABLE_IMAGE.test(code)) {
    return unreadableImage(error.detail, "image", { ...facts, kind: "video" });
  }
  return new ProviderError("rejected", error.detail, {
    ...facts,
    ...(error.code === undefined ? {} : { code: error.code }),
    // We compute sizes; callers set resolutions.
    param: ours === undefined ? null : ours === "size" ? "resolution" : clientParam(ours, "video"),
  });
}
