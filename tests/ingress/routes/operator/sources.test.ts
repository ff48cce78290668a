/** Sources as an operator reads, tests and resets them; with workers: tests/e2e/failing-calls.test.ts. */
import { afterAll, beforeAll, beforeEach, expect, test } from "bun:test";

import { noteOpenSource } from "#shared/database/source-breaker.ts";
import { newId } from "#shared/base/ids.ts";

import { openBed, type OperatorBed } from "./bed.ts";

const LIST = "/operator/sources";
const CHAT = "sandbox/sandbox-chat";
const pathOf = (source: string, act = ""): string => `${LIST}/${encodeURIComponent(source)}${act}`;

let bed: OperatorBed;
beforeAll(async () => {
  bed = await openBed();
});
afterAll(() => bed.close());
beforeEach(() => bed.db.query("delete from source_breaker"));

const disable = (pool: string, refused: { mark?: string; status?: number } = {}): Promise<void> => {
  const row = { pool, source: CHAT, remainingMs: 20_000, cooldownMs: 24_000, worker: newId() };
  return noteOpenSource(bed.db.database, { ...row, ...refused });
};

test("a source is available, or names its missing setting", async () => {
  const { data } = await bed.ask("OperatorSourceList", "GET", LIST);
  const ids = data.map(({ id }) => id);
  expect(ids).toEqual([...new Set(ids)].toSorted());
  const chat = await bed.ask("OperatorSource", "GET", pathOf(CHAT));
  expect(data).toContainEqual(chat);
  expect(chat).toMatchObject({
    state: "available",
    reason: null,
    setting: null,
    disabled_in: [],
    disabled_since: null,
  });
  expect(chat.models).toContain("sandbox-chat");
  const missing = data.filter(({ state }) => state === "not_configured");
  expect(missing.length).toBeGreaterThan(100);
  for (const { setting, reason } of missing) expect(reason).toBe(`${setting} is not set`);
});

test("a failed source is disabled, and one that rejected our key has its status", async () => {
  await disable("chat");
  const failed = await bed.ask("OperatorSource", "GET", pathOf(CHAT));
  expect(failed).toMatchObject({ state: "disabled", reason: "calls failed", provider_status: null });
  expect(failed.next_attempt_seconds).toBeGreaterThan(0);
  await disable("image", { mark: "0".repeat(16), status: 401 });
  const refused = await bed.ask("OperatorSource", "GET", pathOf(CHAT));
  expect(refused).toMatchObject({ state: "disabled", provider_status: 401, disabled_in: ["chat", "image"] });
  expect(refused.reason).toContain("(status 401)");
});

test("a reset ends its cooldown in all pools, with an audit entry, and may be repeated", async () => {
  await disable("chat");
  await disable("image");
  for (const _twice of [1, 2]) {
    const source = await bed.ask("OperatorSource", "POST", pathOf(CHAT, "/reset"));
    expect(source).toMatchObject({ state: "available", disabled_in: [] });
  }
  const log = await bed.db.query("select subject, before from audit_log where action = 'source.reset' order by id");
  expect(log).toEqual([
    { subject: CHAT, before: { disabled_in: ["chat", "image"] } },
    { subject: CHAT, before: { disabled_in: [] } },
  ]);
});

test("an unknown source is not found", async () => {
  for (const path of [pathOf("acme/none"), pathOf("sandbox"), `${LIST}/%00`]) {
    expect((await bed.refusal(404, "GET", path)).code).toBe("not_found");
  }
  for (const act of ["/reset", "/test"]) {
    expect((await bed.refusal(404, "POST", pathOf("acme/none", act))).code).toBe("not_found");
  }
});

test("a source is not tested if a test would cost the full price, a setting is missing, or no worker answers", async () => {
  const { data } = await bed.ask("OperatorSourceList", "GET", LIST);
  const unset = data.find(({ state }) => state === "not_configured")?.id ?? "";
  const video = data.find(({ models }) => models.includes("sandbox-video"))?.id ?? "";
  for (const source of [unset, video]) {
    expect((await bed.refusal(409, "POST", pathOf(source, "/test"))).code).toBe("conflict");
  }
  expect((await bed.refusal(503, "POST", pathOf(CHAT, "/test"))).code).toBe("service_unavailable");
});
