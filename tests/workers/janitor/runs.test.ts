/** Messages of the janitor about runs: each once in a while, all workspaces alike, and none while no worker is there to take them. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";

import type { ListObjectsCommand } from "@aws-sdk/client-s3";

import {
  ALL_RUNS,
  ALL_WORK,
  findLateRuns,
  findUnreportedRuns,
  nextOpenWork,
  takeDueRuns,
  takeRunsOfEndedJobs,
  takeRunsOfEndedRuns,
  nextOldRuns,
  takeStalledRuns,
  takeUnbegunRuns,
  type WaitingRun,
} from "#shared/database/run-sweeps.ts";
import { giveUpRun } from "#shared/database/run-work.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { listRunInputs, listRunOutputs, storeRunInput, storeRunOutput } from "#shared/storage/claim-check.ts";
import { openStorage, type Storage } from "#shared/storage/client.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { createTestBucket } from "#tests/support/storage.ts";
import { sweepRunTexts } from "#workers/janitor/claims.ts";

import { createWorkspace } from "../../shared/accounts.ts";

const AGAIN_MS = 60_000;
const WORDS = { againMs: AGAIN_MS, max: 3 };

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());
afterEach(async () => {
  await db.query("delete from run");
  await db.query("delete from job");
  await db.query("delete from worker_slots");
});

const workerOf = (lane: "live" | "batch", more = "now()") =>
  db.query(`insert into worker_slots (worker, pool, lane, slots, seen_at) values ($1, 'workflow', $2, 4, ${more})`, [
    newId(),
    lane,
  ]);

async function newOwner(): Promise<{ workspaceId: string; memberId: string }> {
  const [workspaceId, memberId] = [await createWorkspace(db.database), newId()];
  await db.query("insert into member (id, workspace_id, name, role) values ($1, $2, 'ada', 'developer')", [
    memberId,
    workspaceId,
  ]);
  return { workspaceId, memberId };
}

/** Runs that went on `age` seconds ago, one second apart. */
async function runsOf(
  owner: Awaited<ReturnType<typeof newOwner>>,
  count: number,
  { lane = "live", status = "running", age = 1_000 }: { lane?: string; status?: string; age?: number } = {},
): Promise<string[]> {
  const rows = await db.query<{ id: string }>(
    `insert into run (id, workspace_id, key_id, member_id, definition, mode, lane, max_attempts, status, progressed_at, ended_at)
     select gen_random_uuid(), $1, $1, $2, '{}', 'async', $3, 1, $4::text, now() - ($5 - n) * interval '1 second',
       case when $4::text = 'succeeded' then now() - ($5 - n) * interval '1 second' end
     from generate_series(0, $6::int - 1) n returning id`,
    [owner.workspaceId, owner.memberId, lane, status, age, count],
  );
  return rows.map(({ id }) => id);
}

/** A job of each run that ended long ago, and that the run was not told of. */
async function endJobsOf(runs: readonly string[]): Promise<void> {
  for (const run of runs) {
    const job = newId();
    await db.query(
      `insert into job (id, workspace_id, pool, lane, kind, modality, state, deadline, work, ended_at)
       values ($1, $1, 'chat', 'live', 'chat', 'text', 'completed', now(), '{}', now() - interval '1 minute')`,
      [job],
    );
    await db.query(
      `insert into step_item (run_id, step_id, attempt, item, status, work_id, rev) values ($1, 'a', 1, 0, 'running', $2, 1)`,
      [run, job],
    );
  }
}

const idsOf = (runs: readonly WaitingRun[]): string[] => runs.map(({ id }) => id).toSorted();
const ended = () => takeRunsOfEndedJobs(db.database, 5_000, WORDS);

describe("a run whose notice was lost", () => {
  test("is resumed periodically, so that others have their turn; and immediately after progress", async () => {
    await workerOf("live");
    const runs = await runsOf(await newOwner(), 7);
    await endJobsOf(runs);
    const told = [await ended(), await ended(), await ended(), await ended()].map(idsOf);
    expect(told.map(({ length }) => length)).toEqual([3, 3, 1, 0]);
    expect(told.flat().toSorted()).toEqual(runs.toSorted());
    const [first = "", second = "", third = ""] = runs;
    await db.query("update run set woken_at = now() - interval '59 seconds' where id = $1", [first]);
    expect(await ended()).toEqual([]);
    await db.query("update run set woken_at = now() - interval '61 seconds' where id = $1", [first]);
    await db.query("update run set woken_at = null where id = $1", [second]);
    await giveUpRun(db.database, third);
    expect(idsOf(await ended())).toEqual([first, second, third].toSorted());
  });

  test("waits for none of another workspace's, for any number and age", async () => {
    await workerOf("live");
    const loud = await runsOf(await newOwner(), 20, { age: 5_000 });
    const quiet = await runsOf(await newOwner(), 1, { age: 10 });
    await endJobsOf([...loud, ...quiet]);
    const told = await ended();
    expect(idsOf(told)).toContain(quiet[0] ?? "");
    expect(told.length).toBe(3);
  });

  test("is resumed if a worker reads notices of its lane, and not before: they would only wait on the queue", async () => {
    const owner = await newOwner();
    const [live, batch] = [await runsOf(owner, 1), await runsOf(owner, 1, { lane: "batch" })];
    await endJobsOf([...live, ...batch]);
    expect(await ended()).toEqual([]);
    await workerOf("live", "now() - interval '50 seconds'");
    expect(await ended()).toEqual([]);
    await workerOf("live");
    expect(idsOf(await ended())).toEqual(live);
    await workerOf("batch");
    expect(idsOf(await ended())).toEqual(batch);
  });

  test("is found regardless of its dependency", async () => {
    await workerOf("live");
    const owner = await newOwner();
    const [child = "", parent = "", due = "", step = "", late = "", queued = ""] = [
      ...(await runsOf(owner, 1, { status: "succeeded" })),
      ...(await runsOf(owner, 4)),
      ...(await runsOf(owner, 1, { status: "queued" })),
    ];
    await db.query(
      "insert into step_item (run_id, step_id, attempt, item, status, work_id, is_run, rev) values ($1, 'a', 1, 0, 'running', $2, true, 1)",
      [parent, child],
    );
    await db.query(
      "update run set parent_id = $2, parent_step = 'a', parent_attempt = 1, parent_index = 0 where id = $1",
      [child, parent],
    );
    await db.query("update run set due_at = now() - interval '1 second' where id = $1", [due]);
    await db.query(
      `insert into step_run (run_id, step_id, attempt, seq, run_attempt, type, status, due_at, rev)
       values ($1, 'a', 2, 1, 1, 'model', 'queued', now() - interval '1 second', 1)`,
      [step],
    );
    await db.query(
      `insert into step_item (run_id, step_id, attempt, item, status, work_id, late_at, rev)
       values ($1, 'a', 1, 0, 'running', $2, now() - interval '1 second', 1)`,
      [late, newId()],
    );
    expect(idsOf(await takeRunsOfEndedRuns(db.database, 5_000, WORDS))).toEqual([parent]);
    expect(idsOf(await takeDueRuns(db.database, WORDS))).toEqual([due, step, late].toSorted());
    expect(idsOf(await takeDueRuns(db.database, WORDS))).toEqual([]);
    expect(idsOf(await takeUnbegunRuns(db.database, 5_000, WORDS))).toEqual([queued]);
    // Its parent knows of it.
    await db.query("update run set woken_at = null where id = $1", [parent]);
    await db.query("update run set parent_credits = credits where id = $1", [child]);
    await db.query("update step_item set credits = 0 where work_id = $1", [child]);
    expect(await takeRunsOfEndedRuns(db.database, 5_000, WORDS)).toEqual([]);
    // More came to it afterwards.
    await db.query("update run set credits = 7 where id = $1", [child]);
    expect(idsOf(await takeRunsOfEndedRuns(db.database, 5_000, WORDS))).toEqual([parent]);
  });
});

test("open work is checked in batches, each once per round, and then again", async () => {
  await workerOf("live");
  const runs = await runsOf(await newOwner(), 7);
  await endJobsOf(runs);
  let span = ALL_WORK;
  const told: string[][] = [];
  for (let turn = 0; turn < 4; turn += 1) {
    span = await nextOpenWork(db.database, span, 3);
    told.push(idsOf(await takeRunsOfEndedJobs(db.database, 5_000, { ...WORDS, max: 100 }, span)));
  }
  expect(told.map(({ length }) => length)).toEqual([3, 3, 1, 0]);
  expect(told.flat().toSorted()).toEqual(runs.toSorted());
  // The fourth turn began anew.
  expect(span.after).toBe(ALL_WORK.after);
});

test("a stalled run is detected without a worker, and sent to one", async () => {
  const [run = ""] = await runsOf(await newOwner(), 1);
  const look = () => takeStalledRuns(db.database, { olderMs: AGAIN_MS, max: 10 });
  for (let at = 0; at < 2; at += 1) expect(await look()).toMatchObject([{ id: run, is_taken: false }]);
  await workerOf("live");
  const [taken] = await look();
  expect(taken).toMatchObject({ id: run, is_taken: true, lane: "live" });
  expect(taken?.seconds).toBeGreaterThan(900);
  expect(await look()).toEqual([]);
});

test("batches over a part share the stalled runs: each is resumed, and after the last they start again", async () => {
  const owner = await newOwner();
  const runs: string[] = [];
  for (const age of [905, 904, 903, 902, 901]) runs.push(...(await runsOf(owner, 1, { age })));
  await workerOf("live");
  const told: string[][] = [];
  let span = ALL_RUNS;
  for (let turn = 0; turn < 4; turn += 1) {
    span = await nextOldRuns(db.database, span, AGAIN_MS, 2);
    told.push(idsOf(await takeStalledRuns(db.database, { olderMs: AGAIN_MS, max: 10 }, span)));
  }
  expect(told).toEqual([runs.slice(0, 2).toSorted(), runs.slice(2, 4).toSorted(), runs.slice(4), []]);
  expect(span.after).toBe(ALL_RUNS.after);
});

describe("a publisher's run", () => {
  const publish = (ids: readonly string[], told: boolean) =>
    db.query("update run set told = $2 where id = any ($1::uuid[])", [[...ids], told]);

  test("that has ended is found until its publisher was notified, and not while its worker may be about to", async () => {
    const owner = await newOwner();
    const [untold, told, fresh, open] = [
      await runsOf(owner, 1, { status: "succeeded" }),
      await runsOf(owner, 1, { status: "succeeded" }),
      await runsOf(owner, 1, { status: "succeeded", age: 0 }),
      await runsOf(owner, 1),
    ];
    await runsOf(owner, 1, { status: "succeeded" });
    await publish([...untold, ...fresh, ...open], false);
    await publish(told, true);
    expect(await findUnreportedRuns(db.database, 10)).toEqual(untold.map((id) => ({ id })));
  });

  test("is late when no worker has started it in time, and not if a worker had it, or no publisher requested it", async () => {
    const owner = await newOwner();
    const [late, begun, fresh, running] = [
      await runsOf(owner, 1, { status: "queued" }),
      await runsOf(owner, 1, { status: "queued" }),
      await runsOf(owner, 1, { status: "queued", age: 10 }),
      await runsOf(owner, 1),
    ];
    await runsOf(owner, 1, { status: "queued" });
    await publish([...late, ...begun, ...fresh, ...running], false);
    // It failed, and waits for its next attempt.
    await db.query("update run set started_at = now() where id = any ($1::uuid[])", [begun]);
    expect(await findLateRuns(db.database, 60_000, 10)).toEqual(late.map((id) => ({ id })));
    // A worker may begin one before it is ended.
    const why = { code: "overloaded", message: "late", ifUnbegun: true };
    const isEnded = await Promise.all([...late, ...begun, ...running].map((id) => giveUpRun(db.database, id, why)));
    expect(isEnded).toEqual([true, false, false]);
  });
});

describe("texts of runs in the object store", () => {
  let storage: Storage;
  beforeAll(async () => {
    storage = openStorage((await createTestBucket()).settings);
  });
  afterAll(() => storage.close());

  /** A store whose objects have lain there for two hours. */
  function aged(): Storage {
    const send = async (command: ListObjectsCommand, options: { abortSignal: AbortSignal }): Promise<unknown> => {
      const answer = await storage.client.send(command, options);
      for (const object of answer.Contents ?? []) object.LastModified = new Date(Date.now() - 2 * 3_600_000);
      return answer;
    };
    return { ...storage, client: { send } as unknown as Storage["client"] };
  }

  test("are deleted without a run: it was rejected, its process died, or it was deleted", async () => {
    const [run = ""] = await runsOf(await newOwner(), 1);
    const gone = newId();
    const kept = await storeRunInput(storage, run, "kept", "1");
    await db.query("update run set input_ref = $2, input_bytes = 1 where id = $1", [run, kept]);
    // One of a refused try; one of a run that never came to be, or is no more.
    await storeRunInput(storage, run, "refused", "2");
    await storeRunInput(storage, gone, "x", "3");
    await storeRunOutput(storage, run, "a/1/0", "4");
    await storeRunOutput(storage, gone, "a/1/0", "5");
    const sweep = (from: Storage) => sweepRunTexts({ storage: from, database: db.database, log: LOG }, 2);
    expect(await sweep(storage)).toBe(0);
    expect(await sweep(aged())).toBe(3);
    const left = [listRunInputs(storage), listRunOutputs(storage)].map(async (pages) =>
      (await Array.fromAsync(pages)).flat().map(({ key }) => key),
    );
    expect((await Promise.all(left)).flat()).toEqual([`run-inputs/${run}/kept`, `runs/${run}/a/1/0`]);
    expect(await sweep(aged())).toBe(0);
  });
});

const LOG = createLogger({ level: "silent", role: "test" });
