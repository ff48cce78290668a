/** Kinds of media jobs and their differences. */
import { IMAGE_EDITS, IMAGES } from "#shared/calls/kinds/images.ts";
import type { MediaKind } from "#shared/calls/kinds/kind.ts";
import type { CheckedMedia } from "#shared/calls/kinds/media-check.ts";
import { MESH } from "#shared/calls/kinds/mesh.ts";
import { MUSIC } from "#shared/calls/kinds/music.ts";
import { SPEECH } from "#shared/calls/kinds/speech.ts";
import { VIDEO } from "#shared/calls/kinds/video.ts";

import type { Artifact, ImageEditInput, MediaKinds, MeshInput, VideoInput } from "../../providers/media.ts";
import { ProviderError } from "../../providers/provider.ts";

import type { OutputSpec } from "./artifacts.ts";
import type { ReadInputs } from "./inputs.ts";
import { MESH_OUTPUT, IMAGE_OUTPUT, MUSIC_OUTPUT, SPEECH_OUTPUT, VIDEO_OUTPUT } from "./output-specs.ts";

/** Kinds whose results are generated and stored, by the names of the adapters. */
export type MadeKind = "images" | "imageEdits" | "speech" | "video" | "music" | "mesh";

export interface MediaJobKind<Kind extends MadeKind = MadeKind, Params = unknown> {
  readonly kind: Kind;
  readonly call: MediaKind<object, CheckedMedia<Params>>;
  readonly output: OutputSpec;
  /** Returns the input of a source. */
  input(params: Params, read: ReadInputs): MediaKinds[Kind][0];
  readonly artifacts: (output: MediaKinds[Kind][1]) => readonly Artifact[];
}

type ParamsOf<Call> = Call extends MediaKind<infer _Request, CheckedMedia<infer Params>> ? Params : never;

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
