/** Reasons of failed calls on their way into the database. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";

import type { Database } from "#shared/database/client.ts";
import { newId } from "#shared/base/ids.ts";
import { openFailureLog, placeOfFailure } from "#shared/ledger/failure-log.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createSealer } from "#shared/secrets/sealed.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";

const KEY = "sk-live-0123456789abcdef";
const sealer = createSealer([new Uint8Array(32).fill(7)]);
const log = createLogger({ level: "silent", role: "test" });
const ATTEMPT = {
  source: "acme/large",
  error: "failed",
  status: 500,
  started_at: "2026-11-28T09:30:00.000Z",
  duration_ms: 12,
};

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());
beforeEach(() => db.query("delete from usage_failure"));

const open = (database: Pick<Database, "query"> = db.database) =>
  openFailureLog({ database, sealer, secrets: [KEY], log });
const callOf = (jobId = newId()) => ({ workspaceId: newId(), jobId, attempt: 1 });
const FAILED = { status: "failed", failure: { code: "upstream_error" } } as const;
const rows = () =>
  db.query<{ job_id: string; code: string; attempts: unknown[]; text: string | null }>(
    "select job_id, code, tries as attempts, text from usage_failure order by job_id",
  );

test("a text is stored encrypted, truncated and without keys", async () => {
  const call = callOf();
  await open().record(call, { ...FAILED, attempts: [ATTEMPT], providerText: `refused ${KEY} ${"x".repeat(3_000)}` });
  const [row] = await rows();
  expect(row).toMatchObject({ job_id: call.jobId, code: "upstream_error", attempts: [ATTEMPT] });
  const text = sealer.open(placeOfFailure(call), row?.text ?? "");
  expect(text).toStartWith("refused [redacted] xxx");
  expect(text).not.toContain(KEY);
  expect(text.length).toBeLessThan(1_100);
  expect(() => sealer.open(placeOfFailure({ ...call, attempt: 2 }), row?.text ?? "")).toThrow();
});

test("calls that fail together are written together, the same call once", async () => {
  let statements = 0;
  const query: Database["query"] = (...given) => {
    statements += 1;
    return db.database.query(...given);
  };
  const failures = open({ query });
  const twice = callOf();
  const calls = [...Array.from({ length: 150 }, () => callOf()), twice, twice];
  await Promise.all(calls.map((call) => failures.record(call, FAILED)));
  expect(await rows()).toHaveLength(151);
  // The first goes alone, the others wait for it.
  expect(statements).toBe(2);
});

test("twenty attempts are stored at most", async () => {
  await open().record(callOf(), { ...FAILED, attempts: Array.from({ length: 30 }, () => ATTEMPT) });
  expect((await rows())[0]?.attempts).toHaveLength(20);
});

test("a call that did not fail is not written", async () => {
  for (const status of ["succeeded", "cancelled"] as const) await open().record(callOf(), { ...FAILED, status });
  expect(await rows()).toEqual([]);
});

test("an unavailable database loses the record, and delays no answer", async () => {
  let isAway = true;
  const query: Database["query"] = (...given) =>
    isAway ? Promise.reject(new Error("refused")) : db.database.query(...given);
  const failures = open({ query });
  await failures.record(callOf(), FAILED);
  isAway = false;
  await failures.record(callOf(), FAILED);
  expect(await rows()).toHaveLength(1);
});
