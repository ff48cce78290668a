/** Tokens for /operator by command. */
import { expect, test } from "bun:test";

import { isOperatorToken } from "#shared/secrets/api-keys.ts";

import { type Json, openCommands, TIME, UUID } from "./commands.ts";

const { bed, json, outcome, refusal, text } = openCommands();

test("a token is created, displayed once, listed, and revoked by name, each with an audit entry", async () => {
  const made = await json("operator", "add", "night shift", "--scope", "write", "--expires", "2999-01-01T00:00:00Z");
  const { token, ...row } = made;
  expect(isOperatorToken(String(token))).toBe(true);
  expect(row).toEqual({
    id: expect.stringMatching(UUID),
    name: "night shift",
    scope: "write",
    created_at: expect.stringMatching(TIME),
    expires_at: "2999-01-01T00:00:00.000Z",
    revoked_at: null,
  });
  expect(await json<Json[]>("operator", "list", "--limit", "1")).toEqual([row]);
  expect(await text("operator", "list")).not.toContain(String(token));
  expect(await text("operator", "revoke", "night shift")).toBe("token night shift is revoked");
  expect(await text("operator", "revoke", "night shift")).toBe("token night shift was revoked");
  const log = await bed().db.query("select workspace_id, actor, action from audit_log where subject = $1 order by id", [
    String(row["id"]),
  ]);
  const actor = { type: "operator", id: "command" };
  expect(log).toEqual([
    { workspace_id: null, actor, action: "operator_token.create" },
    { workspace_id: null, actor, action: "operator_token.revoke" },
  ]);
  expect(await refusal("operator", "add", "night shift", "--scope", "read")).toContain("is taken");
  expect(await refusal("operator", "add", "settings", "--scope", "read")).toContain("is taken");
  expect(await refusal("operator", "revoke", "nobody")).toBe('there is no token "nobody"');
});

test.each<readonly [expected: string, ...args: string[]]>([
  ["operator has add, list, revoke", "operator", "drop"],
  ["missing --scope <scope>", "operator", "add", "a"],
  ["expected a scope of read, write, money", "operator", "add", "a", "--scope", "root"],
  ["expected a name of 1 to 64", "operator", "add", "", "--scope", "read"],
  ["expected --expires as a future time", "operator", "add", "a", "--scope", "read", "--expires", "tomorrow"],
  ["expected --expires as a future time", "operator", "add", "a", "--scope", "read", "--expires", "2999-01-01T00:00"],
  [
    "expected --expires as a future time",
    "operator",
    "add",
    "a",
    "--scope",
    "read",
    "--expires",
    "2020-01-01T00:00:00Z",
  ],
])("%s", async (expected, ...args) => {
  const { code, stderr } = await outcome(...args);
  expect(code).toBe(2);
  expect(stderr).toContain(expected);
});
