/** Responses and their inputs, encrypted in their rows or, if large, in the object store. */
import type { ModelResponse, ResponsesItem } from "#schemas/generated/types.ts";
import { parse } from "#shared/json/contracts.ts";
import {
  answerResponse,
  deleteResponse,
  findResponse,
  findResponseChain,
  findResponseEvents,
  findResponses,
  findResponseState,
  keepResponse,
  keepResponseEvents,
  type KeptText,
  type ResponseRow,
} from "#shared/database/responses.ts";
import type { Viewer } from "#shared/database/viewer.ts";
import type { Queryable } from "#shared/database/client.ts";
import { ApiError } from "#shared/base/errors.ts";
import { newId } from "#shared/base/ids.ts";
import type { Logger } from "#shared/base/logger.ts";
import { JOB_TEXT_BYTES_MAX } from "#shared/jobs/result.ts";
import type { Insist } from "#shared/storage/outage.ts";
import { keyIdOf, type SealedPlace, type Sealer } from "#shared/secrets/sealed.ts";
import { deleteClaim, readClaim, storeResponseText } from "#shared/storage/claim-check.ts";
import type { Storage } from "#shared/storage/client.ts";
import { TimeSlices } from "#shared/base/time-slices.ts";

import { callOfResponse } from "./ids.ts";

/** Maximum responses of a chain, and their maximum bytes: reading them delays other calls. */
export const CONVERSATION_RESPONSES_MAX = 500;
export const CONVERSATION_BYTES_MAX = 4 * 1_048_576;
/** Maximum bytes of responses found together, which are all in memory at once. */
export const FOUND_BYTES_MAX = 32 * 1_048_576;

/** Maximum chunks of events read at once, and their maximum bytes after the first; readers keep them in memory. */
const EVENT_PIECES_MAX = 64;
const EVENT_BYTES_MAX = 1_048_576;

export interface StoredResponse {
  /** The response in its current state. */
  readonly response: ModelResponse;
  /** Items of the call itself, without those of earlier responses. */
  readonly input: readonly ResponsesItem[];
}

/** A response whose call may still be running. */
export interface KeptResponse extends StoredResponse {
  readonly workspaceId: string;
  readonly isBackground: boolean;
  readonly keepsEvents: boolean;
  /** Number of the last stored event; without stored events, the number before the first. */
  readonly lastEvent: number;
}

/** Number of the first stored event: the earlier ones report that the response was created and is queued. */
export const FIRST_KEPT_EVENT = 2;

/** Consecutive events, in wire format. */
export interface EventsPiece {
  readonly first: number;
  readonly last: number;
  readonly text: string;
}

interface Stored {
  readonly call: { readonly id: string; readonly workspaceId: string; readonly keyId: string };
  readonly response: ModelResponse;
  /** JSON items. */
  readonly input: readonly unknown[];
  readonly hours: number;
  /** True to store the events of a response whose job has yet to run. */
  readonly keepsEvents?: boolean;
  /** True if the hold of its call is open: storing fails after a release of the hold. */
  readonly isHeld?: boolean;
}

/** Called with the bytes of the rows found, and awaited before they are decrypted. */
export type ReserveMemory = (bytes: number) => Promise<void>;

export interface ResponseStore {
  /** Stores a response; idempotent by the call's id. @throws Error on failure */
  keep(stored: Stored, insist: Insist): Promise<void>;
  /**
   * Returns the visible responses of the calls, by call id.
   * @throws ApiError `invalid_request` if several are too large together; Error if one cannot be read
   */
  find(viewer: Viewer, callIds: readonly string[], reserveMemory?: ReserveMemory): Promise<ReadonlyMap<string, StoredResponse>>;
  /**
   * Returns a response and its predecessors, oldest first; `gone` if one is missing, `long` above the limits of a chain.
   * @throws Error if one cannot be read
   */
  findChain(viewer: Viewer, callId: string, reserveMemory?: ReserveMemory): Promise<readonly StoredResponse[] | "gone" | "long">;
  /** Returns undefined if there was none. `isQueued`: its job has not ended. */
  delete(viewer: Viewer, callId: string): Promise<{ readonly isQueued: boolean } | undefined>;
  /** Returns the response of a call, without a reader's restrictions. @throws Error if it cannot be read */
  read(callId: string): Promise<KeptResponse | undefined>;
  /** Returns the state of the response without its text. */
  readState(callId: string): Promise<(Pick<KeptResponse, "lastEvent"> & { readonly isUnderWay: boolean }) | undefined>;
  /** Stores the result of a response whose job is about to end; it takes effect when the job ends. @throws Error on failure */
  answer(kept: KeptResponse, whole: ModelResponse, insist: Insist): Promise<void>;
  /** Stores events; idempotent by the number of the first. @throws Error on failure */
  keepEvents(
    call: { readonly id: string; readonly workspaceId: string },
    piece: EventsPiece,
    insist: Insist,
  ): Promise<void>;
  /** Returns chunks with events after number `after`, at least one if there are any. @throws Error if they cannot be read */
  readEvents(call: { readonly id: string; readonly workspaceId: string }, after: number): Promise<EventsPiece[]>;
}

export function createResponseStore({
  database,
  storage,
  sealer,
  log,
}: {
  readonly database: Queryable;
  readonly storage: Storage;
  readonly sealer: Pick<Sealer, "open" | "seal">;
  readonly log: Pick<Logger, "warn">;
}): ResponseStore {
  const open = async (row: ResponseRow): Promise<StoredResponse> => {
    const sealed = row.reference === null ? row.sealed : await readClaim(storage, row.reference);
    const text = sealer.open(placeOf(row.workspace_id, row.id), sealed);
    const { response, input } = JSON.parse(text) as { response: unknown; input: ResponsesItem[] };
    return { response: asOf(row, parse("ModelResponse", response)), input };
  };
  const seal = (workspaceId: string, id: string, stored: Pick<Stored, "response" | "input">): Promise<SealedResponse> =>
    sealResponse({ storage, sealer }, workspaceId, id, stored);
  /** Sequentially: large texts would be in memory at once, and decrypting all together would delay others. */
  const openAll = async (rows: readonly ResponseRow[]): Promise<StoredResponse[]> => {
    const opened: StoredResponse[] = [];
    const slices = new TimeSlices();
    for (const row of rows) {
      await slices.yieldIfOver();
      opened.push(await open(row));
    }
    return opened;
  };
  return {
    async keep(stored, insist) {
      const { call, response, input, hours, keepsEvents = false, isHeld = false } = stored;
      const { id, workspaceId, keyId } = call;
      const row = {
        ...(await insist(() => seal(workspaceId, id, { response, input }))),
        id,
        workspaceId,
        keyId,
        previousId: callOfResponse(response.previous_response_id ?? "") ?? null,
        model: response.model,
        status: response.status,
        isBackground: response.background,
        keepsEvents,
        hours,
        isHeld,
      };
      const isOwed = await insist(() => keepResponse(database, row));
      if (!isOwed) throw new Error("the call of the response was given up");
    },
    async find(viewer, callIds, reserveMemory) {
      const rows = callIds.length === 0 ? [] : await findResponses(database, viewer, callIds);
      if (rows.length > 1 && bytesOf(rows) > FOUND_BYTES_MAX) {
        const message = `Expected references to responses of at most ${FOUND_BYTES_MAX} bytes together, got more.`;
        throw new ApiError("invalid_request", message, { param: "input" });
      }
      await reserveMemory?.(bytesOf(rows));
      const opened = await openAll(rows);
      return new Map(rows.flatMap(({ id }, at) => (opened[at] === undefined ? [] : [[id, opened[at]]])));
    },
    async findChain(viewer, callId, reserveMemory) {
      const bounds = { countMax: CONVERSATION_RESPONSES_MAX, bytesMax: CONVERSATION_BYTES_MAX };
      const rows = await findResponseChain(database, viewer, callId, bounds);
      if (rows.length > bounds.countMax || bytesOf(rows) > bounds.bytesMax) return "long";
      const [oldest] = rows;
      if (!oldest || oldest.previous_id !== null) return "gone";
      await reserveMemory?.(bytesOf(rows));
      return openAll(rows);
    },
    async delete(viewer, callId) {
      const gone = await deleteResponse(database, viewer, callId);
      if (gone?.reference != null) {
        await deleteClaim(storage, gone.reference).catch((error: unknown) =>
          log.warn(
            { err: error, response: callId },
            "the text of a deleted response could not be deleted; the janitor retries",
          ),
        );
      }
      return gone && { isQueued: gone.status === "queued" };
    },
    async read(callId) {
      const row = await findResponse(database, callId);
      if (!row) return undefined;
      const { workspace_id: workspaceId, is_background: isBackground, keeps_events: keepsEvents } = row;
      const lastEvent = row.last_event ?? FIRST_KEPT_EVENT - 1;
      return { ...(await open(row)), workspaceId, isBackground, keepsEvents, lastEvent };
    },
    async readState(callId) {
      const row = await findResponseState(database, callId);
      return row && { isUnderWay: row.is_under_way, lastEvent: row.last_event ?? FIRST_KEPT_EVENT - 1 };
    },
    async answer({ workspaceId, input }, response, insist) {
      const id = callOfResponse(response.id) ?? "";
      const sealed = await insist(() => seal(workspaceId, id, { response, input }));
      const row = { ...sealed, id, model: response.model, answered: response.status };
      await insist(() => answerResponse(database, row));
    },
    async keepEvents({ id, workspaceId }, { first, last, text }, insist) {
      const sealed = sealer.seal(eventsPlace(workspaceId, id, first), text);
      await insist(() => keepResponseEvents(database, id, { first, last, sealed }));
    },
    async readEvents({ id, workspaceId }, after) {
      const bounds = { countMax: EVENT_PIECES_MAX, bytesMax: EVENT_BYTES_MAX };
      const rows = await findResponseEvents(database, id, after, bounds);
      const slices = new TimeSlices();
      const pieces: EventsPiece[] = [];
      for (const { first, last, sealed } of rows) {
        await slices.yieldIfOver();
        pieces.push({ first, last, text: sealer.open(eventsPlace(workspaceId, id, first), sealed) });
      }
      return pieces;
    },
  };
}

interface SealedResponse {
  /** Length of the text before encryption, in bytes. */
  readonly bytes: number;
  readonly text: KeptText;
  readonly sealedBy: string;
}

async function sealResponse(
  { storage, sealer }: { readonly storage: Storage; readonly sealer: Pick<Sealer, "seal"> },
  workspaceId: string,
  id: string,
  { response, input }: Pick<Stored, "response" | "input">,
): Promise<SealedResponse> {
  const plain = JSON.stringify({ response, input });
  const sealed = sealer.seal(placeOf(workspaceId, id), plain);
  const isSmall = sealed.length <= JOB_TEXT_BYTES_MAX;
  const text: KeptText = isSmall
    ? { sealed, reference: null }
    : { sealed: null, reference: await storeResponseText(storage, id, newId(), sealed) };
  return { bytes: Buffer.byteLength(plain), text, sealedBy: keyIdOf(sealed) };
}

/** Returns the response in its initial state, without output. */
export function unanswered(response: ModelResponse): ModelResponse {
  return { ...response, output: [], usage: null, completed_at: null, incomplete_details: null, error: null };
}

/** Returns the response in the state left by its job: a stored result counts if the job has succeeded. */
function asOf(
  { status, error, job_state: job, is_background: background }: ResponseRow,
  response: ModelResponse,
): ModelResponse {
  if (status === "completed" || status === "incomplete") return response;
  const isLost = status === "queued" && job !== "queued" && job !== "running";
  if (status === "failed" || isLost) {
    const { code, message } = error ?? (background ? LOST : GIVEN_UP);
    return { ...unanswered(response), status: "failed", error: { code, message } };
  }
  if (status === "cancelled") return { ...unanswered(response), status };
  return { ...unanswered(response), status: job === "queued" ? "queued" : "in_progress" };
}

/** The response was stored, but its job was not created or was rejected. */
const LOST = { code: "internal_error", message: "The service lost the call before its work began." };

/** Its call failed after it was stored, and cost nothing. */
const GIVEN_UP = { code: "internal_error", message: "The service failed to complete the call." };

function bytesOf(rows: readonly ResponseRow[]): number {
  return rows.reduce((sum, { bytes }) => sum + bytes, 0);
}

function placeOf(workspaceId: string, id: string): SealedPlace {
  return { workspaceId, table: "response", row: id, field: "text" };
}

function eventsPlace(workspaceId: string, id: string, first: number): SealedPlace {
  return { workspaceId, table: "response_event", row: id, field: String(first) };
}
