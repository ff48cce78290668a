/** What a video is made of. */
import type { Size } from "./size.ts";

export const FRAMES_PER_SECOND = 24;

export interface VideoParams extends Size {
  readonly prompt: string;
  /** Whole. */
  readonly seconds: number;
  readonly seed: number;
}

export interface VideoTask extends VideoParams {
  /** What the bytes that come along are. */
  readonly source: "none" | "image" | "video";
  /** Empty and for this task alone; the parent removes it, also after a child that was killed. */
  readonly directory: string;
}
