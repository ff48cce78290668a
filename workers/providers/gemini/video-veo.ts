/**
 * Veo's request and its operation, which the Gemini API with a key and Google Cloud have in common. Source: docs.cloud.google.com,
 * "Veo video generation API".
 */
import { textIn, isMembers, type Members } from "../json.ts";
import { type Fields, isMedia, place, setField } from "../fields.ts";
import { videoValues } from "../media-fields.ts";
import type { Artifact, MediaCall, Polled, VideoInput } from "../media.ts";
import { ProviderError } from "../provider.ts";

import { classifyOperation } from "./video-errors.ts";
import { bytesOf, checkPlaced } from "../video-media.ts";
import { base64Of } from "./video-media.ts";

/** Media lie in the instance, everything else in the parameters. */
const USUAL: Fields = {
  image: "image",
  video: "video",
  duration: "durationSeconds",
  resolution: "resolution",
  aspect_ratio: "aspectRatio",
  seed: "seed",
  negative_prompt: "negativePrompt",
  person_generation: "personGeneration",
};

/** The source's gaps and defaults are applied to the parameters, in which all lies that a source may do otherwise. */
export interface VeoBody {
  readonly instances: readonly Members[];
  readonly parameters: Members;
}

/** @throws ProviderError `misconfigured` before anything is sent */
export function veoBody(call: MediaCall<VideoInput>): VeoBody {
  const placed = place(videoValues(call.input), call.fields ?? USUAL);
  checkPlaced(call.input, placed);
  const instance: Members = { prompt: call.input.prompt };
  const parameters: Members = { sampleCount: 1 };
  for (const { ours, theirs, value } of placed) {
    if (isMedia(value)) {
      const media = bytesOf(value);
      setField(instance, theirs, { bytesBase64Encoded: base64Of(media), mimeType: media.contentType });
    } else if (ours !== "prompt") {
      // Seeds are unsigned numbers of 32 bits there.
      setField(parameters, theirs, ours === "seed" ? Number(value) >>> 0 : value);
    }
  }
  call.adapt(parameters);
  return { instances: [instance], parameters };
}

/** Videos of an operation that ended well; undefined for a video that cannot be read, which is no verdict. */
export interface VeoVideos {
  readonly videos: readonly (Artifact | undefined)[];
  /** With the counts and reasons of what was filtered. */
  readonly from: Members;
}

/**
 * Returns the state of an operation.
 * @param asked its name; of the one that is answered the last step alone counts, since a project goes by its number as well
 * @param read returns its response's videos, or undefined when it is none of Veo's; throws ProviderError for what can never be had
 */
export function readOperation(
  operation: Members | undefined,
  asked: string,
  read: (response: Members) => VeoVideos | undefined,
): Polled<readonly Artifact[]> {
  const { name, done, error, response } = operation ?? {};
  const told = textIn(name);
  if (told !== undefined && lastStep(told) !== lastStep(asked)) return unknown("the answer is of another operation");
  if (done !== true) {
    const isPending = (done === undefined || done === false) && told !== undefined;
    return isPending ? { state: "pending" } : unknown("what was answered is no operation");
  }
  if (isMembers(error)) return { state: "failed", error: classifyOperation(error) };
  try {
    const made = isMembers(response) ? read(response) : undefined;
    return made ? outcomeOf(made) : unknown("the operation ended without a response that can be read");
  } catch (error) {
    if (error instanceof ProviderError) return { state: "failed", error };
    throw error;
  }
}

function lastStep(name: string): string | undefined {
  return name.split("/").at(-1);
}

/** One video was asked for, so one is delivered and paid for. */
function outcomeOf({ videos, from }: VeoVideos): Polled<readonly Artifact[]> {
  const [first] = videos;
  if (first) return { state: "done", output: [first], usage: {} };
  if (videos.length > 0) return unknown("the operation's video cannot be read");
  const { raiMediaFilteredCount: count, raiMediaFilteredReasons: reasons } = from;
  const why = Array.isArray(reasons) ? reasons.filter((reason) => typeof reason === "string").join(" ") : "";
  const isFiltered = (typeof count === "number" && count > 0) || why !== "";
  const error = isFiltered
    ? new ProviderError("refused", `the video was filtered: ${why}`)
    : new ProviderError("failed", "the operation ended without a video");
  return { state: "failed", error };
}

function unknown(detail: string): { readonly state: "unknown"; readonly detail: string } {
  return { state: "unknown", detail };
}
