/**
 * Encrypts kept bodies, and stores, reads and deletes their objects. Each object has a random key of its own, which is encrypted with the
 * master key in the row of the body. The object is unreadable once its row is deleted.
 */
import { randomBytes } from "node:crypto";

import {
  type BodyId,
  type BodyRow,
  listBodyKeysOfOthers,
  replaceBodyKeys,
  type SealedBodyKey,
} from "#shared/database/kept-bodies.ts";
import type { Queryable } from "#shared/database/client.ts";
import { createSealer, type SealedPlace, type Sealer, SEALING_KEY_BYTES } from "#shared/secrets/sealed.ts";
import { readClaim } from "#shared/storage/claim-check.ts";
import type { Storage } from "#shared/storage/client.ts";

/** Maximum size of all kept bodies of a workspace, in bytes. */
export const KEPT_BYTES_WORKSPACE_MAX = 1_073_741_824;

/** Maximum size of the text of one kept request or response, in bytes. */
export const KEPT_BODY_BYTES_MAX = 1_048_576;

/** A request or a response as it is kept. */
export interface KeptPart {
  /** Media type without parameters; null if there was none. */
  readonly media_type: string | null;
  /** Size of the original body, in bytes; null if unknown. */
  readonly bytes: number | null;
  /** Text after redaction; null for a body that is neither JSON nor text. */
  readonly text: string | null;
  /** True if the body was longer than the limit. */
  readonly is_cut: boolean;
}

/** Content of the object of one call. */
export interface KeptCall {
  /** Method and path, such as `POST /v1/chat/completions`. */
  readonly endpoint: string;
  readonly status: number;
  readonly request: KeptPart;
  readonly response: KeptPart;
}

/** Encrypts the bodies of a call. Returns the text of the object, and its key for the row. */
export function sealBodies(
  sealer: Pick<Sealer, "seal">,
  id: BodyId,
  call: KeptCall,
): { readonly text: string; readonly sealedKey: string } {
  const key = randomBytes(SEALING_KEY_BYTES);
  return {
    text: createSealer([key]).seal(placeOf(id, "bodies"), JSON.stringify(call)),
    sealedKey: sealer.seal(placeOf(id, "sealed_key"), key.toString("base64")),
  };
}

/** Reads the bodies of a call. @throws Error if the object is missing or altered, or its master key is unknown */
export async function readBodies(
  { storage, sealer }: { readonly storage: Storage; readonly sealer: Pick<Sealer, "open"> },
  { workspace_id: workspaceId, request_id: requestId, sealed_key: sealedKey, reference }: BodyRow,
): Promise<KeptCall> {
  const id = { workspaceId, requestId };
  const key = Buffer.from(sealer.open(placeOf(id, "sealed_key"), sealedKey), "base64");
  const text = await readClaim(storage, reference);
  return JSON.parse(createSealer([key]).open(placeOf(id, "bodies"), text)) as KeptCall;
}

function placeOf({ workspaceId, requestId }: BodyId, field: string): SealedPlace {
  return { workspaceId, table: "kept_body", row: requestId, field };
}

const RESEAL_BATCH = 500;
const NIL = "00000000-0000-0000-0000-000000000000";

/** Encrypts the keys of all bodies with the current master key. Returns the number of newly encrypted keys. Idempotent. */
export async function resealBodyKeys(database: Queryable, sealer: Sealer): Promise<number> {
  let sealed = 0;
  for (let after: BodyId = { workspaceId: NIL, requestId: NIL }; ;) {
    const rows = await listBodyKeysOfOthers(database, sealer.keyIds[0] ?? "", after, RESEAL_BATCH);
    const changed = rows.map((row): SealedBodyKey => {
      const place = placeOf(row, "sealed_key");
      return { ...row, sealed: sealer.seal(place, sealer.open(place, row.sealed)) };
    });
    await replaceBodyKeys(database, changed);
    sealed += changed.length;
    const last = rows.at(-1);
    if (last === undefined || rows.length < RESEAL_BATCH) return sealed;
    after = last;
  }
}
