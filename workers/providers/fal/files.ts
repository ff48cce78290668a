/**
 * Files as fal's models hand them over: `{url, content_type, …}` under a member whose name differs from model to model.
 * Source: the output types of fal's own client (fal-ai/fal-js, libs/client/src/types/endpoints.ts, August 2026).
 */
import { isMembers, type Members } from "../json.ts";
import type { Artifact, MediaUsage } from "../media.ts";
import { ProviderError } from "../provider.ts";

/** Files that one kind of model delivers. */
export interface Delivery {
  /** Members that may hold its files, the best first; a dotted name is a nested path. */
  readonly members: readonly string[];
  /** First half of the media types that such files may be said to have. */
  readonly family: "image" | "video" | "audio" | "model";
  /** For the log. */
  readonly name: string;
}

export interface FalFile {
  readonly artifact: Artifact;
  /** Length of audio or video, if the answer tells it. */
  readonly seconds?: number;
}

/**
 * Undefined: this is no result of such a model, or not all of it can be read, which is no verdict.
 * @param asked how many files at most are delivered and paid for
 * @throws ProviderError `refused` when the filter blackened all of them, `failed` when there are none
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

/** Seconds that the model ran for, where fal tells. */
export function computeOf({ timings }: Members): Pick<MediaUsage, "computeSeconds"> {
  const seconds = isMembers(timings) ? timings["inference"] : undefined;
  return isLength(seconds) ? { computeSeconds: seconds } : {};
}

/** Seconds of all files together; nothing when one of them does not tell. */
export function lengthOf(files: readonly FalFile[]): Pick<MediaUsage, "seconds"> {
  const lengths = files.map(({ seconds }) => seconds);
  if (!lengths.every((seconds) => seconds !== undefined)) return {};
  return { seconds: lengths.reduce((sum, seconds) => sum + seconds, 0) };
}

/** Content of the first member that holds anything; an empty list if one exists but holds nothing, undefined if none exists. */
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
  // Anything else, application/octet-stream among it, says nothing.
  const isType = typeof type === "string" && new RegExp(`^${family}/[a-z0-9.+-]+$`).test(type);
  return {
    artifact: { url, ...(isType ? { contentType: type } : {}) },
    ...(isLength(duration) && duration > 0 ? { seconds: duration } : {}),
  };
}

function isLength(value: unknown): value is number {
  return typeof value === "number" && Number.isFinite(value) && value >= 0;
}
