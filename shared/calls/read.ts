/** A call of any kind as JSON, checked as its endpoint over HTTP checks it: batch messages and steps of workflows are read here. */
import type { Caller } from "#shared/access/authenticate.ts";
import { type Inline, releaseBody } from "./offload-inputs.ts";
import { isLarge } from "./stored-request.ts";
import { refuseUntold } from "./untold.ts";
import type { WorkKind } from "./work.ts";
import { lookAt } from "#shared/calls/audio/look.ts";
import { audioOfBody } from "#shared/calls/audio/receive.ts";
import type { Offered } from "#shared/calls/capabilities/offered.ts";
import { readRun, RUN_KIND } from "#shared/calls/capabilities/read-run.ts";
import type { Model } from "./model.ts";
import type { CatalogueStore } from "#shared/calls/catalogue/open.ts";
import type { Queryable } from "#shared/database/client.ts";
import { ApiError } from "#shared/errors.ts";
import { type ExactIntegers, stringifyExact } from "#shared/exact-integers.ts";
import { findStoredFiles, NO_FILES } from "#shared/calls/kinds/chat/files.ts";
import { checkInputFiles, inputBytesMax, type StoredInputs } from "#shared/calls/kinds/input-media.ts";
import type { CheckedCall, Kind, MediaKind } from "#shared/calls/kinds/kind.ts";
import { mediaKind } from "#shared/calls/kinds/kinds.ts";
import { modelOf } from "#shared/calls/kinds/models.ts";
import { audioOf, TRANSCRIPTION } from "#shared/calls/kinds/transcription.ts";
import type { MediaProbes } from "#shared/media/media-probes.ts";
import type { Storage } from "#shared/storage/client.ts";

export interface ReadCall {
  readonly kind: WorkKind & Pick<Kind, "keepsFiles">;
  readonly model: Pick<Model, "slug" | "modality" | "price">;
  /** Nano-credits that such a call holds at least. */
  readonly leastNano: bigint;
  /** What is read or stored for it takes time and room: not begun for messages that would be refused. */
  readonly isHeavy: boolean;
  /** Once. @throws ApiError as the endpoint over HTTP would answer */
  load(): Promise<LoadedCall>;
}

export interface LoadedCall extends CheckedCall {
  /** Media that is to lie in the object store. */
  readonly inline: readonly Inline[];
  /** The request as the worker gets it. @param storedInputs where that media lies */
  text(storedInputs: StoredInputs): string;
}

interface Context {
  readonly catalogue: Pick<CatalogueStore, "current">;
  readonly offered: Offered;
  readonly storage: Storage;
  readonly probes: Pick<MediaProbes, "audio" | "video">;
  readonly database: Queryable;
}

/** What a body is for. */
export type CallTarget = { readonly kind: Kind } | { readonly capability: string };

/**
 * @param tries how often it has been tried, this time included: audio that cannot be read is not tried forever
 * @throws ApiError as the endpoint over HTTP would answer, its params counted from the body
 */
export function readCall(
  context: Context,
  { caller, target, body, exactIntegers, tries }: CallRead,
): Promise<ReadCall> {
  if ("capability" in target) return readCapability(context, caller, target.capability, body);
  const { kind } = target;
  refuseUntold(body);
  const media = mediaKind(kind);
  if (media) return readMedia(context, caller, media, body);
  if (kind === TRANSCRIPTION) return readTranscription(context, caller, body, tries);
  return readWords(context, caller, kind, body, exactIntegers);
}

export interface CallRead {
  readonly caller: Caller;
  readonly target: CallTarget;
  readonly body: Readonly<Record<string, unknown>>;
  /** Of the body's text, where it came as one. */
  readonly exactIntegers?: ExactIntegers | undefined;
  readonly tries: number;
}

async function readWords(
  context: Context,
  caller: Caller,
  kind: Kind,
  body: Readonly<Record<string, unknown>>,
  exactIntegers: ExactIntegers | undefined,
): Promise<ReadCall> {
  const text = stringifyExact(body, exactIntegers);
  const request = kind.read(body);
  const model = modelOf(kind, context.catalogue.current(), request.model);
  const files = await findStoredFiles(context.database, caller, body);
  const checked = kind.check(request, model, { bodyBytes: Buffer.byteLength(text), files });
  return ready(kind, model, { ...checked, inline: [], text: () => text });
}

async function readMedia(context: Context, caller: Caller, kind: MediaKind, body: object): Promise<ReadCall> {
  const asked = kind.read(body);
  const model = modelOf(kind, context.catalogue.current(), asked.model);
  const { bound, price } = kind.check(asked, model);
  const inputs = await kind.inputs(asked, model);
  await checkInputFiles(context.database, caller, inputs, (one) => inputBytesMax(one, model));
  const { request, take } = releaseBody(asked, inputs);
  return ready(kind, model, { bound, price, inline: take(), text: () => JSON.stringify(request) });
}

async function readCapability(context: Context, caller: Caller, id: string, body: object): Promise<ReadCall> {
  const { model, checked, request, inline } = await readRun(context, caller, id, body);
  return ready(RUN_KIND, model, { ...checked, inline, text: () => JSON.stringify(request) });
}

/** A call of which all is known. */
function ready(kind: ReadCall["kind"], model: ReadCall["model"], call: LoadedCall): ReadCall {
  const isHeavy = call.inline.length > 0 || isLarge(call.text({}));
  return { kind, model, leastNano: call.bound.holdNano, isHeavy, load: () => Promise.resolve(call) };
}

/** After so many tries whose audio could not be read, the call is refused. */
const LOOKS_MAX = 8;

async function readTranscription(context: Context, caller: Caller, body: object, tries: number): Promise<ReadCall> {
  const kind = TRANSCRIPTION;
  const asked = kind.read(body);
  const { audio_base64: _audio, mime_type: _type, file_id: _file, ...request } = asked;
  const model = modelOf(kind, context.catalogue.current(), request.model);
  audioOf(asked);
  const facts = { bodyBytes: 0, files: NO_FILES };
  const shortest = { bytes: 1, seconds: 0.001, param: "file" } as const;
  const load = async (): Promise<LoadedCall> => {
    const { signal } = new AbortController();
    const audio = await audioOfBody(context, { caller, signal }, asked);
    try {
      const { bytes, fileId, param } = audio;
      const recording = await lookAt(context.probes, caller.workspaceId, audio, signal).catch((error: unknown) => {
        if (tries < LOOKS_MAX || (error instanceof ApiError && error.status < 500)) throw error;
        throw new ApiError("unprocessable_input", `Expected audio, got ${bytes} bytes that cannot be read as audio.`, {
          param,
          cause: error,
        });
      });
      const { contentType } = recording;
      const media = { name: "audio", kind: "audio", param: "audio_base64", contentType, bytes: audio.view() } as const;
      return {
        ...kind.check(request, model, { ...facts, recording }),
        inline: fileId === undefined ? [media] : [],
        text: ({ audio }) => {
          const place = audio ? { reference: audio.reference } : { fileId };
          return JSON.stringify({ ...request, recording: { ...recording, ...place } });
        },
      };
    } finally {
      audio.remove();
    }
  };
  const { bound } = kind.check(request, model, { ...facts, recording: shortest });
  return { kind, model, leastNano: bound.holdNano, isHeavy: true, load };
}
