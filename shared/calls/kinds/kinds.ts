/** Every kind of call there is. One that is missing here does not compile. */
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

/** All kinds by name. Of two that a model serves, the one that comes first and is meant is called. */
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

/** The kind of an endpoint's calls. */
export function kindAt(endpoint: Kind["endpoint"]): Kind {
  const kind = Object.values(KINDS).find((one) => one.endpoint === endpoint);
  if (!kind) throw new Error(`no kind of call has the endpoint ${endpoint}`);
  return kind;
}

/** True of kinds whose calls make or hear media. */
export function isPricedKind(kind: Kind): kind is PricedKind {
  return "modality" in kind;
}

/** True of kinds whose calls make media. */
export function isMediaKind(kind: Kind): kind is MediaKind {
  return "inputs" in kind;
}

/** The kind whose calls models of a modality serve first of all; undefined: none that is about media. */
export function kindOfModality(modality: Modality): PricedKind | undefined {
  return Object.values(KINDS)
    .filter(isPricedKind)
    .find((one) => one.modality === modality);
}

/**
 * True if a provider that queues such work may have been paid for it although its response was lost: it is worth waiting for
 * a verdict. Text and speech leave nothing to ask for later.
 */
export function isResumed(name: string): boolean {
  return name in KINDS && KINDS[name as KindName].afterCrash === "resume";
}
