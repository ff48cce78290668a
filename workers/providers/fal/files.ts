/**
 * Reads files from responses of fal's models. A file is `{url, content_type, …}` under a member whose name differs between models. Source:
 * output types of fal's own client (fal-ai/fal-js, libs/client/src/types/endpoints.ts, August 2026).
 */
import { isMembers, type Members } from "../json.ts";
import type { Artifact, MediaUsage } from "../media.ts";
import { ProviderError } from "../provider.ts";

/** Describes where the responses of one kind of model contain their files. */
export interface Delivery {
  /** Names of members that contain files, in order of preference. A dotted name is a nested path. */
  readonly members: readonly string[];
  /** Expected top-level media type of the files. */
  readonly family: "image" | "video" | "audio" | "model";
  /** Name of the kind of file, used in log entries. */
  readonly name: string;
}

export interface FalFile {
  readonly artifact: Artifact;
  /** Duration of audio or video in seconds, if reported. */
  readonly seconds?: number;
}

/**
 * Returns the files of a response. Returns undefined if the result is unknown or partly unreadable; the outcome of the job is then unknown.
 * @param asked maximum number of files that are delivered and charged
 * @throws ProviderError `refused` if the safety filter blacked out all files, `failed` if the result contains no files
 */
export function readFiles(answer: Members, delivery: Delivery, asked: number): readonly FalFile[] | undefined {
  const list = listOf(answer, delivery.members);
  if (!list) return undefined;
  if (list.length === 0) throw new ProviderError("failed", `the result has no ${delivery.name}`);
  const flags = answer["has_nsfw_concepts"];
  const kept = list.filter((_item, at) => !(Array.isArray(flags) && flags[at] === true));
  if (kept.length === 0) throw new ProviderError("refused", `the safety checker blackened every ${delivery.name}`);
  const files = kept.slice(0, asked).map((item) => readFile(item, delivery.family));
  return files.every((file) => file !== undefined) ? files : undefined;
}

/** Returns the compute time in seconds, if fal reports it. */
export function computeOf({ timings }: Members): Pick<MediaUsage, "computeSeconds"> {
  const seconds = isMembers(timings) ? timings["inference"] : undefined;
  return isLength(seconds) ? { computeSeconds: seconds } : {};
}

/** Returns the total duration of all files in seconds; empty if the duration of any file is missing. */
export function lengthOf(files: readonly FalFile[]): Pick<MediaUsage, "seconds"> {
  const lengths = files.map(({ seconds }) => seconds);
  if (!lengths.every((seconds) => seconds !== undefined)) return {};
  return { seconds: lengths.reduce((sum, seconds) => sum + seconds, 0) };
}

/**
 * Returns the value of the first named member that is not empty, as a list. Returns an empty list if all existing members are empty, and
 * undefined if none exists.
 */
function listOf(answer: Members, names: readonly string[]): readonly unknown[] | undefined {
  let found: readonly unknown[] | undefined;
  for (const name of names) {
    const value = name
      .split(".")
      .reduce<unknown>((holder, step) => (isMembers(holder) ? holder[step] : undefined), answer);
    if (value === undefined) continue;
    found = Array.isArray(value) ? value : value === null ? [] : [value];
    if (found.length > 0) return found;
  }
  return found;
}

function readFile(item: unknown, family: Delivery["family"]): FalFile | undefined {
  const { url, content_type: type, duration } = isMembers(item) ? item : { url: item };
  if (typeof url !== "string" || !/^https?:\/\//i.test(url) || !URL.canParse(url)) return undefined;
  // Other types, such as application/octet-stream, carry no information.
  const isType = typeof type === "string" && new RegExp(`^${family}/[a-z0-9.+-]+$`).test(type);
  return {
    artifact: { url, ...(isType ? { contentType: type } : {}) },
    ...(isLength(duration) && duration > 0 ? { seconds: duration } : {}),
  };
}

function isLength(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
