/** Result that one of fal's models makes of a body, in the shape of its own output, with addresses on the CDN. */
import { CLIP_SECONDS } from "./clips.ts";
import type { Members } from "../engine/behaviour.ts";
import { MODELS } from "./models.ts";

/** The member that a model hands its files over in, and what they are. */
export type Gives =
  | "images"
  | "video"
  | "videos"
  | "audio"
  | "audio_file"
  | "model_mesh"
  | "model_glb"
  | "model_glb and model_urls";

type Shape = (at: (name: string) => string, body: Members) => Members;

const VIDEO_FACTS = { fps: 8, width: 32, height: 32, num_frames: 16 };

const SHAPES: Readonly<Record<Gives, Shape>> = {
  images: (at, body) => {
    const { width = 1_024, height = 768 } = (body["image_size"] ?? {}) as Record<string, number>;
    const images = Array.from({ length: Number(body["num_images"] ?? 1) }, (_, index) => ({
      url: at(`${index}-${width}x${height}.png`),
      width,
      height,
      content_type: "image/png",
    }));
    const { prompt, seed = 42 } = body;
    return { images, timings: { inference: 0.75 }, seed, has_nsfw_concepts: images.map(() => false), prompt };
  },
  video: (at, { seed = 42 }) => ({
    video: { ...file(at("0.mp4"), "video/mp4"), duration: CLIP_SECONDS, ...VIDEO_FACTS },
    seed,
  }),
  videos: (at) => ({
    videos: [file(at("0.mp4"), "video/mp4"), file(at("1.mp4"), "video/mp4")],
    timings: { inference: 31.5 },
  }),
  audio: (at, { seed = 42, lyrics = "", tags = "" }) => ({
    audio: file(at("0-3s.wav"), "audio/wav"),
    seed,
    lyrics,
    tags,
  }),
  audio_file: (at) => ({ audio_file: file(at("0-3s.wav"), "application/octet-stream") }),
  model_mesh: (at) => ({
    model_mesh: file(at("0.glb"), "application/octet-stream"),
    textures: [],
    timings: { prepare: 0.5, generation: 4, inference: 6.25 },
  }),
  model_glb: (at) => ({ model_glb: file(at("0.glb"), "model/gltf-binary") }),
  "model_glb and model_urls": (at) => ({
    model_glb: file(at("0.glb"), "model/gltf-binary"),
    model_urls: { glb: file(at("0.glb"), "model/gltf-binary"), fbx: null, obj: null, usdz: null },
  }),
};

export function resultOf(model: string, body: Members, at: (name: string) => string): Members {
  return SHAPES[MODELS[model]?.gives ?? "images"](at, body);
}

function file(url: string, type: string): Members {
  return { url, content_type: type, file_name: new URL(url).pathname.split("/").at(-1), file_size: 1_024 };
}
