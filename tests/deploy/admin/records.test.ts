import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { recordDeadLetter } from "#shared/database/dead-letters.ts";
import { newId } from "#shared/ids.ts";
import { createJobAdmission } from "#shared/jobs/admission.ts";
import { jobRequest } from "#tests/shared/jobs/jobs.ts";

import { createTestDatabase, type TestDatabase } from "../../support/postgres.ts";
import { commandsOn, type Json, TIME, UUID } from "./commands.ts";

let db: TestDatabase;
const { audited, json, makeWorkspace, refusal, text } = commandsOn(() => db);

beforeAll(async () => {
  db = await createTestDatabase();
});

afterAll(() => db.drop());

describe("what calls leave", () => {
  test("holds, overdue ones first", async () => {
    expect(await text("holds", "list")).toBe("nothing is held");
    const { id, name } = await makeWorkspace();
    const [late, fine] = [newId(), newId()];
    await db.query(
      `insert into hold (job_id, attempt, workspace_id, key_id, model, amount, may_exceed, day, tokens, deadline)
       select j.id, 1, $3, $1, 'sandbox-chat', 1500000000, false, current_date, 0, now() + j.life
       from (values ($1::uuid, interval '1 hour'), ($2::uuid, interval '-1 hour')) j (id, life)`,
      [fine, late, id],
    );
    const rows = await json<Json[]>("holds", "list");
    expect(rows).toMatchObject([
      { job_id: late, workspace: name, workspace_id: id, credits: "1.5", is_overdue: true },
      { job_id: fine, attempt: 1, model: "sandbox-chat", is_overdue: false, deadline: expect.stringMatching(TIME) },
    ]);
    expect(await text("holds", "list", "--limit", "1")).toContain(late);
    expect(rows.map(({ unknown_since: since }) => since)).toEqual([null, null]);
    await text("credits", "top-up", name, "10");
    const admitted = jobRequest({ workspaceId: id });
    await createJobAdmission({ database: db.database }).admit(admitted);
    await db.query("update job set state = 'running', unknown_since = now() where id = $1", [admitted.id]);
    const unknown = (await json<Json[]>("holds", "list")).find((row) => row["job_id"] === admitted.id);
    expect(unknown).toMatchObject({ unknown_since: expect.stringMatching(TIME) });
    await db.query("delete from job where id = $1", [admitted.id]);
    await db.query("delete from hold where workspace_id = $1", [id]);
  });

  test("holds that nothing closes, and what could not be settled", async () => {
    const { id, name } = await makeWorkspace();
    await text("credits", "top-up", name, "10");
    const hold = async (jobId: string, deadline: string): Promise<string> => {
      await db.query("select admit_call($1, null, $2, $1, 'm', 2000000000, false, 0, null, 60000)", [id, jobId]);
      await db.query("update hold set deadline = now() + $2::interval where job_id = $1", [jobId, deadline]);
      return jobId;
    };
    const [late, early] = [await hold(newId(), "-1 second"), await hold(newId(), "1 hour")];
    expect(await json("holds", "close", late, "--credits", "0.5", "--note", "as told")).toEqual({
      job_id: late,
      attempt: 1,
      workspace_id: id,
      held: "2",
      taken: "0.5",
    });
    expect(await refusal("holds", "close", `${late}.1`)).toContain(`there is no hold ${late}.1`);
    expect(await refusal("holds", "close", early)).toContain("--before-deadline yes closes it now");
    expect(await refusal("holds", "close", early, "--credits", "2.1", "--before-deadline", "yes")).toContain(
      "has 2 credits",
    );
    expect(await text("holds", "close", `${early}.1`, "--before-deadline", "yes")).toContain("taken");
    expect(await json("credits", "balance", name)).toMatchObject({ credits: "9.5", held: "0" });
    expect((await audited(id)).filter(({ action }) => action === "hold.close")).toMatchObject([
      { before: { credits: "2" }, after: { credits: "0.5", note: "as told" } },
      { before: { credits: "2" }, after: { credits: "0" } },
    ]);
    expect(await text("holds", "faults")).toBe("there is no fault");
    await hold(late, "1 hour");
    await db.query("select settle_call($1, $2, 1::smallint, 1, 'succeeded', 'a/b', '{}', false, 0)", [id, late]);
    const [fault] = await json<Json[]>("holds", "faults");
    const facts = {
      job_id: late,
      fault: "usage_record",
      source: "a/b",
      held: "2",
      used: "0.000000001",
      settled: "0.5",
    };
    expect(fault).toMatchObject({ workspace_id: id, ...facts });
    expect(await text("holds", "faults", "--limit", "1")).toContain(late);
    expect(await json("holds", "resolve", String(fault?.["id"]))).toEqual(fault as Json);
    expect(await refusal("holds", "resolve", String(fault?.["id"]))).toContain("there is no fault");
    expect(await db.query("select * from audit_ledger() where workspace_id = $1", [id])).toEqual([]);
  });

  test("usage, by workspace and by request id", async () => {
    const { id, name } = await makeWorkspace();
    expect(await json<Json[]>("usage", name)).toEqual([]);
    const jobs = [newId(), newId()];
    for (const [index, job] of jobs.entries()) {
      await db.query(
        `insert into usage_record (job_id, attempt, workspace_id, key_id, model, source, status, units, is_estimated,
                                   held, settled, uncollected, day, tokens, started_at, ended_at)
         values ($1, 1, $2, $1, 'sandbox-chat', 'sandbox/sandbox-chat', 'succeeded', '{"input": 12, "cached_input": 0}',
                 true, 20, 10, 3, current_date, 15, now(), now() + $3 * interval '1 second')`,
        [job, id, index],
      );
    }
    expect((await json<Json[]>("usage", name)).map((row) => row["request_id"])).toEqual(jobs.toReversed());
    expect(await json<Json[]>("usage", name, "--limit", "1")).toHaveLength(1);
    expect(await json<Json[]>("usage", id, "--request", jobs[0] ?? "")).toEqual([
      {
        request_id: jobs[0],
        attempt: 1,
        key_id: jobs[0],
        model: "sandbox-chat",
        source: "sandbox/sandbox-chat",
        status: "succeeded",
        units: { input: 12, cached_input: 0 },
        is_estimated: true,
        tokens: 15,
        held: "0.00000002",
        credits: "0.00000001",
        uncollected: "0.000000003",
        started_at: expect.stringMatching(TIME),
        ended_at: expect.stringMatching(TIME),
      },
    ]);
    expect(await text("usage", name)).toContain("input 12 (estimated)");
    const other = await makeWorkspace();
    expect(await refusal("usage", other.name, "--request", jobs[0] ?? "")).toContain("no closed call");
  });

  test("dead letters, shown without their bodies and dropped on record", async () => {
    const { id } = await makeWorkspace();
    expect(await text("dead-letters", "list")).toBe("there is no dead letter");
    await recordDeadLetter(db.database, {
      stream: "POOL_chat",
      streamSeq: 41n,
      subject: `work.chat.live.${id}`,
      messageId: "m\u001b[31m",
      reason: "undelivered",
      deliveries: 3,
      body: new TextEncoder().encode("a caller's secret prompt"),
      jobId: null,
    });
    const [letter] = await json<Json[]>("dead-letters", "list");
    const letterId = String(letter?.["id"]);
    expect(letter).toEqual({
      id: expect.stringMatching(UUID),
      stream: "POOL_chat",
      stream_seq: "41",
      subject: `work.chat.live.${id}`,
      workspace_id: id,
      message_id: "m\u001b[31m",
      job_id: null,
      reason: "undelivered",
      deliveries: 3,
      body_bytes: 24,
      at: expect.stringMatching(TIME),
    });
    expect(await json("dead-letters", "show", letterId)).toEqual(letter ?? {});
    const shown = await text("dead-letters", "show", letterId);
    expect(shown).toContain("undelivered");
    expect(shown).not.toContain("secret prompt");
    expect(shown).not.toContain("\u001b");
    // A call's caller is gone: there is nothing to send on its way again.
    expect(await refusal("dead-letters", "redrive", letterId)).toContain("no job that could be run again");
    expect(await text("dead-letters", "drop", letterId)).toBe(`dead letter ${letterId} is dropped`);
    expect((await audited(id)).at(-1)).toMatchObject({ actor: "command", action: "dead_letter.drop" });
    expect(await refusal("dead-letters", "drop", letterId)).toContain("there is no dead letter");
    expect(await refusal("dead-letters", "show", letterId)).toContain("there is no dead letter");
  });
});
