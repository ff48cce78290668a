/** Responses of a videos endpoint: a job with its progress, or an error. Source: openai/openai-openapi, VideoResource. */
import { clientParam, type Fields, inputOf } from "../fields.ts";
import { openVideo, VIDEO_TYPE } from "../video-media.ts";
import type { Endpoint } from "../http.ts";
import { unreadableImage } from "../image-fields.ts";
import { isMembers, parseObject } from "../json.ts";
import type { Artifact, Polled, ProviderJob } from "../media.ts";
import { ProviderError } from "../provider.ts";
import { secondsUsed } from "../transcription.ts";

import { classifyAnswer, classifyErrorMember } from "./errors.ts";

/** Id that finds a job again. It is inserted into paths unescaped, so it must not begin with a dot. */
export interface VideoJob extends ProviderJob {
  readonly id: string;
}

const ID = /^[A-Za-z0-9_-][A-Za-z0-9_.:=~-]{0,255}$/;

/** Returns a stored job; undefined for jobs of other families. */
export function readJob({ id }: ProviderJob): VideoJob | undefined {
  return typeof id === "string" && ID.test(id) ? { id } : undefined;
}

/** @throws ProviderError the error in the response; `unknown` when a job was accepted without a usable id */
export function readStarted(text: string, fields: Fields): VideoJob {
  const answer = parseObject(text);
  const job = answer && readJob(answer);
  if (job) return job;
  const error = answer?.["error"];
  if (isMembers(error)) throw sharpened(classifyErrorMember(error), error, fields);
  throw new ProviderError("unknown", "the job was taken without an id that can be asked for");
}

/** Returns the error of a response that is not 2xx. */
export function classifyVideos(status: number, headers: Headers, text: string, fields: Fields): ProviderError {
  return sharpened(classifyAnswer(status, headers, text), parseObject(text)?.["error"], fields);
}

/** Returns the state of a job. */
export function readStatus(endpoint: Endpoint, { id }: VideoJob, text: string): Polled<readonly Artifact[]> {
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

export function pathOf(id: string): string {
  return `/videos/${id}`;
}

/** Converts a progress in percent. */
function progressOf(value: unknown): { readonly progress?: number } {
  return typeof value === "number" && value >= 0 && value <= 100 ? { progress: value / 100 } : {};
}

/** Longest plausible video, in seconds. A longer report is a fault and must never reach the ledger. */
const SECONDS_MAX = 3_600;

/** Parses a duration in seconds, a text or, from some servers, a number. */
function lengthOf(value: unknown): number | undefined {
  const isDecimal = typeof value === "number" || (typeof value === "string" && /^\d{1,6}(?:\.\d{1,6})?$/.test(value));
  const seconds = isDecimal ? Number(value) : 0;
  return seconds > 0 && seconds <= SECONDS_MAX ? seconds : undefined;
}

const UNREADABLE_IMAGE =
  /^(?:invalid|unsupported|empty)_(?:[a-z0-9]+_)*image|^image_(?:file_)?(?:parse|too)|^inpaint_image/;

/** Replaces the field that an error names by the caller's parameter, or blames the catalogue for fields that it sets. */
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
