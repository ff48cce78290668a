/** Responses and what they were asked, sealed in their rows or, where they are large, in the object store. */
import type { ModelResponse, ResponsesItem } from "#schemas/generated/types.ts";
import { parse } from "#shared/contracts.ts";
import {
  deleteResponse,
  findResponseChain,
  findResponses,
  keepResponse,
  type KeptText,
  type ResponseRow,
  type ResponseViewer,
} from "#shared/database/responses.ts";
import type { Queryable } from "#shared/database/client.ts";
import { ApiError } from "#shared/errors.ts";
import { newId } from "#shared/ids.ts";
import type { Logger } from "#shared/logger.ts";
import { JOB_TEXT_BYTES_MAX } from "#shared/jobs/result.ts";
import { keyIdOf, type SealedPlace, type Sealer } from "#shared/secrets/sealed.ts";
import { deleteClaim, readClaim, storeResponseText } from "#shared/storage/claim-check.ts";
import type { Storage } from "#shared/storage/client.ts";
import { TimeSlices } from "#shared/time-slices.ts";

import { callOfResponse } from "./ids.ts";

/** A conversation goes back so many responses, and so many bytes of them: reading them holds up others. */
export const CONVERSATION_RESPONSES_MAX = 500;
export const CONVERSATION_BYTES_MAX = 4 * 1_048_576;
/** Bytes of several responses that are looked up together: all of them are in memory at once. */
export const FOUND_BYTES_MAX = 32 * 1_048_576;

export interface StoredResponse {
  readonly response: ModelResponse;
  /** Items that the call itself brought, without those of earlier responses. */
  readonly input: readonly ResponsesItem[];
}

interface Stored {
  readonly call: { readonly id: string; readonly workspaceId: string; readonly keyId: string };
  readonly response: ModelResponse;
  /** JSON items. */
  readonly input: readonly unknown[];
  readonly hours: number;
}

export interface ResponseStore {
  /** Idempotent by the call's id. @throws Error when it cannot be kept */
  keep(stored: Stored): Promise<void>;
  /**
   * Those of the calls that the viewer sees, by the call's id.
   * @throws ApiError `invalid_request` for several that are too large together; Error when one cannot be read back
   */
  find(viewer: ResponseViewer, callIds: readonly string[]): Promise<ReadonlyMap<string, StoredResponse>>;
  /**
   * A response behind those that it goes on from, the oldest first; `gone` when one of them is, `long` beyond the bounds of a
   * conversation.
   * @throws Error when one cannot be read back
   */
  findChain(viewer: ResponseViewer, callId: string): Promise<readonly StoredResponse[] | "gone" | "long">;
  /** False when there was none. */
  delete(viewer: ResponseViewer, callId: string): Promise<boolean>;
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
    return { response: parse("ModelResponse", response), input };
  };
  /** One after the other: large ones would be in memory at once, and all together hold up others. */
  const openAll = async (rows: readonly ResponseRow[]): Promise<StoredResponse[]> => {
    const opened: StoredResponse[] = [];
    const slices = new TimeSlices();
    for (const row of rows) {
      await slices.rest();
      opened.push(await open(row));
    }
    return opened;
  };
  return {
    async keep({ call: { id, workspaceId, keyId }, response, input, hours }) {
      const plain = JSON.stringify({ response, input });
      const sealed = sealer.seal(placeOf(workspaceId, id), plain);
      const isSmall = sealed.length <= JOB_TEXT_BYTES_MAX;
      const text: KeptText = isSmall
        ? { sealed, reference: null }
        : { sealed: null, reference: await storeResponseText(storage, id, newId(), sealed) };
      await keepResponse(database, {
        id,
        workspaceId,
        keyId,
        previousId: callOfResponse(response.previous_response_id ?? "") ?? null,
        model: response.model,
        status: response.status,
        bytes: Buffer.byteLength(plain),
        text,
        sealedBy: keyIdOf(sealed),
        hours,
      });
    },
    async find(viewer, callIds) {
      const rows = callIds.length === 0 ? [] : await findResponses(database, viewer, callIds);
      if (rows.length > 1 && bytesOf(rows) > FOUND_BYTES_MAX) {
        const message = `Expected references to responses of at most ${FOUND_BYTES_MAX} bytes together, got more.`;
        throw new ApiError("invalid_request", message, { param: "input" });
      }
      const opened = await openAll(rows);
      return new Map(rows.flatMap(({ id }, at) => (opened[at] === undefined ? [] : [[id, opened[at]]])));
    },
    async findChain(viewer, callId) {
      const bounds = { countMax: CONVERSATION_RESPONSES_MAX, bytesMax: CONVERSATION_BYTES_MAX };
      const rows = await findResponseChain(database, viewer, callId, bounds);
      if (rows.length > bounds.countMax || bytesOf(rows) > bounds.bytesMax) return "long";
      const [oldest] = rows;
      if (!oldest || oldest.previous_id !== null) return "gone";
      return openAll(rows);
    },
    async delete(viewer, callId) {
      const gone = await deleteResponse(database, viewer, callId);
      if (gone?.reference != null) {
        await deleteClaim(storage, gone.reference).catch((error: unknown) =>
          log.warn({ err: error, response: callId }, "the text of a deleted response is left to the janitor"),
        );
      }
      return gone !== undefined;
    },
  };
}

function bytesOf(rows: readonly ResponseRow[]): number {
  return rows.reduce((sum, { bytes }) => sum + bytes, 0);
}

function placeOf(workspaceId: string, id: string): SealedPlace {
  return { workspaceId, table: "response", row: id, field: "text" };
}
