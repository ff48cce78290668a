/** All kinds of calls. A missing kind is a compile error. */
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

/** All kinds by name. If a model serves several, the first one that matches is used. */
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

/** Returns the kind of an endpoint's calls. */
export function kindAt(endpoint: Kind["endpoint"]): Kind {
  const kind = Object.values(KINDS).find((one) => one.endpoint === endpoint);
  if (!kind) throw new Error(`no kind of call has the endpoint ${endpoint}`);
  return kind;
}

/** Returns true for kinds that create or transcribe media. */
export function isPricedKind(kind: Kind): kind is PricedKind {
  return "modality" in kind;
}

/** Returns true for kinds that create media. */
export function isMediaKind(kind: Kind): kind is MediaKind {
  return "inputs" in kind;
}

/** Returns the default kind for models of a modality; undefined for modalities without media. */
export function kindOfModality(modality: Modality): PricedKind | undefined {
  return Object.values(KINDS)
    .filter(isPricedKind)
    .find((one) => one.modality === modality);
}

/**
 * Returns true if a provider with a queue may have been paid for such work although its response was lost, so that its result can be
 * queried. Text and speech leave nothing to query.
 */
export function isResumed(name: string): boolean {
  return name in KINDS && KINDS[name as KindName].afterCrash === "resume";
}
