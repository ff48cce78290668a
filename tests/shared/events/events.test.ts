import { afterAll, beforeAll, expect, test } from "bun:test";

import { validate } from "#shared/json/contracts.ts";
import { claimJob } from "#shared/database/jobs.ts";
import { EVENTS } from "#shared/events/events.ts";
import { newId } from "#shared/base/ids.ts";
import { createJobAdmission } from "#shared/jobs/admission.ts";
import { jobError } from "#shared/jobs/error.ts";
import { endJob, type JobEnd, nothingUsed } from "#shared/jobs/end.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createWorkspace } from "#tests/shared/accounts.ts";
import { jobRequest, type TestJob } from "#tests/shared/jobs/jobs.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { subscribeToEvents } from "#tests/support/tenant.ts";

const log = createLogger({ level: "silent", role: "test" });
let db: TestDatabase;
let workspaceId: string;
beforeAll(async () => {
  db = await createTestDatabase();
  workspaceId = await createWorkspace(db.database);
  await subscribeToEvents(db, workspaceId);
});
afterAll(() => db.drop());

interface EventRow {
  readonly type: keyof typeof EVENTS;
  readonly metadata: Readonly<Record<string, unknown>>;
}

const USED = { usedNano: 40n, status: "succeeded", source: "a/b", units: {}, isEstimated: false, tokens: 3 } as const;
const FAILED = {
  state: "failed",
  usage: nothingUsed("failed"),
  error: jobError({ code: "upstream_error", message: "No." }),
} as const;

/** Admits and claims a job, ends it, and reads the events of its id. */
async function eventsOf(
  end: Partial<JobEnd>,
  members: Partial<TestJob> = {},
  runId: string | null = null,
): Promise<EventRow[]> {
  const job = jobRequest({ workspaceId, amount: 100n, ...members });
  await createJobAdmission({ database: db.database }).admit(job);
  await db.query("update job set dispatch = 1, dispatched_at = clock_timestamp() where id = $1", [job.id]);
  const claim = { id: job.id, workspaceId, attempt: 1, dispatch: 1, worker: newId(), leaseMs: 30_000, claimsMax: 6 };
  const claimed = await claimJob(db.database, claim);
  // Afterwards: a job whose run is not there is not claimed.
  await db.query("update job set run_id = $2 where id = $1", [job.id, runId]);
  const whole: JobEnd = {
    id: job.id,
    epoch: claimed?.epoch ?? 0,
    isOwned: true,
    state: "completed",
    usage: USED,
    result: null,
    error: null,
    ...end,
  };
  expect(await endJob({ database: db.database, log }, whole, 1_000)).toBeDefined();
  expect(await endJob({ database: db.database, log }, whole, 1_000)).toBeUndefined();
  return db.query<EventRow>("select type, metadata from event where metadata->>'jobId' = $1", [job.id]);
}

test("the table accepts exactly the listed types", async () => {
  const [row] = await db.query<{ rule: string }>(
    "select pg_get_constraintdef(oid) as rule from pg_constraint where conname = 'event_type'",
  );
  const named = [...(row?.rule ?? "").matchAll(/'([^']+)'::text/g)].map(([, name]) => name);
  expect(new Set(named)).toEqual(new Set(Object.keys(EVENTS)));
});

test.each<[string, Partial<JobEnd>, EventRow["type"], object]>([
  ["well", {}, "job.completed", { modality: "text", model: "one", creditsUsed: 4e-8 }],
  ["in failure", FAILED, "job.failed", { creditsUsed: 0, error: { code: "upstream_error", message: "No." } }],
])("a job that ends %s creates one event, valid by its schema", async (_how, end, type, metadata) => {
  const events = await eventsOf(end);
  expect(events).toMatchObject([{ type, metadata }]);
  const [event] = events;
  expect(validate(EVENTS[type].metadata, event?.metadata)).toBeNull();
  expect(event?.metadata["durationMs"]).toBeNumber();
});

test.each<[string, Partial<JobEnd>, Partial<TestJob>, string | null]>([
  ["was cancelled", { state: "cancelled", usage: nothingUsed("cancelled") }, {}, null],
  ["cannot be asked for afterwards", {}, { isHidden: true }, null],
  ["is a step of a run", {}, {}, newId()],
])("a job that %s creates none", async (_why, end, members, runId) => {
  expect(await eventsOf(end, members, runId)).toEqual([]);
});

test("metadata of a job's event is about a job or about a batch, never about both or neither", () => {
  const counts = { total: 2, completed: 1, failed: 1 };
  const batch = { batchId: "batch_1", endpoint: "/v1/embeddings", ...counts, creditsUsed: 1 };
  const job = { jobId: newId(), modality: "text", creditsUsed: 1 };
  const error = { code: "batch_expired", message: "No." };
  const isValid = (name: "JobCompleted" | "JobFailed", value: object): boolean => validate(name, value) === null;
  for (const one of [job, batch])
    expect([isValid("JobCompleted", one), isValid("JobFailed", { ...one, error }), isValid("JobFailed", one)]).toEqual([true, true, false]); // prettier-ignore
  const { batchId, ...rest } = batch;
  for (const odd of [{ ...job, ...batch }, { batchId }, rest, { ...job, batchId }, { jobId: job.jobId, ...rest }])
    expect([odd, isValid("JobCompleted", odd), isValid("JobFailed", { ...odd, error })]).toEqual([odd, false, false]);
});

test("an event is created if an enabled channel subscribes to its type, and otherwise not", async () => {
  const left = async (change: string): Promise<number> => {
    await db.query(change);
    return (await eventsOf({})).length;
  };
  expect(await left("delete from subscription where event = 'job.completed'")).toBe(0);
  expect(
    await left(
      "insert into subscription (id, workspace_id, channel_id, event) select gen_random_uuid(), workspace_id, id, 'job.completed' from notification_channel",
    ),
  ).toBe(1);
  expect(await left("update notification_channel set enabled = false")).toBe(0);
  expect(await left("update notification_channel set enabled = true")).toBe(1);
});
