/**
 * Builds Veo's requests and reads its operations. Shared by the Gemini API with a key and by Google Cloud. Source: docs.cloud.google.com,
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

/** Default fields for inputs. Media belong to the instance, all other inputs to the parameters. */
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

/** Body of a Veo request. Its parameters are adapted to the source: dropped, renamed or overridden as the catalogue says. */
export interface VeoBody {
  readonly instances: readonly Members[];
  readonly parameters: Members;
}

/**
 * Builds the body of a Veo request.
 * @throws ProviderError `misconfigured`; nothing has been sent
 */
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
      // Converts a seed to an unsigned 32-bit integer.
      setField(parameters, theirs, ours === "seed" ? Number(value) >>> 0 : value);
    }
  }
  call.adapt(parameters);
  return { instances: [instance], parameters };
}

/** Videos of a successful operation. A video is undefined if it is unreadable; the outcome of the job is then unknown. */
export interface VeoVideos {
  readonly videos: readonly (Artifact | undefined)[];
  /** Response of the operation, which contains the number of filtered videos and the reasons. */
  readonly from: Members;
}

/**
 * Returns the state of an operation.
 * @param asked name of the polled operation. Only its last segment is compared with the returned name, because Google may replace the
 * project's id by its number.
 * @param read returns the videos of a response, or undefined for an unknown response; throws ProviderError for videos that will never be
 * available
 */
export function readOperation(
  operation: Members | undefined,
  asked: string,
  read: (response: Members) => VeoVideos | undefined,
): Polled<readonly Artifact[]> {
  const { name, done, error, response } = operation ?? {};
  const reportedName = textIn(name);
  if (reportedName !== undefined && lastStep(reportedName) !== lastStep(asked))
    return unknown("the answer is of another operation");
  if (done !== true) {
    const isPending = (done === undefined || done === false) && reportedName !== undefined;
    return isPending ? { state: "pending" } : unknown("what was answered is no operation");
  }
  if (isMembers(error)) return { state: "failed", error: classifyOperation(error) };
  try {
    const videos = isMembers(response) ? read(response) : undefined;
    return videos ? outcomeOf(videos) : unknown("the operation ended without a response that can be read");
  } catch (error) {
    if (error instanceof ProviderError) return { state: "failed", error };
    throw error;
  }
}

function lastStep(name: string): string | undefined {
  return name.split("/").at(-1);
}

/** Returns the state of a successful operation, with its first video. Only one video was requested and is charged. */
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
