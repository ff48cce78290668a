/** Whether the service's books agree with what the answers said: no route tells a balance, so the database is read. */
import { setTimeout as delay } from "node:timers/promises";

import { findKeyByHash } from "#shared/database/api-keys.ts";
import { listLedger, readBalance } from "#shared/database/credits.ts";
import { type Database, openDatabase } from "#shared/database/client.ts";
import { jobsOfRuns } from "#shared/database/run-work.ts";
import { listWorkspaces } from "#shared/database/workspaces.ts";
import { createLogger } from "#shared/logger.ts";
import { hashKey } from "#shared/secrets/api-keys.ts";

import type { Receipt } from "./client.ts";

/** The last bytes of speech may come before its hold is settled. */
const SETTLED_WITHIN_MS = 10_000;
const PAUSE_MS = 100;
/** More than a demonstration's, since others may call meanwhile. */
const ENTRIES_MAX = 10_000;

export interface Balanced {
  /** Nano-credits. */
  readonly before: bigint;
  readonly after: bigint;
  /** What the ledger says our calls cost. */
  readonly settled: bigint;
  /** What others moved in this workspace meanwhile. */
  readonly others: bigint;
  /** Calls whose answers say another price than the ledger. */
  readonly disagreeing: readonly string[];
}

export interface Books {
  compare(receipts: readonly Receipt[]): Promise<Balanced>;
  close(): Promise<void>;
}

/** @returns null when the database does not know the key: it belongs to another stack */
export async function openBooks(url: string, key: string): Promise<Books | null> {
  const database = openDatabase({ url, poolMax: 1, log: createLogger({ level: "silent", role: "demo" }) });
  try {
    const workspaceId = await workspaceOf(database, key);
    if (workspaceId !== undefined) return await begin(database, workspaceId);
    await database.close();
    return null;
  } catch (error) {
    await database.close();
    throw error;
  }
}

async function begin(database: Database, workspaceId: string): Promise<Books> {
  const [{ amount: before }, [newest]] = [
    await readBalance(database, workspaceId),
    await listLedger(database, workspaceId, 1),
  ];
  const entriesSince = async () =>
    (await listLedger(database, workspaceId, ENTRIES_MAX)).filter(({ id }) => id > (newest?.id ?? 0n));
  return {
    async compare(receipts) {
      const wanted = new Map(receipts.map(({ id, credits }) => [id, credits]));
      // What a run costs stands in the ledger under the jobs of its steps.
      const ours = async () => {
        const runs = new Map((await jobsOfRuns(database, [...wanted.keys()])).map(({ id, run_id }) => [id, run_id]));
        const entries = (await entriesSince()).map((one) => ({
          ...one,
          source_id: runs.get(one.source_id) ?? one.source_id,
        }));
        return entries.filter(({ source_id }) => wanted.has(source_id));
      };
      let entries = await ours();
      for (const began = Date.now(); isShort(entries, wanted) && Date.now() - began < SETTLED_WITHIN_MS;) {
        await delay(PAUSE_MS);
        entries = await ours();
      }
      const paid = new Map<string, bigint>();
      for (const { source_id, amount } of entries) paid.set(source_id, (paid.get(source_id) ?? 0n) - amount);
      const settled = [...paid.values()].reduce((sum, amount) => sum + amount, 0n);
      const { amount: after } = await readBalance(database, workspaceId);
      const disagreeing = [...wanted].filter(([id, credits]) => (paid.get(id) ?? 0n) !== credits).map(([id]) => id);
      return { before, after, settled, others: before - after - settled, disagreeing };
    },
    close: () => database.close(),
  };
}

/** A call that cost nothing leaves no entry. */
function isShort(entries: readonly { readonly source_id: string }[], wanted: ReadonlyMap<string, bigint>): boolean {
  const seen = new Set(entries.map(({ source_id }) => source_id));
  return [...wanted].some(([id, credits]) => credits > 0n && !seen.has(id));
}

async function workspaceOf(database: Database, key: string): Promise<string | undefined> {
  const hash = hashKey(key);
  for (const { id } of await listWorkspaces(database)) {
    if (await findKeyByHash(database, id, hash)) return id;
  }
  return undefined;
}
