/** Parameters of a video. */
import type { Size } from "./size.ts";

export const FRAMES_PER_SECOND = 24;

export interface VideoParams extends Size {
  readonly prompt: string;
  /** Whole. */
  readonly seconds: number;
  readonly seed: number;
}

export interface VideoTask extends VideoParams {
  /** Kind of media in the bytes that come with the task. */
  readonly source: "none" | "image" | "video";
  /** Empty and for this task alone; the parent removes it, also after a child that was killed. */
  readonly directory: string;
}
