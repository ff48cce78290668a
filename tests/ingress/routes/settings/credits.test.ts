/** GET /workspaces/{workspaceId}/credits and …/credits/ledger. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";
import { auditInSteps } from "#shared/ledger/audit.ts";
import { CREDIT } from "#tests/shared/accounts.ts";
import { spend } from "#tests/shared/usage-records.ts";

import { openSpendBed, type SpendBed, type Team } from "./spend-bed.ts";

let bed: SpendBed;
beforeAll(async () => {
  bed = await openSpendBed();
});
afterAll(() => bed.close());

/** Ten credits, of which calls took three and a half and a correction half a one. */
async function spent(): Promise<Team> {
  const team = await bed.team(10n * CREDIT);
  await spend(bed.db.database, [
    { workspaceId: team.id, nano: 1_500_000_001n },
    { workspaceId: team.id, nano: 2n * CREDIT },
  ]);
  await bed.db.query("select move_credits($1, 'correction', $2, $3, '=1+1')", [team.id, -CREDIT / 2n, newId()]);
  return team;
}

const at = (team: Team, query = ""): string => `/workspaces/${team.id}/credits/ledger${query}`;

test("the balance is the sum of the ledger, with held credits separate, and lasts for days at the mean spend", async () => {
  const team = await spent();
  await bed.db.query("update balance set held = 1000000000 where workspace_id = $1", [team.id]);
  const path = `/workspaces/${team.id}/credits`;
  expect(await bed.ask("Credits", "GET", path, team.developer.key)).toEqual({
    object: "credits",
    credits: 5.999999999,
    held: 1,
    available: 4.999999999,
    credits_per_day: 3.500000001,
    days_left: 1.4,
  });
  await bed.db.query("update balance set held = 0 where workspace_id = $1", [team.id]);
  const idle = await bed.team();
  const outlook = await bed.ask("Credits", "GET", `/workspaces/${idle.id}/credits`, idle.owner.key);
  expect([outlook.credits_per_day, outlook.days_left]).toEqual([0, null]);
});

describe("the ledger", () => {
  test("is read from the newest entry, in pages, by kind and time", async () => {
    const team = await spent();
    const read = (query = "") => bed.ask("LedgerList", "GET", at(team, query), team.billing.key);
    const { data, has_more } = await read();
    expect(data.map(({ kind, credits }) => [kind, credits])).toEqual([
      ["correction", -0.5],
      ["settle", -2],
      ["settle", -1.500000001],
      ["top_up", 10],
    ]);
    expect([has_more, data[0]?.note]).toEqual([false, "=1+1"]);
    const first = await read("?limit=3");
    expect([first.has_more, first.data]).toEqual([true, data.slice(0, 3)]);
    expect((await read(`?limit=3&after=${first.last_id}`)).data).toEqual(data.slice(3));
    expect((await read("?kind=settle")).data).toEqual(data.slice(1, 3));
    expect((await read("?kind=correction")).data).toEqual(data.slice(0, 1));
    const moment = new Date(Date.now() + 60_000).toISOString();
    expect((await read(`?start_time=${moment}`)).data).toEqual([]);
    expect((await read(`?end_time=${moment}`)).data).toEqual(data);
  });

  test("is read by time before, while and after the hourly audit closes it, also if a clock was set back", async () => {
    const team = await bed.team(10n * CREDIT);
    const hour = (n: number): Date => new Date(Date.UTC(2026, 5, 1, n));
    const write = async (hours: readonly number[]): Promise<void> => {
      for (const n of hours) {
        const [id] = await spend(bed.db.database, [{ workspaceId: team.id, nano: 1n }]);
        await bed.db.query("update ledger_entry set at = $2 where source_id = $1", [id ?? "", hour(n)]);
      }
    };
    await bed.db.query("update ledger_entry set at = $2 where workspace_id = $1", [team.id, hour(0)]);
    const read = (query: string) => bed.ask("LedgerList", "GET", at(team, query), team.billing.key);
    const check = async (): Promise<void> => {
      const { data } = await read("");
      for (let start = 0; start <= 12; start += 2) {
        for (let end = start + 1; end <= 13; end += 3) {
          const span = `start_time=${hour(start).toISOString()}&end_time=${hour(end).toISOString()}`;
          const expected = data.filter((entry) => {
            const time = new Date(entry.at).getTime();
            return time >= hour(start).getTime() && time < hour(end).getTime();
          });
          const first = await read(`?${span}&limit=2`);
          const rest = first.has_more ? await read(`?${span}&after=${first.last_id}`) : { data: [] };
          expect([start, end, ...first.data, ...rest.data]).toEqual([start, end, ...expected]);
        }
      }
      expect((await read(`?start_time=${hour(5).toISOString()}&kind=top_up`)).data).toEqual([]);
      expect((await read(`?end_time=${hour(5).toISOString()}&kind=top_up`)).data).toEqual(data.slice(-1));
    };
    const entries = "select coalesce(max(id), 0) as id from ledger_entry";
    for (const hours of [
      [1, 2, 3],
      [4, 9, 5],
      [2, 6, 7],
      [8, 8, 10],
    ]) {
      await write(hours);
      await check();
      const [{ id = 0n } = {}] = await bed.db.query<{ id?: bigint }>(entries);
      const isOpen = "select from ledger_border where entry_id < $1";
      do expect(await auditInSteps(bed.db.database)).toEqual([]);
      while ((await bed.db.query(isOpen, [id])).length > 0);
      await check();
    }
    await write([3, 11]);
    await check();
    const spans = await bed.db.query("select from ledger_span where last_at < $1", [hour(13)]);
    expect(spans.length).toBeGreaterThan(1);
  });

  test.each([
    ["kind=gift", "kind"],
    ["after=x", "after"],
    ["limit=101", "limit"],
    ["start_time=x", "start_time"],
  ])("is not read for %s", async (query, param) => {
    const team = await bed.team(0n);
    const refusal = await bed.refusal(400, "GET", at(team, `?${query}`), team.owner.key);
    expect(refusal).toEqual({ code: "unsupported_value", param });
  });

  test("is downloaded as a table, with amounts as numbers and formulas as text, and an audit entry", async () => {
    const team = await spent();
    const rows = await bed.table(at(team, "?limit=1&kind=correction&colour=red"), team.billing.key);
    expect(rows.map(({ credits, note }) => [credits, note])).toEqual([["-0.5", "'=1+1"]]);
    const logged = await bed.db.query(
      "select actor, action, subject, before, after from audit_log where workspace_id = $1",
      [team.id],
    );
    expect(logged).toEqual([
      {
        actor: expect.objectContaining({ type: "member", id: team.billing.id, key_id: team.billing.keyId }),
        action: "ledger.export",
        subject: team.id,
        before: null,
        after: { rows: 1, filters: { kind: "correction" } },
      },
    ]);
  });

  test("of more rows than one write is complete", async () => {
    const team = await bed.team(0n);
    await bed.db.query(
      `insert into ledger_entry (workspace_id, kind, amount, source_id)
       select $1, 'top_up', 1, gen_random_uuid() from generate_series(1, 1201)`,
      [team.id],
    );
    const rows = await bed.table(at(team), team.owner.key);
    expect(new Set(rows.map(({ id }) => id)).size).toBe(1_201);
    expect(rows.every(({ credits }) => credits === "0.000000001")).toBe(true);
  });
});
