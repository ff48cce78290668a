/**
 * Replicate adapters, which use its predictions. Inputs differ between models, so each source in the catalogue maps them to fields in
 * `fields`. A source's overrides are members of the input. Source: replicate.com/docs/reference/http.
 */
import type { PlacedInput } from "../fields.ts";
import type { Endpoint } from "../http.ts";
import { placeInputs } from "../image-fields.ts";
import type {
  ImageEditInput,
  ImageInput,
  MediaCall,
  MediaAdapters,
  MeshInput,
  MusicInput,
  VideoInput,
} from "../media.ts";
import { meshValues, musicValues, videoValues } from "../media-fields.ts";
import { ProviderError } from "../provider.ts";

import { placeMedia } from "./inputs.ts";
import { measured, type Model, predictions } from "./predictions.ts";

const IMAGE_MODEL = {
  usual: { seed: "seed", aspect_ratio: "aspect_ratio", image: "image", mask: "mask" },
  asked: ({ n }) => n,
  wanted: { members: ["images", "image", "output"], extension: /\.(?:png|jpe?g|webp|gif)$/i },
  usage: ({ length }) => ({ images: length }),
  cancelAfter: "10m",
} as const satisfies Omit<Model<ImageInput>, "kind" | "place">;

const IMAGES: Model<ImageInput> = { ...IMAGE_MODEL, kind: "images", place: placeImage };

const EDITS: Model<ImageEditInput> = {
  ...IMAGE_MODEL,
  kind: "imageEdits",
  place(call) {
    const placed = placeImage(call);
    if (placed.some(({ ours }) => ours === "image")) return placed;
    throw new ProviderError("misconfigured", "the source has no field for an image");
  },
};

const VIDEO: Model<VideoInput> = {
  kind: "video",
  usual: {
    prompt: "prompt",
    image: "image",
    video: "video",
    duration: "duration",
    resolution: "resolution",
    aspect_ratio: "aspect_ratio",
    seed: "seed",
    negative_prompt: "negative_prompt",
  },
  place: ({ input, fields }) => placeMedia(videoValues(input), fields ?? VIDEO.usual, ["image", "video"]),
  asked: () => 1,
  wanted: { members: ["video", "output"], extension: /\.(?:mp4|webm|mov|mkv)$/i },
  usage: (_files, metrics) => measured("seconds", metrics["video_output_duration_seconds"]),
  cancelAfter: "60m",
};

const MUSIC: Model<MusicInput> = {
  kind: "music",
  usual: { prompt: "prompt", lyrics: "lyrics", duration: "duration", seed: "seed" },
  place: ({ input, fields }) => placeMedia(musicValues(input), fields ?? MUSIC.usual, []),
  asked: () => 1,
  wanted: { members: ["audio", "audio_out", "output"], extension: /\.(?:mp3|wav|flac|ogg|opus|m4a|aac)$/i },
  usage: (_files, metrics) => measured("seconds", metrics["audio_output_duration_seconds"]),
  cancelAfter: "15m",
};

const MESH: Model<MeshInput> = {
  kind: "mesh",
  usual: { prompt: "prompt", image: "image", mesh: "mesh", seed: "seed" },
  // An image without a field at the source is omitted, as the spec says of `image_url`; a mesh is not.
  place: ({ input, fields }) => placeMedia(meshValues(input), fields ?? MESH.usual, ["mesh"]),
  asked: () => 1,
  wanted: {
    members: ["model_file", "model_glb", "glb", "mesh", "model"],
    extension: /\.(?:glb|gltf|obj|fbx|usdz|stl)$/i,
  },
  usage: () => ({}),
  cancelAfter: "30m",
};

export function createReplicate(endpoint: Endpoint): MediaAdapters {
  return {
    images: predictions(endpoint, IMAGES),
    imageEdits: predictions(endpoint, EDITS),
    video: predictions(endpoint, VIDEO),
    music: predictions(endpoint, MUSIC),
    mesh: predictions(endpoint, MESH),
  };
}

function placeImage(call: MediaCall<ImageInput>): PlacedInput[] {
  const prompt = { ours: "prompt", theirs: call.fields?.["prompt"] ?? "prompt", value: call.input.prompt };
  return [prompt, ...placeInputs(call, IMAGE_MODEL.usual)];
}
