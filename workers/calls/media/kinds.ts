/** Kinds of media jobs: their inputs and outputs. */
import { IMAGE_EDITS, IMAGES } from "#shared/calls/kinds/images.ts";
import type { MediaKind } from "#shared/calls/kinds/kind.ts";
import type { CheckedMedia } from "#shared/calls/kinds/media-check.ts";
import { MESH } from "#shared/calls/kinds/mesh.ts";
import { MUSIC } from "#shared/calls/kinds/music.ts";
import { SPEECH } from "#shared/calls/kinds/speech.ts";
import { VIDEO } from "#shared/calls/kinds/video.ts";
import { readImageHeader } from "#shared/media/image-header.ts";
import { sniffMediaType } from "#shared/media/sniff.ts";

import {
  type Artifact,
  type ImageEditInput,
  MEDIA_JOBS,
  type MediaKinds,
  type MeshInput,
  type VideoInput,
} from "../../providers/media.ts";
import { ProviderError } from "../../providers/provider.ts";
import { type OutputSpec, secondsOf } from "./artifacts.ts";
import type { ReadInputs } from "./inputs.ts";

/** Kinds of call whose results are generated and stored as files, by the names that adapters use. */
export type GeneratedKind = "images" | "imageEdits" | "speech" | "video" | "music" | "mesh";

export interface MediaJobKind<Kind extends GeneratedKind = GeneratedKind, Params = unknown> {
  readonly kind: Kind;
  readonly call: MediaKind<object, CheckedMedia<Params>>;
  readonly output: OutputSpec;
  /** Returns the input for a source's adapter. */
  input(params: Params, read: ReadInputs): MediaKinds[Kind][0];
  readonly artifacts: (output: MediaKinds[Kind][1]) => readonly Artifact[];
}

type ParamsOf<Call> = Call extends MediaKind<infer _Request, CheckedMedia<infer Params>> ? Params : never;

// Outputs of each kind: how they are detected, measured and named.

export const IMAGE_OUTPUT: OutputSpec = {
  ...MEDIA_JOBS.images,
  noun: "image",
  isIndependent: true,
  accept: "image/*",
  types: { "image/png": "png", "image/jpeg": "jpg", "image/webp": "webp", "image/gif": "gif" },
  typeOf: sniffMediaType,
  measure: (_, spooled) => {
    const header = readImageHeader(spooled.view());
    return Promise.resolve({ pixels: header === null ? undefined : header.width * header.height });
  },
};

const AUDIO_TYPES = {
  "audio/mpeg": "mp3",
  "audio/ogg": "ogg",
  "audio/aac": "aac",
  "audio/flac": "flac",
  "audio/wav": "wav",
  "audio/pcm": "pcm",
} as const;

/** Bytes per second of PCM audio with 16 bits, one channel and 24,000 samples per second, as the API specification defines `pcm`. */
const PCM_BYTES_A_SECOND = 48_000;

/**
 * Detects the type of audio results. Raw samples have no signature. For audio within a response, the adapter's content type is used,
 * because the adapter has inspected the bytes. For audio at a URL, only the bytes are used, because the server at the URL is not trusted.
 */
const AUDIO: Omit<OutputSpec, "noun" | keyof (typeof MEDIA_JOBS)["speech"]> = {
  accept: "audio/*",
  types: AUDIO_TYPES,
  typeOf: async (bytes, artifact) =>
    ("url" in artifact ? undefined : artifact.contentType) ?? (await sniffMediaType(bytes)),
  measure: async (context, spooled, contentType, signal) => ({
    seconds:
      contentType === "audio/pcm"
        ? spooled.size / PCM_BYTES_A_SECOND
        : await secondsOf(context, "audio", spooled, signal),
  }),
};

export const SPEECH_OUTPUT: OutputSpec = { ...MEDIA_JOBS.speech, ...AUDIO, noun: "speech" };
export const MUSIC_OUTPUT: OutputSpec = { ...MEDIA_JOBS.music, ...AUDIO, noun: "music" };

export const VIDEO_OUTPUT: OutputSpec = {
  ...MEDIA_JOBS.video,
  noun: "video",
  accept: "video/*",
  types: { "video/mp4": "mp4", "video/webm": "webm", "video/quicktime": "mov", "image/gif": "gif" },
  typeOf: async (bytes) => videoTypeOf(await sniffMediaType(bytes)),
  measure: async (context, spooled, _, signal) => ({ seconds: await secondsOf(context, "video", spooled, signal) }),
};

/**
 * Returns the content type under which a video result is stored. The result was already paid for, so it gets the nearest type that callers
 * know. Any Matroska file becomes WebM, and an MP4 file with an audio brand becomes MP4 video.
 */
function videoTypeOf(sniffed: string | undefined): string | undefined {
  if (sniffed === "video/x-matroska") return "video/webm";
  return sniffed === "audio/mp4" ? "video/mp4" : sniffed;
}

const MESH_OUTPUT: OutputSpec = {
  ...MEDIA_JOBS.mesh,
  noun: "mesh",
  accept: "*/*",
  types: {
    "model/gltf-binary": "glb",
    "model/gltf+json": "gltf",
    "model/obj": "obj",
    "model/stl": "stl",
    "model/vnd.usdz+zip": "usdz",
    "model/vnd.fbx": "fbx",
    "application/zip": "zip",
  },
  typeOf: meshTypeOf,
  measure: () => Promise.resolve({}),
};

const MESH_ENDINGS: Readonly<Record<string, string>> = {
  gltf: "model/gltf+json",
  obj: "model/obj",
  stl: "model/stl",
  zip: "application/zip",
};

/** Detects the type of a 3D mesh. Text formats and archives are detected by the file extension of their URL. */
async function meshTypeOf(bytes: Uint8Array, artifact: Artifact): Promise<string | undefined> {
  const type = await sniffMediaType(bytes);
  if (type === "model/gltf-binary" || type === "model/vnd.fbx") return type;
  const start = Buffer.from(bytes.subarray(0, 64)).toString("latin1");
  const isMarkup = /^\s*(?:<|\{\s*"(?:error|detail|message))/i.test(start);
  if (isMarkup) return undefined;
  const url = "url" in artifact && URL.canParse(artifact.url) ? new URL(artifact.url) : undefined;
  const ending = /\.([a-z0-9]{2,5})$/i.exec(url?.pathname ?? "")?.[1]?.toLowerCase() ?? "";
  if (start.startsWith("PK")) return ending === "zip" ? "application/zip" : "model/vnd.usdz+zip";
  return MESH_ENDINGS[ending];
}

export const IMAGES_JOB: MediaJobKind<"images", ParamsOf<typeof IMAGES>> = {
  kind: "images",
  call: IMAGES,
  output: IMAGE_OUTPUT,
  input: (params) => params,
  artifacts: (output) => output,
};

export const IMAGE_EDITS_JOB: MediaJobKind<"imageEdits", ParamsOf<typeof IMAGE_EDITS>> = {
  kind: "imageEdits",
  call: IMAGE_EDITS,
  output: IMAGE_OUTPUT,
  input: (params, { image, mask }) => {
    // Images of edits are passed as bytes only.
    const images = { image, mask } as Partial<Pick<ImageEditInput, "image" | "mask">>;
    if (!images.image) throw new ProviderError("failed", "an edit without its image");
    return { ...params, image: images.image, ...(images.mask ? { mask: images.mask } : {}) };
  },
  artifacts: (output) => output,
};

export const SPEECH_JOB: MediaJobKind<"speech", ParamsOf<typeof SPEECH>> = {
  kind: "speech",
  call: SPEECH,
  output: SPEECH_OUTPUT,
  input: (params) => params,
  artifacts: (output) => [output],
};

export const VIDEO_JOB: MediaJobKind<"video", ParamsOf<typeof VIDEO>> = {
  kind: "video",
  call: VIDEO,
  output: VIDEO_OUTPUT,
  input: (params, read) => ({ ...params, ...(read as Pick<VideoInput, "image" | "video">) }),
  artifacts: (output) => output,
};

export const MUSIC_JOB: MediaJobKind<"music", ParamsOf<typeof MUSIC>> = {
  kind: "music",
  call: MUSIC,
  output: MUSIC_OUTPUT,
  input: (params) => params,
  artifacts: (output) => output,
};

export const MESH_JOB: MediaJobKind<"mesh", ParamsOf<typeof MESH>> = {
  kind: "mesh",
  call: MESH,
  output: MESH_OUTPUT,
  input: (params, read) => ({ ...params, ...(read as Pick<MeshInput, "image" | "mesh">) }),
  artifacts: (output) => output,
};
