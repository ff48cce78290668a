/** Pools, holds, jobs and dead letters as operators see them: facts, and nothing of what callers asked. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";

import type { OperatorPoolList } from "#schemas/generated/types.ts";
import { beatJobs } from "#shared/database/jobs.ts";
import { newId } from "#shared/base/ids.ts";
import { createJobAdmission, type JobAdmission } from "#shared/jobs/admission.ts";
import { auditLedger } from "#shared/ledger/audit.ts";
import { type Lane, POOLS, type Pool } from "#shared/queue/subjects.ts";
import { admitLone, createWorkspace, CREDIT, settleSingle } from "#tests/shared/accounts.ts";
import { jobRequest, type TestJob } from "#tests/shared/jobs/jobs.ts";

import { openBed, type OperatorBed } from "./bed.ts";

/** Text that no answer may hold. */
const SECRET = "a caller's secret prompt";

let bed: OperatorBed;
let admission: JobAdmission;
let workspaceId: string;
beforeAll(async () => {
  bed = await openBed();
  admission = createJobAdmission({ database: bed.db.database });
});
beforeEach(async () => {
  for (const table of ["run", "job", "hold", "worker_slots", "dead_letter"]) await bed.db.query(`delete from ${table}`);
  await bed.db.query("update balance set held = 0");
  workspaceId = await createWorkspace(bed.db.database, 100n * CREDIT);
});
afterAll(() => bed.close());

async function admit(members: Partial<TestJob> = {}): Promise<string> {
  const request = jobRequest({ workspaceId, request: { text: JSON.stringify(SECRET) }, ...members });
  expect(await admission.admit(request)).toMatchObject({ kind: "admitted" });
  return request.id;
}

async function call(model: string): Promise<string> {
  const jobId = newId();
  expect(await admitLone(bed.db.database, { workspaceId, jobId, amount: CREDIT })).toBe(0);
  await bed.db.query("update hold set model = $2 where job_id = $1", [jobId, model]);
  return jobId;
}

async function beat(pool: Pool, lane: Lane, slots: number): Promise<void> {
  await beatJobs(bed.db.database, { worker: newId(), pool, lane, slots, jobs: [], leaseMs: 1_000 });
}

async function laneOf(pool: Pool, lane: Lane): Promise<OperatorPoolList["data"][number] | undefined> {
  const { data } = await bed.ask("OperatorPoolList", "GET", `/operator/pools/${pool}`);
  return data.find((row) => row.lane === lane);
}

describe("pools", () => {
  test("are listed with both lanes each, including workflows, and individually", async () => {
    const { data } = await bed.ask("OperatorPoolList", "GET", "/operator/pools");
    expect(data.map(({ pool, lane }) => `${pool} ${lane}`)).toEqual(
      POOLS.flatMap((pool) => [`${pool} live`, `${pool} batch`]),
    );
    for (const row of data) {
      expect(row).toMatchObject({ queued: 0, running: 0, slots: 0, processes: 0, oldest_waiting_seconds: 0 });
      expect(row.wanted_processes).toBe(0);
    }
    for (const name of ["nowhere", "Chat", "%00"]) {
      expect((await bed.refusal(404, "GET", `/operator/pools/${name}`)).code).toBe("not_found");
    }
  });

  test("report waiting and running work and its age, and request a process if there is none", async () => {
    const [running, resting, unknown, waiting] = [await admit(), await admit(), await admit(), await admit()];
    await bed.db.query("update job set state = 'running', lease_until = now() + interval '1 hour' where id = $1", [
      running,
    ]);
    await bed.db.query("update job set dispatched_at = null, not_before = now() + interval '1 hour' where id = $1", [
      resting,
    ]);
    await bed.db.query(
      "update job set state = 'running', dispatched_at = null, lease_until = null, unknown_since = now() where id = $1",
      [unknown],
    );
    await bed.db.query("update job set created_at = now() - interval '90 seconds' where id = $1", [waiting]);
    await bed.db.query("update job set created_at = now() - interval '2 hours' where id = $1", [resting]);
    const lane = await laneOf("chat", "batch");
    expect(lane).toMatchObject({ queued: 2, running: 1, slots: 0, processes: 0, wanted_processes: 1 });
    expect(lane?.oldest_waiting_seconds).toBeGreaterThanOrEqual(90);
    expect(lane?.oldest_waiting_seconds).toBeLessThan(3_600);
    expect(await laneOf("chat", "live")).toMatchObject({ queued: 0, running: 0 });
  });

  test("count workers with heartbeats and work, and request more before they are full", async () => {
    await beat("chat", "batch", 4);
    await beat("chat", "batch", 4);
    await beat("chat", "batch", 0);
    const silent = newId();
    await beatJobs(bed.db.database, {
      worker: silent,
      pool: "chat",
      lane: "batch",
      slots: 9,
      jobs: [],
      leaseMs: 1_000,
    });
    await bed.db.query("update worker_slots set seen_at = now() - interval '1 minute' where worker = $1", [silent]);
    for (let job = 0; job < 6; job += 1) await admit();
    expect(await laneOf("chat", "batch")).toMatchObject({ queued: 6, slots: 8, processes: 2, wanted_processes: 2 });
    await admit();
    expect(await laneOf("chat", "batch")).toMatchObject({ queued: 7, wanted_processes: 3 });
  });

  test("count calls at their model's pool: as running up to the number of slots", async () => {
    await beat("chat", "live", 2);
    for (let n = 0; n < 3; n += 1) await call("sandbox-chat");
    await call("a-model-that-left");
    await call("sandbox-stt");
    // Its hold is counted with the job.
    await admit({ lane: "live" });
    expect(await laneOf("chat", "live")).toMatchObject({ queued: 3, running: 2, slots: 2, wanted_processes: 4 });
    expect(await laneOf("audio", "live")).toMatchObject({ queued: 1, running: 0, wanted_processes: 1 });
  });

  test("of workflows count runs", async () => {
    const memberId = newId();
    await bed.db.query("insert into member (id, workspace_id, name, role) values ($1, $2, 'ada', 'owner')", [
      memberId,
      workspaceId,
    ]);
    const run = (status: string, due: string | null = null) =>
      bed.db.query(
        `insert into run (id, workspace_id, key_id, member_id, definition, mode, lane, status, max_attempts, due_at)
         values ($1, $2, $3, $4, '{}', 'async', 'batch', $5, 1, now() + $6::interval)`,
        [newId(), workspaceId, newId(), memberId, status, due],
      );
    await beat("workflow", "batch", 4);
    await run("running");
    expect(await laneOf("workflow", "batch")).toMatchObject({ queued: 0, running: 1, wanted_processes: 1 });
    for (let n = 0; n < 20; n += 1) await run("running");
    expect(await laneOf("workflow", "batch")).toMatchObject({ running: 21, wanted_processes: 1 });
    for (let n = 0; n < 4; n += 1) await run("queued");
    await run("queued", "1 hour");
    await run("succeeded");
    expect(await laneOf("workflow", "batch")).toMatchObject({ queued: 4, running: 21, wanted_processes: 2 });
  });
});

describe("holds", () => {
  test("are listed newest first in pages, and filtered by their problem", async () => {
    const [late, unknown, plain] = [await call("one"), await admit({ amount: 2n * CREDIT }), await call("one")];
    await bed.db.query("update hold set deadline = now() - interval '1 second' where job_id = $1", [late]);
    await bed.db.query("update job set unknown_since = now() where id = $1", [unknown]);
    const jobs = async (query = ""): Promise<string[]> =>
      (await bed.ask("OperatorHoldList", "GET", `/operator/holds?${query}`)).data.map(({ job_id }) => job_id);
    expect(await jobs()).toEqual([plain, unknown, late]);
    expect(await jobs("overdue=true")).toEqual([late]);
    expect(await jobs("overdue=false")).toEqual([plain, unknown]);
    expect(await jobs("unknown=true")).toEqual([unknown]);
    expect(await jobs("unknown=true&overdue=true")).toEqual([]);
    const page = await bed.ask("OperatorHoldList", "GET", "/operator/holds?limit=1");
    expect(page).toMatchObject({
      has_more: true,
      last_id: `${plain}.1`,
      data: [{ workspace_id: workspaceId, credits: 1 }],
    });
    expect(await jobs(`after=${page.last_id}`)).toEqual([unknown, late]);
    // Its place is known without the hold itself.
    await settleSingle(bed.db.database, { jobId: plain });
    expect(await jobs(`after=${page.last_id}`)).toEqual([unknown, late]);
    for (const [param, word] of [
      ["overdue", "yes"],
      ["unknown", "maybe"],
      ["after", plain],
      ["after", "x.1"],
    ] as const) {
      expect(await bed.refusal(400, "GET", `/operator/holds?${param}=${word}`)).toEqual({
        code: "unsupported_value",
        param,
      });
    }
  });
});

describe("an unclosed hold", () => {
  const close = (id: string) => `/operator/holds/${id}/close`;
  const overdue = async (): Promise<string> => {
    const id = await call("one");
    await bed.db.query("update hold set deadline = now() - interval '1 second' where job_id = $1", [id]);
    return id;
  };
  const balance = async (): Promise<object[]> =>
    bed.db.query("select amount, held from balance where workspace_id = $1", [workspaceId]);

  test("is released or settled by hand, with an audit entry, and once", async () => {
    const [released, settled] = [await overdue(), await overdue()];
    expect(await bed.ask("OperatorHoldClosed", "POST", close(`${released}.1`))).toEqual({
      object: "hold_closed",
      id: `${released}.1`,
      job_id: released,
      attempt: 1,
      workspace_id: workspaceId,
      held: 1,
      credits: 0,
    });
    const body = { credits: "0.25", note: "as the provider says" };
    expect(await bed.ask("OperatorHoldClosed", "POST", close(`${settled.toUpperCase()}.1`), { body })).toMatchObject({
      credits: 0.25,
    });
    expect(await balance()).toEqual([{ amount: 100n * CREDIT - CREDIT / 4n, held: 0n }]);
    expect(await auditLedger(bed.db.database)).toEqual([]);
    const log = await bed.ask("OperatorAuditLogList", "GET", `/operator/audit-log?subject=${settled}.1`);
    expect(log.data).toMatchObject([
      {
        action: "hold.close",
        workspace_id: workspaceId,
        before: { credits: "1" },
        after: { credits: "0.25", note: "as the provider says" },
      },
    ]);
    for (const id of [`${settled}.1`, `${newId()}.1`, settled, "x", `${settled}.1.1`]) {
      expect((await bed.refusal(404, "POST", close(id))).code).toBe("not_found");
    }
  });

  test("is not settled above its amount, nor closed early without force", async () => {
    const [late, early] = [await overdue(), await call("one")];
    expect(await bed.refusal(409, "POST", close(`${late}.1`), { credits: "1.000000001" })).toEqual({
      code: "conflict",
      param: "credits",
    });
    for (const credits of [-1, "x", "0.0000000001"]) {
      expect(await bed.refusal(400, "POST", close(`${late}.1`), { credits })).toEqual({
        code: "unsupported_value",
        param: "credits",
      });
    }
    expect(await bed.refusal(400, "POST", close(`${late}.1`), { note: " x" })).toEqual({
      code: "unsupported_value",
      param: "note",
    });
    expect(await bed.refusal(409, "POST", close(`${early}.1`))).toEqual({ code: "conflict", param: "before_deadline" });
    expect(await balance()).toEqual([{ amount: 100n * CREDIT, held: 2n * CREDIT }]);
    await bed.ask("OperatorHoldClosed", "POST", close(`${late}.1`), { body: { credits: 1 } });
    await bed.ask("OperatorHoldClosed", "POST", close(`${early}.1`), { body: { before_deadline: true } });
    expect(await balance()).toEqual([{ amount: 99n * CREDIT, held: 0n }]);
    expect(await auditLedger(bed.db.database)).toEqual([]);
  });

  test("is reported as busy during a settlement", async () => {
    const id = await overdue();
    await bed.db.database.transaction(async (tx) => {
      await tx.query("select from hold where job_id = $1 for update", [id]);
      expect((await bed.refusal(409, "POST", close(`${id}.1`))).code).toBe("conflict");
    });
    await bed.ask("OperatorHoldClosed", "POST", close(`${id}.1`));
  });
});

describe("settle faults", () => {
  const LIST = "/operator/settle-faults";

  test("are listed newest first in pages, and resolved once, with an audit entry", async () => {
    await bed.db.query("delete from settle_fault");
    const jobs = [await call("one"), await call("one")];
    for (const jobId of jobs) {
      await settleSingle(bed.db.database, { jobId, used: CREDIT / 2n });
      expect(await admitLone(bed.db.database, { workspaceId, jobId, amount: CREDIT })).toBe(0);
      expect(await settleSingle(bed.db.database, { jobId, used: CREDIT })).toBe(0n);
    }
    const page = await bed.ask("OperatorSettleFaultList", "GET", `${LIST}?limit=1`);
    expect(page).toMatchObject({
      has_more: true,
      data: [{ job_id: jobs[1], workspace_id: workspaceId, fault: "usage_record", held: 1, used: "1", settled: 0.5 }],
    });
    const counted = async () => (await bed.ask("OperatorStatus", "GET", "/operator/status")).counts?.settle_faults;
    expect(await counted()).toBe(2);
    const rest = await bed.ask("OperatorSettleFaultList", "GET", `${LIST}?after=${page.last_id}`);
    expect(rest.data.map(({ job_id }) => job_id)).toEqual([jobs[0] ?? ""]);
    const path = `${LIST}/${page.last_id}/resolve`;
    const body = { note: "corrected" };
    expect(await bed.ask("OperatorSettleFault", "POST", path, { body })).toEqual(page.data[0] as never);
    expect(await counted()).toBe(1);
    const log = await bed.ask("OperatorAuditLogList", "GET", `/operator/audit-log?subject=${page.last_id}`);
    expect(log.data[0]).toMatchObject({
      action: "settle_fault.resolve",
      after: { job_id: jobs[1], note: "corrected" },
    });
    for (const id of [page.last_id, "0", "x"]) {
      expect((await bed.refusal(404, "POST", `${LIST}/${id}/resolve`)).code).toBe("not_found");
    }
    expect((await bed.ask("OperatorSettleFaultList", "GET", LIST)).data).toEqual(rest.data);
    expect(await auditLedger(bed.db.database)).toEqual([]);
  });
});

describe("a job", () => {
  test("is returned without its request and its result", async () => {
    const id = await admit({ amount: 2n * CREDIT });
    await bed.db.query(
      `update job set state = 'failed', result = $2, error = $3, credits = 500000000, ended_at = now(), provider_job = '{"id":"p"}'
       where id = $1`,
      [id, SECRET, JSON.stringify({ code: "upstream_error", message: SECRET, type: "server_error", param: null })],
    );
    const job = await bed.ask("OperatorJob", "GET", `/operator/jobs/${id.toUpperCase()}`);
    expect(job).toMatchObject({
      id,
      workspace_id: workspaceId,
      pool: "chat",
      lane: "batch",
      state: "failed",
      error_code: "upstream_error",
      credits: 0.5,
      is_at_provider: true,
      held: [{ attempt: 1, credits: 2 }],
    });
    expect(JSON.stringify(job)).not.toContain(SECRET);
    for (const unknown of [newId(), "x"]) {
      expect((await bed.refusal(404, "GET", `/operator/jobs/${unknown}`)).code).toBe("job_not_found");
    }
  });
});

describe("dead letters", () => {
  const LIST = "/operator/dead-letters";

  async function letter(jobId: string | null, body = SECRET): Promise<string> {
    const id = newId();
    await bed.db.query(
      `insert into dead_letter (id, stream, stream_seq, subject, message_id, reason, deliveries, body, job_id, at)
       values ($1, 'POOL_chat', 1, $2, $3, 'claims used up', 6, $4, $5, clock_timestamp())`,
      [id, `work.chat.batch.${workspaceId}`, id, Buffer.from(body), jobId],
    );
    return id;
  }

  /** The letter of a job that has failed and kept its request. */
  async function dead(amount = CREDIT): Promise<{ readonly id: string; readonly job: string }> {
    const job = await admit({ amount, work: { hold_nano: String(amount), may_exceed: false } });
    await settleSingle(bed.db.database, { jobId: job });
    await bed.db.query("update job set state = 'failed', lease_until = null, ended_at = now() where id = $1", [job]);
    return { id: await letter(job), job };
  }

  test("are listed newest first without bodies, read, and deleted with an audit entry", async () => {
    const [first, second] = [await letter(null), await letter(null)];
    const list = await bed.ask("OperatorDeadLetterList", "GET", `${LIST}?limit=1`);
    expect(list).toMatchObject({ data: [{ id: second, workspace_id: workspaceId }], has_more: true });
    expect(JSON.stringify(list)).not.toContain(SECRET);
    const rest = await bed.ask("OperatorDeadLetterList", "GET", `${LIST}?after=${second}`);
    expect(rest.data.map(({ id }) => id)).toEqual([first]);
    expect(await bed.ask("OperatorDeadLetter", "GET", `${LIST}/${first}`)).toEqual(rest.data[0] as never);
    expect(await bed.ask("OperatorDeleted", "DELETE", `${LIST}/${first}`)).toEqual({ id: first, deleted: true });
    for (const method of ["GET", "DELETE"]) {
      for (const id of [first, newId(), "x"]) {
        expect((await bed.refusal(404, method, `${LIST}/${id}`)).code).toBe("not_found");
      }
    }
    const log = await bed.ask("OperatorAuditLogList", "GET", `/operator/audit-log?subject=${first}`);
    expect(log.data).toMatchObject([
      { action: "dead_letter.drop", workspace_id: workspaceId, actor: { type: "operator" } },
    ]);
  });

  test("of no known workspace are deleted with an audit entry too", async () => {
    const id = await letter(null);
    await bed.db.query("update dead_letter set subject = 'x' where id = $1", [id]);
    await bed.ask("OperatorDeleted", "DELETE", `${LIST}/${id}`);
    const log = await bed.ask("OperatorAuditLogList", "GET", `/operator/audit-log?subject=${id}`);
    expect(log.data).toMatchObject([{ action: "dead_letter.drop", workspace_id: null }]);
  });

  test("are redriven, each with its own verdict and none twice", async () => {
    const [good, over, unknown] = [await dead(), await letter(null), newId()];
    const redrive = (ids: readonly string[]) =>
      bed.ask("OperatorRedrive", "POST", `${LIST}/redrive`, { body: { ids } });
    const { data } = await redrive([good.id, over, unknown, good.id.toUpperCase()]);
    expect(data).toEqual([
      { id: good.id, result: "done" },
      { id: over, result: "over" },
      { id: unknown, result: "unknown" },
      { id: good.id, result: "unknown" },
    ]);
    expect(await bed.ask("OperatorJob", "GET", `/operator/jobs/${good.job}`)).toMatchObject({
      state: "queued",
      attempt: 2,
      held: [{ attempt: 2, credits: 1 }],
    });
    const list = await bed.ask("OperatorDeadLetterList", "GET", LIST);
    expect(list.data.map(({ id }) => id)).toEqual([over]);
    expect(await auditLedger(bed.db.database)).toEqual([]);
  });

  test("wait for credits", async () => {
    const { id } = await dead(60n * CREDIT);
    await call("one");
    await admit({ amount: 50n * CREDIT });
    const body = { ids: [id] };
    expect((await bed.ask("OperatorRedrive", "POST", `${LIST}/redrive`, { body })).data).toEqual([
      { id, result: "funds" },
    ]);
  });

  test.each<[string, unknown, string]>([
    ["none", [], "ids"],
    ["101", Array.from({ length: 101 }, () => newId()), "ids"],
    ["words", ["x"], "ids[0]"],
  ])("are not redriven when the ids are %s", async (_what, ids, param) => {
    expect(await bed.refusal(400, "POST", `${LIST}/redrive`, { ids })).toEqual({ code: "invalid_request", param });
  });
});
