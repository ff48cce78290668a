/** What each kind of media call makes: how its results are told, measured and called. */
import { MEDIA_JOBS } from "#shared/limits.ts";
import { MediaError } from "#shared/media/media-error.ts";
import { probeAudio } from "#shared/media/probe/probe.ts";
import { probeVideo } from "#shared/media/probe/video.ts";

import type { Artifact } from "../../providers/media.ts";
import { mediaTypeOf } from "../../providers/media-type.ts";
import { readImageHeader } from "#shared/media/image-header.ts";

import type { Making } from "./artifacts.ts";

export const PICTURES: Making = {
  ...MEDIA_JOBS.images,
  noun: "image",
  accept: "image/*",
  types: { "image/png": "png", "image/jpeg": "jpg", "image/webp": "webp", "image/gif": "gif" },
  typeOf: (bytes) => mediaTypeOf(bytes, ""),
  measure: (bytes) => {
    const header = readImageHeader(bytes);
    return { pixels: header === null ? undefined : header.width * header.height };
  },
};

const SOUND_TYPES = {
  "audio/mpeg": "mp3",
  "audio/ogg": "ogg",
  "audio/aac": "aac",
  "audio/flac": "flac",
  "audio/wav": "wav",
  "audio/pcm": "pcm",
} as const;

/** 16 bits, one channel, 24,000 a second, as the spec's `pcm` is. */
const PCM_BYTES_A_SECOND = 48_000;

/**
 * Samples have no mark, so of sound an answer brings the adapter's word counts, which has looked at the bytes. At an address the
 * word is a stranger's, and the bytes alone count.
 */
const SOUND: Omit<Making, "noun" | keyof (typeof MEDIA_JOBS)["speech"]> = {
  accept: "audio/*",
  types: SOUND_TYPES,
  typeOf: (bytes, artifact) => ("url" in artifact ? undefined : artifact.contentType) ?? soundTypeOf(bytes),
  measure: (bytes, contentType) => ({
    seconds: contentType === "audio/pcm" ? bytes.length / PCM_BYTES_A_SECOND : known(() => probeAudio(bytes).seconds),
  }),
};

export const SPEECH: Making = { ...MEDIA_JOBS.speech, ...SOUND, noun: "speech" };
export const MUSIC: Making = { ...MEDIA_JOBS.music, ...SOUND, noun: "music" };

export const VIDEOS: Making = {
  ...MEDIA_JOBS.video,
  noun: "video",
  accept: "video/*",
  types: { "video/mp4": "mp4", "video/webm": "webm", "video/quicktime": "mov", "image/gif": "gif" },
  typeOf: (bytes) => videoTypeOf(bytes),
  measure: (bytes) => ({ seconds: known(() => probeVideo(bytes).seconds) }),
};

export const MESHES: Making = {
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
  measure: () => ({}),
};

/** Undefined for what a probe of ours cannot read: players may know better. */
function known<T>(probe: () => T): T | undefined {
  try {
    return probe();
  } catch (error) {
    if (error instanceof MediaError) return undefined;
    throw error;
  }
}

/** AAC and longer WAVs have no mark of one look. */
function soundTypeOf(bytes: Uint8Array): string | undefined {
  const marked = mediaTypeOf(bytes, "");
  if (marked !== undefined) return marked;
  const format = known(() => probeAudio(bytes).format);
  return Object.entries(SOUND_TYPES).find(([, ending]) => ending === format)?.[0];
}

function textAt(bytes: Uint8Array, from: number, length: number): string {
  return Buffer.from(bytes.subarray(from, from + length)).toString("latin1");
}

/** Sources: ISO/IEC 14496-12 (`ftyp`), the EBML paper. */
function videoTypeOf(bytes: Uint8Array): string | undefined {
  if (textAt(bytes, 4, 4) === "ftyp") return textAt(bytes, 8, 4) === "qt  " ? "video/quicktime" : "video/mp4";
  if (textAt(bytes, 0, 4) === "\u001aE\u00df\u00a3") return "video/webm";
  return textAt(bytes, 0, 4) === "GIF8" ? "image/gif" : undefined;
}

const MESH_ENDINGS: Readonly<Record<string, string>> = {
  gltf: "model/gltf+json",
  obj: "model/obj",
  stl: "model/stl",
  zip: "application/zip",
};

/** Formats of text and those without a mark go by the ending of their address. */
function meshTypeOf(bytes: Uint8Array, artifact: Artifact): string | undefined {
  if (textAt(bytes, 0, 4) === "glTF") return "model/gltf-binary";
  if (textAt(bytes, 0, 18) === "Kaydara FBX Binary") return "model/vnd.fbx";
  const isMarkup = /^\s*(?:<|\{\s*"(?:error|detail|message))/i.test(textAt(bytes, 0, 64));
  if (isMarkup) return undefined;
  const url = "url" in artifact && URL.canParse(artifact.url) ? new URL(artifact.url) : undefined;
  const ending = /\.([a-z0-9]{2,5})$/i.exec(url?.pathname ?? "")?.[1]?.toLowerCase() ?? "";
  if (textAt(bytes, 0, 2) === "PK") return ending === "zip" ? "application/zip" : "model/vnd.usdz+zip";
  return MESH_ENDINGS[ending];
}
