/** Kinds of media jobs: what differs between them. */
import type {
  ImageEditRequest,
  ImageGenerationRequest,
  MeshGenerationRequest,
  MusicGenerationRequest,
  SpeechRequest,
  VideoGenerationRequest,
} from "#schemas/generated/types.ts";
import { editPictures, type Given, givenByAddresses, type KeptMedia } from "#shared/kinds/given-media.ts";
import { checkImageEdit, checkImages } from "#shared/kinds/images.ts";
import type { CheckedMedia } from "#shared/kinds/media-check.ts";
import { checkMesh } from "#shared/kinds/mesh.ts";
import { checkMusic } from "#shared/kinds/music.ts";
import { checkSpeech } from "#shared/kinds/speech.ts";
import { checkVideo } from "#shared/kinds/video.ts";
import type { Model } from "#shared/catalogue/catalogue.ts";

import type { Artifact, ImageEditInput, MediaKinds, MeshInput, VideoInput } from "../../providers/media.ts";
import { ProviderError } from "../../providers/provider.ts";

import type { Making } from "./artifacts.ts";
import type { GivenInputs } from "./given.ts";
import { MESHES, MUSIC, PICTURES, SPEECH, VIDEOS } from "./making.ts";

/** Kinds of which something is made and kept. */
export type MadeKind = "images" | "imageEdits" | "speech" | "video" | "music" | "mesh";

type Request = Readonly<Record<string, unknown>>;

export interface MediaJobKind<Kind extends MadeKind = MadeKind> {
  readonly kind: Kind;
  readonly making: Making;
  /** @throws ApiError as the endpoint, when this model cannot take the request */
  check(request: Request, model: Model): CheckedMedia<unknown>;
  /** Media that comes with the call. @throws ApiError as `check` */
  given(request: Request, model: Model, kept?: KeptMedia): Promise<readonly Given[]>;
  /** What a source of the model is given. */
  input(request: Request, model: Model, given: GivenInputs): MediaKinds[Kind][0];
  readonly artifacts: (output: MediaKinds[Kind][1]) => readonly Artifact[];
}

export const GENERATIONS: MediaJobKind<"images"> = {
  kind: "images",
  making: PICTURES,
  check: (request, model) => checkImages(request as unknown as ImageGenerationRequest, model),
  given: () => Promise.resolve([]),
  input: (request, model) => checkImages(request as unknown as ImageGenerationRequest, model).wish,
  artifacts: (output) => output,
};

export const EDITS: MediaJobKind<"imageEdits"> = {
  kind: "imageEdits",
  making: PICTURES,
  check: (request, model) => checkImageEdit(request as unknown as ImageEditRequest, model),
  given: editPictures,
  input: (request, model, { image, mask }) => {
    const { wish, strength } = checkImageEdit(request as unknown as ImageEditRequest, model);
    // Pictures of edits come as bytes only.
    const pictures = { image, mask } as Partial<Pick<ImageEditInput, "image" | "mask">>;
    if (!pictures.image) throw new ProviderError("failed", "an edit without its picture");
    return {
      ...wish,
      image: pictures.image,
      ...(pictures.mask ? { mask: pictures.mask } : {}),
      ...(strength === undefined ? {} : { strength }),
    };
  },
  artifacts: (output) => output,
};

export const SPEAKING: MediaJobKind<"speech"> = {
  kind: "speech",
  making: SPEECH,
  check: (request, model) => checkSpeech(request as unknown as SpeechRequest, model),
  given: () => Promise.resolve([]),
  input: (request, model) => checkSpeech(request as unknown as SpeechRequest, model).wish,
  artifacts: (output) => [output],
};

export const VIDEO: MediaJobKind<"video"> = {
  kind: "video",
  making: VIDEOS,
  check: (request, model) => checkVideo(request as unknown as VideoGenerationRequest, model),
  given: (request, model, kept) => givenByAddresses(request, model, ["image", "video"], kept),
  input: (request, model, given) => {
    const { wish } = checkVideo(request as unknown as VideoGenerationRequest, model);
    return { ...wish, ...(given as Pick<VideoInput, "image" | "video">) };
  },
  artifacts: (output) => output,
};

export const COMPOSING: MediaJobKind<"music"> = {
  kind: "music",
  making: MUSIC,
  check: (request, model) => checkMusic(request as unknown as MusicGenerationRequest, model),
  given: () => Promise.resolve([]),
  input: (request, model) => checkMusic(request as unknown as MusicGenerationRequest, model).wish,
  artifacts: (output) => output,
};

export const MESH: MediaJobKind<"mesh"> = {
  kind: "mesh",
  making: MESHES,
  check: (request, model) => checkMesh(request as unknown as MeshGenerationRequest, model),
  given: (request, model, kept) => givenByAddresses(request, model, ["image", "mesh"], kept),
  input: (request, model, given) => {
    const { wish } = checkMesh(request as unknown as MeshGenerationRequest, model);
    return { ...wish, ...(given as Pick<MeshInput, "image" | "mesh">) };
  },
  artifacts: (output) => output,
};
