/**
 * Returns the inputs of video, music and mesh calls under the parameter names of our API, including the prompt. `place` then maps them to
 * the request fields of a source.
 */
import type { FieldValues } from "./fields.ts";
import type { MeshInput, MusicInput, VideoInput } from "./media.ts";

export function videoValues(input: VideoInput): FieldValues {
  return {
    prompt: input.prompt,
    image: input.image,
    video: input.video,
    duration: input.duration,
    resolution: input.resolution,
    aspect_ratio: input.aspectRatio,
    seed: input.seed,
    negative_prompt: input.negativePrompt,
    person_generation: input.personGeneration,
  };
}

export function musicValues(input: MusicInput): FieldValues {
  return {
    prompt: input.prompt,
    lyrics: input.lyrics,
    duration: input.duration,
    seed: input.seed,
    output_format: input.format,
  };
}

export function meshValues(input: MeshInput): FieldValues {
  return { prompt: input.prompt, image: input.image, mesh: input.mesh, seed: input.seed };
}
