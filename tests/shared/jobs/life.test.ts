import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from "bun:test";

import {
  redispatchExpired,
  redispatchOlder,
  redispatchThese,
  redispatchUnsent,
  takeUnclaimed,
} from "#shared/database/job-sweeps.ts";
import { anyMember } from "#shared/database/viewer.ts";
import { OPERATOR } from "#shared/database/audit-log.ts";
import { redriveDeadLetter } from "#shared/database/dead-letters.ts";
import {
  beatJobs,
  claimJob,
  type ClaimedJob,
  findJob,
  handBackJob,
  noteIntent,
  noteSequences,
  noteUnknown,
  releaseJobs,
  whyUnclaimed,
} from "#shared/database/jobs.ts";
import { noteProviderJob } from "#shared/database/open-starts.ts";
import { auditStorage } from "#shared/database/file-sweeps.ts";
import { FILES_PER_WORKSPACE_MAX, findBlocks, findFile } from "#shared/database/files.ts";
import { ApiError } from "#shared/base/errors.ts";
import { Digest } from "#shared/files/digest.ts";
import { newFileId } from "#shared/files/id.ts";
import type { StoredFile } from "#shared/files/upload.ts";
import { newId } from "#shared/base/ids.ts";
import { createJobAdmission, type JobAdmission } from "#shared/jobs/admission.ts";
import { endJob, type JobEnd, nothingUsed } from "#shared/jobs/end.ts";
import { auditLedger } from "#shared/ledger/audit.ts";
import { createLogger } from "#shared/base/logger.ts";
import { balanceOf, createWorkspace, randomOf } from "#tests/shared/accounts.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { jobHoldMs, JOB_LIFE_MS } from "#shared/queue/job-life.ts";

import { jobRequest, type TestJob } from "./jobs.ts";
import { testSeed } from "../../support/seed.ts";

const log = createLogger({ level: "silent", role: "test" });
const LEASE_MS = 30_000;
const CLAIMS_MAX = 6;

let db: TestDatabase;
let door: JobAdmission;
let workspaceId: string;

beforeAll(async () => {
  db = await createTestDatabase();
  door = createJobAdmission({ database: db.database });
  workspaceId = await createWorkspace(db.database);
});
afterAll(() => db.drop());
afterEach(async () => {
  expect(await auditLedger(db.database)).toEqual([]);
  await db.query("delete from worker_slots");
});

/** A job on the queue, whether its workspace had room there or not. */
async function admitted(members: Partial<TestJob> = {}): Promise<string> {
  const job = jobRequest({ workspaceId, amount: 100n, ...members });
  expect((await door.admit(job)).kind).toBe("admitted");
  await db.query("update job set dispatch = 1, dispatched_at = clock_timestamp() where id = $1", [job.id]);
  return job.id;
}

const request = (id: string, members: object = {}) => ({ id, workspaceId, attempt: 1, dispatch: 1, worker: newId(), leaseMs: LEASE_MS, claimsMax: CLAIMS_MAX, ...members }); // prettier-ignore
const claim = (id: string, members: object = {}): Promise<ClaimedJob | undefined> =>
  claimJob(db.database, request(id, members));
const expire = (id: string) => db.query("update job set lease_until = clock_timestamp() - interval '1 ms' where id = $1", [id]); // prettier-ignore
const ownerOf = async (id: string) =>
  (await db.query<{ worker: string | null }>("select worker from job where id = $1", [id]))[0];
const stateOf = async (id: string) => (await findJob(db.database, workspaceId, id))?.state;

async function claimed(id: string, members: object = {}): Promise<ClaimedJob> {
  const job = await claim(id, members);
  if (!job) throw new Error("the job was not to be had");
  return job;
}

const USED = { usedNano: 40n, status: "succeeded", source: "a/b", units: {}, isEstimated: false, tokens: 3 } as const;

const finish = (
  job: Pick<ClaimedJob, "id" | "epoch">,
  end: Partial<JobEnd> = {},
  retryMs = 5_000,
): Promise<bigint | undefined> =>
  endJob(
    { database: db.database, log },
    {
      id: job.id,
      epoch: job.epoch,
      isOwned: true,
      state: "completed",
      usage: USED,
      result: { text: "{}" },
      error: null,
      ...end,
    },
    retryMs,
  );

describe("a claim", () => {
  test("belongs to one worker, raises the epoch, and is refused while its lease is valid", async () => {
    const id = await admitted();
    const won = (await Promise.all(Array.from({ length: 8 }, () => claim(id)))).filter((job) => job !== undefined);
    expect(won.map(({ epoch }) => epoch)).toEqual([1]);
    expect(await whyUnclaimed(db.database, request(id))).toMatchObject({ why: "owned" });
    await expire(id);
    expect((await claim(id))?.epoch).toBe(2);
  });

  test("of another workspace, attempt or older dispatch is void", async () => {
    const id = await admitted();
    for (const members of [{ workspaceId: newId() }, { attempt: 2 }]) {
      expect(await claim(id, members)).toBeUndefined();
      expect(await whyUnclaimed(db.database, request(id, members))).toEqual({ why: "void" });
    }
    await redispatchThese(db.database, [{ id, dispatch: 1 }]);
    expect(await claim(id, { dispatch: 1 })).toBeUndefined();
    expect(await whyUnclaimed(db.database, request(id, { dispatch: 1 }))).toEqual({ why: "void" });
    expect((await claim(id, { dispatch: 2 }))?.dispatch).toBe(2);
  });

  test.each([
    ["that a provider may have seen", "intent_at = now()", { has_intent: true }],
    ["that was cancelled", "cancel_requested = true", { cancel_requested: true }],
    ["whose deadline has passed", "deadline = now()", { is_late: true }],
    ["that too many workers have died with", `claims = ${CLAIMS_MAX}`, { claims: CLAIMS_MAX }],
  ])("of a job %s is refused", async (_what, change, facts) => {
    const id = await admitted();
    await db.query(`update job set ${change} where id = $1`, [id]);
    expect(await claim(id)).toBeUndefined();
    expect(await whyUnclaimed(db.database, request(id))).toMatchObject({ why: "free", job: { id, ...facts } });
  });

  test("of a job in progress at a provider succeeds: its new owner polls there", async () => {
    const id = await admitted();
    await db.query("update job set intent_at = now(), provider_job = '{\"id\":1}' where id = $1", [id]);
    expect((await claim(id))?.provider_job).toEqual({ id: 1 });
  });

  test("of such a job succeeds after any number of returns: a store may be unavailable for long", async () => {
    const id = await admitted();
    for (let time = 0; time < CLAIMS_MAX + 2; time++) {
      const job = await claim(id);
      expect(job?.epoch).toBe(time + 1);
      if (time === 0) {
        await noteIntent(db.database, id, 1);
        await noteProviderJob(db.database, id, 1, { source: "a" });
      }
      await handBackJob(db.database, id, time + 1, false);
    }
    // Nor is one stranded whose outcome nobody can tell while it is nobody's.
    const [row] = await db.query<{ epoch: number }>("select epoch from job where id = $1", [id]);
    expect(await noteUnknown(db.database, { id, epoch: row?.epoch ?? 0, isOwned: false }, 1_000)).toBe(true);
    expect(
      await db.query("select state, unknown_since is not null as is_unknown from job where id = $1", [id]),
    ).toEqual([{ state: "running", is_unknown: true }]);
  });

  test("counts if a job was returned for a possible error of its own, and not after an outage", async () => {
    const id = await admitted();
    for (const [isOwnFault, claims] of [
      [false, 1],
      [true, 1],
      [false, 2],
      [true, 2],
      [false, 3],
    ] as const) {
      const job = await claimed(id);
      expect(job.claims).toBe(claims);
      await handBackJob(db.database, id, job.epoch, isOwnFault);
    }
  });

  test("returned before its start can be claimed immediately; after its start it is not returned", async () => {
    const first = await claimed(await admitted());
    await handBackJob(db.database, first.id, first.epoch, false);
    const second = await claimed(first.id);
    expect(await noteIntent(db.database, second.id, second.epoch)).toBe(true);
    await handBackJob(db.database, second.id, second.epoch, false);
    expect(await stateOf(second.id)).toBe("running");
  });
});

describe("an owner", () => {
  test.each([
    ["more than there can be", { usedNano: 10n ** 20n }, "22003"],
    ["half a token", { tokens: 1.5 }, "22P02"],
  ])(
    "with rejected figures, %s, ends its job: nothing is held, and a fault is recorded",
    async (_what, figures, fault) => {
      const id = await admitted();
      const job = await claimed(id);
      const { amount, held } = await balanceOf(db.database, workspaceId);
      expect(await finish(job, { usage: { ...USED, ...figures } })).toBe(0n);
      expect(await stateOf(id)).toBe("completed");
      expect(await balanceOf(db.database, workspaceId)).toMatchObject({ amount, held: held - 100n });
      expect(await db.query("select fault, held from settle_fault where job_id = $1", [id])).toEqual([
        { fault, held: 100n },
      ]);
      expect(await finish(job)).toBeUndefined();
    },
  );

  test("ends its job once: money, outcome and usage together; a repeat changes nothing", async () => {
    const before = await balanceOf(db.database, workspaceId);
    const job = await claimed(await admitted());
    expect(await finish(job)).toBe(40n);
    expect(await finish(job)).toBeUndefined();
    expect(await finish(job, { state: "failed", usage: nothingUsed("failed"), result: null })).toBeUndefined();
    expect(await findJob(db.database, workspaceId, job.id)).toMatchObject({
      state: "completed",
      credits: 40n,
      result: "{}",
    });
    expect(await db.query("select status, settled from usage_record where job_id = $1", [job.id])).toEqual([
      { status: "succeeded", settled: 40n },
    ]);
    expect((await balanceOf(db.database, workspaceId)).amount).toBe(before.amount - 40n);
  });

  test("of an older epoch writes nothing: no intent, no provider job, no lease, no end", async () => {
    const late = await claimed(await admitted());
    await expire(late.id);
    const owner = await claimed(late.id);
    expect(await noteIntent(db.database, late.id, late.epoch)).toBe(false);
    expect(await noteProviderJob(db.database, late.id, late.epoch, { source: "late" })).toBe(false);
    expect(await beatJobs(db.database, beatOf(newId(), { jobs: [late] }))).toEqual([]);
    expect(await finish(late)).toBeUndefined();
    expect(await finish(owner)).toBe(40n);
  });

  const beatOf = (worker: string, members: object = {}) =>
    ({ worker, pool: "chat", lane: "batch", slots: 4, leaseMs: LEASE_MS, jobs: [], ...members }) as const;

  test("keeps its jobs by the lease of its worker, and receives a cancel; the job's row is not written", async () => {
    const worker = newId();
    const job = await claimed(await admitted(), { worker });
    await expire(job.id);
    await db.query("update job set cancel_requested = true where id = $1", [job.id]);
    const version = async () => (await db.query("select xmin::text from job where id = $1", [job.id]))[0];
    const before = await version();
    const beat = beatOf(worker, { jobs: [job] });
    expect(await beatJobs(db.database, beat)).toEqual([{ id: job.id, cancel_requested: true }]);
    expect(await version()).toEqual(before);
    expect(await whyUnclaimed(db.database, request(job.id))).toMatchObject({ why: "owned" });
    expect(await claim(job.id)).toBeUndefined();
    expect(await noteIntent(db.database, job.id, job.epoch)).toBe(false);
    await beatJobs(db.database, { ...beat, leaseMs: 0 });
    expect(await whyUnclaimed(db.database, request(job.id))).toMatchObject({ why: "free" });
  });

  test("releases jobs of its row that it does not run, once the lease of the claim is over", async () => {
    const worker = newId();
    const [lost, held] = [await claimed(await admitted(), { worker }), await claimed(await admitted(), { worker })];
    const beat = beatOf(worker, { jobs: [held] });
    await beatJobs(db.database, beat);
    expect((await ownerOf(lost.id))?.worker).toBe(worker);
    for (const job of [lost, held]) await expire(job.id);
    // One of them may have been on its way while the job was claimed.
    for (let beats = 0; beats < 2; beats++) await beatJobs(db.database, beat);
    expect((await ownerOf(lost.id))?.worker).toBeNull();
    expect(await whyUnclaimed(db.database, request(lost.id))).toMatchObject({ why: "owned" });
    await expire(lost.id);
    expect(await claim(lost.id)).toBeDefined();
    expect((await ownerOf(held.id))?.worker).toBe(worker);
    await finish(held);
  });

  test("keeps a claim made during a heartbeat, for any delay of it", async () => {
    const worker = newId();
    await beatJobs(db.database, beatOf(worker));
    const job = await claimed(await admitted(), { worker });
    await db.query("update job set lease_until = clock_timestamp() where id = $1", [job.id]);
    await beatJobs(db.database, beatOf(worker));
    expect((await ownerOf(job.id))?.worker).toBe(worker);
    await finish(job);
  });

  test("keeps its lease while the row of a job is locked", async () => {
    const worker = newId();
    const jobs = [await claimed(await admitted(), { worker }), await claimed(await admitted(), { worker })];
    for (const job of jobs) await expire(job.id);
    await db.database.transaction(async (tx) => {
      await tx.query("select 1 from job where id = $1 for update", [jobs[0]?.id ?? ""]);
      expect(await beatJobs(db.database, beatOf(worker, { jobs }))).toHaveLength(2);
    });
    for (const { id } of jobs) expect(await whyUnclaimed(db.database, request(id))).toMatchObject({ why: "owned" });
  });

  test("with heartbeats is not ended by others; without them it is", async () => {
    const job = await claimed(await admitted());
    const lost = { isOwned: false, state: "failed", usage: nothingUsed("lost"), result: null } as const;
    expect(await finish(job, lost)).toBeUndefined();
    await expire(job.id);
    expect(await finish(job, lost)).toBe(0n);
    expect(await finish(job)).toBeUndefined();
    expect(await stateOf(job.id)).toBe("failed");
  });

  test("ends a job whose hold was swept: its result is charged once, and a failure is not", async () => {
    const [job, failed] = [await claimed(await admitted()), await claimed(await admitted())];
    const sweep = "select settle_call($2, $1, 1::smallint, null, 'lost', null, '{}', false, 0)";
    for (const { id } of [job, failed]) await db.query(sweep, [id, workspaceId]);
    expect(await finish(job)).toBe(40n);
    expect(await finish(job)).toBeUndefined();
    expect(await finish(failed, { state: "failed", usage: nothingUsed("failed") })).toBe(0n);
    expect([await stateOf(job.id), await stateOf(failed.id)]).toEqual(["completed", "failed"]);
    const usage =
      "select job_id, attempt, status, settled from usage_record where job_id = any($1::uuid[]) order by 1, 2";
    expect(await db.query(usage, [[job.id, failed.id]])).toEqual([
      { job_id: job.id, attempt: 1, status: "lost", settled: 0n },
      { job_id: job.id, attempt: 2, status: "succeeded", settled: 40n },
      { job_id: failed.id, attempt: 1, status: "lost", settled: 0n },
    ]);
  });
});

describe("an end with files", () => {
  let own: string;
  let job: () => Promise<ClaimedJob>;
  beforeEach(async () => {
    own = await createWorkspace(db.database);
    job = async () => claimed(await admitted({ workspaceId: own }), { workspaceId: own });
  });
  afterEach(async () => expect(await auditStorage(db.database)).toEqual([]));

  const fileOf = (bytes = 10, filename = "a.txt"): StoredFile => {
    const digest = new Digest();
    digest.update(new Uint8Array(bytes));
    return { id: newFileId(), filename, purpose: "user_data", mediaType: "text/plain", digested: digest.end() };
  };
  const finishWith = async (one: ClaimedJob, stored: readonly StoredFile[], storageBytesMax = 50) =>
    finish(one, { files: { stored, storageBytesMax } });
  const filesOf = () => db.query<{ id: string }>("select id from file where workspace_id = $1 order by id", [own]);
  const codeOf = (ending: Promise<unknown>): Promise<unknown> =>
    ending.then(() => "ended", (error: unknown) => (error instanceof ApiError ? error.code : error)); // prettier-ignore

  test("stores them as files of its workspace together with the settlement, once", async () => {
    const one = await job();
    const files = [fileOf(10, "a\u0000\ud800.txt"), fileOf(0)];
    const [first] = files;
    expect(await finishWith(one, files)).toBe(40n);
    expect(await finishWith(one, files)).toBeUndefined();
    expect((await filesOf()).map(({ id }) => id)).toEqual(files.map(({ id }) => id).toSorted());
    expect(await findFile(db.database, anyMember(own), first?.id ?? "")).toMatchObject({
      bytes: 10n,
      filename: "a\ufffd.txt",
      purpose: "user_data",
      media_type: "text/plain",
      sha256: first?.digested.sha256,
      expires_at: null,
    });
    expect(await findBlocks(db.database, first?.id ?? "")).toMatchObject({
      bytes: 10,
      blockSha256: first?.digested.blockSha256,
    });
  });

  test("stores none if another worker owns the job", async () => {
    const late = await job();
    await expire(late.id);
    const owner = await claimed(late.id, { workspaceId: own });
    expect(await finishWith(late, [fileOf()])).toBeUndefined();
    expect(await filesOf()).toEqual([]);
    expect(await finishWith(owner, [fileOf()])).toBe(40n);
    expect(await filesOf()).toHaveLength(1);
  });

  test("of many concurrent ones stores exactly what fits into the workspace; the other jobs are unchanged", async () => {
    const jobs: ClaimedJob[] = [];
    for (let at = 0; at < 12; at++) jobs.push(await job());
    const ends = await Promise.all(jobs.map((one) => codeOf(finishWith(one, [fileOf()]))));
    expect(ends.filter((end) => end === "ended")).toHaveLength(5);
    expect(ends.filter((end) => end === "storage_limit_exceeded")).toHaveLength(7);
    expect(await filesOf()).toHaveLength(5);
    for (const [at, { id }] of jobs.entries()) {
      expect((await findJob(db.database, own, id))?.state).toBe(ends[at] === "ended" ? "completed" : "running");
    }
  });

  test("stores none if the workspace is at its maximum, or its balance or the job's hold stays locked", async () => {
    const one = await job();
    await db.query("insert into file_storage (workspace_id, files) values ($1, $2)", [own, FILES_PER_WORKSPACE_MAX]);
    expect(await codeOf(finishWith(one, [fileOf()]))).toBe("storage_limit_exceeded");
    await db.query("update file_storage set files = 0 where workspace_id = $1", [own]);
    for (const table of ["balance", "hold"]) {
      await db.database.transaction(async (tx) => {
        await tx.query(`select 1 from ${table} where workspace_id = $1 for update`, [own]);
        const files = { stored: [fileOf()], storageBytesMax: 50 };
        expect(await codeOf(finish(one, { files }, 100))).toBeInstanceOf(Error);
      });
    }
    expect(await filesOf()).toEqual([]);
    expect(await finishWith(one, [fileOf()])).toBe(40n);
  });
});

test("workers with short leases and stale epochs end every job once, settled and recorded once", async () => {
  const ids: string[] = [];
  // One by one: on a busy machine the last of so many at once waits longer for a connection than the pool lets it.
  for (let at = 0; at < 150; at++) ids.push(await admitted());
  const random = randomOf(testSeed("life"));
  const worker = async (): Promise<void> => {
    for (let round = 0; round < 120; round++) {
      const id = ids[random(ids.length)] ?? "";
      const job = await claim(id, { leaseMs: random(20), claimsMax: 1_000 });
      if (!job) continue;
      if (random(3) === 0) await Bun.sleep(random(25));
      await finish({ id, epoch: random(10) === 0 ? job.epoch - 1 : job.epoch });
    }
  };
  await Promise.all(Array.from({ length: 12 }, worker));
  for (const id of ids) {
    const job = await claim(id, { claimsMax: 1_000 });
    if (job) await finish(job);
    else if ((await stateOf(id)) === "running") {
      await expire(id);
      await finish(await claimed(id));
    }
  }
  const [row] = await db.query(
    `select count(*) filter (where j.state = 'completed') as ended, count(u.job_id) as recorded, sum(u.settled)::bigint as settled
     from job j left join usage_record u on u.job_id = j.id where j.id = any($1::uuid[])`,
    [ids],
  );
  expect(row).toEqual({ ended: 150n, recorded: 150n, settled: 6_000n });
});

describe("the queue's copy", () => {
  const dispatchOf = async (id: string) => (await db.query<{ dispatch: number; stream_seq: bigint | null }>("select dispatch, stream_seq from job where id = $1", [id]))[0]; // prettier-ignore
  const age = (id: string, seconds: number) => db.query("update job set dispatched_at = now() - $2 * interval '1 second', checked_at = null where id = $1", [id, seconds]); // prettier-ignore

  /** Ends what other tests left. */
  const empty = async (): Promise<void> => {
    for (const { id, epoch } of await db.query<{ id: string; epoch: number }>(
      "select id, epoch from job where state in ('queued', 'running')",
    )) {
      // prettier-ignore
      await expire(id);
      await finish({ id, epoch }, { isOwned: false, state: "failed", usage: nothingUsed("failed"), result: null });
    }
  };

  test("is recorded for the latest dispatch only", async () => {
    const id = await admitted();
    await noteSequences(db.database, [{ id, dispatch: 1, seq: 17 }]);
    expect(await dispatchOf(id)).toEqual({ dispatch: 1, stream_seq: 17n });
    expect(await redispatchThese(db.database, [{ id, dispatch: 1 }])).toMatchObject([
      { id, dispatch: 2, old_seq: 17n },
    ]);
    await noteSequences(db.database, [{ id, dispatch: 1, seq: 18 }]);
    expect(await dispatchOf(id)).toEqual({ dispatch: 2, stream_seq: null });
    expect(await redispatchThese(db.database, [{ id, dispatch: 1 }])).toEqual([]);
  });

  test("that was never confirmed is written again, by one sweep of several", async () => {
    await empty();
    const ids = await Promise.all(Array.from({ length: 20 }, () => admitted()));
    for (const id of ids) await age(id, 10);
    const young = await admitted();
    const sweeps = await Promise.all(Array.from({ length: 4 }, () => redispatchUnsent(db.database, 5_000, 500)));
    expect(
      sweeps
        .flat()
        .map(({ id }) => id)
        .toSorted(),
    ).toEqual(ids.toSorted());
    expect(await dispatchOf(young)).toMatchObject({ dispatch: 1 });
  });

  test("older than the stream is written again", async () => {
    await empty();
    const [old, young] = [await admitted(), await admitted()];
    await age(old, 10);
    await noteSequences(db.database, [{ id: old, dispatch: 1, seq: 5 }]);
    const made = new Date(Date.now() - 5_000);
    expect((await redispatchOlder(db.database, "chat", made, 500)).map(({ id }) => id)).toEqual([old]);
    expect(await dispatchOf(young)).toMatchObject({ dispatch: 1 });
  });

  test("is looked up periodically, not in every sweep", async () => {
    await empty();
    const id = await admitted();
    await noteSequences(db.database, [{ id, dispatch: 1, seq: 5 }]);
    await age(id, 61);
    expect((await takeUnclaimed(db.database, 60_000, 500)).map((job) => job.id)).toEqual([id]);
    expect(await takeUnclaimed(db.database, 60_000, 500)).toEqual([]);
  });

  test("of a job whose worker died before its start is written again, and its epoch stays", async () => {
    const job = await claimed(await admitted());
    expect(await redispatchExpired(db.database, job.id, job.epoch)).toEqual([]);
    await expire(job.id);
    expect(await redispatchExpired(db.database, job.id, job.epoch)).toMatchObject([{ id: job.id, dispatch: 2 }]);
    expect(await claim(job.id, { dispatch: 2 })).toMatchObject({ epoch: 2 });
  });

  test("is dispatched round robin, each workspace up to its share, for concurrent callers", async () => {
    await empty();
    const workspaces = await Promise.all(Array.from({ length: 4 }, () => createWorkspace(db.database)));
    for (const one of workspaces) {
      for (let at = 0; at < 30; at++) await door.admit(jobRequest({ workspaceId: one }));
    }
    await db.query("update job set dispatch = 0, dispatched_at = null where state = 'queued'");
    // A small look goes on where the last one ended.
    const looks = [
      await releaseJobs(db.database, "chat", "batch", 2),
      await releaseJobs(db.database, "chat", "batch", 2),
    ];
    expect(new Set(looks.flat().map((job) => job.workspace_id)).size).toBe(4);
    await db.query("update job set dispatched_at = null where state = 'queued'");
    const first = await releaseJobs(db.database, "chat", "batch", 8);
    expect(workspaces.map((one) => first.filter((job) => job.workspace_id === one).length)).toEqual([2, 2, 2, 2]);
    const rest = await Promise.all(Array.from({ length: 4 }, () => releaseJobs(db.database, "chat", "batch", 500)));
    const out = [...first, ...rest.flat()];
    expect(new Set(out.map(({ id }) => id)).size).toBe(out.length);
    // Sixteen slots at least, twice, among four.
    expect(workspaces.map((one) => out.filter((job) => job.workspace_id === one).length)).toEqual([8, 8, 8, 8]);
    const beat = { pool: "chat", lane: "batch", jobs: [], leaseMs: LEASE_MS } as const;
    for (let at = 0; at < 3; at++) await beatJobs(db.database, { ...beat, worker: newId(), slots: 16 });
    expect(await releaseJobs(db.database, "chat", "batch", 500)).toHaveLength(4 * 16);
  });

  test.each<[slots: number, lane: "live" | "batch", workspaces: number, share: number]>([
    [0, "live", 0, 14],
    [0, "batch", 1, 32],
    [20, "live", 3, 6],
    [20, "live", 9, 4],
    [20, "live", 60, 4],
    [800, "batch", 1, 1_000],
    [8_000, "batch", 1, 8_000],
    [8_000, "live", 1, 7_000],
    [8_000, "batch", 40, 400],
  ])("with %d slots in the lane %s and %d workspaces has a share", async (slots, lane, workspaces, share) => {
    await empty();
    await db.query("delete from job");
    if (slots > 0)
      await beatJobs(db.database, { pool: "chat", lane, jobs: [], leaseMs: LEASE_MS, worker: newId(), slots });
    await db.query(
      `insert into job (id, workspace_id, pool, lane, kind, modality, state, dispatch, dispatched_at, deadline, work)
       select gen_random_uuid(), gen_random_uuid(), 'chat', $1, 'chat', 'text', 'queued', 1, now(), now() + interval '1 day', '{}'
       from generate_series(1, $2::int)`,
      [lane, workspaces],
    );
    expect(await db.query("select job_share('chat', $1) as share", [lane])).toEqual([{ share }]);
    await db.query("delete from job");
  });
});

describe("a dead letter's job", () => {
  const lost = {
    isOwned: false,
    state: "failed",
    usage: nothingUsed("failed"),
    result: null,
    keepsRequest: true,
  } as const;

  test("has the same hold time as a newly admitted one", async () => {
    const { id, letter } = await dead();
    expect(await redriveDeadLetter(db.database, letter, OPERATOR)).toBe("done");
    const [row] = await db.query<{ life_ms: number }>(
      `select (extract(epoch from h.deadline - h.created_at) * 1000)::float8 as life_ms from hold h where job_id = $1`,
      [id],
    );
    expect(row?.life_ms).toBe(jobHoldMs(JOB_LIFE_MS));
    await db.query("select settle_call($2, $1, 2::smallint, null, 'lost', null, '{}', false, 0)", [id, workspaceId]);
  });

  async function dead(members: Partial<TestJob> = {}): Promise<{ id: string; letter: string }> {
    const id = await admitted({ work: { hold_nano: "100", may_exceed: false }, ...members });
    const { epoch } = await claimed(id);
    await expire(id);
    await finish({ id, epoch }, lost);
    const letter = newId();
    await db.query(
      `insert into dead_letter (id, stream, stream_seq, subject, message_id, reason, deliveries, job_id) values ($1, 's', 1, 'x', $2::text, 'r', 6, $2::uuid)`,
      [letter, id],
    );
    return { id, letter };
  }

  test("is redriven once, under its next attempt and a new hold, and ends there", async () => {
    const { id, letter } = await dead();
    const results = await Promise.all([1, 2, 3].map(() => redriveDeadLetter(db.database, letter, OPERATOR)));
    expect(results.toSorted()).toEqual(["done", "unknown", "unknown"]);
    expect(await db.query("select attempt, amount from hold where job_id = $1", [id])).toEqual([
      { attempt: 2, amount: 100n },
    ]);
    const released = await releaseJobs(db.database, "chat", "batch", 500);
    const again = released.find((job) => job.id === id);
    expect(again).toMatchObject({ attempt: 2, dispatch: 2 });
    expect(await claim(id)).toBeUndefined();
    const owner = await claim(id, { attempt: 2, dispatch: 2 });
    expect(owner).toMatchObject({ epoch: 2, request: '{"a":"\\u0000"}' });
    expect(await finish({ id, epoch: 2 })).toBe(40n);
    expect(
      await db.query("select attempt, status, settled from usage_record where job_id = $1 order by 1", [id]),
    ).toEqual([
      { attempt: 1, status: "failed", settled: 0n },
      { attempt: 2, status: "succeeded", settled: 40n },
    ]);
  });

  test("resets its background response, without earlier events", async () => {
    const { id, letter } = await dead({ work: { hold_nano: "100", may_exceed: false, background: true } });
    const member = newId();
    await db.query("insert into member (id, workspace_id, name, role) values ($1, $2, 'a', 'owner')", [
      member,
      workspaceId,
    ]);
    await db.query(
      `insert into response (id, workspace_id, member_id, model, status, is_background, keeps_events, answered, error, bytes, sealed, sealed_by, expires_at)
       values ($1, $2, $3, 'm', 'failed', true, true, 'completed', '{"code":"internal_error"}', 1, 'x', 'x', now() + interval '1 hour')`,
      [id, workspaceId, member],
    );
    await db.query("insert into response_event (response_id, first, last, sealed) values ($1, 2, 9, 'x')", [id]);
    const states = () => db.query("select status, answered, error from response where id = $1", [id]);
    expect(await redriveDeadLetter(db.database, letter, OPERATOR)).toBe("done");
    expect(await states()).toEqual([{ status: "queued", answered: null, error: null }]);
    expect(await db.query("select 1 from response_event where response_id = $1", [id])).toEqual([]);
    await releaseJobs(db.database, "chat", "batch", 500);
    const { epoch } = await claimed(id, { attempt: 2, dispatch: 2 });
    await finish({ id, epoch }, { ...lost, isOwned: true, keepsRequest: false });
    expect(await states()).toMatchObject([{ status: "failed" }]);
  });

  test("is not redriven without the credits, nor when it has succeeded or was deleted", async () => {
    const poor = await createWorkspace(db.database, 100n);
    const { letter } = await dead();
    await db.query("update job set workspace_id = $2 where id = (select job_id from dead_letter where id = $1)", [
      letter,
      poor,
    ]);
    const other = jobRequest({ workspaceId: poor, amount: 60n });
    await door.admit(other);
    expect(await redriveDeadLetter(db.database, letter, OPERATOR)).toBe("funds");
    await db.query("update job set state = 'completed' where id = (select job_id from dead_letter where id = $1)", [
      letter,
    ]);
    expect(await redriveDeadLetter(db.database, letter, OPERATOR)).toBe("over");
    await db.query("delete from job where id = (select job_id from dead_letter where id = $1)", [letter]);
    expect(await redriveDeadLetter(db.database, letter, OPERATOR)).toBe("over");
    expect(await redriveDeadLetter(db.database, newId(), OPERATOR)).toBe("unknown");
  });
});
