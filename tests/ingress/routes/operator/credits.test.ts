/** /operator/workspaces/{id}/credits: exact, once under an id, never below what is held. */
import { afterAll, afterEach, beforeAll, beforeEach, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";
import { auditLedger } from "#shared/ledger/audit.ts";
import { admitLone, balanceOf, createWorkspace, CREDIT } from "#tests/shared/accounts.ts";

import { openBed, type OperatorBed } from "./bed.ts";

let bed: OperatorBed;
let id: string;
beforeAll(async () => {
  bed = await openBed();
});
beforeEach(async () => {
  id = await createWorkspace(bed.db.database, 0n);
});
afterEach(async () => {
  expect(await auditLedger(bed.db.database)).toEqual([]);
});
afterAll(() => bed.close());

const path = (more = "credits"): string => `/operator/workspaces/${id}/${more}`;
const amount = async (): Promise<bigint> => (await balanceOf(bed.db.database, id)).amount;

test("credits move once under an id, with entries in the ledger and the audit log", async () => {
  const body = { id: newId(), kind: "top_up", credits: 12.5, note: "invoice 7" };
  const move = { id: body.id, workspace_id: id, kind: "top_up", credits: 12.5, note: "invoice 7" };
  const balance = { object: "credits", workspace_id: id, credits: 12.5, held: 0, available: 12.5 } as const;
  expect(await bed.ask("OperatorCreditMove", "POST", path(), { body, status: 201 })).toMatchObject({
    ...move,
    balance,
  });
  const repeats = await Promise.all([1, 2, 3].map(() => bed.ask("OperatorCreditMove", "POST", path(), { body })));
  for (const repeat of repeats) expect(repeat).toMatchObject({ ...move, balance });
  const reused = { code: "idempotency_key_reused", param: "id" };
  expect(await bed.refusal(422, "POST", path(), { ...body, credits: 12 })).toEqual(reused);
  expect(await bed.ask("OperatorCredits", "GET", path())).toEqual(balance);
  const { data } = await bed.ask("OperatorLedgerList", "GET", path("ledger"));
  expect(data).toMatchObject([{ kind: "top_up", credits: 12.5, source_id: body.id, attempt: 0, note: "invoice 7" }]);
  const log = await bed.ask("OperatorAuditLogList", "GET", `/operator/audit-log?subject=${body.id}`);
  expect(log.data).toMatchObject([{ action: "credits.top_up", after: { credits: "12.5", note: "invoice 7" } }]);
});

test.each<[string, bigint]>([
  ["0.1", 100_000_000n],
  ["0.000000001", 1n],
  ["123456789.123456789", 123_456_789_123_456_789n],
  ["999999999.999999999", 999_999_999_999_999_999n],
  ["1000000000", 1_000_000_000n * CREDIT],
  ["1e3", 1_000n * CREDIT],
  ["2.50", 2_500_000_000n],
])("%s credits are accepted as written, as a number and as text", async (text, nano) => {
  for (const written of [text, `"${text}"`]) {
    const before = await amount();
    const body = `{"credits":${written},"kind":"top_up","id":"${newId()}"}`;
    await bed.ask("OperatorCreditMove", "POST", path(), { body, status: 201 });
    expect((await amount()) - before).toBe(nano);
  }
});

test("a correction takes available credits only, never held ones", async () => {
  await bed.ask("OperatorCreditMove", "POST", path(), {
    body: { id: newId(), kind: "top_up", credits: 10 },
    status: 201,
  });
  expect(await admitLone(bed.db.database, { workspaceId: id, jobId: newId(), amount: 4n * CREDIT })).toBe(0);
  const correct = (credits: number | string) => ({ id: newId(), kind: "correction", credits });
  const refused = { code: "conflict", param: "credits" };
  expect(await bed.refusal(409, "POST", path(), correct("-6.000000001"))).toEqual(refused);
  expect(await amount()).toBe(10n * CREDIT);
  const taken = await bed.ask("OperatorCreditMove", "POST", path(), { body: correct(-6), status: 201 });
  expect(taken).toMatchObject({ credits: -6, note: null, balance: { credits: 4, held: 4, available: 0 } });
});

test.each<[string, unknown, string]>([
  ["nothing", 0, "unsupported_value"],
  ["less than nothing", -1, "unsupported_value"],
  ["ten places", "0.0000000001", "unsupported_value"],
  ["words", "ten", "unsupported_value"],
  ["too many", "1000000000.000000001", "unsupported_value"],
  ["no number", true, "invalid_request"],
])("a top-up of %s is rejected", async (_what, credits, code) => {
  const body = { id: newId(), kind: "top_up", credits };
  expect(await bed.refusal(400, "POST", path(), body)).toEqual({ code, param: "credits" });
  expect(await amount()).toBe(0n);
});

test.each<[string, object, string, string]>([
  ["without an id", { id: undefined }, "missing_required_parameter", "id"],
  ["of a kind that a hand does not make", { kind: "settle" }, "unsupported_value", "kind"],
  ["with a note of two lines", { note: "a\nb" }, "unsupported_value", "note"],
])("a move %s is rejected", async (_what, members, code, param) => {
  const body = { id: newId(), kind: "top_up", credits: 1, ...members };
  expect(await bed.refusal(400, "POST", path(), body)).toEqual({ code, param });
});

test("no credits move in a workspace that does not exist", async () => {
  const body = { id: newId(), kind: "top_up", credits: 1 };
  expect((await bed.refusal(404, "POST", `/operator/workspaces/${newId()}/credits`, body)).code).toBe("not_found");
});

test("the ledger is paged, the newest entry first", async () => {
  for (const credits of [1, 2, 3]) {
    await bed.ask("OperatorCreditMove", "POST", path(), {
      body: { id: newId(), kind: "top_up", credits },
      status: 201,
    });
  }
  const first = await bed.ask("OperatorLedgerList", "GET", path("ledger?limit=2"));
  expect([first.data.map((entry) => entry.credits), first.has_more]).toEqual([[3, 2], true]);
  const rest = await bed.ask("OperatorLedgerList", "GET", path(`ledger?limit=2&after=${first.last_id}`));
  expect([rest.data.map((entry) => entry.credits), rest.has_more]).toEqual([[1], false]);
  expect(await bed.refusal(400, "GET", path("ledger?after=x"))).toEqual({ code: "unsupported_value", param: "after" });
});
