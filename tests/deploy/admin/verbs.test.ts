/** Commands that ask a service: what each does there, and how it is shown. */
import { describe, expect, test } from "bun:test";

import { recordDeadLetter } from "#shared/database/dead-letters.ts";
import { newId } from "#shared/base/ids.ts";
import { createJobAdmission } from "#shared/jobs/admission.ts";
import { CREDIT, settleSingle } from "#tests/shared/accounts.ts";
import { jobRequest } from "#tests/shared/jobs/jobs.ts";

import { type Json, openCommands, TIME, UUID } from "./commands.ts";

const { audited, bed, json, makeWorkspace, refusal, text } = openCommands();
const query: ReturnType<typeof bed>["db"]["query"] = (...args) => bed().db.query(...args);

describe("workspaces, members and keys", () => {
  test("are disabled and enabled, by name or id, each with an audit entry", async () => {
    const { id, name } = await makeWorkspace();
    expect(await json("workspace", "disable", name)).toMatchObject({ id, name, is_active: false });
    expect(await text("workspace", "disable", id)).toBe(`workspace ${name} was disabled`);
    expect(await text("workspace", "enable", id.toUpperCase())).toBe(`workspace ${name} is enabled`);
    expect((await audited(id)).slice(2).map(({ actor, action }) => `${actor} ${action}`)).toEqual([
      "money workspace.disable",
      "money workspace.enable",
    ]);
    expect(await refusal("workspace", "disable", "nobody")).toBe('there is no workspace "nobody"');
    expect(await refusal("workspace", "disable", "")).toBe('there is no workspace ""');
    expect(await refusal("workspace", "disable", newId())).toBe("there is no such workspace");
    await query("update workspace set name = $2 where id = $1", [id, `new ${name}`]);
    const renamed = `there is no workspace "${name}"; it was renamed to new ${name}, id ${id}`;
    expect(await refusal("credits", "top-up", name, "5")).toBe(renamed);
  });

  test("are listed in order and in aligned columns, from all pages", async () => {
    const names = Array.from({ length: 101 }, (_, index) => `row ${String(index).padStart(3, "0")}`);
    await query("insert into workspace (id, name) select gen_random_uuid(), unnest($1::text[])", [names.toReversed()]);
    const rows = await json<Json[]>("workspace", "list");
    expect(rows.map(({ name }) => name).filter((name) => String(name).startsWith("row "))).toEqual(names);
    expect(rows.find(({ name }) => name === "row 000")).toEqual({
      id: expect.stringMatching(UUID),
      name: "row 000",
      is_active: true,
      created_at: expect.stringMatching(TIME),
      credits: "0",
      held: "0",
      available: "0",
    });
    const [titles = "", ...lines] = (await text("workspace", "list")).split("\n");
    expect(titles).toMatch(/^Name +Id +Active +Credits +Held +Available +Created$/);
    for (const line of lines) expect(line.slice(titles.indexOf("Active")).split(/\s/)[0]).toMatch(/^(yes|no)$/);
  });

  test("members and keys are listed; keys get presets and are revoked permanently", async () => {
    const { id, name } = await makeWorkspace();
    const row = { id: expect.stringMatching(UUID), workspace_id: id, name: "ada", role: "developer" };
    expect(await json<Json[]>("member", "list", name)).toMatchObject([{ ...row, email: null, is_active: true }]);
    const made = await json("key", "create", name, "--member", "ada", "--preset", "free");
    const keyId = String(made["id"]);
    expect(await json("preset", "set", keyId, "pro")).toMatchObject({ id: keyId, member: "ada", preset: "pro" });
    const hint = `${String(made["key"]).slice(0, 8)}…`;
    expect(await text("preset", "set", keyId, "pro")).toBe(`key ${keyId} (${hint}) has the preset pro`);
    expect(await refusal("preset", "set", keyId, "gold")).toContain("free, standard, pro, unlimited");
    expect(await json("key", "tools", keyId, "web.*", "image.resize")).toMatchObject({
      tools: ["image.resize", "web.*"],
    });
    expect(await text("key", "tools", keyId, "none")).toContain("may run these tools");
    expect(await text("key", "tools", keyId, "all")).toBe(`key ${keyId} (${hint}) may run all tools`);
    expect(await refusal("key", "tools", keyId, "image.none")).toContain("there is no capability image.none");
    expect(await json("key", "revoke", keyId)).toMatchObject({ revoked_at: expect.stringMatching(TIME) });
    expect(await text("key", "revoke", keyId)).toContain(`key ${keyId} (${hint}) is revoked since 20`);
    expect(await refusal("preset", "set", keyId, "free")).toBe("the key is revoked");
    expect(await refusal("key", "tools", keyId, "none")).toBe("the key is revoked");
    expect(await refusal("key", "revoke", newId())).toBe("there is no such key");
    const keys = await json<Json[]>("key", "list", name);
    expect(keys).toMatchObject([
      { ...row, id: keyId, member: "ada", hint, preset: "pro", revoked_at: expect.any(String) },
    ]);
    const expiring = String((await json("key", "create", name, "--member", "ada", "--preset", "free"))["id"]);
    await query("update api_key set expires_at = '2999-01-31T08:00:00Z' where id = $1", [expiring]);
    const listedRow = async (): Promise<string | undefined> =>
      (await text("key", "list", name)).split("\n").find((line) => line.startsWith(expiring));
    expect((await text("key", "list", name)).split("\n")[0]).toMatch(
      /^Id +Name +Hint +Member +Role +Preset +Tools +Limits +Created +Expires +Revoked$/,
    );
    expect(await listedRow()).toMatch(/ free +all +none +2\S+ +2999-01-31T08:00:00\.000Z +-$/);
    await json("key", "tools", expiring, "none");
    expect(await listedRow()).toMatch(/ free +none +none +2/);
    await json("key", "tools", expiring, "web.*", "image.resize");
    expect(await listedRow()).toMatch(/ free +image\.resize, web\.\* +none +2/);
    expect(await text("preset", "list")).toMatch(/^unlimited +unlimited +unlimited$/m);
    const free = { name: "free", requests_per_minute: 30, daily_tokens: 1_000_000 };
    expect(await json<Json[]>("preset", "list")).toContainEqual(free);
  });
});

test("limits of a key are replaced and removed by an operator, and are listed", async () => {
  const { id, name } = await makeWorkspace();
  const keyId = String((await json("key", "create", name, "--member", "ada", "--preset", "free"))["id"]);
  const options = ["--credits-per-day", "5", "--credits-total", "100.5", "--warn-at", "80,95"];
  const lists = ["--models", "sandbox-*, sandbox-chat", "--endpoints", "chat", "--ips", "203.0.113.0/24"];
  const limits = {
    credits: { day: 5, week: null, month: null, total: 100.5 },
    models: ["sandbox-*", "sandbox-chat"],
    endpoints: ["chat"],
    ips: ["203.0.113.0/24"],
    warn_at: [80, 95],
    raise: null,
  };
  expect(await json("key", "limits", keyId, ...options, ...lists)).toMatchObject({ id: keyId, limits });
  const shown = "5 per day, 100.5 in total; models sandbox-* sandbox-chat; endpoints chat; ips 203.0.113.0/24";
  expect(await text("key", "limits", keyId, ...options, ...lists)).toContain(`has the limits ${shown}`);
  expect(await text("key", "list", name)).toContain(shown);
  const [member] = await query<{ id: string }>("select id from member where workspace_id = $1", [id]);
  await query(`update member set access_lists = '{"models":["sandbox-chat"]}' where id = $1`, [member?.id ?? ""]);
  expect(await text("member", "list", name)).toContain("models sandbox-chat");
  expect((await audited(id)).map(({ actor, action }) => `${actor} ${action}`)).toContain("money key.limits");
  for (const [words, why] of [
    [["--models", "sandbox-chatt"], "Did you mean sandbox-chat"],
    [["--endpoints", "chats"], "Did you mean chat"],
    [["--ips", "here"], "203.0.113.0/24"],
    [["--credits-per-day", "0"], "limits.credits.day"],
    [["--warn-at", "80"], "limits.credits"],
  ] as const) {
    expect((await refusal("key", "limits", keyId, ...words)).toLowerCase()).toContain(why.toLowerCase());
  }
  expect(await text("key", "limits", keyId)).toContain("has no limits");
  await json("key", "revoke", keyId);
  expect(await refusal("key", "limits", keyId, "--credits-total", "1")).toBe("the key is revoked");
});

test("fallback chains are set, listed and deleted, and rejected with a reason", async () => {
  const { id, name } = await makeWorkspace();
  const here = ["--workspace", name];
  const set = (...words: string[]) => ["fallback-chains", "set", ...words, ...here];
  expect(await text("fallback-chains", "list", ...here)).toBe("none");
  const chain = {
    workspace: name,
    workspace_id: id,
    model: "sandbox-error",
    fallbacks: ["sandbox-chat", "sandbox-slow"],
    continue_streams: false,
    updated_at: expect.stringMatching(TIME),
  };
  expect(await json(...set("sandbox-error", "sandbox-chat", "sandbox-slow"))).toEqual(chain);
  expect(await json<Json[]>("fallback-chains", "list", "--workspace", id)).toEqual([chain]);
  expect(await text("fallback-chains", "list", ...here)).toContain("sandbox-chat, sandbox-slow");
  const said = `sandbox-error in ${name} falls back to sandbox-slow`;
  expect(await text(...set("sandbox-error", "sandbox-slow"))).toBe(said);
  const continued = set("sandbox-error", "sandbox-slow", "--continue-streams", "yes");
  expect(await text(...continued)).toBe(`${said}, also for streams that break off`);
  const weighted = set("sandbox-chat", "sandbox-slow=20", "sandbox-backup", "--weight", "80", "--sticky", "user");
  expect(await json(...weighted)).toMatchObject({
    fallbacks: [
      { model: "sandbox-slow", weight: 20 },
      { model: "sandbox-backup", weight: 0 },
    ],
    weight: 80,
    sticky: "user",
  });
  const draws = `calls of sandbox-chat in ${name} begin with sandbox-chat=80, sandbox-slow=20, sandbox-backup=0`;
  expect(await text(...weighted)).toBe(draws);
  expect(await text("fallback-chains", "list", ...here)).toContain("sandbox-slow=20, sandbox-backup=0");
  expect(await refusal(...set("sandbox-chat", "sandbox-slow=x"))).toContain("expected a whole number from 0 to 1000");
  expect(await refusal(...set("sandbox-chat", "sandbox-slow=1001", "--weight", "1"))).toContain(
    "(fallbacks[0].weight)",
  );
  expect(await refusal(...set("sandbox-chat", "sandbox-slow=1"))).toContain("(weight)");
  expect(await refusal(...set("sandbox-chat", "sandbox-slow", "--sticky", "user"))).toContain("(sticky)");
  await json("fallback-chains", "delete", "sandbox-chat", ...here);
  expect(await refusal(...set("sandbox-chat", "nothing"))).toContain("there is no such model");
  // The operator hears why, which a client does not.
  expect(await refusal(...set("sandbox-chat", "gpt-5.5"))).toContain("gpt-5.5 cannot be served: ");
  expect(await refusal(...set("sandbox-chat"))).toContain("(fallbacks)");
  const gone = { model: "sandbox-error", deleted: true };
  expect(await json("fallback-chains", "delete", "sandbox-error", ...here)).toMatchObject({
    workspace_id: id,
    ...gone,
  });
  expect(await refusal("fallback-chains", "delete", "sandbox-error", ...here)).toContain("has no fallback chain");
  expect(await refusal("fallback-chains", "list", "--workspace", "nobody")).toContain('no workspace "nobody"');
});

describe("credits", () => {
  test("are topped up once per id", async () => {
    const { id, name } = await makeWorkspace();
    const line = ["credits", "top-up", name, "12.000000001", "--id", newId(), "--note", "invoice 7"];
    const moved = {
      id: line[5],
      workspace_id: id,
      workspace: name,
      kind: "top_up",
      credits: "12.000000001",
      note: "invoice 7",
    };
    const balance = { balance: "12.000000001", available: "12.000000001" };
    expect(await json(...line)).toEqual({
      ...moved,
      ...balance,
      at: expect.stringMatching(TIME),
      was_done_before: false,
    });
    const repeats = await Promise.all([json(...line), json(...line)]);
    for (const repeat of repeats) expect(repeat).toMatchObject({ ...moved, ...balance, was_done_before: true });
    expect(await text(...line)).toMatch(/^was done before +yes$/m);
    expect(await refusal("credits", "top-up", name, "13", "--id", line[5] ?? "")).toContain("used for 12.000000001");
    for (const _twice of [1, 2]) await text("credits", "top-up", name, "1");
    expect(await json("credits", "balance", name)).toMatchObject({ credits: "14.000000001" });
  });

  test("are corrected up and down, never below the available balance, and listed", async () => {
    const { id, name } = await makeWorkspace();
    await text("credits", "top-up", name, "10");
    expect(await json("credits", "correct", name, "-2.5", "--note", "double")).toMatchObject({ balance: "7.5" });
    expect(await json("credits", "correct", name, "--note", "back", "0.5")).toMatchObject({ balance: "8" });
    expect(await refusal("credits", "correct", name, "-8.1")).toContain("has 8 credits available");
    const balance = { workspace_id: id, workspace: name, credits: "8", held: "0", available: "8" };
    expect(await json("credits", "balance", id)).toEqual(balance);
    expect(await text("credits", "balance", name)).toMatch(/^available +8$/m);
    const entries = await json<Json[]>("credits", "ledger", name);
    expect(entries.map(({ kind, credits, note }) => [kind, credits, note])).toEqual([
      ["correction", "0.5", "back"],
      ["correction", "-2.5", "double"],
      ["top_up", "10", null],
    ]);
    expect(entries[0]).toMatchObject({ id: expect.any(String), source_id: expect.stringMatching(UUID), attempt: 0 });
    expect(await json<Json[]>("credits", "ledger", name, "--limit", "1")).toHaveLength(1);
    expect(await text("credits", "ledger", name)).toMatch(/top_up +\+10 /);
  });

  test.each<readonly [expected: string, verb: string, ...args: string[]]>([
    ["expected credits as a decimal number", "top-up", "ten"],
    ["expected credits as a decimal number", "top-up", "0.0000000001"],
    ["expected credits above 0", "top-up", "-1"],
    ["expected between 0 and 1000000000 credits", "top-up", "0"],
    ["expected between 0 and 1000000000 credits", "correct", "-1000000001"],
    ["id must be a valid uuid", "top-up", "1", "--id", "7"],
    ["expected note to have 1 to 200", "top-up", "1", "--note", "a\tb"],
  ])("are rejected with the usage for an invalid line: %s", async (expected, verb, ...args) => {
    const { name } = await makeWorkspace();
    expect(await refusal("credits", verb, name, ...args)).toContain(expected);
    expect(await json<Json[]>("credits", "ledger", name)).toEqual([]);
  });
});

test("usage is listed by workspace, and by request with its earlier attempts", async () => {
  const { id, name } = await makeWorkspace();
  expect(await json<Json[]>("usage", name)).toEqual([]);
  const [once, twice] = [newId(), newId()];
  for (const [index, [job, attempt]] of (
    [
      [once, 1],
      [twice, 1],
      [twice, 2],
    ] as const
  ).entries()) {
    await query(
      `insert into usage_record (job_id, attempt, workspace_id, key_id, model, source, status, units, is_estimated,
                                 held, settled, uncollected, day, tokens, started_at, ended_at)
       values ($1, $4, $2, $1, 'sandbox-chat', 'sandbox/sandbox-chat', 'succeeded', '{"input": 12, "cached_input": 0}',
               true, 20, 10, 3, current_date, 15, now(), now() + $3 * interval '1 second')`,
      [job, id, index, attempt],
    );
  }
  expect((await json<Json[]>("usage", name)).map((row) => row["request_id"])).toEqual([twice, twice, once]);
  expect(await json<Json[]>("usage", name, "--limit", "1")).toHaveLength(1);
  expect(await json<Json[]>("usage", id, "--request", once)).toEqual([
    {
      workspace: name,
      workspace_id: id,
      request_id: once,
      attempt: 1,
      key_id: once,
      model: "sandbox-chat",
      source: "sandbox/sandbox-chat",
      status: "succeeded",
      error_code: null,
      units: { input: 12, cached_input: 0 },
      is_estimated: true,
      tokens: 15,
      held: "0.00000002",
      credits: "0.00000001",
      uncollected: "0.000000003",
      workflow_id: null,
      run_id: null,
      user: null,
      chain: null,
      tags: {},
      started_at: expect.stringMatching(TIME),
      ended_at: expect.stringMatching(TIME),
      has_bodies: false,
      endpoint: null,
      http_status: 200,
      first_token_at: null,
      provider_attempts: [],
    },
  ]);
  expect(await json<Json[]>("usage", id, "--request", twice)).toMatchObject([{ attempt: 2 }]);
  const labels = JSON.stringify({ user: "ada & bob", project: "alpha" });
  await query("update usage_record set labels = $2::jsonb where job_id = $1", [once, labels]);
  for (const options of [
    ["--user", "ada & bob"],
    ["--tag", "project:alpha"],
    ["--user", "ada & bob", "--tag", "project:alpha"],
  ]) {
    const found = await json<Json[]>("usage", name, ...options);
    expect(found.map((row) => [row["request_id"], row["user"]])).toEqual([[once, "ada & bob"]]);
  }
  expect(await json<Json[]>("usage", name, "--user", "ada")).toEqual([]);
  expect(await json<Json[]>("usage", id, "--request", `${twice}:1`)).toMatchObject([{ attempt: 1 }]);
  expect(await text("usage", name)).toContain("input 12 (estimated)");
  const other = await makeWorkspace();
  expect(await refusal("usage", other.name, "--request", once)).toContain("has not ended yet, or is unknown");
});

describe("data of calls", () => {
  test("lists holds, the nearest deadline first", async () => {
    expect(await text("holds", "list")).toBe("none");
    const { id, name } = await makeWorkspace();
    const [far, late, near] = [newId(), newId(), newId()];
    await query(
      `insert into hold (job_id, attempt, workspace_id, key_id, model, amount, may_exceed, day, tokens, deadline)
       select j.id, 1, $4, $1, 'sandbox-chat', 1500000000, false, current_date, 0, now() + j.life
       from (values ($1::uuid, interval '2 hours'), ($2::uuid, interval '-1 hour'), ($3::uuid, interval '1 hour')) j (id, life)`,
      [far, late, near, id],
    );
    const rows = await json<Json[]>("holds", "list");
    expect(rows).toMatchObject([
      { job_id: late, workspace: name, workspace_id: id, credits: "1.5", is_overdue: true, unknown_since: null },
      { job_id: near, attempt: 1, model: "sandbox-chat", is_overdue: false, deadline: expect.stringMatching(TIME) },
      { job_id: far },
    ]);
    expect((await json<Json[]>("holds", "list", "--limit", "2")).map((row) => row["job_id"])).toEqual([late, near]);
    await query("delete from hold where workspace_id = $1", [id]);
  });

  test("lists unclosed holds and failed settlements", async () => {
    const { id, name } = await makeWorkspace();
    await text("credits", "top-up", name, "10");
    const hold = async (jobId: string, deadline: string): Promise<string> => {
      await query("select admit_call($1, null, $2, $1, 'm', 2000000000, false, 0, null, 60000)", [id, jobId]);
      await query("update hold set deadline = now() + $2::interval where job_id = $1", [jobId, deadline]);
      return jobId;
    };
    const [late, early] = [await hold(newId(), "-1 second"), await hold(newId(), "1 hour")];
    const closed = await json("holds", "close", late, "--credits", "0.5", "--note", "as told");
    expect(closed).toEqual({ id: `${late}.1`, job_id: late, attempt: 1, workspace_id: id, held: "2", taken: "0.5" });
    expect(await refusal("holds", "close", `${late}.1`)).toBe("there is no such hold");
    expect(await refusal("holds", "close", early)).toContain("until then the service closes it (before_deadline)");
    const above = ["holds", "close", early, "--credits", "2.1", "--before-deadline", "yes"];
    expect(await refusal(...above)).toContain("at most the 2 credits of the hold");
    expect(await refusal("holds", "close", early, "--credits", "x")).toContain("expected credits as a decimal number");
    expect(await text("holds", "close", `${early}.1`, "--before-deadline", "yes")).toMatch(/^taken +0$/m);
    expect(await json("credits", "balance", name)).toMatchObject({ credits: "9.5", held: "0" });
    expect(await text("holds", "faults")).toBe("none");
    await hold(late, "1 hour");
    await query("select settle_call($1, $2, 1::smallint, 1, 'succeeded', 'a/b', '{}', false, 0)", [id, late]);
    const [fault = {}] = await json<Json[]>("holds", "faults");
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
    expect(await json("holds", "resolve", String(fault["id"]))).toEqual(fault);
    expect(await refusal("holds", "resolve", String(fault["id"]))).toContain("there is no such open fault");
  });

  test("lists sources with missing settings, and resets them", async () => {
    const rows = await json<Json[]>("source", "list");
    expect(rows).toContainEqual(await json("source", "show", "sandbox/sandbox-chat"));
    expect(await text("source", "list")).toMatch(/^Id +State +Setting +Next attempt seconds +Reason$/m);
    expect(await text("source", "reset", "sandbox/sandbox-chat")).toBe("source sandbox/sandbox-chat is available");
    for (const verb of ["show", "reset", "test"]) {
      expect(await refusal("source", verb, "acme/none")).toContain("there is no such source");
    }
    expect(await refusal("source", "test", "sandbox/sandbox-video")).toContain("paid job");
  });

  test("lists dead letters without their bodies, and redrives or deletes them with an audit entry", async () => {
    const { id, name } = await makeWorkspace();
    expect(await text("dead-letters", "list")).toBe("none");
    await text("credits", "top-up", name, "10");
    const record = (jobId: string | null): Promise<void> =>
      recordDeadLetter(bed().db.database, {
        stream: "POOL_chat",
        streamSeq: 41n,
        subject: `work.chat.live.${id}`,
        messageId: "m\u001b[31m",
        reason: "undelivered",
        deliveries: 3,
        body: new TextEncoder().encode("a caller's secret prompt"),
        jobId,
      });
    await record(null);
    const [letter = {}] = await json<Json[]>("dead-letters", "list");
    const letterId = String(letter["id"]);
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
    expect(await json("dead-letters", "show", letterId)).toEqual(letter);
    const shown = await text("dead-letters", "show", letterId);
    expect(shown).toMatch(/^reason +undelivered$/m);
    expect(shown).not.toContain("secret prompt");
    expect(shown).not.toContain("\u001b");
    // A call's caller is gone: there is nothing to send on its way again.
    expect(await refusal("dead-letters", "redrive", letterId)).toContain("no job that can run again");
    expect(await text("dead-letters", "drop", letterId)).toBe(`deleted dead letter ${letterId}`);
    expect((await audited(id)).at(-1)).toMatchObject({ actor: "money", action: "dead_letter.drop" });
    for (const verb of ["drop", "show", "redrive"]) {
      expect(await refusal("dead-letters", verb, letterId)).toContain("there is no such dead letter");
    }
    const job = jobRequest({ workspaceId: id, work: { hold_nano: String(CREDIT), may_exceed: false } });
    await createJobAdmission({ database: bed().db.database }).admit(job);
    await settleSingle(bed().db.database, { jobId: job.id });
    await query("update job set state = 'failed', lease_until = null, ended_at = now() where id = $1", [job.id]);
    await record(job.id);
    const [dead = {}] = await json<Json[]>("dead-letters", "list");
    const redriven = `queued the job of dead letter ${String(dead["id"])} again`;
    expect(await text("dead-letters", "redrive", String(dead["id"]))).toBe(redriven);
    expect(await query("select state from job where id = $1", [job.id])).toEqual([{ state: "queued" }]);
  });
});
