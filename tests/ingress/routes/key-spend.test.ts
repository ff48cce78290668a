/** GET /v1/usage and GET /v1/credits: sums of one key that are the ledger's, and what its balance and its limits leave. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { KeyCredits, KeyUsage } from "#schemas/generated/types.ts";
import type { Database } from "#shared/database/client.ts";
import { KEY_MODELS_MAX } from "#shared/database/key-spend.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createMetrics } from "#shared/metrics/metrics.ts";
import { setSpendLimit } from "#shared/ledger/spend-limits.ts";
import { rollUpAll, type Spend, spend } from "#tests/shared/usage-records.ts";
import { openUsageRollUp } from "#workers/janitor/money.ts";

import { openSpendBed, ROLES, type SpendBed, type Team } from "./settings/spend-bed.ts";

const DAY_MS = 86_400_000;
const CREDIT = 1_000_000_000n;

let bed: SpendBed;
const metrics = createMetrics("test");
const log = createLogger({ level: "silent", role: "test" });
beforeAll(async () => {
  bed = await openSpendBed();
});
afterAll(async () => {
  metrics.close();
  await bed.close();
});

const usage = (key: string): Promise<KeyUsage> => bed.ask("KeyUsage", "GET", "/v1/usage", key);
const credits = (key: string): Promise<KeyCredits> => bed.ask("KeyCredits", "GET", "/v1/credits", key);

const now = new Date();
const today = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), now.getUTCDate()));
const month = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth(), 1));
const before = (time: Date): Date => new Date(time.getTime() - 1);

/** Begins with empty sums at 40 days ago: records of a test are moved to times that had been. */
async function unroll(): Promise<void> {
  await bed.db.query("truncate usage_hour, usage_by_day, usage_model_by_day, usage_key_by_day, usage_day, usage_key");
  await bed.db.query(
    "update usage_rollup set until = now() - interval '40 days', next_at = now() - interval '40 days', next_xid = '0'",
  );
}

const rollUp = (database: Database = bed.db.database): Promise<void> =>
  rollUpAll(bed.db.database, openUsageRollUp({ database, metrics, log }));

type Call = Omit<Spend, "workspaceId" | "keyId">;

const spendBy = (team: Team, keyId: string, calls: readonly Call[]): Promise<string[]> =>
  spend(
    bed.db.database,
    calls.map((call) => ({ workspaceId: team.id, keyId, ...call })),
  );

/** Calls of a developer before and within the month, and one of another member. */
async function spent(): Promise<Team> {
  await unroll();
  const team = await bed.team();
  await spendBy(team, team.developer.keyId, [
    { nano: 1_000_000_001n, tokens: 10, model: "a", at: before(month) },
    { nano: 2_000_000_002n, tokens: 20, model: "b", at: month },
    { nano: 4_000_000_004n, tokens: 40, model: "a", at: today },
    { nano: null, model: "a" },
    { nano: 8_000_000_008n, tokens: 80, model: "b" },
  ]);
  await spendBy(team, team.other.keyId, [{ nano: 16n * CREDIT, tokens: 160, model: "a" }]);
  return team;
}

const OF_MONTH = { calls: 4, failed: 1, credits: 14.000000014, tokens: 140 };
const isFirst = today.getTime() === month.getTime();
const EXPECTED = {
  today: {
    start_time: today.toISOString(),
    ...(isFirst ? OF_MONTH : { calls: 3, failed: 1, credits: 12.000000012, tokens: 120 }),
  },
  month: { start_time: month.toISOString(), ...OF_MONTH },
  total: { calls: 5, failed: 1, credits: 15.000000015, tokens: 150 },
  models: [
    { model: "b", calls: 2, failed: 0, credits: 10.00000001, tokens: 100 },
    { model: "a", calls: 2, failed: 1, credits: 4.000000004, tokens: 40 },
  ],
  has_more_models: false,
};

describe("the usage of a key", () => {
  test("equals its records of the day, the month and all time, before, during and after the roll-up", async () => {
    const team = await spent();
    const { key, keyId } = team.developer;
    const expected = { object: "key.usage", key_id: keyId, ...EXPECTED } as const;
    const look = async (): Promise<void> => {
      expect(await usage(key)).toEqual(expected);
      expect((await credits(key)).credits_used).toBe(EXPECTED.total.credits);
    };
    await look();
    let steps = 0;
    await rollUp({
      ...bed.db.database,
      async query(text, values) {
        const rows = await bed.db.query(text, values);
        // There are thousands of steps over forty days.
        if (++steps % 500 === 0) await look();
        return rows as never;
      },
    });
    expect(steps).toBeGreaterThan(500);
    await look();
    const [sums] = await bed.db.query("select calls, settled from usage_key where key_id = $1", [keyId]);
    expect(sums).toEqual({ calls: 5n, settled: 15_000_000_015n });
    // Later calls are added to the sums.
    await spendBy(team, keyId, [{ nano: CREDIT, tokens: 1, model: "c" }]);
    expect(await usage(key)).toMatchObject({ total: { calls: 6, credits: 16.000000015 }, models: [{}, {}, {}] });
  });

  test("is that of the requesting key only, for every role; other workspaces' keys have none of it", async () => {
    const team = await spent();
    const stranger = await bed.team();
    expect((await usage(team.other.key)).total).toEqual({ calls: 1, failed: 0, credits: 16, tokens: 160 });
    const none = { calls: 0, failed: 0, credits: 0, tokens: 0 };
    for (const role of ROLES) {
      expect(await usage(stranger[role].key)).toMatchObject({ today: none, month: none, total: none, models: [] });
      expect(await credits(stranger[role].key)).toMatchObject({ credits_used: 0 });
    }
    for (const path of ["/v1/usage", "/v1/credits"]) {
      expect(await bed.refusal(401, "GET", path, "slk_unknown")).toMatchObject({ code: "invalid_api_key" });
    }
  });

  test("lists the models with the highest spend, up to a limit", async () => {
    await unroll();
    const team = await bed.team();
    const { key, keyId } = team.developer;
    const calls = Array.from({ length: KEY_MODELS_MAX + 1 }, (_, at) => ({ nano: BigInt(at + 1), model: `m${at}` }));
    await spendBy(team, keyId, calls.slice(1));
    const whole = await usage(key);
    expect([whole.models.length, whole.has_more_models]).toEqual([KEY_MODELS_MAX, false]);
    await spendBy(team, keyId, calls.slice(0, 1));
    const { models, has_more_models: hasMore, month: all } = await usage(key);
    expect([models.length, hasMore, all.calls]).toEqual([KEY_MODELS_MAX, true, KEY_MODELS_MAX + 1]);
    expect([models[0]?.model, models.at(-1)?.model]).toEqual([`m${KEY_MODELS_MAX}`, "m1"]);
  });
});

describe("the credits of a key", () => {
  test("are the balance of its workspace, as GET /v1/key returns it, and no limits unless some are set", async () => {
    const team = await spent();
    for (const role of ROLES) {
      const { key, keyId } = team[role];
      const { balance } = await bed.ask("Key", "GET", "/v1/key", key);
      expect(await credits(key)).toEqual({
        object: "key.credits",
        key_id: keyId,
        balance,
        credits_used: role === "developer" ? EXPECTED.total.credits : 0,
        limits: { key: null, member: null },
      });
    }
  });

  test("include what the limits of the key and of its member leave, and when they reset", async () => {
    const team = await spent();
    const { key, keyId, id: memberId } = team.developer;
    const { database } = bed.db;
    await setSpendLimit(database, team.id, {
      id: keyId,
      kind: "key",
      credits: { day: 20n * CREDIT, total: 10n * CREDIT },
    });
    await setSpendLimit(database, team.id, {
      id: memberId,
      kind: "member",
      credits: { month: 20n * CREDIT },
      raise: { credits: { month: 30n * CREDIT }, until: new Date(Date.now() + DAY_MS) },
    });
    const { limits } = await credits(key);
    const ofDay = EXPECTED.today.credits;
    expect(limits.key).toEqual({
      day: {
        credits: 20,
        credits_used: ofDay,
        credits_held: 0,
        credits_left: Math.round((20 - ofDay) * 1e9) / 1e9,
        resets_at: new Date(today.getTime() + DAY_MS).toISOString(),
      },
      week: null,
      month: null,
      // Lowered below the charges.
      total: { credits: 10, credits_used: 15.000000015, credits_held: 0, credits_left: 0, resets_at: null },
    });
    const nextMonth = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() + 1, 1));
    expect(limits.member).toEqual({
      day: null,
      week: null,
      month: {
        credits: 30,
        credits_used: OF_MONTH.credits,
        credits_held: 0,
        credits_left: 15.999999986,
        resets_at: nextMonth.toISOString(),
      },
      total: null,
    });
    // Those of others are not theirs.
    expect((await credits(team.other.key)).limits).toEqual({ key: null, member: null });
  });
});
