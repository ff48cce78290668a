/** …/end-users and …/tags of a workspace: spend limits by `user` and by tag. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { labelIdOf } from "#shared/calls/labels.ts";
import { LABEL_LIMITS_MAX } from "#shared/database/label-limits.ts";
import { newId } from "#shared/base/ids.ts";

import { audited, auditOf } from "./settings-bed.ts";
import { openSpendBed, type SpendBed, type Team } from "./spend-bed.ts";

let bed: SpendBed;
beforeAll(async () => {
  bed = await openSpendBed();
});
afterAll(() => bed.close());

const all = (team: Team, query = ""): string => `/workspaces/${team.id}/end-users${query}`;
const one = (team: Team, user: string): string => `${all(team)}/${encodeURIComponent(user)}/limits`;
const put = (team: Team, user: string, body: object) =>
  bed.ask("EndUserLimits", "PUT", one(team, user), team.admin.key, { body });
const list = (team: Team, query = "") => bed.ask("EndUserLimitsList", "GET", all(team, query), team.owner.key);

const tagPath = (team: Team, tag: string, value: string): string =>
  `/workspaces/${team.id}/tags/${encodeURIComponent(tag)}/${encodeURIComponent(value)}/limits`;
const putTag = (team: Team, tag: string, value: string, body: object) =>
  bed.ask("TagLimits", "PUT", tagPath(team, tag, value), team.admin.key, { body });
const listTags = (team: Team, query = "") =>
  bed.ask("TagLimitsList", "GET", `/workspaces/${team.id}/tags${query}`, team.owner.key);
const setTags = (team: Team, tags: readonly string[]) =>
  bed.ask("Workspace", "PATCH", `/workspaces/${team.id}`, team.owner.key, { body: { tags } });

describe("the limits of an end user", () => {
  test("are set, replaced, read and deleted, with every digit and on record", async () => {
    const team = await bed.team(0n);
    const user = "ada/é @1";
    const first = await audited(bed, team, team.admin, {
      method: "PUT",
      path: one(team, user),
      body: { credits: { day: 0.000000001, total: 5 }, warn_at: [90, 50, 50] },
    });
    const credits = { day: 0.000000001, week: null, month: null, total: 5 };
    expect(first).toMatchObject({
      action: "end_user.limit",
      subject: user,
      before: null,
      after: { credits, warn_at: [50, 90] },
    });
    const read = await bed.ask("EndUserLimits", "GET", one(team, user), team.owner.key);
    expect(read).toMatchObject({ object: "end_user.limits", user, credits, warn_at: [50, 90] });
    expect(read.limit_usage).toMatchObject({
      day: { credits_used: 0, credits_held: 0, credits_left: 0.000000001 },
      week: null,
      month: null,
      total: { credits_left: 5, resets_at: null },
    });
    const replaced = await put(team, user, { credits: { month: 7 } });
    expect([replaced.credits, replaced.warn_at]).toEqual([{ day: null, week: null, month: 7, total: null }, []]);
    const seen = (await auditOf(bed, team)).length;
    await put(team, user, { credits: { month: 7 } });
    expect(await auditOf(bed, team)).toHaveLength(seen);
    const gone = await audited(bed, team, team.owner, { method: "DELETE", path: one(team, user) });
    expect(gone).toMatchObject({ action: "end_user.unlimit", subject: user, before: { credits: replaced.credits } });
    for (const method of ["GET", "DELETE"]) {
      expect(await bed.refusal(404, method, one(team, user), team.owner.key)).toEqual({
        code: "not_found",
        param: null,
      });
    }
    expect((await list(team)).data).toEqual([]);
  });

  test("cannot be replaced with a key of the same id", async () => {
    const team = await bed.team(0n);
    await put(team, "eve", { credits: { total: 1 } });
    const id = labelIdOf(team.id, "user", "eve");
    const body = { id, name: "eve", limits: { credits: { total: 1_000_000 } } };
    const keys = `/workspaces/${team.id}/api-keys`;
    const refusal = { code: "unsupported_value", param: "id" };
    expect(await bed.refusal(400, "POST", keys, team.developer.key, body)).toEqual(refusal);
    expect((await list(team)).data).toMatchObject([{ user: "eve", credits: { total: 1 } }]);
  });

  test("of a run cannot be replaced with a key of the same id", async () => {
    const team = await bed.team(0n);
    const id = newId();
    const caps = "insert into spend_limit (id, workspace_id, kind, caps) values ($1, $2, 'run', $3::bigint[])";
    await bed.db.query(caps, [id, team.id, "{NULL,NULL,NULL,1}"]);
    const body = { id, name: "run", limits: { credits: { total: 1_000_000 } } };
    const keys = `/workspaces/${team.id}/api-keys`;
    const refusal = { code: "conflict", param: "id" };
    expect(await bed.refusal(409, "POST", keys, team.developer.key, body)).toEqual(refusal);
  });

  test("are refused without a limit, with unknown members, and for a user that no call can have", async () => {
    const team = await bed.team(0n);
    for (const [body, code, param] of [
      [{ credits: {} }, "missing_required_parameter", "credits"],
      [{ credits: { day: null } }, "missing_required_parameter", "credits"],
      [{}, "missing_required_parameter", "credits"],
      [{ credits: { day: 0 } }, "unsupported_value", "credits.day"],
      [{ credits: { day: -1 } }, "unsupported_value", "credits.day"],
      [{ credits: { day: 2e9 } }, "unsupported_value", "credits.day"],
      [{ credits: { day: "5" } }, "invalid_request", "credits.day"],
      [{ credits: { day: 5 }, warn_at: [0] }, "unsupported_value", "warn_at[0]"],
    ] as const) {
      const refused = await bed.refusal(400, "PUT", one(team, "ada"), team.owner.key, body);
      expect([body, refused.param]).toEqual([body, param]);
      expect([body, refused.code]).toEqual([body, expect.stringMatching(new RegExp(`^(${code}|invalid_request)$`))]);
    }
    const digits = await bed.refusal(400, "PUT", one(team, "ada"), team.owner.key, { credits: { day: 0.0000000001 } });
    expect(digits).toEqual({ code: "unsupported_value", param: "credits.day" });
    for (const body of [{ credits: { hour: 5 } }, { credits: { day: 5 }, budget: 1 }]) {
      const { param } = await bed.refusal(400, "PUT", one(team, "ada"), team.owner.key, body);
      expect(param).toBe("budget" in body ? "budget" : "credits.hour");
    }
    const long = await bed.refusal(400, "PUT", one(team, "u".repeat(129)), team.owner.key, { credits: { day: 5 } });
    expect(long).toEqual({ code: "unsupported_value", param: "user" });
    expect(await auditOf(bed, team)).toEqual([]);
  });

  test("are of one workspace, and for owners and admins only", async () => {
    const [team, other] = [await bed.team(0n), await bed.team(0n)];
    await put(team, "ada", { credits: { day: 5 } });
    await bed.refusal(404, "GET", one(other, "ada"), other.owner.key);
    await bed.refusal(404, "GET", one(team, "ada"), other.owner.key);
    for (const role of ["developer", "billing"] as const) {
      for (const [method, body] of [["GET"], ["PUT", { credits: { day: 5 } }], ["DELETE"]] as const) {
        const { code } = await bed.refusal(403, method, one(team, "ada"), team[role].key, body);
        expect([role, method, code]).toEqual([role, method, "permission_denied"]);
      }
    }
  });

  test("are listed by user, in pages, and are bounded in number", async () => {
    const team = await bed.team(0n);
    for (const user of ["carol", "ada", "bob"]) await put(team, user, { credits: { day: 5 } });
    const first = await list(team, "?limit=2");
    expect([first.data.map(({ user }) => user), first.last_id, first.has_more]).toEqual([["ada", "bob"], "bob", true]);
    const second = await list(team, "?limit=2&after=bob");
    expect([second.data.map(({ user }) => user), second.has_more]).toEqual([["carol"], false]);
    await bed.db.query(
      `insert into spend_limit (id, workspace_id, kind, label, name, caps)
       select gen_random_uuid(), $1, 'end_user', 'user', 'user ' || n, '{1,null,null,null}' from generate_series(4, $2::int) n`,
      [team.id, LABEL_LIMITS_MAX],
    );
    const refused = await bed.refusal(409, "PUT", one(team, `new ${newId()}`), team.owner.key, { credits: { day: 5 } });
    expect(refused).toEqual({ code: "conflict", param: "user" });
    await setTags(team, ["project"]);
    const tag = await bed.refusal(409, "PUT", tagPath(team, "project", "alpha"), team.owner.key, {
      credits: { day: 5 },
    });
    expect(tag).toEqual({ code: "conflict", param: "value" });
    expect((await put(team, "ada", { credits: { day: 6 } })).credits.day).toBe(6);
  });
});

describe("the limits of a tag", () => {
  test("are set, replaced, read and deleted, on record", async () => {
    const team = await bed.team(0n);
    await setTags(team, ["project"]);
    const value = "a=b/é, c";
    const path = tagPath(team, "project", value);
    const subject = `project=${value}`;
    const first = await audited(bed, team, team.admin, {
      method: "PUT",
      path,
      body: { credits: { day: 0.000000001 }, warn_at: [80] },
    });
    const credits = { day: 0.000000001, week: null, month: null, total: null };
    expect(first).toMatchObject({ action: "tag.limit", subject, before: null, after: { credits, warn_at: [80] } });
    const read = await bed.ask("TagLimits", "GET", path, team.owner.key);
    expect(read).toMatchObject({ object: "tag.limits", tag: "project", value, credits, warn_at: [80] });
    expect(read.limit_usage).toMatchObject({ day: { credits_used: 0, credits_left: 0.000000001 }, total: null });
    expect((await putTag(team, "project", value, { credits: { total: 3 } })).credits.total).toBe(3);
    // The end user of this name has limits of its own.
    await bed.refusal(404, "GET", one(team, value), team.owner.key);
    await bed.refusal(404, "GET", tagPath(team, "user", value), team.owner.key);
    const gone = await audited(bed, team, team.owner, { method: "DELETE", path });
    expect(gone).toMatchObject({ action: "tag.unlimit", subject, before: { credits: { total: 3 } } });
    for (const method of ["GET", "DELETE"]) {
      expect((await bed.refusal(404, method, path, team.owner.key)).code).toBe("not_found");
    }
  });

  test("are set for tags of the workspace only, and can be deleted after the workspace removed the tag", async () => {
    const team = await bed.team(0n);
    const body = { credits: { day: 5 } };
    const refusal = (tag: string) => bed.refusal(400, "PUT", tagPath(team, tag, "alpha"), team.owner.key, body);
    expect(await refusal("project")).toEqual({ code: "unsupported_value", param: "tag" });
    await setTags(team, ["project"]);
    for (const tag of ["user", "chain", "Project", "a b", "\u0000"]) {
      expect([tag, await refusal(tag)]).toEqual([tag, { code: "unsupported_value", param: "tag" }]);
    }
    await putTag(team, "project", "alpha", body);
    await setTags(team, ["feature"]);
    expect(await refusal("project")).toEqual({ code: "unsupported_value", param: "tag" });
    expect((await listTags(team)).data.map(({ tag, value }) => [tag, value])).toEqual([["project", "alpha"]]);
    const gone = await bed.ask("TagLimitsDeleted", "DELETE", tagPath(team, "project", "alpha"), team.owner.key);
    expect(gone).toEqual({ tag: "project", value: "alpha", deleted: true });
    const long = await bed.refusal(400, "PUT", tagPath(team, "feature", "v".repeat(129)), team.owner.key, body);
    expect(long).toEqual({ code: "unsupported_value", param: "value" });
  });

  test("are of one workspace, and are listed by name and value, in pages and by tag", async () => {
    const [team, other] = [await bed.team(0n), await bed.team(0n)];
    await setTags(team, ["project", "feature"]);
    await put(team, "ada", { credits: { day: 5 } });
    for (const [tag, value] of [
      ["project", "beta"],
      ["project", "a=b"],
      ["feature", "search"],
    ] as const) {
      await putTag(team, tag, value, { credits: { day: 5 } });
    }
    const of = async (query: string) => {
      const { data, first_id, last_id, has_more } = await listTags(team, query);
      return [data.map(({ tag, value }) => `${tag}=${value}`), first_id, last_id, has_more];
    };
    const [search, ab, beta] = ["feature=search", "project=a=b", "project=beta"];
    expect(await of("")).toEqual([[search, ab, beta], search, beta, false]);
    expect(await of("?limit=2")).toEqual([[search, ab], search, ab, true]);
    expect(await of(`?after=${encodeURIComponent(ab)}`)).toEqual([[beta], beta, beta, false]);
    expect(await of("?tag=project&limit=1")).toEqual([[ab], ab, ab, true]);
    expect(await of(`?tag=project&after=${encodeURIComponent(ab)}`)).toEqual([[beta], beta, beta, false]);
    expect(await of("?tag=user")).toEqual([[], null, null, false]);
    expect((await list(team)).data.map(({ user }) => user)).toEqual(["ada"]);
    const wrong = await bed.refusal(400, "GET", `/workspaces/${team.id}/tags?after=alpha`, team.owner.key);
    expect(wrong).toEqual({ code: "unsupported_value", param: "after" });
    await bed.refusal(404, "GET", tagPath(team, "project", "beta"), other.owner.key);
    await bed.refusal(404, "GET", tagPath(other, "project", "beta"), other.owner.key);
    expect((await listTags(other)).data).toEqual([]);
  });
});

describe("the tags of a workspace", () => {
  const at = (team: Team): string => `/workspaces/${team.id}`;

  test("are set by owner and admin, on record, and read by every role", async () => {
    const team = await bed.team(0n);
    const line = await audited(bed, team, team.admin, {
      method: "PATCH",
      path: at(team),
      body: { tags: ["project", "Team-2"] },
    });
    expect(line).toMatchObject({
      action: "workspace.tag",
      before: { tags: [] },
      after: { tags: ["project", "Team-2"] },
    });
    expect((await bed.ask("Workspace", "GET", at(team), team.billing.key)).tags).toEqual(["project", "Team-2"]);
    const seen = (await auditOf(bed, team)).length;
    await bed.ask("Workspace", "PATCH", at(team), team.owner.key, { body: { tags: ["project", "Team-2"] } });
    expect(await auditOf(bed, team)).toHaveLength(seen);
    expect((await bed.ask("Workspace", "PATCH", at(team), team.owner.key, { body: { tags: [] } })).tags).toEqual([]);
  });

  test("are refused with reserved, repeated and invalid names, and with more than three", async () => {
    const team = await bed.team(0n);
    for (const [tags, param] of [
      [["user"], "tags[0]"],
      [["project", "chain"], "tags[1]"],
      [["a", "a"], "tags[1]"],
      [["a b"], "tags[0]"],
      [["a", "b", "c", "d"], "tags"],
    ] as const) {
      const refused = await bed.refusal(400, "PATCH", at(team), team.owner.key, { tags });
      expect([tags, refused.param]).toEqual([tags, param]);
    }
    await bed.refusal(400, "PATCH", at(team), team.owner.key, {});
    expect(await auditOf(bed, team)).toEqual([]);
  });
});
