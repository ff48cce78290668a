/** What a batch message asks for, checked as its endpoint over HTTP checks it. */
import { createHash } from "node:crypto";

import { type Inline, releaseBody } from "#shared/admission/offload-inputs.ts";
import { isLarge } from "#shared/admission/stored-request.ts";
import type { WorkKind } from "#shared/admission/work.ts";
import type { Caller } from "#shared/admission/authenticate.ts";
import { canonicalJson } from "#shared/canonical-json.ts";
import type { Model } from "#shared/catalogue/catalogue.ts";
import { parse } from "#shared/contracts.ts";
import type { Queryable } from "#shared/database/client.ts";
import { ApiError } from "#shared/errors.ts";
import { exactIntegersOf, stringifyExact } from "#shared/exact-integers.ts";
import { readJson } from "#shared/json.ts";
import { findStoredFiles, NO_FILES } from "#shared/kinds/chat/files.ts";
import { checkInputFiles, inputBytesMax, type StoredInputs } from "#shared/kinds/input-media.ts";
import type { CheckedCall, Kind, MediaKind } from "#shared/kinds/kind.ts";
import { kindAt, mediaKind } from "#shared/kinds/kinds.ts";
import { audioOf, TRANSCRIPTION } from "#shared/kinds/transcription.ts";
import type { Pool } from "#shared/queue/subjects.ts";
import { modelOf } from "#shared/kinds/models.ts";

import { readRun, RUN_KIND } from "../capabilities/read-run.ts";
import { lookAt } from "../audio/look.ts";
import { audioOfBody } from "../audio/receive.ts";
import type { IngressContext } from "../context.ts";

export interface BatchCall {
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

type Context = Pick<IngressContext, "catalogue" | "offered" | "storage" | "probes"> & { readonly database: Queryable };

interface Arrived {
  readonly caller: Caller;
  readonly pool: Pool;
  readonly data: Uint8Array;
  /** How often the message has come, this time included. */
  readonly deliveries: number;
}

/** @throws ApiError as the endpoint over HTTP would answer, its params counted from `body` */
export async function readBatchCall(context: Context, arrived: Arrived): Promise<BatchCall> {
  const { caller, pool, data } = arrived;
  const message = readJson(data);
  const { endpoint = CHAT_ENDPOINT, capability = "", body } = parse("BatchMessage", message.value);
  if (endpoint === RUN_ENDPOINT) {
    checkPool(endpoint, RUN_KIND, pool);
    return readCapability(context, caller, capability, body);
  }
  const kind = kindAt(endpoint);
  checkPool(endpoint, kind, pool);
  refuseUntold(body);
  const media = mediaKind(kind);
  if (media) return readMedia(context, caller, media, body);
  if (kind === TRANSCRIPTION) return readTranscription(context, arrived, body);
  const text = stringifyExact(body, exactIntegersOf(message.text));
  const request = kind.read(body);
  const model = modelOf(kind, context.catalogue.current(), request.model);
  const files = await findStoredFiles(context.database, caller, body);
  const checked = kind.check(request, model, { bodyBytes: Buffer.byteLength(text), files });
  return ready(kind, model, { ...checked, inline: [], text: () => text });
}

function checkPool(endpoint: string, { pool: own }: Pick<WorkKind, "pool">, pool: Pool): void {
  if (own === pool) return;
  const message = `Expected ${endpoint} on batch.${own}.<workspace>, got batch.${pool}.`;
  throw new ApiError("invalid_request", message, { param: "endpoint" });
}

/** A job is answered as a whole, in JSON, and what it makes are files. */
const UNTOLD: readonly (readonly [member: string, values: readonly unknown[], expected: string])[] = [
  ["stream", [true], "no stream, since a job is answered as a whole"],
  ["stream_format", ["sse"], "no stream_format sse, since a job is answered as a whole"],
  ["response_format", ["b64_json"], "no response_format b64_json, since what a job makes is a file"],
  ["response_format", ["text", "srt", "vtt"], "response_format json or verbose_json, since a job is answered in JSON"],
];

function refuseUntold(body: Readonly<Record<string, unknown>>): void {
  const [member, , expected] = UNTOLD.find(([name, values]) => values.includes(body[name])) ?? [];
  if (member === undefined) return;
  throw new ApiError("unsupported_value", `Expected ${expected}.`, { param: member });
}

async function readMedia(context: Context, caller: Caller, kind: MediaKind, body: object): Promise<BatchCall> {
  const asked = kind.read(body);
  const model = modelOf(kind, context.catalogue.current(), asked.model);
  const { bound, price } = kind.check(asked, model);
  const inputs = await kind.inputs(asked, model);
  await checkInputFiles(context.database, caller, inputs, (one) => inputBytesMax(one, model));
  const { request, take } = releaseBody(asked, inputs);
  return ready(kind, model, { bound, price, inline: take(), text: () => JSON.stringify(request) });
}

async function readCapability(context: Context, caller: Caller, id: string, body: object): Promise<BatchCall> {
  const { model, checked, request, inline } = await readRun(context, caller, id, body);
  return ready(RUN_KIND, model, { ...checked, inline, text: () => JSON.stringify(request) });
}

/** A call of which all is known. */
function ready(kind: BatchCall["kind"], model: BatchCall["model"], call: LoadedCall): BatchCall {
  const isHeavy = call.inline.length > 0 || isLarge(call.text({}));
  return { kind, model, leastNano: call.bound.holdNano, isHeavy, load: () => Promise.resolve(call) };
}

/** After so many deliveries whose audio could not be read, the call is refused. */
const LOOKS_MAX = 8;

async function readTranscription(context: Context, { caller, deliveries }: Arrived, body: object): Promise<BatchCall> {
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
        if (deliveries < LOOKS_MAX || (error instanceof ApiError && error.status < 500)) throw error;
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

/** 64 hex digits: equal for messages that ask for the same, however their members are ordered. */
export function fingerprintOf(data: Uint8Array): string {
  const hash = createHash("sha256");
  try {
    const { text, value } = readJson(data);
    const { endpoint = CHAT_ENDPOINT, capability, body } = value as Readonly<Partial<Record<string, unknown>>>;
    // Integers that read as the same double are told apart by their digits.
    const integers = [...(exactIntegersOf(text)?.values() ?? [])].toSorted((one, other) => one.localeCompare(other));
    const more = [...(capability === undefined ? [] : [capability]), ...(integers.length === 0 ? [] : [integers])];
    return hash.update(canonicalJson([endpoint, body, ...more])).digest("hex");
  } catch {
    return hash.update(data).digest("hex");
  }
}

const CHAT_ENDPOINT = "/v1/chat/completions";
const RUN_ENDPOINT = "/v1/capabilities/{id}/run";
