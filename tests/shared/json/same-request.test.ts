/** Requests that come again under the same name: what is the same, and what the other one hears. */
import { createHash } from "node:crypto";

import { expect, test } from "bun:test";

import { checkSameRequest, fingerprintOfJson, isSameRequest } from "#shared/json/same-request.ts";

test("a fingerprint is equal for equal JSON, in any order of members, and for no other", async () => {
  const asked = ["sync", { steps: [{ id: "a", body: { x: 1, y: [] } }] }, null];
  const again = ["sync", { steps: [{ body: { y: [], x: 1 }, id: "a" }] }, null];
  expect(await fingerprintOfJson(asked)).toBe(await fingerprintOfJson(again));
  expect(await fingerprintOfJson(asked)).not.toBe(await fingerprintOfJson(["async", ...asked.slice(1)]));
});

test("a fingerprint stored by an earlier version still matches", async () => {
  const form = [[["purpose", "user_data"]], "a.txt", "", 3, "00".repeat(32)];
  expect(await fingerprintOfJson(form)).toBe(createHash("sha256").update(JSON.stringify(form)).digest("hex"));
});

test.each<[string, object, boolean]>([
  ["all of it", { name: "n", at: new Date(5), amount: 7n, ids: ["a", "b"], more: null }, true],
  ["some of it", { name: "n" }, true],
  ["another text", { name: "m" }, false],
  ["another time", { at: new Date(6) }, false],
  ["no time", { at: null }, false],
  ["another amount", { amount: 8n }, false],
  ["another order", { ids: ["b", "a"] }, false],
  ["a value where there was none", { more: "x" }, false],
])("a request for %s is the same: %p, %p", (_what, asked, isSame) => {
  const first = { name: "n", at: new Date(5), amount: 7n, ids: ["a", "b"], more: null, id: "1" };
  expect(isSameRequest(first, asked)).toBe(isSame);
});

test("a different request is rejected", () => {
  checkSameRequest({ fingerprint: "a" }, { fingerprint: "a" }, "It named another.");
  const other = () => checkSameRequest({ fingerprint: "a" }, { fingerprint: "b" }, "It named another.");
  expect(other).toThrow(expect.objectContaining({ code: "idempotency_key_reused", message: "It named another." }));
});
