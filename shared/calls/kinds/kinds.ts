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

/** Kinds whose calls make media, by name. */
const MEDIA_KINDS = {
  images: IMAGES,
  image_edits: IMAGE_EDITS,
  speech: SPEECH,
  music: MUSIC,
  video: VIDEO,
  mesh: MESH,
} as const satisfies Partial<Record<KindName, MediaKind>>;

/** Kinds whose calls make or hear media, by name. */
const PRICED_KINDS = { ...MEDIA_KINDS, transcription: TRANSCRIPTION } as const;

export const KINDS: Readonly<Record<KindName, Kind>> = { chat: CHAT, embeddings: EMBEDDINGS, ...PRICED_KINDS };

/** The kind of an endpoint's calls. */
export function kindAt(endpoint: Kind["endpoint"]): Kind {
  const kind = Object.values(KINDS).find((one) => one.endpoint === endpoint);
  if (!kind) throw new Error(`no kind of call has the endpoint ${endpoint}`);
  return kind;
}

/** The kind whose calls models of a modality serve first of all; undefined: none that is about media. */
export function kindOfModality(modality: Modality): PricedKind | undefined {
  return Object.values<PricedKind>(PRICED_KINDS).find((one) => one.modality === modality);
}

/** Undefined for kinds whose calls make no media. */
export function mediaKind({ name }: Kind): MediaKind | undefined {
  return name in MEDIA_KINDS ? MEDIA_KINDS[name as keyof typeof MEDIA_KINDS] : undefined;
}

/**
 * Whether a provider that queues such work may have been paid for it although its answer was lost: it is worth waiting for a
 * verdict. Text and speech leave nothing to ask for later.
 */
export function isResumed(name: string): boolean {
  return name in KINDS && KINDS[name as KindName].afterCrash === "resume";
}
