/** Bodies of jobs that end in processes without the master key, and jobs whose bodies cannot be read. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";

import { bodySettingOf } from "#shared/base/body-setting.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { keepJob, type KeepContext, keepRefused, type KeptEnd, type KeptJob } from "#shared/calls/keep-job.ts";
import { CANCELLED, endOrphan } from "#shared/calls/orphaned-jobs.ts";
import { type BodyRow, findBody } from "#shared/database/kept-bodies.ts";
import { requestCancel } from "#shared/database/jobs.ts";
import { createJobAdmission } from "#shared/jobs/admission.ts";
import { jobError } from "#shared/jobs/error.ts";
import { type BodyKeeper, openBodyKeeper } from "#shared/kept-bodies/keeper.ts";
import { type KeptCall, readBodies } from "#shared/kept-bodies/store.ts";
import { createMetrics, type Metrics } from "#shared/metrics/metrics.ts";
import { openSealer } from "#shared/secrets/open-sealer.ts";
import type { Sealer } from "#shared/secrets/sealed.ts";
import { storeClaim } from "#shared/storage/claim-check.ts";
import { openStorage, type Storage } from "#shared/storage/client.ts";
import { createWorkspace } from "#tests/shared/accounts.ts";
import { jobRequest } from "#tests/shared/jobs/jobs.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { createTestBucket } from "#tests/support/storage.ts";

const WAIT_MS = 60_000;
const ERRORS = bodySettingOf({ keep: "errors" });
const ALL = bodySettingOf({ keep: "all" });
const FAILED = jobError({ code: "upstream_error", message: "It failed." });
const log = createLogger({ level: "silent", role: "test" });

let db: TestDatabase;
let storage: Storage;
let metrics: Metrics;
let keeper: BodyKeeper;
let sealer: Sealer;
let workspaceId: string;

beforeAll(async () => {
  db = await createTestDatabase();
  storage = openStorage((await createTestBucket()).settings);
  metrics = createMetrics("test");
  workspaceId = await createWorkspace(db.database);
  // Without the master key, as in a janitor.
  keeper = openBodyKeeper({ database: db.database, storage, sealer: undefined, log, metrics, hoursMax: 720 });
});
afterAll(async () => {
  metrics.close();
  storage.close();
  await db.drop();
});

const workOf = (id: string, more: object = {}): object => ({ job_id: id, kind: "chat", key_id: newId(), bodies: ALL, ...more }); // prettier-ignore

async function keptOf(requestId: string): Promise<{ row: BodyRow; call: KeptCall } | undefined> {
  await keeper.close(WAIT_MS);
  const row = await findBody(db.database, { workspaceId, requestId, memberId: null });
  return row && { row, call: await readBodies({ storage, sealer }, row) };
}

const outcomes = async (): Promise<string[]> =>
  [...(await metrics.registry.metrics()).matchAll(/bodies_kept_total\{.*outcome="(\w+)".*\} (\d+)/g)].map(([, outcome = "", count = ""]) => `${outcome} ${count}`); // prettier-ignore

/** Keeps a job. Resolves when its stored request may be deleted. */
function keep(
  job: Partial<KeptJob> & { readonly id: string },
  end: KeptEnd,
  more: Partial<KeepContext> = {},
): Promise<void> {
  // prettier-ignore
  const { promise, resolve } = Promise.withResolvers<void>();
  const whole = {
    workspace_id: workspaceId,
    work: workOf(job.id) as KeptJob["work"],
    request: "{}",
    request_ref: null,
  };
  keepJob({ bodyKeeper: keeper, storage, ...more }, { ...whole, ...job }, end, resolve);
  return promise;
}

test("before a process with the master key has started, bodies are dropped and counted", async () => {
  const id = newId();
  await keep({ id }, { error: FAILED });
  expect(await outcomes()).toEqual(["store 1"]);
  expect(await db.query("select 1 from kept_body")).toEqual([]);
  sealer = await openSealer({ production: true, secretsKeys: [randomBytes(32)] }, db.database);
});

test("a job without an owner is kept with its request by a process that cannot decrypt it", async () => {
  const id = newId();
  const request = { text: '{"model":"one","messages":[]}' };
  await createJobAdmission({ database: db.database }).admit(jobRequest({ workspaceId, id, request, work: workOf(id, { bodies: ERRORS }) })); // prettier-ignore
  const job = await requestCancel(db.database, workspaceId, id);
  if (!job) throw new Error("expected the job");
  const connection = { publish: () => undefined, isClosed: () => false };
  const context = { database: db.database, storage, metrics, log, connection, unknownKeepMs: 0, bodyKeeper: keeper };
  expect(await endOrphan(context, job, CANCELLED)).toBe("cancelled");
  const kept = await keptOf(id);
  expect(kept?.row.sealed_key).toStartWith("v2.");
  expect(kept?.call).toMatchObject({ endpoint: "POST /v1/chat/completions", request: { text: request.text } });
  expect(JSON.parse(kept?.call.response.text ?? "")).toEqual({ error: CANCELLED.error });
});

test("the request of a large job is read before it is deleted", async () => {
  const id = newId();
  const text = JSON.stringify({ model: "one", text: "a".repeat(100_000) });
  await keep({ id, request: null, request_ref: await storeClaim(storage, id, text) }, { error: null, result: "{}" });
  expect((await keptOf(id))?.call).toMatchObject({ status: 200, request: { text, is_cut: false } });
});

test("texts beyond the limit are cut", async () => {
  const id = newId();
  await keep({ id, request: JSON.stringify("a".repeat(1_100_000)) }, { error: null, result: JSON.stringify("b".repeat(1_100_000)) }); // prettier-ignore
  const kept = await keptOf(id);
  for (const part of [kept?.call.request, kept?.call.response]) {
    expect(part).toMatchObject({ is_cut: true, bytes: 1_100_002 });
    expect(part?.text).toHaveLength(1_048_576);
  }
});

test("members that the service adds for its workers are not kept", async () => {
  const id = newId();
  const response = { id: "resp_1", object: "response", status: "in_progress", model: "one", instructions: "Be brief." };
  const request = JSON.stringify({ model: "one", messages: [1], response, response_input: [2], response_tools: [] });
  await keep({ id, request, work: workOf(id, { api: "responses" }) as KeptJob["work"] }, { error: FAILED });
  const kept = await keptOf(id);
  expect(kept?.call.endpoint).toBe("POST /v1/responses");
  expect(JSON.parse(kept?.call.request.text ?? "")).toEqual({ model: "one", instructions: "Be brief.", input: [2] });
});

test("a job that keeps nothing, only failures, or whose response was deleted frees its request at once", async () => {
  const [off, succeeded, deleted] = [newId(), newId(), newId()];
  const errors = workOf(succeeded, { bodies: ERRORS }) as KeptJob["work"];
  await keep({ id: off, work: workOf(off, { bodies: undefined }) as KeptJob["work"] }, { error: FAILED });
  await keep({ id: succeeded, work: errors }, { error: null, result: "{}" });
  const background = workOf(deleted, { background: true, api: "responses" }) as KeptJob["work"];
  await keep({ id: deleted, work: background }, { error: FAILED }, { responses: { read: () => Promise.resolve(undefined) } }); // prettier-ignore
  for (const id of [off, succeeded, deleted]) expect(await keptOf(id)).toBeUndefined();
});

test("a job whose request cannot be read is dropped and counted, and its request is freed", async () => {
  const id = newId();
  const before = await outcomes();
  await keep({ id, request: null, request_ref: `claims/${newId()}/none` }, { error: FAILED });
  expect(await keptOf(id)).toBeUndefined();
  expect((await outcomes()).filter((one) => !before.includes(one))).toEqual(["store 2"]);
});

test("refused work is kept unless the rate limit refused it", async () => {
  const [id, limited] = [newId(), newId()];
  const caller = { workspaceId, keyId: newId(), bodies: ERRORS };
  const work = { caller, endpoint: "/v1/capabilities/text.chunk/run", request: Buffer.from("{}") };
  keepRefused({ bodyKeeper: keeper }, { ...work, id, error: FAILED });
  const error = jobError({ code: "rate_limit_exceeded", message: "Too many." });
  keepRefused({ bodyKeeper: keeper }, { ...work, id: limited, error });
  expect((await keptOf(id))?.call).toMatchObject({
    endpoint: "POST /v1/capabilities/{id}/run",
    request: { text: "{}" },
  });
  expect(await keptOf(limited)).toBeUndefined();
});
