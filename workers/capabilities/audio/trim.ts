import { stat } from "node:fs/promises";
import { join } from "node:path";

import type { Rule } from "#shared/calls/capabilities/entry.ts";
import { MediaError } from "#shared/children/media-error.ts";
import type { FileSource } from "#workers/children/file-source.ts";
import { copyPackets } from "#workers/children/remux.ts";

import { defineCapability, input, type InputFile, type RunOutput, type Run } from "../define.ts";
import { choice, number, type ParamsOf } from "../params.ts";
import { spanOf } from "../span.ts";
import {
  AUDIO_PRICE,
  chainOf,
  ENCODINGS,
  measured,
  OUTPUT,
  type Output,
  readAudioFacts,
  round,
  SECONDS_MAX,
  TUNE,
} from "./graph.ts";
import { settlePadding } from "./mp3.ts";
import { type AudioOperation, runOperation } from "./operation.ts";

const TIME = { min: 0, max: SECONDS_MAX, unit: "s" } as const;

const params = {
  start: number("Start of the section in seconds.", { ...TIME, default: 0 }),
  end: number("End of the section in seconds. Default: end of the audio.", TIME),
  duration: number("Duration of the section in seconds, instead of `end`.", { min: 0.01, max: SECONDS_MAX, unit: "s" }),
};

export const operation: AudioOperation<typeof params> = {
  params,
  rules: [{ rule: "less", of: ["params.start", "params.end"] }],
  valueSources: ["end", "duration"],
  apply({ seconds: all }, wanted) {
    const { until, seconds } = spanOf(all, wanted);
    const to = until === undefined ? "" : `:end=${until}`;
    return { filters: [`atrim=start=${wanted.start}${to}`, "asetpts=PTS-STARTPTS"], seconds };
  },
};

/** Rules that reject encoding parameters for a copy, because a copy is not encoded. */
const COPY_RULES = ["params.bitrate", "params.sample_rate", "params.channels"].map((path): Rule => ({
  rule: "fits",
  path,
  by: "params.mode",
  values: { copy: [] },
}));

export default defineCapability({
  id: "audio.trim",
  display_name: "Trim audio",
  description: "Cuts a section out of an audio file.",
  output_modality: "audio",
  input: { audio: input("audio", "The audio.") },
  params: {
    ...params,
    mode: choice(
      "`exact` re-encodes and cuts at the exact times. `copy` is fast and lossless, but starts with the packet that contains `start`; `output.start` contains the actual start. `copy` keeps the format and is not available for FLAC, which is lossless anyway.",
      ["exact", "copy"],
      { default: "exact" },
    ),
    ...OUTPUT,
  },
  rules: [...(operation.rules ?? []), ...COPY_RULES],
  valueSources: operation.valueSources ?? [],
  sample_input: TUNE,
  examples: [
    { title: "The first second", params: { duration: 1 } },
    { title: "From 0.5 seconds to the end, as WAV", params: { start: 0.5, format: "wav" } },
    { title: "The first second, without re-encoding", params: { duration: 1, mode: "copy" } },
  ],
  price: AUDIO_PRICE,
  engine: "ffmpeg",
  run: (run) => (run.params.mode === "exact" ? runOperation(operation, run) : copied(run)),
});

async function copied({
  params: wanted,
  inputs,
  folder,
  progress,
}: Run<ParamsOf<typeof params> & Output, { readonly audio: InputFile }>): Promise<RunOutput> {
  const facts = await readAudioFacts(inputs.audio);
  const { format, source, sampleRate, channels } = facts;
  if (source.links) {
    throw new MediaError("invalid", "Expected params.mode exact for an Ogg file of chained recordings, got copy.");
  }
  if (format === "flac") throw new MediaError("invalid", "Expected params.mode exact for FLAC, got copy.");
  if (wanted.format !== undefined && wanted.format !== format) {
    throw new MediaError(
      "invalid",
      `Expected params.format to be ${format}, as the input is, with params.mode copy, got ${wanted.format}.`,
    );
  }
  const { until } = spanOf(facts.seconds, wanted);
  const { muxer, mediaType, options } = ENCODINGS[format];
  const name = `audio.${format}`;
  const path = join(folder, name);
  const { start, seconds } = await copyPackets({
    source,
    kinds: ["audio"],
    output: { path, muxer, ...(options === undefined ? {} : { options }) },
    from: wanted.start,
    ...(until === undefined ? {} : { until }),
    onSeconds: (at) => {
      if (facts.seconds > 0) progress(Math.min(0.99, at / facts.seconds));
    },
  });
  if (format === "mp3") await settlePadding(path);
  if (seconds < AUDIBLE_CHECK_SECONDS) await checkAudible({ path, container: source.container }, folder, wanted);
  const { size } = await stat(path);
  return {
    output: { format, start: round(start), seconds: round(seconds), sample_rate: sampleRate, channels, bytes: size },
    files: [{ path, mediaType, name }],
  };
}

/**
 * Maximum length of a copied section that is decoded as a test, in seconds. Such a short section may contain nothing audible, because
 * players skip the first packets of MP3, Opus and Vorbis.
 */
const AUDIBLE_CHECK_SECONDS = 0.5;

/** Checks that players can play a short copied section. @throws MediaError invalid */
async function checkAudible(piece: FileSource, folder: string, wanted: { readonly start: number }): Promise<void> {
  await measured(folder, chainOf({ source: piece }, ["anull"]), AUDIBLE_CHECK_SECONDS).catch((error: unknown) => {
    const from = `from ${wanted.start} s`;
    const said = `Expected a longer piece for params.mode copy, or params.mode exact, got one ${from} without audible content.`;
    throw new MediaError("invalid", said, { cause: error });
  });
}
