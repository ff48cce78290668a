/** /workspaces/{workspaceId}/budget-alerts, beside the contract of resources: thresholds, channels, and calls that stop. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { BudgetAlert } from "#schemas/generated/types.ts";
import { budgetReached } from "#shared/database/budget-firings.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createMetrics } from "#shared/metrics/metrics.ts";
import { admitLone, CREDIT } from "#tests/shared/accounts.ts";
import { spend } from "#tests/shared/usage-records.ts";
import { sweepBudgets } from "#workers/janitor/money.ts";

import { envelopeOf } from "../../fake-context.ts";
import { putSubscription } from "./settings-bed.ts";
import { openSpendBed, type SpendBed, type Team } from "./spend-bed.ts";

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

const at = (team: Pick<Team, "id">, path = ""): string => `/workspaces/${team.id}/budget-alerts${path}`;
const BODY = { name: "a day", threshold_credits: 10, period: "daily" } as const;

const create = (team: Team, body: object = {}, status = 201): Promise<BudgetAlert> =>
  bed.ask("BudgetAlert", "POST", at(team), team.billing.key, { body: { ...BODY, ...body }, status });
const change = (team: Team, id: string, body: object): Promise<BudgetAlert> =>
  bed.ask("BudgetAlert", "PATCH", at(team, `/${id}`), team.admin.key, { body });
const refused = (team: Team, body: unknown, status = 400) =>
  bed.refusal(status, "POST", at(team), team.owner.key, body);

async function channelOf(workspaceId: string): Promise<string> {
  const id = newId();
  await bed.db.query(
    "insert into notification_channel (id, workspace_id, type, name, config) values ($1::uuid, $2, 'webhook', $1::uuid::text, '{}')",
    [id, workspaceId],
  );
  return id;
}

describe("an alert", () => {
  test("has a threshold exact to the nano-credit, from the sent digits", async () => {
    const team = await bed.team();
    const send = (digits: string) =>
      bed.send(
        "POST",
        at(team),
        team.owner.key,
        `{"name":${JSON.stringify(`n ${digits}`)},"period":"weekly","threshold_credits":${digits}}`,
      );
    for (const [digits, nano] of [
      ["123456789.123456789", 123_456_789_123_456_789n],
      ["1e-9", 1n],
      ["0.10", 100_000_000n],
      ["1000000000", 10n ** 18n],
    ] as const) {
      expect((await send(digits)).status).toBe(201);
      const rows = await bed.db.query("select threshold from budget_alert where name = $1", [`n ${digits}`]);
      expect(rows).toEqual([{ threshold: nano }]);
    }
    for (const digits of ["0.0000000001", "1e-10", "0", "-1", "1000000001", "1.0000000001", '"5"']) {
      const answer = await send(digits);
      expect([digits, answer.status]).toEqual([digits, 400]);
      expect((await envelopeOf(answer)).param).toBe("threshold_credits");
    }
  });

  test("uses channels of its workspace only", async () => {
    const [team, other] = [await bed.team(), await bed.team()];
    const [own, foreign] = [await channelOf(team.id), await channelOf(other.id)];
    const { id, channel_ids } = await create(team, { channel_ids: [own.toUpperCase(), own] });
    expect(channel_ids).toEqual([own]);
    for (const unknown of [foreign, newId()]) {
      const expected = { code: "unsupported_value", param: "channel_ids[1]" };
      expect(await refused(team, { ...BODY, name: "b", channel_ids: [own, unknown] })).toEqual(expected);
      const patch = { channel_ids: [own, unknown] };
      expect(await bed.refusal(400, "PATCH", at(team, `/${id}`), team.owner.key, patch)).toEqual(expected);
    }
    expect((await change(team, id, { channel_ids: [] })).channel_ids).toEqual([]);
  });

  test("names its events that no enabled channel receives", async () => {
    const team = await bed.team();
    const { id, events_without_channel: all } = await create(team, { warn_at: [50] });
    expect(all).toEqual(["budget.threshold_reached", "budget.warning"]);
    const missing = async () =>
      (await bed.ask("BudgetAlert", "GET", at(team, `/${id}`), team.owner.key)).events_without_channel;
    const channel = await channelOf(team.id);
    const enable = (isEnabled: boolean) =>
      bed.db.query("update notification_channel set enabled = $2 where id = $1", [channel, isEnabled]);
    await putSubscription(bed, team, channel, "budget.warning");
    expect(await missing()).toEqual(["budget.threshold_reached"]);
    await enable(false);
    expect(await missing()).toEqual(all);
    // Channels of its own receive all its events.
    expect((await change(team, id, { channel_ids: [channel] })).events_without_channel).toEqual(all);
    await enable(true);
    expect(await missing()).toEqual([]);
  });

  test("returns the spent credits of its period and its last firing", async () => {
    const team = await bed.team();
    const { id, period_start } = await create(team);
    expect(period_start).toBe(`${new Date().toISOString().slice(0, 10)}T00:00:00.000Z`);
    await spend(bed.db.database, [{ workspaceId: team.id, nano: 10_000_000_001n }]);
    await sweepBudgets({ database: bed.db.database, metrics, log });
    const alert = await bed.ask("BudgetAlert", "GET", at(team, `/${id}`), team.developer.key);
    expect(alert.spent).toBe(10.000000001);
    expect(alert.last_fired_at).not.toBeNull();
  });
});

describe("a budget that stops calls", () => {
  const untilOf = async (team: Team): Promise<string | null> =>
    (await bed.ask("Workspace", "GET", `/workspaces/${team.id}`, team.owner.key)).calls_stopped_until;
  const sentenceOf = (team: Team): Promise<string> => budgetReached(bed.db.database, team.id);

  async function stopped(): Promise<{ readonly team: Team; readonly id: string }> {
    const team = await bed.team();
    const { id } = await create(team, { stops_calls: true });
    expect(await untilOf(team)).toBeNull();
    await spend(bed.db.database, [{ workspaceId: team.id, nano: 10n * CREDIT }]);
    expect(await untilOf(team)).toBe(tomorrow());
    return { team, id };
  }
  const tomorrow = (): string => new Date(Math.ceil(Date.now() / 86_400_000) * 86_400_000).toISOString();

  test("is reported by its name and without an amount, with the end of its period", async () => {
    const { team, id } = await stopped();
    await change(team, id, { name: 'the "day"' });
    expect(await sentenceOf(team)).toBe(
      'The workspace\'s budget "the \\"day\\"" is spent; calls are refused until its period ends or it is changed.',
    );
    expect(await untilOf(team)).toBe(tomorrow());
  });

  test("stops them immediately if its threshold was exceeded before its creation", async () => {
    const team = await bed.team();
    await spend(bed.db.database, [{ workspaceId: team.id, nano: 10n * CREDIT }]);
    await create(team, { stops_calls: true });
    expect(await untilOf(team)).toBe(tomorrow());
    expect(await admitLone(bed.db.database, { workspaceId: team.id, jobId: newId(), amount: 1n })).toBe(9);
  });

  test.each([
    ["raised", { threshold_credits: 11 }],
    ["switched off", { is_active: false }],
  ])("allows them again once it is %s", async (_how, body) => {
    const { team, id } = await stopped();
    await change(team, id, body);
    expect(await untilOf(team)).toBeNull();
    expect(await admitLone(bed.db.database, { workspaceId: team.id, jobId: newId(), amount: 1n })).toBe(0);
  });

  test("allows them again once it is deleted", async () => {
    const { team, id } = await stopped();
    await bed.ask("Deleted", "DELETE", at(team, `/${id}`), team.billing.key);
    expect(await untilOf(team)).toBeNull();
    expect(await admitLone(bed.db.database, { workspaceId: team.id, jobId: newId(), amount: 1n })).toBe(0);
  });
});
