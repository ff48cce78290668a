/** Commands that set limits of members, end users and tags, and alerts of a workspace. */
import { describe, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";

import { type Json, openCommands, TIME, UUID } from "./commands.ts";

const { audited, bed, json, makeWorkspace, outcome, refusal, text } = openCommands();

const actions = async (id: string): Promise<string[]> =>
  (await audited(id)).slice(2).map(({ actor, action }) => `${actor} ${action}`);

describe("limits of a member", () => {
  test("are replaced, listed and removed, each with an audit entry of the operator", async () => {
    const { id, name } = await makeWorkspace();
    const limits = {
      credits: { day: 5, week: null, month: 100.000000001, total: null },
      models: ["sandbox-*"],
      endpoints: ["chat", "embeddings"],
      ips: ["203.0.113.0/24"],
      warn_at: [80, 95],
      raise: null,
    };
    const options = ["--credits-per-day", "5", "--credits-per-month", "100.000000001", "--warn-at", "95,80"];
    const lists = ["--models", "sandbox-*", "--endpoints", "chat,embeddings", "--ips", "203.0.113.0/24"];
    const set = await json("member", "limits", name, "ada", ...options, ...lists);
    const memberId = String(set["id"]);
    expect(set).toMatchObject({
      workspace: name,
      workspace_id: id,
      id: expect.stringMatching(UUID),
      name: "ada",
      limits,
    });
    expect(set["limit_usage"]).toMatchObject({ day: { credits_used: 0, credits_left: 5 }, week: null });
    expect(await json<Json[]>("member", "list", name)).toMatchObject([{ name: "ada", limits }]);
    const [row] = await bed().db.query<{ caps: bigint[] }>("select caps from spend_limit where id = $1", [memberId]);
    expect(row?.caps[2]).toBe(100_000_000_001n);
    const shown = `member ada of ${name} has the limits 7 in total`;
    expect(await text("member", "limits", id, "ada", "--credits-total", "7")).toBe(shown);
    expect(await text("member", "limits", id, "ada", "--credits-total", "7")).toBe(shown);
    expect(await text("member", "limits", id, "ada")).toBe(`member ada of ${name} has no limits`);
    expect(await actions(id)).toEqual(["command member.limits", "command member.limits", "command member.limits"]);
    expect((await audited(id)).at(-1)).toMatchObject({
      before: { limits: { credits: { total: 7 } } },
      after: { limits: null },
    });
  });

  test("are refused as the API refuses them, and for a member that does not exist", async () => {
    const { id, name } = await makeWorkspace();
    for (const [words, why] of [
      [["--models", "sandbox-chatt"], "Did you mean sandbox-chat"],
      [["--endpoints", "chats"], "Did you mean chat"],
      [["--ips", "here"], "203.0.113.0/24"],
      [["--credits-per-day", "0"], "limits.credits.day"],
      [["--credits-per-day", "0.0000000001"], "nine decimal places"],
      [["--warn-at", "80"], "limits.warn_at needs a limit"],
      [["--credits-per-day", "-5"], 'expected --credits-per-day as a decimal number, got "-5"'],
      [["--credits-total", "5", "--warn-at", "-1"], 'expected --warn-at as a decimal number, got "-1"'],
      [["--credits-per-day", "NaN"], 'expected --credits-per-day as a decimal number, got "NaN"'],
      [["--credits-per-day", "1e3"], 'expected --credits-per-day as a decimal number, got "1e3"'],
      [["--credits-per-day", "10000000000"], "limits.credits.day must be at most 1000000000"],
      [["--credits-per-day", "9".repeat(300)], "limits.credits.day must be at most 1000000000"],
      [["--credits-per-day", "5", "--credits-per-day", "6"], "expected --credits-per-day at most once"],
      [["--credits", "5"], 'unknown option "--credits"'],
    ] as const) {
      expect(await refusal("member", "limits", name, "ada", ...words)).toContain(why);
    }
    expect(await refusal("member", "limits", name, "bob", "--credits-total", "1")).toBe(
      `the workspace ${name} has no member "bob"`,
    );
    expect(await refusal("member", "limits", "nobody", "ada")).toBe('there is no workspace "nobody"');
    expect(await actions(id)).toEqual([]);
  });
});

describe("limits of end users", () => {
  test("are set, listed in order and removed, each with an audit entry of the operator", async () => {
    const { id, name } = await makeWorkspace();
    expect(await text("end-user", "list", name)).toBe("none");
    const bob = await json("end-user", "limits", name, "bob & co", "--credits-per-day", "5", "--warn-at", "80");
    expect(bob).toEqual({
      workspace: name,
      workspace_id: id,
      user: "bob & co",
      credits: { day: 5, week: null, month: null, total: null },
      warn_at: [80],
      limit_usage: expect.objectContaining({ day: expect.objectContaining({ credits_used: 0, credits_left: 5 }) }),
    });
    const said = `end user "alice" of ${name} has the limits 2 per week, 9 in total`;
    const weekly = ["end-user", "limits", id, "alice", "--credits-per-week", "2", "--credits-total", "9"];
    expect(await text(...weekly)).toBe(said);
    expect(await text(...weekly)).toBe(said);
    const rows = await json<Json[]>("end-user", "list", name);
    expect(rows.map(({ user }) => user)).toEqual(["alice", "bob & co"]);
    expect(rows[1]).toEqual(bob);
    expect(await json<Json[]>("end-user", "list", name, "--limit", "1")).toHaveLength(1);
    const [titles, alice] = (await text("end-user", "list", name)).split("\n");
    expect(titles).toMatch(/^User +Limits +Spent +Warn$/);
    expect(alice).toMatch(/^alice +2 per week, 9 in total +0 this week, 0 in total$/);
    expect(await text("end-user", "limits", name, "bob & co")).toBe(`end user "bob & co" of ${name} has no limits`);
    expect(await json("end-user", "limits", name, "alice")).toMatchObject({ user: "alice", credits: null });
    expect(await text("end-user", "list", name)).toBe("none");
    const entries = ["limit", "limit", "unlimit", "unlimit"].map((verb) => `command end_user.${verb}`);
    expect(await actions(id)).toEqual(entries);
    expect((await audited(id)).at(-1)?.before).toMatchObject({ credits: { week: 2, total: 9 }, warn_at: [] });
  });

  test("are refused as the API refuses them", async () => {
    const { id, name } = await makeWorkspace();
    const set = (user: string, ...words: string[]) => refusal("end-user", "limits", name, user, ...words);
    expect(await set("nobody")).toBe("this end user has no limits in the workspace");
    expect(await set("x".repeat(129), "--credits-total", "1")).toContain("1 to 128 characters");
    expect(await set("alice", "--warn-at", "80")).toContain("credits");
    expect(await set("alice", "--credits-total", "0.0000000001")).toContain("nine decimal places");
    expect(await set("alice", "--credits-total", "-5")).toContain('got "-5"');
    expect(await refusal("end-user", "limits", name, "--credits-total", "-5", "7")).toContain('got "-5"');
    expect(await actions(id)).toEqual([]);
  });

  test("are printed with all digits, and without characters that change the terminal", async () => {
    const { name } = await makeWorkspace();
    const user = "a\u001b[31m\u202eb\u2028c";
    expect(await text("end-user", "limits", name, user, "--credits-total", "0.000000001")).toEndWith(
      "has the limits 0.000000001 in total",
    );
    expect(await text("end-user", "list", name)).toMatch(
      /^a\ufffd\[31m\ufffdb\ufffdc +0\.000000001 in total +0 in total$/m,
    );
  });
});

describe("limits of tags", () => {
  test("are set, listed in order and removed, each with an audit entry of the operator", async () => {
    const { id, name } = await makeWorkspace();
    await bed().db.query("update workspace set tags = array['project', 'team'] where id = $1", [id]);
    expect(await text("tag", "list", name)).toBe("none");
    const blue = await json("tag", "limits", name, "team", "blue = sky", "--credits-per-month", "7", "--warn-at", "50");
    expect(blue).toEqual({
      workspace: name,
      workspace_id: id,
      tag: "team",
      value: "blue = sky",
      credits: { day: null, week: null, month: 7, total: null },
      warn_at: [50],
      limit_usage: expect.objectContaining({ month: expect.objectContaining({ credits_used: 0, credits_left: 7 }) }),
    });
    const said = `tag "project=alpha" of ${name} has the limits 9 in total`;
    expect(await text("tag", "limits", id, "project", "alpha", "--credits-total", "9")).toBe(said);
    const rows = await json<Json[]>("tag", "list", name);
    expect(rows.map(({ tag, value }) => [tag, value])).toEqual([
      ["project", "alpha"],
      ["team", "blue = sky"],
    ]);
    expect(rows[1]).toEqual(blue);
    const [titles, alpha] = (await text("tag", "list", name)).split("\n");
    expect(titles).toMatch(/^Tag +Value +Limits +Spent +Warn$/);
    expect(alpha).toMatch(/^project +alpha +9 in total +0 in total$/);
    expect(await text("tag", "limits", name, "team", "blue = sky")).toBe(
      `tag "team=blue = sky" of ${name} has no limits`,
    );
    expect(await json("tag", "limits", name, "project", "alpha")).toMatchObject({ tag: "project", credits: null });
    expect(await text("tag", "list", name)).toBe("none");
    const entries = ["limit", "limit", "unlimit", "unlimit"].map((verb) => `command tag.${verb}`);
    expect(await actions(id)).toEqual(entries);
  });

  test("are refused for a tag that the workspace lacks, and for a tag without limits", async () => {
    const { id, name } = await makeWorkspace();
    const set = (...words: string[]) => refusal("tag", "limits", name, ...words);
    expect(await set("project", "alpha", "--credits-total", "1")).toContain("the workspace has none");
    expect(await set("project", "alpha")).toBe("this tag has no limits in the workspace");
    expect(await actions(id)).toEqual([]);
  });
});

describe("budget alerts", () => {
  test("are created, changed, listed and deleted by name, each with an audit entry of the operator", async () => {
    const { id, name } = await makeWorkspace();
    expect(await text("budget-alert", "list", name)).toBe("none");
    const set = (...words: string[]) => ["budget-alert", "set", name, "a month", ...words];
    const created = await json(...set("--threshold", "5000.5", "--period", "monthly", "--warn-at", "80,50"));
    const alertId = String(created["id"]);
    expect(created).toMatchObject({
      workspace: name,
      workspace_id: id,
      id: expect.stringMatching(UUID),
      name: "a month",
      threshold_credits: "5000.5",
      period: "monthly",
      channel_ids: [],
      is_active: true,
      stops_calls: false,
      warn_at: [50, 80],
      spent: "0",
      last_fired_at: null,
      created_at: expect.stringMatching(TIME),
    });
    const fires = `budget alert a month of ${name} fires at`;
    expect(await text(...set("--stops-calls", "yes"))).toBe(`${fires} 5000.5 credits monthly and stops calls`);
    const off = await text(...set("--threshold", "7", "--period", "daily", "--warn-at", "none", "--active", "no"));
    expect(off).toBe(`${fires} 7 credits daily and stops calls; it is disabled`);
    expect(await text(...set())).toBe(off);
    const rows = await json<Json[]>("budget-alert", "list", id);
    expect(rows).toMatchObject([{ id: alertId, threshold_credits: "7", warn_at: [], is_active: false }]);
    const [titles, line] = (await text("budget-alert", "list", name)).split("\n");
    expect(titles).toMatch(
      /^Name +Threshold credits +Period +Spent +Warn +Stops calls +Active +Channel ids +Id +Last fired$/,
    );
    expect(line).toMatch(/^a month +7 +daily +0 +yes +no +/);
    expect(await text("budget-alert", "delete", name, "a month")).toBe(`deleted budget alert a month of ${name}`);
    expect(await refusal("budget-alert", "delete", name, "a month")).toBe(
      `the workspace ${name} has no budget alert "a month"`,
    );
    const entries = ["create", "update", "update", "delete"].map((verb) => `command budget_alert.${verb}`);
    expect(await actions(id)).toEqual(entries);
    expect((await audited(id)).at(-1)).toMatchObject({ before: { threshold_credits: 7 }, after: null });
  });

  test("are refused without the options of a new alert, and with values that the API refuses", async () => {
    const { id, name } = await makeWorkspace();
    const set = (...words: string[]) => refusal("budget-alert", "set", name, "a month", ...words);
    const absent = `${name} has no budget alert "a month" yet`;
    expect(await set("--period", "daily")).toBe(`missing --threshold; ${absent}`);
    expect(await set("--threshold", "5")).toBe(`missing --period; ${absent}`);
    const whole = ["--threshold", "5", "--period", "daily"];
    expect(await set(...whole, "--channels", newId())).toContain("channel_ids[0] to be a notification channel");
    expect(await set(...whole, "--channels", "mail")).toContain("channel_ids[0]");
    expect(await set(...whole, "--warn-at", "100")).toContain("warn_at[0]");
    expect(await set("--threshold", "0", "--period", "daily")).toContain("threshold_credits");
    expect(await set("--threshold", "0.0000000001", "--period", "daily")).toContain("nine decimal places");
    expect(await actions(id)).toEqual([]);
    const other = await makeWorkspace();
    await text("budget-alert", "set", other.id, "a month", ...whole);
    expect(await refusal("budget-alert", "delete", name, "a month")).toContain("has no budget alert");
  });

  test("of an operator have no author, and members of the workspace see them", async () => {
    const { id, name } = await makeWorkspace();
    const { key } = await json<{ key: string }>("key", "create", name, "--member", "ada", "--preset", "free");
    await text("budget-alert", "set", name, "a day", "--threshold", "1", "--period", "daily", "--stops-calls", "yes");
    expect(await bed().db.query("select created_by from budget_alert where workspace_id = $1", [id])).toEqual([
      { created_by: null },
    ]);
    const answer = await bed().send("GET", `/workspaces/${id}/budget-alerts`, { token: key });
    expect(await answer.json()).toMatchObject({ data: [{ name: "a day", threshold_credits: 1, stops_calls: true }] });
  });
});

describe("balance alerts", () => {
  test("are created, changed, listed and deleted by name, each with an audit entry of the operator", async () => {
    const { id, name } = await makeWorkspace();
    await text("credits", "top-up", name, "12.5");
    expect(await text("balance-alert", "list", name)).toBe("none");
    const set = (...words: string[]) => ["balance-alert", "set", name, "low", ...words];
    const created = await json(...set("--below-credits", "10.25"));
    const alertId = String(created["id"]);
    expect(created).toMatchObject({
      workspace: name,
      workspace_id: id,
      id: expect.stringMatching(UUID),
      name: "low",
      below_credits: "10.25",
      below_days: null,
      channel_ids: [],
      is_active: true,
      is_low: false,
      available: "12.5",
      days_left: null,
    });
    const fires = `balance alert low of ${name} fires`;
    expect(await text(...set("--active", "no"))).toBe(`${fires} below 10.25 available credits; it is disabled`);
    const days = `${fires} when the available credits last fewer than 7 days`;
    expect(await text(...set("--below-days", "7", "--active", "yes"))).toBe(days);
    expect(await json<Json[]>("balance-alert", "list", id)).toMatchObject([
      { id: alertId, below_credits: null, below_days: 7, is_active: true },
    ]);
    expect(await text("balance-alert", "list", name)).toMatch(/^low +- +7 +12\.5 +- +no +yes +/m);
    expect(await json("balance-alert", "delete", name, "low")).toEqual({
      workspace: name,
      workspace_id: id,
      id: alertId,
      name: "low",
      deleted: true,
    });
    const entries = ["create", "update", "update", "delete"].map((verb) => `command balance_alert.${verb}`);
    expect((await actions(id)).filter((entry) => entry.includes("alert"))).toEqual(entries);
  });

  test("are refused without a threshold, with two, and with values that the API refuses", async () => {
    const { name } = await makeWorkspace();
    const set = (...words: string[]) => refusal("balance-alert", "set", name, "low", ...words);
    expect(await set()).toBe(`missing --below-credits or --below-days; ${name} has no balance alert "low" yet`);
    expect(await set("--below-days", "7", "--below-credits", "5")).toContain("either below_credits or below_days");
    expect(await set("--below-days", "366")).toContain("below_days");
    expect(await set("--below-days", "1.5")).toContain("below_days");
    expect((await outcome("balance-alert", "set", name, "low", "--below-days", "366")).code).toBe(2);
    expect(await outcome("balance-alert", "delete", name, "low")).toMatchObject({
      code: 1,
      stderr: `sluice: the workspace ${name} has no balance alert "low"`,
    });
  });
});
