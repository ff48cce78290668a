/**
 * Video over OpenAI's wire format: a job is started by multipart, polled until it ends, and downloaded with our credentials. OpenAI itself
 * ended this API on 24 September 2026; compatible servers still offer it. Source: openai/openai-openapi, /videos.
 *
 * Cancellation is not supported: `DELETE` is for ended videos, and the outcome of a deleted running job could not be read.
 */
import { type Fields, isMedia, place, setField } from "../fields.ts";
import { type Endpoint, post } from "../http.ts";
import { videoValues } from "../media-fields.ts";
import type { Artifact, Media, MediaCall, QueuedAdapter, VideoInput } from "../media.ts";
import { ProviderError } from "../provider.ts";
import { postStart } from "../start.ts";
import { bytesOf, checkPlaced } from "../video-media.ts";

import { unsupported } from "./rejected.ts";
import { classifyVideos, pathOf, readJob, readStarted, readStatus } from "./videos-answer.ts";

/** Fields of OpenAI; a source with a seed or a negative prompt sets its own fields. */
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

/** Builds the form. `sizes` in the overrides of a source lists its own sizes and is not sent. */
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

/** Returns the image as a file. Servers detect the format by file name and by type. */
function fileOf(name: string, { bytes, contentType }: Media): File {
  const extension = contentType.replace(/^[a-z]+\//, "").replace(/[^a-z0-9]/g, "");
  return new File([bytes], `${name}.${extension}`, { type: contentType });
}

// Computes the width and height for this family from a caller's resolution and ratio: `720p` in `16:9` is 1280x720.

/** Defaults for a call that sets only one of the two. */
const USUAL_RESOLUTION = "720p";
const USUAL_RATIO = "16:9";

const LINES_OF_NAME: ReadonlyMap<string, number> = new Map([
  ["2k", 1_440],
  ["4k", 2_160],
]);

/**
 * Returns the size; undefined when the call sets neither resolution nor ratio.
 * @param sizes the source's own sizes by resolution and ratio, `1024p 16:9: 1792x1024`, where they differ from the computed ones
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

/** Rounds to an even number, which encoders require. */
function even(pixels: number): number {
  return 2 * Math.round(pixels / 2);
}
