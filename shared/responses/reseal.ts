/** Encrypts stored responses and conversations again if they were encrypted with another key than the current one. */
import type { Queryable } from "#shared/database/client.ts";
import { listTextsOfOtherKeys, replaceText, type StoredTexts, type TextRow } from "#shared/database/responses.ts";
import { newId } from "#shared/base/ids.ts";
import { keyIdOf, type Sealer } from "#shared/secrets/sealed.ts";
import { deleteClaim, readClaim, storeResponseText } from "#shared/storage/claim-check.ts";
import type { Storage } from "#shared/storage/client.ts";

interface Context {
  readonly database: Queryable;
  /** Object store; undefined if large texts are not accessible. */
  readonly storage: Storage | undefined;
  readonly sealer: Sealer;
}

const TABLES: readonly StoredTexts[] = ["response", "conversation"];
const BATCH = 20;
const FIRST = "00000000-0000-0000-0000-000000000000";

/**
 * Encrypts all stored texts with the current key, row by row. If it is interrupted, every row stays readable, and the next call continues.
 * Skips events of responses, because they expire within an hour.
 * @returns `sealed`: number of newly encrypted texts; `unreadable`: number of texts that cannot be read and stay unchanged
 */
export async function resealStored(
  context: Context,
): Promise<{ readonly sealed: number; readonly unreadable: number }> {
  const { database, sealer } = context;
  let [sealed, unreadable] = [0, 0];
  for (const table of TABLES) {
    for (let after = FIRST; ;) {
      const rows = await listTextsOfOtherKeys(database, table, sealer.keyIds[0] ?? "", after, BATCH);
      for (const row of rows) {
        const outcome = await reseal(context, table, row);
        if (outcome === "sealed") sealed += 1;
        else if (outcome === "left") unreadable += 1;
      }
      const last = rows.at(-1);
      if (last === undefined || rows.length < BATCH) break;
      after = last.id;
    }
  }
  return { sealed, unreadable };
}

/**
 * Encrypts the text of one row with the current key. Returns `left` if the text cannot be read. Returns `gone` if the text was deleted or
 * changed meanwhile; a change has already encrypted it with the current key.
 */
async function reseal(
  { database, storage, sealer }: Context,
  table: StoredTexts,
  row: TextRow,
): Promise<"sealed" | "left" | "gone"> {
  const { id, workspace_id: workspaceId, reference } = row;
  const place = { workspaceId, table, row: id, field: "text" };
  const old = reference === null ? row.sealed : await readable(storage, reference);
  if (old === undefined) return "left";
  const sealed = sealer.seal(place, sealer.open(place, old));
  const isStored = reference !== null && storage !== undefined;
  const text = isStored
    ? { sealed: null, reference: await storeResponseText(storage, id, newId(), sealed) }
    : { sealed, reference: null };
  const isReplaced = await replaceText(database, table, row, { text, sealedBy: keyIdOf(sealed) });
  // The janitor deletes it after a failure, since no row references it.
  const over = isReplaced ? reference : text.reference;
  if (storage && over !== null) await deleteClaim(storage, over).catch(() => undefined);
  return isReplaced ? "sealed" : "gone";
}

async function readable(storage: Storage | undefined, reference: string): Promise<string | undefined> {
  try {
    return storage && (await readClaim(storage, reference));
  } catch {
    return undefined;
  }
}
