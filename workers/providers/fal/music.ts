/** Requests and responses of fal's music models. Source: the models' own pages under fal.ai/models. */
import type { Members } from "../json.ts";
import type { Fields } from "../fields.ts";
import type { Artifact, MediaCall, MediaResult, MusicInput } from "../media.ts";
import { musicValues } from "../media-fields.ts";

import { bodyOf, type FalBody } from "./body.ts";
import { computeOf, type Delivery, lengthOf, readFiles } from "./files.ts";

/** Default fields for inputs. Nearly all music models of fal have these fields. */
const USUAL: Fields = { prompt: "prompt", lyrics: "lyrics", duration: "duration", seed: "seed" };

const DELIVERY: Delivery = {
  members: ["audio", "audio_file", "audios", "audio_url"],
  family: "audio",
  name: "recording",
};

/**
 * Builds the request body of a music call.
 * @throws ProviderError `misconfigured` when the source has no field for the prompt
 */
export function musicBody({ input, fields }: MediaCall<MusicInput>): FalBody {
  return bodyOf(musicValues(input), { fields, usual: USUAL, required: [] });
}

/**
 * Returns the audio files of a response. Returns undefined in the same cases as `readFiles`.
 * @throws the errors of `readFiles`
 */
export function readMusic(answer: Members, asked: number): MediaResult<readonly Artifact[]> | undefined {
  const files = readFiles(answer, DELIVERY, asked);
  return (
    files && { output: files.map(({ artifact }) => artifact), usage: { ...lengthOf(files), ...computeOf(answer) } }
  );
}
