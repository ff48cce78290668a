/** What there is to say of each modality beside chat and embeddings: a row that is missing does not compile. */
import type { Modality } from "#schemas/generated/types.ts";
import type { PriceUnit } from "#shared/pricing/price.ts";

interface MediaModality {
  /** Of the endpoint that its models serve. */
  readonly path: string;
  /** Units of price that its models can have. */
  readonly units: readonly PriceUnit[];
  /** For messages. */
  readonly one: string;
  readonly all: string;
}

/** What a call is, whatever comes of it. */
const CALL_UNITS = ["per_request", "per_operation"] as const satisfies readonly PriceUnit[];

/** Undefined: no endpoint of media serves models of it. */
export const MEDIA_MODALITIES: Readonly<Record<Modality, MediaModality | undefined>> = {
  image: {
    path: "/v1/images/generations",
    units: ["per_image", "per_megapixel", "per_token", ...CALL_UNITS],
    one: "a model that makes images",
    all: "the image models",
  },
  upscale: {
    path: "/v1/images/edits",
    units: ["per_image", ...CALL_UNITS],
    one: "a model that upscales images",
    all: "the upscaling models",
  },
  audio: {
    path: "/v1/audio/speech",
    units: ["per_character", "per_token", "per_second", "per_minute", ...CALL_UNITS],
    one: "a model that speaks",
    all: "the speech models",
  },
  stt: {
    path: "/v1/audio/transcriptions",
    units: ["per_minute", "per_second", "per_token", ...CALL_UNITS],
    one: "a model that transcribes",
    all: "the transcription models",
  },
  video: {
    path: "/v1/videos/generations",
    units: ["per_second", "per_minute", ...CALL_UNITS],
    one: "a model that makes videos",
    all: "the video models",
  },
  music: {
    path: "/v1/music/generations",
    units: ["per_second", "per_minute", ...CALL_UNITS],
    one: "a model that makes music",
    all: "the music models",
  },
  object_3d: {
    path: "/v1/3d/generations",
    units: ["per_second", ...CALL_UNITS],
    one: "a model that makes meshes",
    all: "the 3D models",
  },
  text: undefined,
  vision: undefined,
  embedding: undefined,
};
