/** Parameters of a video. Its size in pixels is computed from resolution and aspect ratio. */
import { MediaError } from "#shared/children/media-error.ts";

export const FRAMES_PER_SECOND = 24;

export interface VideoParams extends Size {
  readonly prompt: string;
  /** Duration of the video, in whole seconds. */
  readonly seconds: number;
  readonly seed: number;
}

export interface VideoTask extends VideoParams {
  /** Kind of the input media of the task. */
  readonly source: "none" | "image" | "video";
  /** Empty directory for this task. The parent process removes it, even if the child was killed. */
  readonly directory: string;
}

/** Size in pixels. Both sides are even. */
interface Size {
  readonly width: number;
  readonly height: number;
}

const USUAL_RESOLUTION = "720p";
const USUAL_RATIO = "16:9";

/**
 * Returns the size of a video; the resolution is the shorter side. For example, 720p is 1280 × 720 at 16:9, 720 × 1280 at 9:16 and 1680 ×
 * 720 at 21:9.
 * @throws MediaError invalid, for unknown names; the generator limits the supported sizes
 */
export function videoSize(resolution = USUAL_RESOLUTION, aspectRatio = USUAL_RATIO): Size {
  const [, lines] = /^(\d{2,4})p?$/i.exec(resolution.trim()) ?? [];
  const [, across, down] = /^(\d{1,2}(?:\.\d{1,2})?):(\d{1,2}(?:\.\d{1,2})?)$/.exec(aspectRatio.trim()) ?? [];
  if (lines === undefined) throw invalid("resolution", "720p", resolution);
  const ratio = Number(across) / Number(down);
  if (!Number.isFinite(ratio) || ratio <= 0) throw invalid("aspect ratio", "16:9", aspectRatio);
  const shorter = even(Number(lines));
  const longer = even(Number(lines) * Math.max(ratio, 1 / ratio));
  return ratio >= 1 ? { width: longer, height: shorter } : { width: shorter, height: longer };
}

function even(pixels: number): number {
  return 2 * Math.round(pixels / 2);
}

function invalid(what: string, like: string, got: string): MediaError {
  return new MediaError("invalid", `Expected ${what} such as ${like}, got ${got.slice(0, 40)}.`);
}
