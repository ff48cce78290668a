/** Rows that go after a while, each kind as its setting says, and what must stay however old it is. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";

import { fireBudgets } from "#shared/database/budget-firings.ts";
import { newId } from "#shared/base/ids.ts";
import { setSpendLimit } from "#shared/ledger/spend-limits.ts";
import { admitLone, CREDIT, createWorkspace } from "#tests/shared/accounts.ts";
import { createTestDatabase, type Query, type TestDatabase } from "#tests/support/postgres.ts";
import { type Retention, sweepRetention } from "#workers/janitor/retention.ts";

let database: TestDatabase;
const db: { query: Query } = { query: (text, values) => database.query(text, values) };
const KEEP: Retention = { hours: 168, deliveryDays: 30, auditLogDays: 730, faultDays: 90 };
let workspaceId: string;

beforeAll(async () => {
  database = await createTestDatabase();
}, 120_000);
afterAll(() => database.drop());
beforeEach(async () => {
  workspaceId = await createWorkspace(database.database, 1_000n * CREDIT);
});

const sweep = (keep: Partial<Retention> = {}): Promise<void> => sweepRetention(database.database, { ...KEEP, ...keep });

test("relayed output is deleted an hour after its call was closed, in batches, and kept while that is open", async () => {
  const jobId = newId();
  await admitLone(database.database, { workspaceId, jobId, amount: 100n, lifeMs: 86_400_000 });
  const insert = `insert into relay_progress (workspace_id, job_id, amount, tokens, units, at)
    select $2, g, 1, 1, '{}', now() - interval '2 hours' from unnest($1::uuid[]) g`;
  await db.query(insert, [`{${[jobId, ...Array.from({ length: 1_200 }, newId)].join(",")}}`, workspaceId]);
  const young = newId();
  await db.query(
    "insert into relay_progress (workspace_id, job_id, amount, tokens, units) values ($1, $2, 1, 1, '{}')",
    [workspaceId, young],
  );
  await sweep();
  const rows = await db.query<{ job_id: string }>("select job_id from relay_progress");
  expect(rows.map((row) => row.job_id).toSorted()).toEqual([jobId, young].toSorted());
});

test("events are kept as long as jobs, and until they are delivered, but for two weeks at most", async () => {
  const insert = `insert into event (workspace_id, type, metadata, occurred_at, fanned_out_at)
    select $1, 'job.completed', '{}', now() - n * interval '1 hour', case when $3 then now() end from generate_series(1, $2::int) n`;
  await db.query(insert, [workspaceId, 1_100, true]);
  const waiting = newId();
  await db.query(insert, [waiting, 400, false]);
  await sweep({ hours: 20.5 });
  expect(await db.query("select 1 from event where workspace_id = $1", [workspaceId])).toHaveLength(20);
  // Fourteen days have 336 hours; the last of them has just begun to be too old.
  expect(await db.query("select 1 from event where workspace_id = $1", [waiting])).toHaveLength(335);
});

test("ended deliveries are deleted with their attempts, waiting ones stay", async () => {
  const insert = `insert into delivery (id, workspace_id, event, body, status, next_at, ended_at, created_at)
    select gen_random_uuid(), $1, 'run.failed', n::text, case when $2 then 'failed' else 'pending' end, null,
           case when $2 then now() - n * interval '1 day' end, now() - n * interval '1 day' from generate_series(1, 12) n`;
  await db.query(insert, [workspaceId, true]);
  await db.query(insert, [workspaceId, false]);
  await db.query(
    "insert into delivery_attempt (delivery_id, number, at, ms) select id, 1, now(), 1 from delivery where workspace_id = $1",
    [workspaceId],
  );
  await sweep({ deliveryDays: 9.5 });
  const left = "select status, count(*)::int as count from delivery where workspace_id = $1 group by 1 order by 1";
  expect(await db.query(left, [workspaceId])).toEqual([
    { status: "failed", count: 9 },
    { status: "pending", count: 12 },
  ]);
  expect(await db.query("select 1 from delivery_attempt")).toHaveLength(21);
});

test("counts of mail of past days are deleted", async () => {
  await db.query(
    `insert into mail_sent (workspace_id, mailbox, day, sent)
     select $1, '', (now() at time zone 'UTC')::date - n, 1 from generate_series(0, 3) n`,
    [workspaceId],
  );
  await sweep();
  // An address has its most of a day anew on the next.
  expect(await db.query("select day = (now() at time zone 'UTC')::date as is_today from mail_sent")).toEqual([
    { is_today: true },
  ]);
});

test("the audit log is deleted from its oldest row on, across batches", async () => {
  await db.query("delete from audit_log");
  await db.query(
    `insert into audit_log (actor, action, subject, at)
     select '{"type":"system","id":"x"}', 'a.b', n::text, now() - (2500 - n) * interval '1 day' from generate_series(1, 2500) n`,
  );
  await sweep({ auditLogDays: 99.5 });
  expect(await db.query("select min(subject::int) as first, count(*)::int as count from audit_log")).toEqual([
    { first: 2_401, count: 100 },
  ]);
});

describe("a reached budget", () => {
  test("is deleted, except for the period that its alert checks again: it fires once for it", async () => {
    const alert = newId();
    await db.query(
      `insert into budget_alert (id, workspace_id, name, threshold, period, judged_from) values ($1, $2, 'a', 5, 'daily', now() - interval '900 days')`,
      [alert, workspaceId],
    );
    // Usage of a day long ago, at which the alert has looked, and one firing before that.
    await db.query(
      `insert into spent_day (workspace_id, day, spent)
       select $1, (now() at time zone 'UTC')::date - d.ago, d.spent from (values (800, 0), (799, 7)) d(ago, spent)`,
      [workspaceId],
    );
    await db.query("update balance set spent = 7, day = (now() at time zone 'UTC')::date where workspace_id = $1", [
      workspaceId,
    ]);
    expect(await fireBudgets(database.database, workspaceId)).toHaveLength(1);
    await db.query("update budget_alert set checked_day = (now() at time zone 'UTC')::date - 800 where id = $1", [
      alert,
    ]);
    await db.query("update budget_firing set at = now() - interval '800 days' where alert_id = $1", [alert]);
    await db.query(
      `insert into budget_firing (alert_id, period, period_start, threshold, spent, at)
       values ($1, 'daily', date_trunc('day', now() - interval '801 days', 'UTC'), 5, 9, now() - interval '801 days')`,
      [alert],
    );
    await sweep();
    expect(await db.query("select spent from budget_firing where alert_id = $1", [alert])).toEqual([{ spent: 7n }]);
    expect(await fireBudgets(database.database, workspaceId)).toEqual([]);
    // Its look has come to the present: no period before is judged any more.
    await db.query("update budget_alert set checked_day = (now() at time zone 'UTC')::date where id = $1", [alert]);
    await sweep();
    expect(await db.query("select 1 from budget_firing where alert_id = $1", [alert])).toEqual([]);
    expect(await fireBudgets(database.database, workspaceId)).toEqual([]);
  });
});

test("dead letters, and resolved settle faults, are deleted", async () => {
  await db.query(
    `insert into dead_letter (id, stream, stream_seq, subject, reason, deliveries, at)
     select gen_random_uuid(), 's', n, 'x', 'y', 1, now() - n * interval '1 day' from generate_series(1, 100) n`,
  );
  await db.query(
    `insert into settle_fault (workspace_id, job_id, attempt, fault, held, settled, at, resolved_at)
     select $1, gen_random_uuid(), 1, 'usage_record', n, 0, now() - interval '900 days',
            case when n <= 100 then now() - n * interval '1 day' end from generate_series(1, 110) n`,
    [workspaceId],
  );
  await sweep({ faultDays: 49.5 });
  expect(await db.query("select 1 from dead_letter")).toHaveLength(49);
  expect(await db.query("select 1 from settle_fault where resolved_at is null")).toHaveLength(10);
  expect(await db.query("select 1 from settle_fault where resolved_at is not null")).toHaveLength(49);
});

test("error texts of providers are deleted after seven days, in batches, and other data of the failure stay", async () => {
  await db.query(
    `insert into usage_failure (workspace_id, job_id, attempt, code, tries, text, at)
     select $1, gen_random_uuid(), 1, 'upstream_error', '[]', 'sealed', now() - n * interval '1 day' - interval '1 hour'
     from generate_series(0, 8) n, generate_series(1, 600)`,
    [workspaceId],
  );
  await sweep();
  expect(
    await db.query(
      "select count(*)::int as all, count(text)::int as with_text from usage_failure where workspace_id = $1",
      [workspaceId],
    ),
  ).toEqual([{ all: 5_400, with_text: 4_200 }]);
});

test("sessions of people are deleted after twelve hours", async () => {
  const [memberId, keyId] = [newId(), newId()];
  await db.query("insert into member (id, workspace_id, name, role) values ($1, $2, 'ada', 'developer')", [
    memberId,
    workspaceId,
  ]);
  await db.query(
    `insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset)
     values ($1, $2, $3, 'test', sha256('key'), 'key', 'standard')`,
    [keyId, workspaceId, memberId],
  );
  await db.query(
    `insert into console_session (sha256, key_id, created_at)
     values (sha256('young'), $1, now() - interval '11 hours'), (sha256('old'), $1, now() - interval '13 hours')`,
    [keyId],
  );
  await db.query(
    `insert into sign_in_code (sha256, key_id, created_at)
     values (sha256('young'), $1, now() - interval '59 minutes'), (sha256('old'), $1, now() - interval '61 minutes')`,
    [keyId],
  );
  await sweep();
  expect(await db.query("select sha256 = sha256('young') as is_young from sign_in_code")).toEqual([{ is_young: true }]);
  expect(await db.query("select sha256 = sha256('young') as is_young from console_session")).toEqual([
    { is_young: true },
  ]);
});

test("sessions of operators are deleted once they have expired", async () => {
  await db.query(
    `insert into operator_session (sha256, token_sha256, created_at)
     values (sha256('young'), 'token', now() - interval '11 hours'), (sha256('old'), 'token', now() - interval '13 hours')`,
  );
  await sweep();
  expect(await db.query("select sha256 = sha256('young') as is_young from operator_session")).toEqual([
    { is_young: true },
  ]);
});

test("unused sign-in choices are deleted with their address", async () => {
  await db.query(
    `insert into sign_in_choice (sha256, email, return_to, created_at)
     values (sha256('young'), 'a@example.com', '/', now() - interval '50 minutes'), (sha256('old'), 'b@example.com', '/', now() - interval '70 minutes')`,
  );
  await sweep();
  expect(await db.query("select email from sign_in_choice")).toEqual([{ email: "a@example.com" }]);
});

test("released names are deleted when others may use them", async () => {
  await db.query(
    `insert into released_name (name, workspace_id, released_at)
     values ('kept', $1, now() - interval '29 days'), ('free', $1, now() - interval '31 days')`,
    [workspaceId],
  );
  await sweep();
  expect(await db.query("select name from released_name")).toEqual([{ name: "kept" }]);
});

test("notices of spend limits are deleted after two months, except those of totals, whose period never ends", async () => {
  const limitId = newId();
  await setSpendLimit(database.database, workspaceId, { id: limitId, kind: "run", credits: { total: CREDIT } });
  await db.query(
    `insert into spend_notice (limit_id, period, since, cap, percent, at)
     select $1, p.period, '2026-01-01', 1, 50 + p.n, now() - p.days * interval '1 day'
     from (values ('month', 63, 1), ('day', 63, 2), ('month', 61, 3), ('total', 900, 4)) p(period, days, n)`,
    [limitId],
  );
  await sweep();
  const rows = await db.query("select percent from spend_notice where limit_id = $1 order by percent", [limitId]);
  expect(rows).toEqual([{ percent: 53 }, { percent: 54 }]);
});

test("refused calls are deleted after a day", async () => {
  await db.query(
    `insert into refused_call (workspace_id, request_id, key_id, at, endpoint, code)
     select $1, gen_random_uuid(), gen_random_uuid(), now() - n * interval '1 hour', '/v1/embeddings', 'overloaded'
     from (values (23), (25)) ages(n)`,
    [workspaceId],
  );
  await sweep();
  const rows = await db.query(
    "select at > now() - interval '1 day' as is_young from refused_call where workspace_id = $1",
    [workspaceId],
  );
  expect(rows).toEqual([{ is_young: true }]);
});
