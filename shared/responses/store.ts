/** Stores responses and their inputs, encrypted: in their database rows or, if large, in the object store. */
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

/**
 * Maximum number of responses in a chain of `previous_response_id`, and their maximum total bytes. Reading more would delay other calls.
 */
export const CONVERSATION_RESPONSES_MAX = 500;
export const CONVERSATION_BYTES_MAX = 4 * 1_048_576;
/** Maximum total bytes of the responses that one `find` returns, because all of them are in memory at once. */
export const FOUND_BYTES_MAX = 32 * 1_048_576;

/**
 * Maximum number of event chunks that one read returns, and maximum total bytes of the chunks after the first one. Readers have all of them
 * in memory at once.
 */
const EVENT_PIECES_MAX = 64;
const EVENT_BYTES_MAX = 1_048_576;

export interface StoredResponse {
  /** The response in its current state. */
  readonly response: ModelResponse;
  /** Input items of this call, without those of earlier responses. */
  readonly input: readonly ResponsesItem[];
}

/** A response whose call may still be running. */
export interface KeptResponse extends StoredResponse {
  readonly workspaceId: string;
  readonly isBackground: boolean;
  readonly keepsEvents: boolean;
  /** Sequence number of the last stored event. Without stored events, the number before FIRST_KEPT_EVENT. */
  readonly lastEvent: number;
}

/**
 * Sequence number of the first stored event. Earlier events are not stored, because they only report that the response was created and is
 * queued.
 */
export const FIRST_KEPT_EVENT = 2;

/** Consecutive events of a response, in the format in which they are sent. */
export interface EventsPiece {
  readonly first: number;
  readonly last: number;
  readonly text: string;
}

interface Stored {
  readonly call: { readonly id: string; readonly workspaceId: string; readonly keyId: string };
  readonly response: ModelResponse;
  /** Input items, as JSON values. */
  readonly input: readonly unknown[];
  readonly hours: number;
  /** True if the events of the response are stored while its job runs. */
  readonly keepsEvents?: boolean;
  /** True if the call has an open credit hold. Storing the response fails if the hold was released meanwhile. */
  readonly isHeld?: boolean;
}

/** Called with the size of the found rows in bytes, and awaited before the rows are decrypted. */
export type ReserveMemory = (bytes: number) => Promise<void>;

export interface ResponseStore {
  /** Stores a response. Idempotent by the call's id. @throws Error on failure */
  keep(stored: Stored, insist: Insist): Promise<void>;
  /**
   * Returns the responses of these calls that the reader may see, by call id.
   * @throws ApiError `invalid_request` if several responses together exceed FOUND_BYTES_MAX; Error if a response cannot be read
   */
  find(
    viewer: Viewer,
    callIds: readonly string[],
    reserveMemory?: ReserveMemory,
  ): Promise<ReadonlyMap<string, StoredResponse>>;
  /**
   * Returns a response and its predecessors, oldest first. Returns `gone` if one of them is missing, and `long` if the chain exceeds its
   * limits.
   * @throws Error if a response of the chain cannot be read
   */
  findChain(
    viewer: Viewer,
    callId: string,
    reserveMemory?: ReserveMemory,
  ): Promise<readonly StoredResponse[] | "gone" | "long">;
  /** Deletes a response. Returns undefined if there was no such response. `isQueued`: true if the job of the response has not ended. */
  delete(viewer: Viewer, callId: string): Promise<{ readonly isQueued: boolean } | undefined>;
  /** Returns the response of a call. Does not check who may see it. @throws Error if it cannot be read */
  read(callId: string): Promise<KeptResponse | undefined>;
  /** Returns the state of a response without its text; undefined if there is none. */
  readState(callId: string): Promise<(Pick<KeptResponse, "lastEvent"> & { readonly isUnderWay: boolean }) | undefined>;
  /** Stores the result of a response whose job is about to end. The result becomes visible when the job ends. @throws Error on failure */
  answer(kept: KeptResponse, whole: ModelResponse, insist: Insist): Promise<void>;
  /** Stores a chunk of events. Idempotent by the sequence number of the first event. @throws Error on failure */
  keepEvents(
    call: { readonly id: string; readonly workspaceId: string },
    piece: EventsPiece,
    insist: Insist,
  ): Promise<void>;
  /** Returns chunks of events after sequence number `after`, at least one if there are any. @throws Error if they cannot be read */
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
  /**
   * Decrypts responses one after the other. All large texts would otherwise be in memory at once, and decrypting them together would delay
   * other calls.
   */
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

/** Returns a response in its initial state, without output. */
export function unanswered(response: ModelResponse): ModelResponse {
  return { ...response, output: [], usage: null, completed_at: null, incomplete_details: null, error: null };
}

/** Returns a response with the final state of its job. A stored result is used only if the job has succeeded. */
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

/** Error of a response that was stored but whose job was not created or was rejected. */
const LOST = { code: "internal_error", message: "The service lost the call before its work began." };

/** Error of a response whose call failed after it was stored. The call was not charged. */
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
