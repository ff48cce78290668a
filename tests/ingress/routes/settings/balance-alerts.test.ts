/** /workspaces/{workspaceId}/balance-alerts, beside the contract of resources: thresholds, what is left, and channels. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { BalanceAlert } from "#schemas/generated/types.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { CREDIT } from "#tests/shared/accounts.ts";
import { spend } from "#tests/shared/usage-records.ts";
import { sweepBalanceAlerts } from "#workers/janitor/money.ts";

import { envelopeOf } from "../../fake-context.ts";
import { putChannel } from "./settings-bed.ts";
import { openSpendBed, type SpendBed, type Team } from "./spend-bed.ts";

let bed: SpendBed;
const log = createLogger({ level: "silent", role: "test" });
beforeAll(async () => {
  bed = await openSpendBed();
});
afterAll(() => bed.close());

const at = (team: Pick<Team, "id">, path = ""): string => `/workspaces/${team.id}/balance-alerts${path}`;
const create = (team: Team, body: object): Promise<BalanceAlert> =>
  bed.ask("BalanceAlert", "POST", at(team), team.billing.key, { body: { name: newId(), ...body }, status: 201 });

describe("a balance alert", () => {
  test("has a threshold exact to the nano-credit, from the sent digits", async () => {
    const team = await bed.team();
    const send = (digits: string) =>
      bed.send("POST", at(team), team.owner.key, `{"name":${JSON.stringify(`n ${digits}`)},"below_credits":${digits}}`);
    for (const [digits, nano] of [
      ["123456789.123456789", 123_456_789_123_456_789n],
      ["1e-9", 1n],
    ] as const) {
      expect((await send(digits)).status).toBe(201);
      const rows = await bed.db.query("select below_credits from balance_alert where name = $1", [`n ${digits}`]);
      expect(rows).toEqual([{ below_credits: nano }]);
    }
    for (const digits of ["0.0000000001", "0", "1000000001", '"5"']) {
      const answer = await send(digits);
      expect([digits, answer.status]).toEqual([digits, 400]);
      expect((await envelopeOf(answer)).param).toBe("below_credits");
    }
  });

  test("without a threshold, or with two, is refused with a sentence that says what to send", async () => {
    const team = await bed.team();
    const message = async (body: object): Promise<unknown> =>
      (await envelopeOf(await bed.send("POST", at(team), team.owner.key, { name: "a", ...body }))).message;
    expect(await message({})).toBe("Missing required parameter: send below_credits or below_days.");
    expect(await message({ below_credits: 1, below_days: 1 })).toBe(
      "Expected either below_credits or below_days, got both; create an alert for each.",
    );
  });

  test("replaces one threshold by the other", async () => {
    const team = await bed.team();
    const { id } = await create(team, { below_credits: 5 });
    const change = (body: object) => bed.ask("BalanceAlert", "PATCH", at(team, `/${id}`), team.admin.key, { body });
    expect(await change({ below_days: 3 })).toMatchObject({ below_credits: null, below_days: 3 });
    expect(await change({ below_credits: 7 })).toMatchObject({ below_credits: 7, below_days: null });
    expect(await change({ name: "same threshold" })).toMatchObject({ below_credits: 7, below_days: null });
  });

  test("returns the available credits, the days that they last and its state", async () => {
    const team = await bed.team(100n * CREDIT);
    const { id } = await create(team, { below_days: 10 });
    await spend(bed.db.database, [{ workspaceId: team.id, nano: 20n * CREDIT }]);
    await sweepBalanceAlerts({ database: bed.db.database, log });
    const alert = await bed.ask("BalanceAlert", "GET", at(team, `/${id}`), team.developer.key);
    expect(alert).toMatchObject({ available: 80, days_left: 4, is_low: true, last_fired_at: expect.any(String) });
  });

  test("uses channels of its workspace only, and forgets a deleted one", async () => {
    const [team, other] = [await bed.team(), await bed.team()];
    const own = await putChannel(bed, team, team.owner);
    const foreign = await putChannel(bed, other, other.owner);
    const { id } = await create(team, { below_days: 3, channel_ids: [own.toUpperCase(), own] });
    const body = { name: "b", below_days: 3, channel_ids: [own, foreign] };
    expect(await bed.refusal(400, "POST", at(team), team.owner.key, body)).toEqual({
      code: "unsupported_value",
      param: "channel_ids[1]",
    });
    const alert = () => bed.ask("BalanceAlert", "GET", at(team, `/${id}`), team.owner.key);
    expect((await alert()).channel_ids).toEqual([own]);
    await bed.send("DELETE", `/workspaces/${team.id}/notification-channels/${own}`, team.owner.key);
    expect((await alert()).channel_ids).toEqual([]);
  });
});
