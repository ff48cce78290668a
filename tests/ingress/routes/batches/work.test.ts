/** Bounds of a batch's input, and parts of its files that a store has changed or leaders have left, over real Postgres and S3. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { createHash } from "node:crypto";

import { endLed } from "#ingress/routes/batches/end.ts";
import { forgetHeldByOthers } from "#ingress/routes/batches/feed.ts";
import { batchName } from "#ingress/routes/batches/ids.ts";
import { Parts, readPart } from "#ingress/routes/batches/parts.ts";
import { targetOf } from "#ingress/routes/batches/read-line.ts";
import { validateBatch } from "#ingress/routes/batches/validate.ts";
import {
  type BatchLine,
  endLines,
  leadBatch,
  releaseBatch,
  runningLines,
  Superseded,
  takeLines,
} from "#shared/database/batch-work.ts";
import { validate as validateSchema } from "#shared/json/contracts.ts";
import { storedBytes } from "#shared/database/files.ts";
import { anyMember } from "#shared/database/viewer.ts";
import { type BatchRow, cancelBatch, findBatch, insertBatch, OPEN_BATCHES_MAX } from "#shared/database/batches.ts";
import { type Database, openDatabase, type Queryable } from "#shared/database/client.ts";
import { insertRun, type NewRun } from "#shared/database/runs.ts";
import { newId } from "#shared/base/ids.ts";
import { createJobAdmission, type JobRequest, toAdmissionRequest } from "#shared/jobs/admission.ts";
import { createMetrics, type Metrics } from "#shared/metrics/metrics.ts";
import { listObjects, putObject } from "#shared/storage/objects.ts";
import { createWorkspace, type Workspace } from "#tests/faults/bed.ts";
import { type FileBench, log, openFileBench, storeFile } from "#tests/shared/files/bench.ts";
import { jobRequest, newRun } from "#tests/shared/jobs/jobs.ts";
import { sweepBatches, sweepBatchParts, watchBatches } from "#workers/janitor/batches.ts";

let bench: FileBench;
let workspace: Workspace;
let metrics: Metrics;
beforeAll(async () => {
  bench = await openFileBench();
  workspace = await createWorkspace(bench.db, { creditsNano: 1n });
  metrics = createMetrics("test");
}, 60_000);
afterAll(async () => {
  metrics?.close();
  await bench?.close();
});

/** Samples of batches, by name and value of the label. */
async function samplesOfBatches(): Promise<Record<string, number>> {
  const page = await metrics.registry.metrics();
  const lines = page.matchAll(/^sluice_(batch\w*)\{(?:\w+="(\w+)",)?role="test"\} (\S+)$/gm);
  return Object.fromEntries(Array.from(lines, ([, name = "", label, value]) => [label === undefined ? name : `${name} ${label}`, Number(value)])); // prettier-ignore
}

const LEASE_MS = 60_000;
const CHAT = "/v1/chat/completions";

/** A batch over these bytes, led by us. */
async function lead(bytes: Uint8Array, endpoint = CHAT): Promise<BatchRow> {
  const { database } = bench.db;
  const id = newId();
  const input_file_id = await storeFile(bench.uploads, workspace.id, bytes);
  const owned = { id, workspace_id: workspace.id, key_id: workspace.keyId, fingerprint: null, repeatId: null };
  await insertBatch(database, {
    ...owned,
    endpoint,
    input_file_id,
    metadata: null,
    output_expires_s: null,
    windowMs: 60_000,
  });
  const batch = await leadBatch(database, LEASE_MS, 100);
  if (batch?.id !== id) throw new Error("another batch is led");
  return batch;
}

/** @param bounds those of every batch unless they are named: 50,000 lines are validated in soak (tests/faults/batch-size.alone.nightly.test.ts) */
async function validate(
  batch: BatchRow,
  bounds?: { lines?: number; inputs?: number; keptLines?: number },
  storageBytesMax = 10 ** 12,
): Promise<boolean> {
  const target = targetOf(batch.endpoint);
  if (!target) throw new Error("no such endpoint");
  const context = { ...bench, database: bench.db.database, metrics, config: { storageBytesMax } };
  return validateBatch(context, batch, target, () => true, bounds);
}

async function linesOf({ id }: Pick<BatchRow, "id">): Promise<bigint | undefined> {
  const [row] = await bench.db.query<{ lines: bigint }>(
    "select count(*) as lines from batch_line where batch_id = $1",
    [id],
  );
  return row?.lines;
}

async function faultsOf({ id, workspace_id }: BatchRow): Promise<{ line: number | null; code: string }[]> {
  const row = await findBatch(bench.db.database, anyMember(workspace_id), id);
  return JSON.parse(row?.errors ?? "[]") as { line: number | null; code: string }[];
}

const chatLine = (at: number, content = "x"): string =>
  JSON.stringify({ custom_id: `${at}`, method: "POST", url: CHAT, body: { model: "m", messages: [{ role: "user", content }] } }); // prettier-ignore

describe("an input", () => {
  test("with the maximum number of lines is accepted, with one more rejected", async () => {
    const bounds = { lines: 1_200, inputs: 50_000 };
    const lines = Array.from({ length: 1_200 }, (_, at) => chatLine(at)).join("\n");
    const taken = await lead(Buffer.from(lines));
    expect(await validate(taken, bounds)).toBe(true);
    expect(await findBatch(bench.db.database, anyMember(workspace.id), taken.id)).toMatchObject({
      total: 1_200,
      model: "m",
    });
    const refused = await lead(Buffer.from(`${lines}\n${chatLine(1_200)}`));
    expect(await validate(refused, bounds)).toBe(false);
    expect(await faultsOf(refused)).toMatchObject([{ line: null, code: "too_many_lines" }]);
  }, 60_000);

  test("of more than 50,000 texts for embeddings is rejected", async () => {
    const url = "/v1/embeddings";
    const line = (at: number, count: number): string =>
      JSON.stringify({
        custom_id: `${at}`,
        method: "POST",
        url,
        body: { model: "m", input: Array<string>(count).fill("a") },
      });
    const full = [...Array.from({ length: 24 }, (_, at) => line(at, 2_048)), line(24, 848)];
    expect(await validate(await lead(Buffer.from(full.join("\n")), url))).toBe(true);
    const refused = await lead(Buffer.from([...full, line(25, 1)].join("\n")), url);
    expect(await validate(refused)).toBe(false);
    expect(await faultsOf(refused)).toMatchObject([{ line: null, code: "too_many_inputs" }]);
  });

  test("has lines of 8 MiB at most", async () => {
    const around = chatLine(1, "").length;
    const fits = chatLine(1, "x".repeat(8 * 1_048_576 - around));
    expect(await validate(await lead(Buffer.from(`${fits}\n${chatLine(2)}`)))).toBe(true);
    const refused = await lead(Buffer.from(`${fits} \n${chatLine(2)}`));
    expect(await validate(refused)).toBe(false);
    expect(await faultsOf(refused)).toMatchObject([{ line: 1, code: "line_too_long" }]);
  });

  test("has no long line of blanks, and no more short blank lines than lines", async () => {
    const blanks = await lead(Buffer.from(`${chatLine(1)}\n${" ".repeat(8 * 1_048_576)}`));
    expect(await validate(blanks)).toBe(false);
    expect(await faultsOf(blanks)).toMatchObject([{ line: 2, code: "invalid_json_line" }]);
    const bounds = { lines: 100, inputs: 100 };
    expect(await validate(await lead(Buffer.from(`${" \n".repeat(100)}${chatLine(1)}`)), bounds)).toBe(true);
    const empty = await lead(Buffer.from(`${chatLine(1)}\n${"\n".repeat(101)}${chatLine(2)}`));
    expect(await validate(empty, bounds)).toBe(false);
    expect(await faultsOf(empty)).toMatchObject([{ line: null, code: "too_many_lines" }]);
  }, 20_000);

  test("reserves storage for its lines until it is deleted, and fails without storage", async () => {
    const stored = () => storedBytes(bench.db.database, workspace.id);
    const batch = await lead(Buffer.from([chatLine(1), chatLine(2)].join("\n")));
    const before = await stored();
    expect(await validate(batch, {}, Number(before))).toBe(false);
    expect(await faultsOf(batch)).toMatchObject([{ line: null, code: "storage_limit_exceeded" }]);
    expect([await stored(), await linesOf(batch)]).toEqual([before, 0n]);
    const next = await lead(Buffer.from([chatLine(1), chatLine(2)].join("\n")));
    const empty = await stored();
    expect(await validate(next)).toBe(true);
    expect(await stored()).toBe(empty + 4_096n);
    expect(await bench.db.query("select * from audit_storage()")).toEqual([]);
    await bench.db.query("delete from batch where id = $1", [next.id]);
    expect(await stored()).toBe(empty);
  });

  test("is limited by the lines of all stored batches of its workspace", async () => {
    const [kept] = await bench.db.query<{ lines: bigint }>(
      "select coalesce(sum(total), 0)::bigint as lines from batch where workspace_id = $1",
      [workspace.id],
    );
    const keptLines = Number(kept?.lines ?? 0n) + 3;
    expect(await validate(await lead(Buffer.from([chatLine(1), chatLine(2)].join("\n"))), { keptLines })).toBe(true);
    const refused = await lead(Buffer.from([chatLine(1), chatLine(2)].join("\n")));
    expect(await validate(refused, { keptLines })).toBe(false);
    expect(await faultsOf(refused)).toMatchObject([{ line: null, code: "too_many_lines" }]);
    expect(await linesOf(refused)).toBe(0n);
  });

  test("is validated again by the next leader, which finds no line twice", async () => {
    const batch = await lead(Buffer.from([chatLine(1), chatLine(2)].join("\n")));
    expect(await validate(batch)).toBe(true);
    await bench.db.query("update batch set state = 'validating' where id = $1", [batch.id]);
    expect(await validate(batch)).toBe(true);
    const [count] = await bench.db.query("select count(*) as lines from batch_line where batch_id = $1", [batch.id]);
    expect(count).toEqual({ lines: 2n });
  });
});

describe("a batch whose leader is lost", () => {
  const lose = (ms: number, { id }: Pick<BatchRow, "id">) =>
    bench.db.query("update batch set lease_until = now() - $2 * interval '1 ms' where id = $1", [id, ms]);
  const lostOf = async ({ id }: Pick<BatchRow, "id">): Promise<unknown> =>
    (await findBatch(bench.db.database, anyMember(workspace.id), id))?.turns_lost;

  test("waits longer each time, and counts until it makes progress", async () => {
    const { database } = bench.db;
    let batch = await lead(Buffer.from([chatLine(1), chatLine(2)].join("\n")));
    for (const lost of [1, 2, 3]) {
      await lose(lost * LEASE_MS, batch);
      batch = (await leadBatch(database, LEASE_MS, 100)) ?? batch;
      expect([batch.turns_lost, await lostOf(batch)]).toEqual([lost, lost]);
    }
    // Somewhere between nothing and three leases, as its id says: not at once.
    const waits: boolean[] = [];
    for (const epoch of Array.from({ length: 20 }, (_, at) => at + 100)) {
      await bench.db.query("update batch set epoch = $2, turns_lost = 3 where id = $1", [batch.id, epoch]);
      await lose(LEASE_MS, batch);
      waits.push((await leadBatch(database, LEASE_MS, 100)) === undefined);
    }
    expect(new Set(waits)).toEqual(new Set([true, false]));

    await lose(10 * LEASE_MS, batch);
    batch = (await leadBatch(database, LEASE_MS, 100)) ?? batch;
    expect(await validate(batch)).toBe(true);
    expect(await lostOf(batch)).toBe(0);
    await lose(LEASE_MS, batch);
    batch = (await leadBatch(database, LEASE_MS, 100)) ?? batch;
    await takeLines(database, batch, 2);
    const part = { isOutput: true, key: `none ${batch.id}`, sha256: new Uint8Array(32), lines: [{ number: 1, bytes: 1 }] };
    expect([await lostOf(batch), await endLines(database, batch, part), await lostOf(batch)]).toEqual([1, true, 0]);
    await lose(LEASE_MS, batch);
    batch = (await leadBatch(database, LEASE_MS, 100)) ?? batch;
    await releaseBatch(database, batch, 3_600_000);
    expect(await lostOf(batch)).toBe(0);
  }); // prettier-ignore

  test("before it deleted a rejection delays that line nevertheless", async () => {
    const { database } = bench.db;
    const batch = await lead(Buffer.from([1, 2, 3].map((at) => chatLine(at)).join("\n")));
    await validate(batch);
    const lines = (await takeLines(database, batch, 2)) ?? [];
    const codes = ["insufficient_credits", "model_not_found"];
    await bench.db.query(
      `insert into job (id, workspace_id, key_id, pool, lane, kind, modality, state, work, error, ended_at, deadline)
       select l.id, $2, $3, 'chat', 'batch', 'chat', 'text', 'refused', '{}', jsonb_build_object('code', l.code), now(), now()
       from unnest($1::uuid[], $4::text[]) l(id, code)`,
      [lines.map((line) => line.job_id), workspace.id, workspace.keyId, codes],
    );
    await forgetHeldByOthers({ database }, { ...batch, epoch: batch.epoch - 1 });
    const before = await runningLines(database, batch.id);
    expect(before.map((line) => line.is_admitted)).toEqual([true, true]);
    await forgetHeldByOthers({ database }, batch);
    const after = await runningLines(database, batch.id);
    expect(after.map((line) => line.is_admitted)).toEqual([false, true]);
  });
});

describe("a line of a batch", () => {
  async function leadTwo(): Promise<BatchRow> {
    const batch = await lead(Buffer.from([chatLine(1), chatLine(2)].join("\n")));
    await validate(batch);
    return batch;
  }
  const statesOf = ({ id }: BatchRow) =>
    bench.db.query("select state from batch_line where batch_id = $1 order by number", [id]);

  test("is not claimed once its batch must end, by a leader that does not know it", async () => {
    const { database } = bench.db;
    const batch = await leadTwo();
    await cancelBatch(database, workspace.id, batch.id);
    expect(await takeLines(database, batch, 2)).toBeUndefined();
    expect(await statesOf(batch)).toEqual([{ state: "waiting" }, { state: "waiting" }]);
    const ending = { ...batch, ends_as: "cancelled" } as const;
    expect(await takeLines(database, { ...ending, epoch: batch.epoch - 1 }, 2)).toBeUndefined();
    expect(await takeLines(database, ending, 3)).toHaveLength(2);
    expect(await takeLines(database, ending, 3)).toEqual([]);
  });

  describe("during its admission", () => {
    let own: Workspace;
    let database: Database;
    beforeAll(async () => {
      own = await createWorkspace(bench.db, { creditsNano: 1_000n });
      database = openDatabase({ url: bench.db.url, poolMax: 4, log });
    });
    afterAll(() => database?.close());

    const jobOf = ({ job_id: id }: BatchLine, batch: BatchRow) => jobRequest({ workspaceId: own.id, id, batch });
    const admit = (target: Queryable, ...offered: JobRequest[]) =>
      target.query<{ verdict: number }>("select verdict from admit_jobs($1::jsonb, null) order by n", [
        JSON.stringify(offered.map(toAdmissionRequest)),
      ]);

    test("is not admitted by a former leader, nor started as a run, and nothing is counted or held", async () => {
      const [{ id: memberId } = { id: "" }] = await bench.db.query<{ id: string }>("select id from member where workspace_id = $1", [own.id]); // prettier-ignore
      const runOf = ({ job_id: id }: BatchLine, batch: BatchRow): NewRun =>
        newRun(
          { workspaceId: own.id, keyId: own.keyId, memberId },
          { id, publisher: { key: null, reply: null, limit: null, starves: false, batch } },
        );
      const jobs = createJobAdmission({ database });
      const batch = await leadTwo();
      const [first, second] = (await takeLines(bench.db.database, batch, 2)) ?? [];
      if (!first || !second) throw new Error("no lines were taken");
      expect(await jobs.admit(jobOf(first, batch))).toMatchObject({ kind: "admitted" });
      await bench.db.query("update batch set epoch = epoch + 1 where id = $1", [batch.id]);
      const calls = () => bench.db.query("select calls from rate_window where workspace_id = $1", [own.id]);
      const before = await calls();
      expect(await jobs.admit(jobOf(second, batch))).toEqual({ kind: "superseded" });
      // With others in its statement, which are decided as ever.
      const other = jobRequest({ workspaceId: own.id, isCounted: false });
      const now = { ...batch, epoch: batch.epoch + 1 };
      expect(await admit(database, jobOf(second, batch), other, jobOf(first, now))).toEqual(
        [10, 0, 6].map((verdict) => ({ verdict })),
      );
      expect((await insertRun(database, runOf(second, batch), 1_000_000)).verdict).toBe("superseded");
      expect(await calls()).toEqual(before);
      for (const table of ["job where id", "run where id", "hold where job_id"])
        expect([table, await bench.db.query(`select 1 from ${table} = $1`, [second.job_id])]).toEqual([table, []]);

      expect((await insertRun(database, runOf(second, now), 1_000_000)).verdict).toBe("begun");
      await bench.db.query("update batch set ended_at = now() where id = $1", [batch.id]);
      expect(await jobs.admit(jobOf(first, now))).toEqual({ kind: "superseded" });
    });

    test("blocks a new leader of its batch until the admission has ended", async () => {
      const batch = await leadTwo();
      const [line] = (await takeLines(bench.db.database, batch, 1)) ?? [];
      if (!line) throw new Error("no line was taken");
      await bench.db.query("update batch set lease_until = null, next_at = '-infinity' where id = $1", [batch.id]);
      await database.transaction(async (tx) => {
        expect(await admit(tx, jobOf(line, batch))).toEqual([{ verdict: 0 }]);
        expect((await leadBatch(bench.db.database, LEASE_MS, 100))?.id).not.toBe(batch.id);
      });
      expect((await leadBatch(bench.db.database, LEASE_MS, 100))?.id).toBe(batch.id);
      const running = await runningLines(bench.db.database, batch.id);
      expect(running.map((one) => one.is_admitted)).toEqual([true]);
    });
  });
});

describe("a batch in the metrics", () => {
  const fault = { code: "internal_error", message: "No.", param: null, line: null };
  const GIVEN_UP = { state: "failed", faults: [fault] } as const;

  test("that has failed counts its remaining lines as failed, so that the sums are exact", async () => {
    const { database } = bench.db;
    const batch = await lead(Buffer.from([1, 2, 3].map((at) => chatLine(at)).join("\n")));
    await validate(batch);
    await takeLines(database, batch, 2);
    const part = { isOutput: true, key: `none ${batch.id}`, sha256: new Uint8Array(32), lines: [{ number: 1, bytes: 1 }] };
    expect(await endLines(database, batch, part)).toBe(true);
    const fault = { code: "invalid_url", message: "No.\0", param: "url", line: 2 };
    await endLed({ database, metrics }, batch, { state: "failed", faults: [fault, { ...fault, line: 3 }] });
    expect(await findBatch(database, anyMember(workspace.id), batch.id)).toMatchObject({ total: 3, completed: 1, failed: 2 });
    const told = await bench.db.query<{ metadata: object }>("select metadata from event where type = 'job.failed' and metadata->>'batchId' = $1", [batchName(batch.id)]); // prettier-ignore
    const error = { code: "invalid_url", message: "Line 2: No. This is the first of 2 errors of the batch." };
    expect(told).toMatchObject([{ metadata: { failed: 2, error } }]);
    expect(validateSchema("JobFailed", told[0]?.metadata)).toBeNull();
  }); // prettier-ignore

  test("is counted while it is open, by its lines and its time without progress, and by outcome", async () => {
    const { database } = bench.db;
    await bench.db.query("update batch set ended_at = now() where ended_at is null");
    await watchBatches(database, metrics);
    expect(await samplesOfBatches()).toMatchObject({
      "batch_lines_open waiting": 0,
      "batch_lines_open running": 0,
      batches_oldest_seconds: 0,
      batches_stalled_oldest_seconds: 0,
    });
    const before = await samplesOfBatches();
    const batch = await lead(Buffer.from([1, 2, 3, 4].map((at) => chatLine(at)).join("\n")));
    await validate(batch);
    await takeLines(database, batch, 3);
    await bench.db.query(
      "update batch set created_at = now() - interval '2 hours', moved_at = now() - interval '1 hour' where id = $1",
      [batch.id],
    );
    await watchBatches(database, metrics);
    const open = await samplesOfBatches();
    expect(open).toMatchObject({ "batch_lines_open waiting": 1, "batch_lines_open running": 3 });
    expect(open["batches_oldest_seconds"]).toBeWithin(7_200, 7_300);
    expect(open["batches_stalled_oldest_seconds"]).toBeWithin(3_600, 3_700);

    const parts = new Parts({ database, storage: bench.storage, metrics }, batch, () => undefined);
    await parts.add({ number: 1, outcome: "completed", text: "{}\n" });
    await parts.add({ number: 2, outcome: "failed", text: "{}\n" });
    await parts.add({ number: 3, outcome: "cancelled", text: "{}\n" });
    await parts.storeOlder(0);
    expect(await findBatch(database, anyMember(workspace.id), batch.id)).toMatchObject({ completed: 1, failed: 2 });
    await watchBatches(database, metrics);
    const moved = await samplesOfBatches();
    expect(moved).toMatchObject({ "batch_lines_open waiting": 1, "batch_lines_open running": 0 });
    expect(moved["batches_stalled_oldest_seconds"]).toBeLessThan(100);
    expect(moved["batches_oldest_seconds"]).toBeGreaterThanOrEqual(7_200);

    // One that waits for room for its files has no line that could end.
    await bench.db.query("update batch set state = 'finalizing', moved_at = now() - interval '1 hour' where id = $1", [batch.id]); // prettier-ignore
    await watchBatches(database, metrics);
    expect((await samplesOfBatches())["batches_stalled_oldest_seconds"]).toBe(0);
    await endLed({ database, metrics }, { ...batch, total: 4, completed: 1, failed: 2 }, GIVEN_UP);
    expect(await endLed({ database, metrics }, batch, GIVEN_UP).catch((error: unknown) => error)).toBeInstanceOf(Superseded); // prettier-ignore
    const after = await samplesOfBatches();
    const rose = (name: string): number => (after[name] ?? 0) - (before[name] ?? 0);
    expect(["completed", "failed", "cancelled"].map((outcome) => rose(`batch_lines_total ${outcome}`))).toEqual([1, 2, 1]);
    expect(rose("batches_total failed")).toBe(1);
    await bench.db.query("delete from batch where id = $1", [batch.id]);
  }); // prettier-ignore
});

describe("concurrent creations", () => {
  const make = (owner: Workspace, repeatId: string | null = null): Promise<string | null> =>
    insertBatch(bench.db.database, {
      id: newId(),
      workspace_id: owner.id,
      key_id: owner.keyId,
      fingerprint: null,
      repeatId,
      endpoint: CHAT,
      input_file_id: "none",
      metadata: null,
      output_expires_s: null,
      windowMs: 60_000,
    });

  test("create no more batches than a workspace may have open, and one under one name", async () => {
    const owner = await createWorkspace(bench.db, { creditsNano: 1n });
    const name = newId();
    const named = await Promise.all(Array.from({ length: 5 }, () => make(owner, name)));
    expect(new Set(named).size).toBe(1);
    const ids = await Promise.all(Array.from({ length: OPEN_BATCHES_MAX + 10 }, () => make(owner)));
    expect(ids.filter((id) => id === null)).toHaveLength(11);
    expect(await make(owner, name)).toBe(named[0] ?? "");
    // The next one under the name has another id, and so has each of its lines.
    await bench.db.query("delete from batch where workspace_id = $1", [owner.id]);
    const again = await make(owner, name);
    expect(again).not.toBe(named[0] ?? "");
    await bench.db.query("delete from batch where workspace_id = $1", [owner.id]);
  }, 20_000);
});

describe("parts", () => {
  const store = async (batch: BatchRow, name: string, bytes: Uint8Array): Promise<string> => {
    const key = `batches/${batch.id}/${name}`;
    await putObject(bench.storage, key, bytes);
    return key;
  };
  const keys = async (): Promise<string[]> =>
    (await listObjects(bench.storage, "batches/", undefined, 100)).objects.map(({ key }) => key);

  test("that differ from the stored ones are not read", async () => {
    const batch = await lead(Buffer.from(chatLine(1)));
    const bytes = Buffer.from("a record\n");
    const part = { is_output: true, start: 0n, bytes: bytes.length, sha256: createHash("sha256").update(bytes).digest(), key: await store(batch, "1-1", bytes) }; // prettier-ignore
    expect((await readPart(bench, part)).equals(bytes)).toBe(true);
    await store(batch, "1-1", Buffer.from("b record\n"));
    expect(readPart(bench, part)).rejects.toThrow("other bytes");
    await sweepBatchParts({ ...bench, database: bench.db.database, log }, { now: Date.now() + 3_700_000 });
  });

  test("are written by the leader only, end a line once, and are deleted after the batch's end or without a batch", async () => {
    const { database } = bench.db;
    const context = { storage: bench.storage, database, log };
    const batch = await lead(Buffer.from([chatLine(1), chatLine(2)].join("\n")));
    await validate(batch);
    await takeLines(database, batch, 2);
    const record = Buffer.from("record 1\n");
    const sha256 = createHash("sha256").update(record).digest();
    const key = await store(batch, "1-1", record);
    const stray = await store(batch, "1-2", record);
    const part = { isOutput: true, key, sha256, lines: [{ number: 1, bytes: record.length }] };
    expect(await endLines(database, { ...batch, epoch: batch.epoch - 1 }, part)).toBe(false);
    expect(await endLines(database, batch, part)).toBe(true);
    expect(endLines(database, batch, { ...part, key: stray })).rejects.toThrow("has ended before");
    expect(await findBatch(database, anyMember(workspace.id), batch.id)).toMatchObject({
      completed: 1,
      failed: 0,
      output_bytes: 9n,
    });

    expect(await sweepBatchParts(context)).toBe(0);
    expect(await sweepBatchParts(context, { now: Date.now() + 3_700_000 })).toBe(1);
    expect(await keys()).toEqual([key]);
    await sweepBatches(context, 1);
    expect(await keys()).toEqual([key]);
    await bench.db.query("update batch set state = 'completed', ended_at = now() where id = $1", [batch.id]);
    await sweepBatches(context, 1);
    expect(await keys()).toEqual([]);
    await bench.db.query("update batch set ended_at = now() - interval '61 minutes' where id = $1", [batch.id]);
    await sweepBatches(context, 1);
    expect(await findBatch(database, anyMember(workspace.id), batch.id)).toBeUndefined();
  });
});
