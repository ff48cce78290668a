/** Copies packets of videos without re-encoding. For child processes only. */
import { stat } from "node:fs/promises";
import { join } from "node:path";

import type { Rule } from "#shared/calls/capabilities/entry.ts";
import { MediaError } from "#shared/children/media-error.ts";
import { copyPackets, type CopyPlan } from "#workers/children/remux.ts";

import type { RunOutput } from "../define.ts";

import { CONTAINERS, round, type VideoFormat } from "./encode.ts";
import type { VideoFacts } from "./facts.ts";

export interface CopyVideo extends Pick<CopyPlan, "from" | "until" | "subtitles"> {
  readonly folder: string;
  readonly facts: VideoFacts;
  readonly format: VideoFormat;
  /** Value of `params.mode` with which the caller requested a copy. It is part of error messages. */
  readonly mode: string;
  readonly progress: (share: number) => void;
}

/** Returns rules that reject the codec parameters if the mode is a copy, because a copy is not encoded. */
export function copyRules(mode: string): readonly Rule[] {
  return ["params.video_codec", "params.audio_codec"].map((path) => ({
    rule: "fits",
    path,
    by: "params.mode",
    values: { [mode]: [] },
  }));
}

/**
 * Copies a video without encoding.
 * @throws MediaError invalid if the video cannot be copied, or its codecs cannot be copied into the format; corrupt
 */
export async function copyVideo(copy: CopyVideo): Promise<RunOutput> {
  const { folder, facts, format, mode, progress, ...plan } = copy;
  const { container } = facts.source;
  if (container !== "mov" && container !== "matroska") {
    throw new MediaError(
      "invalid",
      `Expected params.mode other than ${mode} for ${container}: only MP4, QuickTime, WebM and Matroska are copied.`,
    );
  }
  const { muxer, mediaType, options } = CONTAINERS[format];
  const name = `video.${format}`;
  const path = join(folder, name);
  const { start, seconds } = await copyPackets({
    ...plan,
    source: facts.source,
    kinds: facts.audio === null ? ["video"] : ["video", "audio"],
    output: { path, muxer, ...(options === undefined ? {} : { options }) },
    onSeconds: (at) => {
      if (facts.seconds > 0) progress(Math.min(0.99, Math.max(0, at / facts.seconds)));
    },
  });
  const { size } = await stat(path);
  const { width, height, codec, audio } = facts;
  const output = {
    format,
    start: round(start),
    seconds: round(seconds),
    width,
    height,
    video_codec: codec,
    audio_codec: audio?.codec ?? null,
    bytes: size,
  };
  return { output, files: [{ path, mediaType, name }], notes: facts.dropped };
}
