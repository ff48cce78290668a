import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { DeleteObjectCommand, type ListObjectsCommand } from "@aws-sdk/client-s3";

import { newId } from "#shared/base/ids.ts";
import { type Ledger, openLedger } from "#shared/ledger/settle.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createMetrics, type Metrics } from "#shared/metrics/metrics.ts";
import { listClaims, listResults, readClaim, storeClaim, storeResult } from "#shared/storage/claim-check.ts";
import { openStorage, type Storage } from "#shared/storage/client.ts";
import { admitLone, balanceOf, createWorkspace } from "#tests/shared/accounts.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { createTestBucket } from "#tests/support/storage.ts";
import { sweepClaims, sweepResults } from "#workers/janitor/claims.ts";
import { sweepExpiredHolds } from "#workers/janitor/money.ts";

let database: TestDatabase;
let storage: Storage;
let ledger: Ledger;
let metrics: Metrics;
const log = createLogger({ level: "silent", role: "test" });

beforeAll(async () => {
  const [opened, bucket] = await Promise.all([createTestDatabase(), createTestBucket()]);
  database = opened;
  storage = openStorage(bucket.settings);
  ledger = openLedger({ database: database.database, log, retryMs: 1_000 });
  metrics = createMetrics("test");
}, 120_000);

afterAll(async () => {
  metrics.close();
  storage.close();
  await ledger.idle();
  await database.drop();
});

/** A call with a hold of 100 nano-credits that lives this long. */
async function hold(lifeMs: number): Promise<{ workspaceId: string; jobId: string }> {
  const workspaceId = await createWorkspace(database.database, 1_000n);
  const jobId = newId();
  expect(await admitLone(database.database, { workspaceId, jobId, amount: 100n, lifeMs })).toBe(0);
  return { workspaceId, jobId };
}

const sweep = (): Promise<number> =>
  sweepExpiredHolds({ database: database.database, ledger, log, metrics, startedMs: 0 });
const balance = (workspaceId: string) => balanceOf(database.database, workspaceId);
const usage = async (jobId: string) =>
  (await database.query<{ status: string; settled: bigint }>("select status, settled from usage_record where job_id = $1", [jobId]))[0]; // prettier-ignore

describe("a hold past its deadline", () => {
  test("is released when nothing was relayed, and the call is recorded as lost", async () => {
    const { workspaceId, jobId } = await hold(-1);
    expect(await sweep()).toBe(1);
    expect(await balance(workspaceId)).toMatchObject({ amount: 1_000n, held: 0n, holds: 0n });
    expect(await usage(jobId)).toMatchObject({ status: "lost", settled: 0n });
  });

  test("is settled for the relayed part", async () => {
    const { workspaceId, jobId } = await hold(-1);
    await database.query(
      "insert into relay_progress (workspace_id, job_id, amount, tokens, units) values ($1, $2, 42, 7, '{\"tokens\": 7}')",
      [workspaceId, jobId],
    );
    await sweep();
    expect(await balance(workspaceId)).toMatchObject({ amount: 958n, held: 0n });
    expect(await usage(jobId)).toMatchObject({ status: "lost", settled: 42n });
  });

  test("is closed once, for any number of sweeps", async () => {
    const { workspaceId } = await hold(-1);
    await Promise.all([sweep(), sweep(), sweep()]);
    await sweep();
    expect(await balance(workspaceId)).toMatchObject({ amount: 1_000n, held: 0n });
  });

  test("is distinguished from one that still has an owner", async () => {
    const { workspaceId, jobId } = await hold(60_000);
    await sweep();
    expect(await balance(workspaceId)).toMatchObject({ held: 100n, holds: 1n });
    expect(await metrics.registry.getSingleMetricAsString("sluice_holds_open")).toContain("} 1");
    await ledger.settle({ workspaceId, jobId, attempt: 1, usedNano: null, status: "failed", source: null, units: {}, isEstimated: false, tokens: 0 }); // prettier-ignore
  });
});

describe("a claim check", () => {
  /** The same storage, in which everything was written two hours earlier. */
  function aged(): Storage {
    const send = async (command: ListObjectsCommand, options: { abortSignal: AbortSignal }): Promise<unknown> => {
      const answer = await storage.client.send(command, options);
      for (const object of answer.Contents ?? []) object.LastModified = new Date(Date.now() - 2 * 3_600_000);
      return answer;
    };
    return { ...storage, client: { send } as unknown as Storage["client"] };
  }
  const claims = async (): Promise<string[]> =>
    (await Array.fromAsync(listClaims(storage))).flat().map(({ jobId }) => jobId);
  const sweepAll = (from = storage, pageMax?: number): Promise<number> =>
    sweepClaims({ storage: from, database: database.database, log }, pageMax);

  test("is deleted when its call has ended long ago, not while that is open, and never when it is recent", async () => {
    const open = await hold(86_400_000);
    const ended = newId();
    await storeClaim(storage, open.jobId, "x");
    await storeClaim(storage, ended, "x");
    expect(await sweepAll()).toBe(0);
    expect((await claims()).toSorted()).toEqual([open.jobId, ended].toSorted());
    expect(await sweepAll(aged())).toBe(1);
    expect(await claims()).toEqual([open.jobId]);
  });

  test("is deleted although an earlier one cannot be", async () => {
    const [stuck, goes] = [newId(), newId()];
    for (const jobId of [stuck, goes]) await storeClaim(storage, jobId, "x");
    const old = aged();
    const send = (command: { input: { Key?: string } }, options: never): Promise<unknown> =>
      command instanceof DeleteObjectCommand && command.input.Key?.includes(stuck)
        ? Promise.reject(new Error("access denied"))
        : (old.client.send as (command: unknown, options: never) => Promise<unknown>)(command, options);
    expect(await sweepAll({ ...old, client: { send } as unknown as Storage["client"] })).toBe(1);
    expect(await claims()).not.toContain(goes);
    expect(await sweepAll(aged())).toBe(1);
    expect(await claims()).not.toContain(stuck);
  });

  test("is deleted after any number of others that stay", async () => {
    const kept = await claims();
    const stays = await hold(86_400_000);
    const goes = [newId(), newId(), newId()];
    // Ids go up with time.
    for (const jobId of [stays.jobId, ...goes]) await storeClaim(storage, jobId, "x");
    expect(await sweepAll(aged(), 1)).toBe(3);
    expect((await claims()).toSorted()).toEqual([...kept, stays.jobId].toSorted());
  });

  test("and a result without a job are deleted: of a former owner, or of a deleted job", async () => {
    const [named, open, gone] = [newId(), newId(), newId()];
    const before = await storeResult(storage, named, 1, "one");
    const result = await storeResult(storage, named, 2, "two");
    await storeResult(storage, open, 1, "x");
    await storeResult(storage, gone, 1, "x");
    const insert = (id: string, state: string, reference: string | null) =>
      database.query(
        `insert into job (id, workspace_id, pool, lane, kind, modality, state, deadline, work, result_ref)
         values ($1, $1, 'chat', 'batch', 'chat', 'text', $2, clock_timestamp(), '{}', $3)`,
        [id, state, reference],
      );
    await insert(named, "completed", result);
    await insert(open, "running", null);
    const sweep = (from: Storage) => sweepResults({ storage: from, database: database.database, log }, 2);
    expect(await sweep(storage)).toBe(0);
    expect(await sweep(aged())).toBe(2);
    const left = (await Array.fromAsync(listResults(storage))).flat().map(({ jobId }) => jobId);
    expect(left.toSorted()).toEqual([named, open].toSorted());
    expect(await readClaim(storage, result)).toBe("two");
    expect(await readClaim(storage, before).catch(() => "gone")).toBe("gone");
  });

  test("of a job depends on the job's state, and stays while a dead letter of it may be redriven", async () => {
    const [open, ended, letter, redriven] = [newId(), newId(), newId(), newId()];
    for (const [id, state] of [
      [open, "queued"],
      [ended, "completed"],
      [letter, "failed"],
      [redriven, "failed"],
    ] as const) {
      await database.query(
        `insert into job (id, workspace_id, pool, lane, kind, modality, state, deadline, work)
         values ($1, $1, 'chat', 'batch', 'chat', 'text', $2, clock_timestamp(), '{}')`,
        [id, state],
      );
      await storeClaim(storage, id, "x");
    }
    await database.query(
      `insert into dead_letter (id, stream, stream_seq, subject, reason, deliveries, job_id, redriven_at)
       values ($1, 's', 1, 'x', 'y', 1, $1, null), ($2, 's', 2, 'x', 'y', 1, $2, now())`,
      [letter, redriven],
    );
    const asked: string[] = [];
    const query: typeof database.database.query = (text, values, name) => {
      asked.push(text);
      return database.database.query(text, values, name);
    };
    const before = await claims();
    await sweepClaims({ storage: aged(), database: { ...database.database, query }, log }, 1);
    expect((await claims()).toSorted()).toEqual(before.filter((id) => id !== ended && id !== redriven).toSorted());
    // Holds are looked through for calls that have no job, and for no others.
    const others = before.filter((id) => ![open, ended, letter, redriven, "something-else"].includes(id));
    expect(asked.filter((text) => text.includes("from hold"))).toHaveLength(others.length);
  });

  test("under a foreign name is not deleted", async () => {
    await storeClaim(storage, "something-else", "x");
    await sweepAll(aged());
    expect(await claims()).toContain("something-else");
  });
});
