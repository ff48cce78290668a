/** Table of all kinds of calls. A missing kind is a compile error. */
import type { Modality } from "#schemas/generated/types.ts";

import { CHAT } from "./chat.ts";
import { EMBEDDINGS } from "./embeddings.ts";
import { IMAGE_EDITS, IMAGES } from "./images.ts";
import type { Kind, KindName, MediaKind, PricedKind } from "./kind.ts";
import { MESH } from "./mesh.ts";
import { MUSIC } from "./music.ts";
import { SPEECH } from "./speech.ts";
import { TRANSCRIPTION } from "./transcription.ts";
import { VIDEO } from "./video.ts";

/** All kinds of calls by name. If a model serves several kinds, the first of them in this order is used. */
export const KINDS: Readonly<Record<KindName, Kind>> = {
  chat: CHAT,
  embeddings: EMBEDDINGS,
  image_edits: IMAGE_EDITS,
  images: IMAGES,
  speech: SPEECH,
  transcription: TRANSCRIPTION,
  music: MUSIC,
  video: VIDEO,
  mesh: MESH,
};

/** Returns the kind of call that an endpoint serves. */
export function kindAt(endpoint: Kind["endpoint"]): Kind {
  const kind = Object.values(KINDS).find((one) => one.endpoint === endpoint);
  if (!kind) throw new Error(`no kind of call has the endpoint ${endpoint}`);
  return kind;
}

/** Returns true if calls of this kind create or transcribe media. */
export function isPricedKind(kind: Kind): kind is PricedKind {
  return "modality" in kind;
}

/** Returns true if calls of this kind create media. */
export function isMediaKind(kind: Kind): kind is MediaKind {
  return "inputs" in kind;
}

/** Returns the default kind of call for models of a modality; undefined for modalities without media. */
export function kindOfModality(modality: Modality): PricedKind | undefined {
  return Object.values(KINDS)
    .filter(isPricedKind)
    .find((one) => one.modality === modality);
}

/**
 * Returns true for kinds of calls whose result can be queried at the provider after the provider's response was lost. The provider queues
 * such calls and may already have been paid. Text and speech calls cannot be queried.
 */
export function isResumed(name: string): boolean {
  return name in KINDS && KINDS[name as KindName].afterCrash === "resume";
}
