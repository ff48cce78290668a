/** Width and height of a video, which this family asks for, from what callers name: `720p` in `16:9` is 1280x720. */
import type { VideoInput } from "../media.ts";

import { unsupported } from "./rejected.ts";

/** Defaults for a call that names only one of the two. */
const USUAL_RESOLUTION = "720p";
const USUAL_RATIO = "16:9";

const LINES_OF_NAME: ReadonlyMap<string, number> = new Map([
  ["2k", 1_440],
  ["4k", 2_160],
]);

/**
 * Undefined when the call leaves both to the source.
 * @param sizes the source's own by resolution and ratio, `1024p 16:9: 1792x1024`, where they are not what is reckoned here
 * @throws ProviderError `rejected` when there is no such size
 */
export function sizeOf({ resolution, aspectRatio }: VideoInput, sizes: unknown): string | undefined {
  if (resolution === undefined && aspectRatio === undefined) return undefined;
  const name = resolution ?? USUAL_RESOLUTION;
  const ratio = aspectRatio ?? USUAL_RATIO;
  const listed =
    typeof sizes === "object" && sizes !== null ? (sizes as Record<string, unknown>)[`${name} ${ratio}`] : undefined;
  if (typeof listed === "string") return listed;
  const lines = linesOf(name);
  const [across, down] = sidesOf(ratio);
  // The resolution counts the lines of the shorter side, whichever way the image stands.
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

/** Encoders take even sides only. */
function even(pixels: number): number {
  return 2 * Math.round(pixels / 2);
}
