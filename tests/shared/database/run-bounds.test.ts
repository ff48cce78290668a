/** Bounds of a workspace's runs and workflows are exact, however many begin at once, and the bytes that they stored are freed. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { Actor } from "#shared/database/audit-log.ts";
import { auditStorage } from "#shared/database/file-sweeps.ts";
import { storedBytes } from "#shared/database/files.ts";
import { dropEndedRuns, dropRunInputs } from "#shared/database/run-sweeps.ts";
import { giveUpRun } from "#shared/database/run-work.ts";
import { insertRun, type NewRun, RUN_ROW_BYTES, ACTIVE_RUNS_MAX } from "#shared/database/runs.ts";
import {
  deleteWorkflow,
  emptyWorkflow,
  findDefinition,
  findUnemptied,
  insertWorkflow,
  updateWorkflow,
  type WorkflowReader,
  WORKFLOWS_PER_WORKSPACE_MAX,
  WORKFLOW_VERSIONS_MAX,
} from "#shared/database/workflows.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

import { type RunSweepContext, sweepEndedRuns } from "#workers/janitor/runs.ts";

import { createWorkspace } from "../accounts.ts";
import { newRun } from "../jobs/jobs.ts";

const GIGABYTE = 1_073_741_824;
const HOUR_MS = 3_600_000;
const BLOCK = BigInt(RUN_ROW_BYTES);
const actor: Actor = { type: "operator", id: "tester" };

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(async () => {
  expect(await auditStorage(db.database)).toEqual([]);
  await db.drop();
});

interface Owner extends WorkflowReader {
  readonly keyId: string;
}

async function newOwner(): Promise<Owner> {
  const [workspaceId, memberId] = [await createWorkspace(db.database), newId()];
  await db.query("insert into member (id, workspace_id, name, role) values ($1, $2, 'ada', 'developer')", [
    memberId,
    workspaceId,
  ]);
  return { workspaceId, memberId, keyId: newId(), seesAll: false };
}

const childOf = (id: string, more: Partial<NewRun> = {}): Partial<NewRun> => ({
  parent: { id, stepId: "sub", attempt: 1, index: 0 },
  depth: 1,
  ...more,
});
const begin = async (run: NewRun, storageBytesMax = GIGABYTE) =>
  (await insertRun(db.database, run, storageBytesMax)).verdict;
const countOf = (values: readonly string[]) =>
  Object.fromEntries(
    Map.groupBy(values, (value) => value)
      .entries()
      .map(([value, all]) => [value, all.length]),
  );
const inputOf = (bytes: number): Partial<NewRun> => ({ input: `"${"x".repeat(bytes - 2)}"`, inputBytes: bytes });

describe("open runs", () => {
  test("are limited, for concurrent starts too; runs of steps do not count", async () => {
    const owner = await newOwner();
    const first = newRun(owner);
    expect(await begin(first)).toBe("begun");
    await db.query(
      `insert into run (id, workspace_id, key_id, member_id, definition, mode, lane, max_attempts)
       select gen_random_uuid(), $1, $2, $3, '{}', 'async', 'batch', 1 from generate_series(1, $4::int)`,
      [owner.workspaceId, owner.keyId, owner.memberId, ACTIVE_RUNS_MAX - 5],
    );
    const verdicts = await Promise.all(Array.from({ length: 12 }, () => begin(newRun(owner))));
    expect(countOf(verdicts)).toEqual({ begun: 4, crowded: 8 });
    expect(await begin(newRun(owner, childOf(first.id)))).toBe("begun");
    expect(await begin(newRun(await newOwner()))).toBe("begun");
    await giveUpRun(db.database, first.id);
    expect(countOf(await Promise.all([begin(newRun(owner)), begin(newRun(owner))]))).toEqual({ begun: 1, crowded: 1 });
  });

  test("start once under an id or an idempotency key, and a repeat takes no capacity", async () => {
    const owner = await newOwner();
    const run = newRun(owner, { idempotencyKey: "once", fingerprint: "f", ...inputOf(50_000) });
    const verdicts = await Promise.all([
      begin(run),
      begin(run),
      begin({ ...run, id: newId() }),
      begin({ ...run, id: newId() }),
    ]);
    expect(countOf(verdicts)).toEqual({ begun: 1, known: 3 });
    expect(await storedBytes(db.database, owner.workspaceId)).toBe(13n * BLOCK);
  });

  test("have the run of their caller as root, at any depth", async () => {
    const owner = await newOwner();
    const root = newRun(owner);
    const child = newRun(owner, childOf(root.id));
    const grandchild = newRun(owner, childOf(child.id, { depth: 2 }));
    for (const run of [root, child, grandchild]) expect(await begin(run)).toBe("begun");
    const rows = await db.query<{ id: string; root_id: string | null }>(
      "select id, root_id from run where workspace_id = $1 order by depth",
      [owner.workspaceId],
    );
    expect(rows.map(({ root_id }) => root_id)).toEqual([null, root.id, root.id]);
    await giveUpRun(db.database, root.id);
    expect(await begin(newRun(owner, childOf(child.id, { depth: 2 })))).toBe("over");
  });
});

describe("the storage of runs", () => {
  test("counts for the workspace in blocks, and no run starts beyond it, for concurrent starts too", async () => {
    const owner = await newOwner();
    // A run of 25 blocks: its row, its input, and what is left of a block.
    const limit = 110 * RUN_ROW_BYTES;
    const verdicts = await Promise.all(
      Array.from({ length: 10 }, () => begin(newRun(owner, inputOf(24 * RUN_ROW_BYTES)), limit)),
    );
    expect(countOf(verdicts)).toEqual({ begun: 4, full: 6 });
    expect(await storedBytes(db.database, owner.workspaceId)).toBe(100n * BLOCK);
    expect(await begin(newRun(owner, inputOf(9 * RUN_ROW_BYTES)), limit)).toBe("begun");
    expect(await begin(newRun(owner), limit)).toBe("full");
  });

  test("is freed with an input some time after the end, and with the run", async () => {
    const owner = await newOwner();
    const root = newRun(owner, { inputRef: "run-inputs/here#sum", ...inputOf(1_000_000) });
    const child = newRun(owner, childOf(root.id, inputOf(60_000)));
    for (const run of [root, child]) expect(await begin(run)).toBe("begun");
    const used = () => storedBytes(db.database, owner.workspaceId);
    expect(await used()).toBe((1n + 244n + 14n) * BLOCK);
    for (const { id } of [child, root]) await giveUpRun(db.database, id);
    await dropRunInputs(db.database, HOUR_MS, 100);
    expect(await used()).toBe(259n * BLOCK);
    await db.query("update run set ended_at = now() - interval '2 hours' where workspace_id = $1", [owner.workspaceId]);
    expect(await dropRunInputs(db.database, HOUR_MS, 100)).toEqual({ count: 2, references: ["run-inputs/here#sum"] });
    expect(await dropRunInputs(db.database, HOUR_MS, 100)).toEqual({ count: 0, references: [] });
    expect(await used()).toBe(BLOCK);
    const inputs = await db.query("select 1 from run where workspace_id = $1 and (input is not null or input_ref is not null)", [
      owner.workspaceId,
    ]); // prettier-ignore
    expect(inputs).toEqual([]);
    expect((await dropEndedRuns(db.database, HOUR_MS, 100)).count).toBe(2);
    expect(await used()).toBe(0n);
  });
});

test("a nearly full workspace keeps its runs of the last day, and as many older ones as fit", async () => {
  const [owner, other] = [await newOwner(), await newOwner()];
  const limit = 100 * RUN_ROW_BYTES;
  const runs: string[] = [];
  // Ten of nine blocks each: a caller's run, its step's, and theirs.
  for (let at = 0; at < 10; at += 1) {
    const root = newRun(owner, inputOf(4 * RUN_ROW_BYTES));
    const child = newRun(owner, childOf(root.id, inputOf(2 * RUN_ROW_BYTES)));
    const last = newRun(owner, childOf(child.id, { depth: 2, ...inputOf(2 * RUN_ROW_BYTES) }));
    for (const run of [root, child, last]) expect(await begin(run, limit)).toBe("begun");
    for (const { id } of [last, child, root]) await giveUpRun(db.database, id);
    runs.push(root.id);
  }
  const kept = newRun(other, inputOf(20 * RUN_ROW_BYTES));
  await begin(kept, limit);
  await giveUpRun(db.database, kept.id);
  const used = async () => Number(await storedBytes(db.database, owner.workspaceId)) / RUN_ROW_BYTES;
  expect(await used()).toBe(90);
  // The newest three ended less than a day ago.
  await db.query("update run set ended_at = now() - interval '30 hours', created_at = now() - interval '30 hours' where workspace_id = $1 and id < $2", [
    owner.workspaceId,
    runs[7] ?? "",
  ]); // prettier-ignore
  const sweep = (storageBytesMax: number) =>
    sweepEndedRuns({ database: db.database, log: createLogger({ level: "silent", role: "test" }) } as RunSweepContext, {
      runHours: 720,
      inputHours: 720,
      storageBytesMax,
    });
  await sweep(101 * RUN_ROW_BYTES);
  expect(await used()).toBe(90);
  await sweep(40 * RUN_ROW_BYTES);
  const left = await db.query<{ id: string }>("select id from run where workspace_id = $1 and parent_id is null order by id", [
    owner.workspaceId,
  ]); // prettier-ignore
  expect(left.map(({ id }) => id)).toEqual(runs.slice(7));
  expect(await used()).toBe(27);
  expect(await db.query("select 1 from run where workspace_id = $1", [owner.workspaceId])).toHaveLength(9);
  expect(await db.query("select 1 from run where id = $1", [kept.id])).toHaveLength(1);
});

describe("workflows", () => {
  const written = (bytes: number) => ({
    name: "one",
    description: "",
    sharingScope: "private" as const,
    sharePermission: "read" as const,
    definition: `{"a":"${"x".repeat(bytes - 8)}"}`,
  });
  const store = (owner: Owner, id = newId(), bytes = 100, limit = GIGABYTE) =>
    insertWorkflow(db.database, owner, id, written(bytes), actor, limit);
  const change = (owner: Owner, id: string, bytes: number, limit = GIGABYTE) =>
    updateWorkflow(db.database, owner, id, { ...written(bytes), name: null }, actor, limit);

  test("are limited in number, for concurrent creations too", async () => {
    const owner = await newOwner();
    await db.query(
      "insert into workflow (id, workspace_id, name, created_by) select gen_random_uuid(), $1, 'w', $2 from generate_series(1, $3::int)",
      [owner.workspaceId, owner.memberId, WORKFLOWS_PER_WORKSPACE_MAX - 2],
    );
    const id = newId();
    const verdicts = [await store(owner, id), ...(await Promise.all([store(owner), store(owner), store(owner)]))];
    expect(countOf(verdicts)).toEqual({ made: 2, crowded: 2 });
    await deleteWorkflow(db.database, owner, id, actor);
    expect(countOf(await Promise.all([store(owner), store(owner)]))).toEqual({ made: 1, crowded: 1 });
  });

  test("are limited in versions, and other changes are free", async () => {
    const owner = await newOwner();
    const id = newId();
    await store(owner, id);
    await db.query("update workflow set latest_version = $2 where id = $1", [id, WORKFLOW_VERSIONS_MAX - 1]);
    expect(await change(owner, id, 50)).toMatchObject({ latest_version: WORKFLOW_VERSIONS_MAX });
    expect(await change(owner, id, 50)).toBe("crowded");
    const other = { ...written(50), name: "other", definition: null };
    expect(await updateWorkflow(db.database, owner, id, other, actor, 0)).toMatchObject({ name: "other" });
    expect(await change(owner, newId(), 50)).toBe("gone");
    expect(await storedBytes(db.database, owner.workspaceId)).toBe(150n);
  });

  test("count in the storage with every version, within the limit", async () => {
    const owner = await newOwner();
    const id = newId();
    expect(await store(owner, id, 100_000, 250_000)).toBe("made");
    expect(await change(owner, id, 100_000, 250_000)).toMatchObject({ latest_version: 2 });
    expect(await change(owner, id, 50_001, 250_000)).toBe("full");
    expect(await store(owner, newId(), 50_001, 250_000)).toBe("full");
    expect(await storedBytes(db.database, owner.workspaceId)).toBe(200_000n);
    expect(await findDefinition(db.database, id, 3)).toBeUndefined();
    expect(await store(owner, newId(), 50_000, 250_000)).toBe("made");
  });

  test("free their storage when they are deleted, and not before the last run that needs them has ended", async () => {
    const owner = await newOwner();
    const [idle, busy] = [newId(), newId()];
    for (const id of [idle, busy]) await store(owner, id, 10_000);
    const run = newRun(owner, { workflow: { id: busy, version: 1 }, definition: null });
    expect(await begin(run)).toBe("begun");
    const used = async () => (await storedBytes(db.database, owner.workspaceId)) - BLOCK;
    for (const id of [idle, busy]) await deleteWorkflow(db.database, owner, id, actor);
    expect(await used()).toBe(10_000n);
    expect(await findDefinition(db.database, busy, 1)).toBeDefined();
    expect(await findUnemptied(db.database, 1_000)).not.toContain(busy);
    await giveUpRun(db.database, run.id);
    expect(await findUnemptied(db.database, 1_000)).toContain(busy);
    await Promise.all([emptyWorkflow(db.database, busy), emptyWorkflow(db.database, busy)]);
    expect(await used()).toBe(0n);
    expect(await findDefinition(db.database, busy, 1)).toBeUndefined();
    expect(await begin(newRun(owner, { workflow: { id: busy, version: 1 }, definition: null }))).toBe("gone");
  });

  test("keep a definition from deletion while a run of them starts", async () => {
    for (let round = 0; round < 20; round += 1) {
      const owner = await newOwner();
      const id = newId();
      await store(owner, id);
      const [verdict] = await Promise.all([
        begin(newRun(owner, { workflow: { id, version: 1 }, definition: null })),
        deleteWorkflow(db.database, owner, id, actor),
      ]);
      const definition = await findDefinition(db.database, id, 1);
      expect(["begun", "gone"]).toContain(verdict);
      expect(definition !== undefined).toBe(verdict === "begun");
    }
  });
});
