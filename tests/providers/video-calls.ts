/** Calls for videos, and the bytes of one, for the tests of all families. */
import { box, bytesOf } from "#tests/support/file-parts.ts";
import type { StartCall, VideoInput } from "#workers/providers/media.ts";

import { bytesReply, type ReplyBehaviour } from "./engine/behaviour.ts";
import { type CallChanges, mediaCall } from "./engine/calls.ts";

/** Bytes that begin as an MP4 does. */
export function mp4Of(seconds: number): Buffer {
  return bytesOf(box("ftyp", "isom\0\0\u0002\0isomiso2mp41"), box("mdat", Buffer.alloc(1_024 * seconds, seconds)));
}

export const videoReply = (bytes: Uint8Array, more: Partial<ReplyBehaviour> = {}): ReplyBehaviour =>
  bytesReply("video/mp4", bytes, more);

/** An image that came with a call. */
export const IMAGE = { bytes: Uint8Array.of(0xff, 0xd8, 0xff, 0xe0, 1, 2, 3), contentType: "image/jpeg" } as const;
export const CLIP = { bytes: Uint8Array.from(mp4Of(1)), contentType: "video/mp4" } as const;

/** Every input there is but the video. */
export const EVERYTHING = {
  prompt: "a sea otter",
  image: IMAGE,
  duration: 8,
  resolution: "720p",
  aspectRatio: "16:9",
  seed: 7,
  negativePrompt: "blur",
  personGeneration: "allow_adult",
} as const satisfies VideoInput;

export function videoCall(input: Partial<VideoInput> = {}, call: CallChanges = {}): StartCall<VideoInput> {
  return mediaCall({ prompt: "a sea otter", ...input }, call);
}
