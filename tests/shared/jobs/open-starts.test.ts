/** Starts at providers' queues as their rows keep them: noted before they are sent, found once, kept as long as can be told of them. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";

import { findExpired, redispatchUnknown } from "#shared/database/job-sweeps.ts";
import { claimJob, type ClaimedJob, handBackJob, noteUnknown } from "#shared/database/jobs.ts";
import {
  adoptProviderJob,
  noteLostStart,
  noteProviderJob,
  noteRung,
  noteStart,
  unknownNames,
} from "#shared/database/open-starts.ts";
import { newId } from "#shared/base/ids.ts";
import { createJobAdmission } from "#shared/jobs/admission.ts";
import { createWorkspace } from "#tests/shared/accounts.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

import { jobRequest } from "./jobs.ts";

const HOUR_MS = 3_600_000;

let db: TestDatabase;
let workspaceId: string;

beforeAll(async () => {
  db = await createTestDatabase();
  workspaceId = await createWorkspace(db.database);
});
afterAll(() => db.drop());
afterEach(() => db.query("update job set state = 'failed', ended_at = now() where ended_at is null"));

/** A job in a worker's hands. */
async function claimed(id?: string): Promise<ClaimedJob> {
  const wanted = id ?? (await admitted());
  const worker = { worker: newId(), leaseMs: 30_000, claimsMax: 6 };
  const job = await claimJob(db.database, { id: wanted, workspaceId, attempt: 1, dispatch: 1, ...worker });
  if (!job) throw new Error("the job was not to be had");
  return job;
}

async function admitted(): Promise<string> {
  const { id, ...rest } = jobRequest({ workspaceId, amount: 1n });
  expect((await createJobAdmission({ database: db.database }).admit({ id, ...rest })).kind).toBe("admitted");
  await db.query("update job set dispatch = 1, dispatched_at = clock_timestamp() where id = $1", [id]);
  return id;
}

const recordOf = (more: object = {}) => ({ source: "vendor/model", hold_nano: "1", ...more });
const startOf = (more: object = {}) => ({ start: { id: newId(), mark: {}, sent_ms: Date.now(), ...more } });

/** A job whose start is open. */
async function begun(more: object = {}, record: object = {}): Promise<ClaimedJob> {
  const job = await claimed();
  expect(await noteStart(db.database, job.id, job.epoch, recordOf({ ...startOf(more), ...record }))).toBe(true);
  return job;
}

const kept = async ({ id }: { readonly id: string }) =>
  (await db.query<{ provider_job: Record<string, unknown> }>("select provider_job from job where id = $1", [id]))[0]
    ?.provider_job;

const adopt = (job: ClaimedJob, name: string, { createdMs = Date.now(), source = "vendor/model" } = {}) =>
  adoptProviderJob(
    db.database,
    job,
    { name, createdMs, clocksMs: 10_000 },
    recordOf({ source, job: { id: name }, names: [name] }),
  );

describe("a start that is about to be sent", () => {
  test("marks the job as at its provider: the next worker looks there", async () => {
    const job = await begun();
    await handBackJob(db.database, job.id, job.epoch, false);
    expect((await claimed(job.id)).provider_job).toMatchObject({ source: "vendor/model", start: { mark: {} } });
  });

  test("is not sent by a former owner, nor after a cancel", async () => {
    const job = await claimed();
    expect(await noteStart(db.database, job.id, job.epoch - 1, recordOf())).toBe(false);
    await db.query("update job set cancel_requested = true where id = $1", [job.id]);
    expect(await noteStart(db.database, job.id, job.epoch, recordOf())).toBe(false);
    expect(await kept(job)).toBeNull();
  });

  test("is lost from its first record, and cannot be lost by another worker", async () => {
    const job = await begun();
    expect(await noteLostStart(db.database, job.id, job.epoch, 7)).toMatchObject({ lost_ms: 7 });
    expect(await noteLostStart(db.database, job.id, job.epoch, 9)).toMatchObject({ lost_ms: 7 });
    expect(await noteLostStart(db.database, job.id, job.epoch - 1, 9)).toBeUndefined();
    await noteProviderJob(db.database, job.id, job.epoch, recordOf({ job: { id: "1" } }));
    expect(await noteLostStart(db.database, job.id, job.epoch, 9)).toBeUndefined();
  });

  test("matches a callback for it, none for another start, and none after its answer", async () => {
    const id = newId();
    const job = await begun({ id });
    await noteRung(db.database, job.id, newId(), "other");
    expect(await kept(job)).not.toHaveProperty("start.told");
    await noteRung(db.database, job.id, id, "mine");
    expect(await noteLostStart(db.database, job.id, job.epoch, 1)).toMatchObject({ told: "mine" });
    const answered = recordOf({ job: { id: "answered" } });
    await noteProviderJob(db.database, job.id, job.epoch, answered);
    await noteRung(db.database, job.id, id, "late");
    expect(await kept(job)).toEqual(answered);
  });
});

describe("a job that a provider lists", () => {
  test("is assigned to one start, for any number of concurrent requests", async () => {
    const lost = await Promise.all(Array.from({ length: 6 }, () => begun({ lost_ms: 1 })));
    const results = await Promise.all(lost.map((job) => adopt(job, "listed once")));
    expect(results.filter((result) => result === "adopted")).toHaveLength(1);
    expect(results.filter((result) => result === "taken")).toHaveLength(5);
    expect(await unknownNames(db.database, "vendor", ["listed once", "never"])).toEqual(["never"]);
    // Another provider may call one alike.
    expect(await unknownNames(db.database, "other", ["listed once"])).toEqual(["listed once"]);
    const other = await begun({ lost_ms: 1 }, { source: "other/model" });
    expect(await adopt(other, "listed once", { source: "other/model" })).toBe("adopted");
  });

  test("is not taken from a job that has it, ended or not", async () => {
    const owner = await claimed();
    await noteProviderJob(
      db.database,
      owner.id,
      owner.epoch,
      recordOf({ job: { id: "second" }, names: ["first", "second"] }),
    );
    await db.query("update job set state = 'completed', ended_at = now() where id = $1", [owner.id]);
    const lost = await begun({ lost_ms: 1 });
    for (const name of ["first", "second"]) expect(await adopt(lost, name)).toBe("taken");
  });

  test("may belong to an unanswered start of another, and does not if that was sent later, is lost too, or has no worker", async () => {
    const createdMs = Date.now() - 60_000;
    const lost = await begun({ lost_ms: 1 });
    const asking = await begun({ sent_ms: createdMs });
    expect(await adopt(lost, "whose", { createdMs })).toBe("open");
    const change = (text: string) => db.query(`update job set ${text} where id = $1`, [asking.id]);
    await change("lease_until = clock_timestamp() - interval '1 second'");
    expect(await adopt(lost, "without a worker", { createdMs })).toBe("adopted");
    await change("lease_until = clock_timestamp() + interval '1 minute'");
    const [second, third] = [await begun({ lost_ms: 1 }), await begun({ lost_ms: 1 })];
    expect(await adopt(second, "sent before it", { createdMs: createdMs - 10_001 })).toBe("adopted");
    await noteLostStart(db.database, asking.id, asking.epoch, 1);
    expect(await adopt(third, "lost too", { createdMs })).toBe("adopted");
  });

  test("is not taken from a former attempt at another source, even of the same job", async () => {
    const owner = await claimed();
    const record = recordOf({ job: { id: "left" }, names: ["half", "left"] });
    await noteProviderJob(db.database, owner.id, owner.epoch, record);
    await noteProviderJob(db.database, owner.id, owner.epoch, null);
    const lost = await begun({ lost_ms: 1 });
    for (const name of ["half", "left"]) expect(await adopt(lost, name)).toBe("taken");
    expect(await adopt(owner, "left")).toBe("taken");
    expect(await unknownNames(db.database, "vendor", ["half", "left", "never"])).toEqual(["never"]);
    expect(await unknownNames(db.database, "other", ["left"])).toEqual(["left"]);
  });

  test("is not assigned while the answer that names it is being recorded", async () => {
    const [asking, lost] = [await claimed(), await claimed()];
    const results: string[] = [];
    // Adoption ignores starts of a job whose lease has expired.
    await db.query("update job set lease_until = now() + interval '1 hour' where id = $1", [asking.id]);
    // With the two statements of adopt_provider_job swapped, about 8 turns of 100 adopt the job.
    for (let turn = 0; turn < 100; turn++) {
      const name = `at the same time ${turn}`;
      const record = recordOf({ job: { id: name }, names: [name] });
      await noteStart(db.database, asking.id, asking.epoch, recordOf(startOf()));
      await noteStart(db.database, lost.id, lost.epoch, recordOf(startOf({ lost_ms: 1 })));
      const noting = async (): Promise<void> => {
        for (const until = performance.now() + Math.random(); performance.now() < until;) await Promise.resolve();
        await noteProviderJob(db.database, asking.id, asking.epoch, record);
      };
      const [result] = await Promise.all([adopt(lost, name), noting()]);
      results.push(result);
    }
    expect(results.filter((result) => result === "adopted")).toEqual([]);
    expect(new Set(results)).toEqual(new Set(["open", "taken"]));
  }, 60_000);

  test("is not assigned to a former owner", async () => {
    const job = await begun({ lost_ms: 1 });
    expect(await adopt({ ...job, epoch: job.epoch - 1 }, "too late")).toBe("void");
    expect(await unknownNames(db.database, "vendor", ["too late"])).toEqual(["too late"]);
  });
});

describe("a job of unknown outcome", () => {
  const deadlines = async ({ id }: ClaimedJob) =>
    (
      await db.query<{ hours: number }>(
        "select extract(epoch from deadline - unknown_since)::float8 / 3600 as hours from job where id = $1",
        [id],
      )
    )[0]?.hours;
  const expired = async (job: ClaimedJob) =>
    (await findExpired(db.database, 24 * HOUR_MS, 100)).some(({ id }) => id === job.id);

  test.each([
    ["its provider's time where that is shorter", HOUR_MS, 1],
    ["the setting's where the provider's is longer", 48 * HOUR_MS, 24],
    ["the setting's where the provider has none", undefined, 24],
  ])("is kept for %s", async (_what, unknownForMs, hours) => {
    const job = await begun({}, unknownForMs === undefined ? {} : { unknown_for_ms: unknownForMs });
    await db.query("update job set deadline = now() where id = $1", [job.id]);
    expect(await noteUnknown(db.database, { ...job, isOwned: true }, 24 * HOUR_MS)).toBe(true);
    expect(await deadlines(job)).toBeCloseTo(hours, 2);
    const since = (minutes: number) =>
      db.query("update job set unknown_since = now() - make_interval(mins => $2) where id = $1", [job.id, minutes]);
    await since(hours * 60 - 1);
    expect(await expired(job)).toBe(false);
    await since(hours * 60 + 1);
    expect(await expired(job)).toBe(true);
  });

  test("with an open start is polled like any other", async () => {
    const job = await begun();
    await noteUnknown(db.database, { ...job, isOwned: true }, HOUR_MS);
    await db.query("update job set ask_at = now() - interval '1 second' where id = $1", [job.id]);
    expect((await redispatchUnknown(db.database, 10)).map(({ id }) => id)).toContain(job.id);
  });
});
