/** The service behind PgBouncer in transaction mode: no two statements need the same session, and what limits them comes along. */
import { afterAll, beforeAll, expect, test as onAnySystem } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { jetstreamManager } from "@nats-io/jetstream";
import { connect } from "nats";
import { Webhook } from "standardwebhooks";

import { debianArchive } from "#deploy/embedded/apt-sources.mjs";
import { isDatabaseAway, openDatabase, sqlState } from "#shared/database/client.ts";
import { migrate } from "#shared/database/migrate.ts";
import { raiseUsageFloor, rollUpStep } from "#shared/database/usage-sums.ts";
import { newId } from "#shared/base/ids.ts";
import { auditInSteps, auditLedger } from "#shared/ledger/audit.ts";
import { createCallAdmission } from "#shared/ledger/call-admission.ts";
import { openLedger, type Settled } from "#shared/ledger/settle.ts";
import { createLogger } from "#shared/base/logger.ts";
import { paced } from "#shared/config/pace.ts";
import { durableName, streamName } from "#shared/queue/subjects.ts";
import { admin } from "#tests/deploy/admin/commands.ts";
import { audit } from "#tests/faults/audit.ts";
import { ask, type Bed, createWorkspace, startBed, type Workspace } from "#tests/faults/bed.ts";
import { metric } from "#tests/faults/metric.ts";
import { oldestKey, openPublisher } from "#tests/faults/publisher.ts";
import { eventually } from "#tests/faults/wait.ts";
import { createWorkspace as insertWorkspace } from "#tests/shared/accounts.ts";
import { rollUpAll, spend } from "#tests/shared/usage-records.ts";
import { temporaryDirectory } from "#tests/support/infrastructure.ts";
import { type PgBouncer, startPgBouncer } from "#tests/support/pgbouncer.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { startRole } from "#tests/support/role-process.ts";

import { notificationsOf, startReceiver } from "./notifications/bench.ts";
import { runsBenchOf, say } from "./workflows/runs-bench.ts";

const CREDIT = 1_000_000_000n;
/** Far fewer than the pools of three processes, so that statements of all of them share each. */
const CONNECTIONS = 6;
const log = createLogger({ level: "silent", role: "test" });
/** Debian's archive is the source of the pooler. */
const hasPgBouncer = (await debianArchive()) !== null;
const test = onAnySystem.skipIf(!hasPgBouncer);

let bed: Bed;
let workspace: Workspace;
let bare: TestDatabase;
let withoutLimits: PgBouncer;

beforeAll(async () => {
  if (!hasPgBouncer) return;
  bed = await startBed({
    pools: ["chat", "workflow", "webhook"],
    ownPostgres: true,
    poolerConnections: CONNECTIONS,
    env: { SLUICE_SANDBOX: "on", SLUICE_OUTBOUND_ALLOW: "127.0.0.1" },
  });
  workspace = await createWorkspace(bed.stack, { creditsNano: 1_000n * CREDIT });
  bare = await createTestDatabase({ migrated: false });
  // As if the service's own limit were lost, and that of somebody else had come instead.
  await bare.query(
    `alter role current_user in database ${new URL(bare.url).pathname.slice(1)} set lock_timeout = '50s'`,
  );
  withoutLimits = await startPgBouncer(bare.url, 10);
  const database = openDatabase({ url: withoutLimits.url, poolMax: 2, log });
  await migrate(database, log);
  await database.close();
}, 120_000);
afterAll(async () => {
  await withoutLimits?.close();
  await bare?.drop();
  await bed?.stop();
});

test("calls, a batch job and a run go through it, also after each role has been restarted", async () => {
  const { stack, client } = bed;
  const publisher = await openPublisher(stack.natsUrl, workspace);
  const runs = runsBenchOf(stack);
  for (const round of ["first", "after restarts"]) {
    const calls = Array.from({ length: 40 }, () => client.chat(bed.target(0, workspace.key), ask("flat")));
    const key = newId();
    const [answers, accepted, { run }] = await Promise.all([
      Promise.all(calls),
      publisher.submit({ body: ask("flat") }, { key }),
      runs.run({ steps: [say("one", "hello"), say("two", "${{ steps.one.output.text }}")] }, { mode: "async" }),
    ]);
    expect([round, ...answers.map(({ status }) => status)]).toEqual([round, ...calls.map(() => 200)]);
    expect(accepted).toMatchObject({ status: "queued" });
    expect(await publisher.ended(key)).toMatchObject({ status: "completed" });
    expect((await runs.ended(run.id)).status).toBe("succeeded");
    if (round !== "first") continue;
    const sessions = "select pid from pg_stat_activity where datname = current_database() and pid <> pg_backend_pid()";
    expect((await stack.query(sessions)).length).toBeLessThanOrEqual(CONNECTIONS + 3);
    for (const role of [...stack.ingresses, ...stack.workers, ...stack.janitors]) {
      expect(role.logs().find((line) => line.includes("connections to Postgres"))).toContain('"pooled":true');
      await role.restart();
    }
  }
  await publisher.close();
  await stack.settled();
  await audit(bed);
}, 120_000);

test("calls of a busy workspace are admitted and settled on a credit line", async () => {
  const { stack, client } = bed;
  const adminUrl = stack.ingresses[0]?.adminUrl ?? "";
  await eventually("calls are admitted on a line", async () => {
    const answers = await Promise.all(Array.from({ length: 24 }, () => client.chat(bed.target(0, workspace.key), ask("flat")))); // prettier-ignore
    expect(answers.map(({ status }) => status)).toEqual(answers.map(() => 200));
    return (await metric(adminUrl, "sluice_credit_line_calls_total").catch(() => 0)) > 40;
  });
  await stack.settled();
  await audit(bed);
  await eventually("the line is given back", async () => (await stack.query("select from credit_line")).length === 0);
  expect(await stack.query("select from line_settle")).toEqual([]);
}, 60_000);

test("the end of a job is delivered to a webhook, signed", async () => {
  const [told, receiver] = await Promise.all([notificationsOf(bed.stack), startReceiver()]);
  const { id, signingSecret } = await told.channel(receiver.url);
  await told.subscribe(id, "job.completed");
  const publisher = await openPublisher(bed.stack.natsUrl, await oldestKey(bed.stack, told.workspaceId));
  const { job_id: jobId } = await publisher.submit({ body: ask("flat") });
  const { body, headers } = await receiver.wait(() => true);
  expect(new Webhook(signingSecret).verify(body, headers as Record<string, string>)).toMatchObject({
    event: "job.completed",
    metadata: { jobId },
  });
  expect(await told.ended(String(headers["webhook-id"]))).toMatchObject({ status: "succeeded", attemptCount: 1 });
  await publisher.close();
  await receiver.close();
}, 60_000);

test("a call of a locked workspace is rejected, and calls of others are served meanwhile", async () => {
  const { stack, client } = bed;
  const stuck = await createWorkspace(stack, { creditsNano: 10n * CREDIT });
  const direct = openDatabase({ url: stack.databaseUrl, poolMax: 1, log });
  await direct.transaction(async (tx) => {
    await tx.query("select 1 from balance where workspace_id = $1 for update", [stuck.id]);
    const refused = client.chat(bed.target(0, stuck.key), ask("flat"));
    expect((await client.chat(bed.target(0, workspace.key), ask("flat"))).status).toBe(200);
    expect(await refused).toMatchObject({ status: 503 });
  });
  await direct.close();
  expect((await client.chat(bed.target(0, stuck.key), ask("flat"))).status).toBe(200);
}, 60_000);

test("the janitor adapts the limits of the queue to the workers", async () => {
  const { query, natsUrl } = bed.stack;
  const connection = await connect({ servers: natsUrl });
  const manager = await jetstreamManager(connection);
  await query("insert into worker_slots (worker, pool, lane, slots) values ($1, 'chat', 'live', 5000)", [newId()]);
  await eventually("the lane takes more at once", async () => {
    const { config } = await manager.consumers.info(streamName("chat"), durableName("chat", "live"));
    return config.max_ack_pending === 32_768;
  });
  await connection.close();
}, 60_000);

test("the short wait of a single call is set for its statement, regardless of the session", async () => {
  const database = openDatabase({ url: withoutLimits.url, poolMax: 3, log });
  const ledger = openLedger({ database, log, retryMs: 30_000 });
  const admission = createCallAdmission({ database, log, ledger });
  const hold = () => ({
    jobId: newId(),
    keyId: newId(),
    model: "m",
    amountNano: 1n,
    mayExceed: false,
    tokensMax: 0,
    dailyTokens: null,
    lifeMs: 60_000,
  });
  const [stuck, other] = [await insertWorkspace(bare.database), await insertWorkspace(bare.database)];
  const [open, mine] = [hold(), hold()];
  await admission.place(stuck, null, open);
  const usage = {
    attempt: 1,
    usedNano: 1n,
    status: "succeeded",
    source: null,
    units: {},
    isEstimated: false,
    tokens: 1,
  } as const;
  let settled: Promise<Settled> | undefined;
  await bare.database.transaction(async (tx) => {
    await tx.query("select 1 from balance where workspace_id = $1 for update", [stuck]);
    const place = admission.place(stuck, null, hold());
    settled = ledger.settle({ workspaceId: stuck, jobId: open.jobId, ...usage });
    await admission.place(other, null, mine);
    await ledger.settle({ workspaceId: other, jobId: mine.jobId, ...usage });
    expect(await place.catch((error: unknown) => (error as { code?: string }).code)).toBe("overloaded");
  });
  // It is repeated until the lock is given back.
  expect((await settled)?.takenNano).toBe(1n);
  await database.close();
}, 25_000);

test("old usage is summed, audited and moved into a file", async () => {
  const database = openDatabase({ url: withoutLimits.url, poolMax: 2, log });
  const workspaceId = await insertWorkspace(bare.database, 100n);
  await bare.query("update usage_rollup set until = '2019-01-01', next_at = '2019-01-01'");
  const [jobId] = await spend(bare.database, [{ workspaceId, nano: 40n, at: new Date("2019-06-01T10:00:00Z") }]);
  await rollUpAll(bare.database, async () => {
    await raiseUsageFloor(database);
    await rollUpStep(database, 1e12);
  });
  const isOpen = "select 1 from ledger_border where entry_id < (select max(id) from ledger_entry)";
  do expect(await auditInSteps(database)).toEqual([]);
  while ((await bare.query(isOpen)).length > 0);
  // Not the usual folder, which is in memory: no archive may lie there.
  const { directory, remove } = temporaryDirectory("/var/tmp");
  const to = join(directory, "usage.jsonl");
  const archive = ["ledger", "archive", "--before", "2020-01-01", "--to", to];
  expect(await admin(archive, { DATABASE_URL: withoutLimits.url })).toMatchObject({ code: 0, stderr: "" });
  expect(JSON.parse(readFileSync(to, "utf8"))).toMatchObject({ job_id: jobId, settled: "40" });
  expect(await bare.query("select 1 from usage_record where job_id = $1", [jobId ?? ""])).toEqual([]);
  expect(await auditLedger(database)).toEqual([]);
  await database.close();
  remove();
}, 60_000);

test("statements that need a session of their own are rejected by name, and leave nothing in the session", async () => {
  const database = openDatabase({ url: withoutLimits.url, poolMax: 1, log });
  const said = database
    .slowSession(60_000, (session) => session.query("select 1"))
    .catch((error: Error) => error.message);
  expect(await said).toStartWith("DATABASE_URL names a pooler");
  const direct = openDatabase({ url: bare.url, poolMax: 1, log });
  expect(await direct.slowSession(60_000, (session) => session.query("show lock_timeout"))).toEqual([
    { lock_timeout: "1min" },
  ]);
  // One connection at most: the next one is not the one with those limits.
  for (const each of [database, direct]) {
    expect(await each.query("show lock_timeout")).not.toEqual([{ lock_timeout: "1min" }]);
    await each.close();
  }
}, 30_000);

test("calls receive 503 while Postgres is unavailable behind it, and starting roles wait", async () => {
  const { stack, client } = bed;
  const call = () => client.chat(bed.target(0, workspace.key), ask("flat"));
  await stack.postgres?.stop("fast");
  for (let count = 0; count < 3; count++) expect((await call()).status).toBe(503);
  const database = openDatabase({ url: stack.env["DATABASE_URL"] ?? "", poolMax: 1, log });
  const refusal = await eventually("the pooler says so itself", async () => {
    const error: unknown = await database.query("select 1").catch((fault: unknown) => fault);
    return sqlState(error) === undefined ? undefined : error;
  });
  expect([String(refusal), isDatabaseAway(refusal)]).toEqual([expect.stringContaining("server login"), true]);
  await database.close();
  const late = startRole(["janitor"], stack.env);
  await Bun.sleep(paced(2_000));
  await stack.postgres?.start();
  await (await late).stop();
  await eventually("calls are served again", async () => (await call()).status === 200);
  await stack.settled();
  await audit(bed);
}, 90_000);

test("a pooler that rejects a connection parameter is reported by name", async () => {
  const strict = await startPgBouncer(bare.url, 2, ["pool_mode = transaction"]);
  const start = startRole(["janitor"], { ...bed.stack.env, DATABASE_URL: strict.url });
  expect(await start.then(() => "started", String)).toContain(
    "the pooler at DATABASE_URL refuses our connections (error: unsupported startup parameter: statement_timeout); set ignore_startup_parameters",
  );
  await strict.close();
}, 60_000);

test("a role whose sessions have lost their limits names the setting, and does not start", async () => {
  const start = startRole(["janitor"], { ...bed.stack.env, DATABASE_URL: withoutLimits.url });
  expect(await start.then(() => "started", String)).toMatch(
    /alter role current_user set statement_timeout = '10000ms'; .* set lock_timeout = '2000ms'; .* set jit = off;/,
  );
}, 60_000);
