/** Reads and checks a call of any kind, in the same way for HTTP, batch messages and workflow steps. */
import type { ChatCompletionRequest, TranscriptionRequest } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import type { Queryable } from "#shared/database/client.ts";
import { ApiError } from "#shared/base/errors.ts";
import { type ExactIntegers, stringifyExact } from "#shared/json/serialize.ts";
import type { MediaProbes } from "#shared/media/media-probes.ts";
import type { Storage } from "#shared/storage/client.ts";

import { probeRecording } from "./audio/probe-recording.ts";
import { audioOfBody, type ReceivedAudio } from "./audio/receive.ts";
import type { AvailableCapabilities } from "./capabilities/available.ts";
import { type ReadRun, readRun, RUN_KIND } from "./capabilities/read-run.ts";
import type { CatalogueStore } from "./catalogue/open.ts";
import { CHAT } from "./kinds/chat.ts";
import { findStoredFiles, NO_FILES } from "./kinds/chat/files.ts";
import { checkInputFiles, inputBytesMax, type StoredInputs } from "./kinds/input-media.ts";
import type { CheckedCall, Kind, MediaKind } from "./kinds/kind.ts";
import { jobCheckOf } from "./kinds/media-check.ts";
import { type CallLabels, labelsOf, USER_LABEL } from "./labels.ts";
import { isMediaKind } from "./kinds/kinds.ts";
import {
  type CostMax,
  costMaxAt,
  costMaxOf,
  maxCreditsBytes,
  type OuterMax,
  takeMaxCredits,
  withinMax,
} from "./max-credits.ts";
import { audioOf, TRANSCRIPTION } from "./kinds/transcription.ts";
import type { Model } from "./model.ts";
import { chooseModels, type Draw, firstAccepting, type ModelChoice, type ModelRequest } from "./model-choice.ts";
import { type Inline, releaseBody } from "./offload-inputs.ts";
import { isLarge } from "./stored-request.ts";
import { refuseUnsupported } from "./unsupported.ts";
import type { WorkKind } from "./work.ts";

export interface ReadCall {
  readonly kind: WorkKind & Pick<Kind, "keepsFiles">;
  readonly model: Pick<Model, "slug" | "modality" | "price">;
  /** Minimum hold of the call, in nano-credits. */
  readonly leastNano: bigint;
  /** Labels of the call; absent if it has none. */
  readonly labels?: CallLabels | undefined;
  /**
   * Returns true if reading or storing the inputs takes much time or space. The inputs of such a call are only read if it can probably be
   * admitted.
   */
  isHeavy(): boolean;
  /** Reads the inputs of the call. Call this once. @throws the errors of the HTTP endpoint */
  load(): Promise<LoadedCall>;
}

export interface LoadedCall extends CheckedCall {
  /** Media that must be moved to the object store. */
  readonly inline: readonly Inline[];
  /** Returns the request for the worker. @param storedInputs references of the media that was moved to the object store */
  readonly text: (storedInputs: StoredInputs) => string;
  /** API that defines the response format; absent for OpenAI's Chat Completions format. */
  readonly api?: "responses";
  /** True if the request text contains the result of its check in `checked`. The worker then repeats the check only for fallback models. */
  readonly bringsCheck?: true;
}

interface Context {
  readonly catalogue: Pick<CatalogueStore, "current">;
  readonly availableCapabilities: AvailableCapabilities;
  readonly storage: Storage;
  readonly probes: Pick<MediaProbes, "audio" | "video">;
  readonly database: Queryable;
}

/** Target of a request body: a kind of call, or the id of a capability. */
export type CallTarget = { readonly kind: Kind } | { readonly capability: string };

export interface CallRead {
  readonly caller: Caller;
  /** Id of the call, and its conversation if the request names none. */
  readonly draw: Draw;
  readonly target: CallTarget;
  readonly body: Readonly<Record<string, unknown>>;
  /** Large integers of the body with their exact digits; present if the body was received as text. */
  readonly exactIntegers?: ExactIntegers | undefined;
  /** Number of attempts to read the call, including this one. It limits how often unreadable audio is retried. */
  readonly tries: number;
  /** Labels of the batch, message or run that makes the call. Members of the body take precedence. */
  readonly labels?: CallLabels | undefined;
  /** Maximum cost of the call, in addition to the maximum in the body. */
  readonly max?: OuterMax | undefined;
}

/**
 * Reads the call of a job, whose response is always complete JSON.
 * @throws the errors of the HTTP endpoint; their `param` is relative to the body
 */
export async function readCall(context: Context, asked: CallRead): Promise<ReadCall> {
  const { body, caller, draw, labels } = asked;
  const call = await readUnlabelled(context, { ...asked, draw: { ...draw, endUser: labels?.[USER_LABEL] } });
  return labelled(call, labelsOf(caller, body, labels));
}

/** Returns the call with its labels. */
export function labelled(call: ReadCall, labels: CallLabels | undefined): ReadCall {
  return labels === undefined ? call : { ...call, labels };
}

async function readUnlabelled(
  context: Context,
  { caller, draw, target, body, exactIntegers, tries, max }: CallRead,
): Promise<ReadCall> {
  if ("capability" in target) return callOfRun(await readRun(context, caller, target.capability, body, { max }));
  const { kind } = target;
  refuseUnsupported(body);
  if (isMediaKind(kind)) return (await readMedia(context, caller, kind, body, draw, { max })).call;
  if (kind === TRANSCRIPTION) return readTranscriptionBody(context, { caller, body, draw, tries, max });
  return readTextCall(context, caller, kind, { body, draw, exactIntegers, max });
}

/** Reads the text call of a job, as described at `readCall`. */
export async function readTextCall(
  context: Pick<Context, "catalogue" | "database">,
  caller: Caller,
  kind: Kind,
  { body, draw, exactIntegers, max }: Pick<CallRead, "body" | "draw" | "exactIntegers" | "max">,
): Promise<ReadCall> {
  const bodyText = stringifyExact(body, exactIntegers);
  const received = { value: body, bytes: Buffer.byteLength(bodyText), draw };
  const read = await readTextRequest(context, caller, kind, received, { max });
  const text = read.request === body ? bodyText : stringifyExact(read.request, exactIntegers);
  return ready(kind, read.model, { ...read.checked, inline: [], text: () => text });
}

/** Returns a text call that is already checked. @param text request for the worker */
export function textCallOf(kind: Kind, model: Model, checked: CheckedCall, text: string): ReadCall {
  return ready(kind, model, { ...checked, inline: [], text: () => text });
}

/**
 * Reads the chat call of a job in the format of OpenAI's Responses API.
 * @param beside members that the worker removes before it calls a provider; their length does not count towards the maximum usage of the
 * call
 * @throws ApiError that names the invalid member of the chat request
 */
export async function readResponsesCall(
  { catalogue, database }: Pick<Context, "catalogue" | "database">,
  caller: Caller,
  request: ChatCompletionRequest,
  {
    draw,
    exactIntegers,
    beside,
    max,
  }: {
    readonly draw: Draw;
    readonly exactIntegers: ExactIntegers | undefined;
    readonly beside: object;
    readonly max: CostMax | undefined;
  },
): Promise<ReadCall> {
  const choice = chooseModels(CHAT, catalogue.current(), caller, request, draw);
  const own = stringifyExact(request, exactIntegers);
  const files = await findStoredFiles(database, caller, request);
  const facts = { bodyBytes: Buffer.byteLength(own), files };
  const { model, checked, route } = firstAccepting(choice, (one) =>
    CHAT.check(request, one, { ...facts, max: costMaxAt(max, one) }),
  );
  const text = `${own.slice(0, -1)},${stringifyExact(beside, exactIntegers).slice(1)}`;
  return ready(CHAT, model, { ...checked, route, api: "responses", inline: [], text: () => text });
}

/** Function that is awaited between steps that process a whole body, so that other calls can use the thread. */
type Pause = () => Promise<void>;
const NO_PAUSE: Pause = () => Promise.resolve();

/** Conditions under which a call is read. */
interface Reading {
  readonly pause?: Pause;
  /** Maximum cost of the call, in addition to the maximum in the body. */
  readonly max?: OuterMax | undefined;
}

/**
 * Reads a text call. Its request differs from the parsed body if nulls were removed as absent members, or if the body has `max_credits`.
 * @param body parsed body, the number of bytes of its text, and the draw of its model
 * @throws ApiError that names the invalid member
 */
export async function readTextRequest<Checked extends CheckedCall>(
  { catalogue, database }: Pick<Context, "catalogue" | "database">,
  caller: Caller,
  kind: Kind<object, Checked>,
  { value, bytes, draw }: { readonly value: unknown; readonly bytes: number; readonly draw: Draw },
  { pause = NO_PAUSE, max: outer }: Reading = {},
): Promise<{ readonly request: object; readonly model: Model; readonly checked: Checked }> {
  await pause();
  const { request, maxNano } = takeMaxCredits(kind.read(value));
  const max = costMaxOf(maxNano, outer);
  const choice = chooseModels(kind, catalogue.current(), caller, request, draw);
  await pause();
  const files = kind.namesFiles === true ? await findStoredFiles(database, caller, request) : NO_FILES;
  const facts = { bodyBytes: bytes - maxCreditsBytes(value), files };
  const { model, checked, route } = firstAccepting(choice, (one) => {
    const own = costMaxAt(max, one);
    const accepted = kind.check(request, one, { ...facts, max: own });
    return { ...accepted, bound: withinMax(accepted.bound, own) };
  });
  return { request, model, checked: { ...checked, route } };
}

export interface ReadMedia<Request> {
  /** Request from which the media that belong in the object store have been removed. */
  readonly request: Request;
  readonly call: ReadCall;
}

/** Reads a call that creates media. @throws ApiError that names the invalid member */
export async function readMedia<Request extends object>(
  { catalogue, database }: Pick<Context, "catalogue" | "database">,
  caller: Caller,
  kind: MediaKind<Request>,
  body: unknown,
  draw: Draw,
  { pause = NO_PAUSE, max: outer }: Reading = {},
): Promise<ReadMedia<Request>> {
  await pause();
  const { request: asked, maxNano } = takeMaxCredits(kind.read(body));
  const max = costMaxOf(maxNano, outer);
  // Media requests name no fallbacks.
  const { model: slug, user } = asked as ModelRequest;
  const choice = chooseModels(kind, catalogue.current(), caller, { model: slug, user }, draw);
  const { model, checked, route } = firstAccepting(choice, (one) => {
    const accepted = kind.check(asked, one);
    return { ...accepted, bound: withinMax(accepted.bound, costMaxAt(max, one)) };
  });
  await pause();
  const inputs = await kind.inputs(asked, model);
  await pause();
  await checkInputFiles(database, caller, inputs, (one) => inputBytesMax(one, model));
  const { request, take } = releaseBody<Request>(asked, inputs);
  const { bound, price } = checked;
  const workerRequest = { ...request, checked: jobCheckOf(checked, model) };
  const text = (): string => JSON.stringify(workerRequest);
  return { request, call: ready(kind, model, { bound, price, route, bringsCheck: true, inline: take(), text }) };
}

/** Converts the run of a capability to a call. @throws ApiError `max_credits_exceeded` */
export function callOfRun({ model, checked, max, request, inline }: ReadRun): ReadCall {
  const bound = withinMax(checked.bound, costMaxAt(max, model));
  return ready(RUN_KIND, model, { ...checked, bound, inline, text: () => JSON.stringify(request) });
}

/** Returns a call whose inputs are already loaded. */
function ready(kind: ReadCall["kind"], model: ReadCall["model"], loaded: LoadedCall): ReadCall {
  // This object lives as long as the call waits, but the bytes of its body must be freed.
  let held: LoadedCall | undefined = loaded;
  let isHeavy: boolean | undefined;
  return {
    kind,
    model,
    leastNano: loaded.bound.holdNano,
    isHeavy: () => (isHeavy ??= held !== undefined && (held.inline.length > 0 || isLarge(held.text({})))),
    load() {
      if (!held) return Promise.reject(new Error("a call is loaded once"));
      const taken = held;
      held = undefined;
      return Promise.resolve(taken);
    },
  };
}

function readTranscriptionBody(
  context: Context,
  { caller, body, draw, tries, max: outer }: Pick<CallRead, "caller" | "body" | "draw" | "tries" | "max">,
): ReadCall {
  const { request: asked, maxNano } = takeMaxCredits(TRANSCRIPTION.read(body));
  const max = costMaxOf(maxNano, outer);
  const { audio_base64: _audio, mime_type: _type, file_id: _file, ...request } = asked;
  const { signal } = new AbortController();
  const choice = chooseModels(TRANSCRIPTION, context.catalogue.current(), caller, { model: request.model }, draw);
  audioOf(asked);
  const receive = (): Promise<ReceivedAudio> => audioOfBody(context, { caller, signal }, asked);
  return readTranscription(context, caller, { request, choice, receive, tries, signal, max });
}

export interface TranscriptionRead {
  /** Request without its audio. */
  readonly request: TranscriptionRequest;
  readonly choice: ModelChoice;
  /** Properties of the audio that are known before it is received. */
  readonly known?: Pick<ReceivedAudio, "bytes" | "param">;
  /** Receives the audio. It is removed from disk as soon as the call is loaded. */
  readonly receive: () => Promise<ReceivedAudio>;
  readonly tries: number;
  readonly signal: AbortSignal;
  readonly max: CostMax | undefined;
}

const SECONDS_MIN = 0.001;
/** Maximum number of attempts to read the audio. After the last one, the call is rejected. */
const READ_ATTEMPTS_MAX = 8;

/**
 * Reads a transcription call; `load` receives and probes its audio. Before that, the call is checked as if its audio had the shortest
 * length. So no audio is received for a call that is invalid with any audio or lacks balance. Afterwards, the call is checked with its own
 * audio.
 * @throws ApiError that names the invalid member
 */
export function readTranscription(
  { probes }: Pick<Context, "probes">,
  { workspaceId }: Caller,
  { request, choice, known = { bytes: 1, param: "file" }, receive, tries, signal, max }: TranscriptionRead,
): ReadCall & { readonly model: Model } {
  const kind = TRANSCRIPTION;
  const facts = { bodyBytes: 0, files: NO_FILES };
  const shortest = { ...known, seconds: SECONDS_MIN };
  const { model, checked, route } = firstAccepting(choice, (one) => {
    const accepted = kind.check(request, one, { ...facts, recording: shortest });
    return { ...accepted, bound: withinMax(accepted.bound, costMaxAt(max, one)) };
  });
  const load = async (): Promise<LoadedCall> => {
    const audio = await receive();
    try {
      const { bytes, fileId, param } = audio;
      const recording = await probeRecording(probes, workspaceId, audio, signal).catch((error: unknown) => {
        if (tries < READ_ATTEMPTS_MAX || (error instanceof ApiError && error.status < 500)) throw error;
        throw new ApiError("unprocessable_input", `Expected audio, got ${bytes} bytes that cannot be read as audio.`, {
          param,
          cause: error,
        });
      });
      const { contentType } = recording;
      const media = { name: "audio", kind: "audio", param: "audio_base64", contentType, bytes: audio.view() } as const;
      const measured = kind.check(request, model, { ...facts, recording });
      const workerRequest = { ...request, checked: jobCheckOf(measured, model) };
      return {
        bound: withinMax(measured.bound, costMaxAt(max, model)),
        price: measured.price,
        route,
        bringsCheck: true,
        inline: fileId === undefined ? [media] : [],
        text: ({ audio: stored }) => {
          const place = stored ? { reference: stored.reference } : { fileId };
          return JSON.stringify({ ...workerRequest, recording: { ...recording, ...place } });
        },
      };
    } finally {
      audio.remove();
    }
  };
  return { kind, model, leastNano: checked.bound.holdNano, isHeavy: () => true, load };
}
