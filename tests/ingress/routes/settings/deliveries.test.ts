/** /workspaces/{workspaceId}/deliveries. How they go out: tests/workers/webhook, tests/e2e/notifications. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { DELIVERY_STATUSES } from "#shared/database/deliveries.ts";

import { audited, auditOf, putChannel, putDelivery, putMember, walk } from "./settings-bed.ts";
import { openSpendBed, type SpendBed, type Team } from "./spend-bed.ts";

let bed: SpendBed;
let team: Team;
beforeAll(async () => {
  bed = await openSpendBed();
  team = await bed.team(0n);
});
afterAll(() => bed.close());

const at = (of: Pick<Team, "id">, rest = ""): string => `/workspaces/${of.id}/deliveries${rest}`;

describe("deliveries", () => {
  test("are read with their attempts, and listed without", async () => {
    const own = await bed.team(0n);
    const channelId = await putChannel(bed, own, own.owner);
    const id = await putDelivery(bed, own, channelId, { event: "run.failed" });
    await bed.db.query(
      `insert into delivery_attempt (delivery_id, number, at, ms, status, error, response_start)
       values ($1, 2, '2026-11-24T08:00:05Z', 7, 500, 'status', 'no'), ($1, 1, '2026-11-24T08:00:00Z', 15000, null, 'timeout', null)`,
      [id],
    );
    const { body, attempts, ...rest } = await bed.ask("Delivery", "GET", at(own, `/${id}`), own.admin.key);
    expect(body).toBe("{}");
    expect(attempts).toEqual([
      { number: 1, at: "2026-11-24T08:00:00.000Z", ms: 15_000, status: null, error: "timeout", responseStart: null },
      { number: 2, at: "2026-11-24T08:00:05.000Z", ms: 7, status: 500, error: "status", responseStart: "no" },
    ]);
    expect((await bed.ask("DeliveryList", "GET", at(own), own.developer.key)).data).toEqual([rest]);
    expect(rest).toMatchObject({ id, channelId, event: "run.failed", status: "failed", nextAttemptAt: null });
  });

  test("contain the time of the next attempt, including a pause of the channel", async () => {
    const own = await bed.team(0n);
    const channelId = await putChannel(bed, own, own.owner);
    const id = await putDelivery(bed, own, channelId, { status: "pending" });
    await bed.db.query("update notification_channel set paused_until = '2100-01-01T00:00:00Z' where id = $1", [
      channelId,
    ]);
    const read = await bed.ask("Delivery", "GET", at(own, `/${id}`), own.owner.key);
    expect(read.nextAttemptAt).toBe("2100-01-01T00:00:00.000Z");
  });

  test("are paged from the newest without gaps or repeats, by channel, event and status", async () => {
    const own = await bed.team(0n);
    const channels = [await putChannel(bed, own, own.owner), await putChannel(bed, own, own.owner)];
    const made: { id: string; channelId: string; event: string; status: string }[] = [];
    for (let n = 0; n < 30; n += 1) {
      const facts = {
        channelId: channels[n % 2] ?? "",
        event: ["run.failed", "job.failed", "test"][n % 3] ?? "",
        status: DELIVERY_STATUSES[n % 5] ?? "",
      };
      made.unshift({ ...facts, id: await putDelivery(bed, own, facts.channelId, facts) });
    }
    const read = (query: string) => bed.ask("DeliveryList", "GET", at(own, `?${query}`), own.developer.key);
    for (const limit of [4, 15, 30, 100]) expect(await walk(read, limit)).toEqual(made.map(({ id }) => id));
    for (const filter of [
      { channelId: channels[1] ?? "" },
      { event: "job.failed" },
      ...DELIVERY_STATUSES.map((status) => ({ status })),
      { channelId: channels[0] ?? "", event: "test", status: "pending" },
    ]) {
      const query = new URLSearchParams(filter as Record<string, string>).toString();
      const meant = made.filter((one) =>
        Object.entries(filter).every(([name, value]) => one[name as keyof typeof one] === value),
      );
      expect([query, await walk((page) => read(`${query}&${page}`), 2)]).toEqual([query, meant.map(({ id }) => id)]);
    }
    expect((await read("event=run.exploded")).data).toEqual([]);
    const recent = made.filter(({ status }) => status === "failed").slice(0, 2);
    await bed.db.query(
      "update delivery set ended_at = '2026-11-24T08:00:00Z' where ended_at is not null and not id::text = any ($1::text[])",
      [recent.map(({ id }) => id)],
    );
    const since = "endedSince=2026-11-24T08:00:00.001Z";
    expect(await walk((page) => read(`${since}&${page}`), 2)).toEqual(recent.map(({ id }) => id));
    expect((await read(`${since}&status=pending`)).data).toEqual([]);
    const foreign = await bed.team(0n);
    const theirs = await putChannel(bed, foreign, foreign.owner);
    await putDelivery(bed, foreign, theirs);
    expect((await read(`channelId=${theirs}`)).data).toEqual([]);
  });

  test.each([
    ["channelId=x", "channelId"],
    ["status=lost", "status"],
    ["endedSince=yesterday", "endedSince"],
    [`event=${"x".repeat(201)}`, "event"],
    ["event=%00", "event"],
    ["limit=101", "limit"],
    ["after=x", "after"],
  ])("are not listed for %s", async (query, param) => {
    expect(await bed.refusal(400, "GET", at(team, `?${query}`), team.owner.key)).toEqual({
      code: "unsupported_value",
      param,
    });
  });
});

describe("repeating a delivery", () => {
  test("is allowed for owner, admin and the developer who created the channel", async () => {
    const own = await bed.team(0n);
    const channel = await putChannel(bed, own, own.developer);
    for (const person of [own.owner, own.admin, own.developer]) {
      const id = await putDelivery(bed, own, channel);
      const line = await audited(bed, own, person, { method: "POST", path: at(own, `/${id}/retry`), status: 202 });
      expect(line).toMatchObject({
        action: "delivery.retry",
        subject: id,
        before: { status: "failed" },
        after: { status: "pending" },
        answer: { deliveryId: id },
      });
      const sent = await bed.ask("Delivery", "GET", at(own, `/${id}`), own.owner.key);
      expect(sent).toMatchObject({ status: "pending", endedAt: null, nextAttemptAt: expect.any(String) as string });
    }
  });

  test("has no further attempts, unless the schedule had not ended", async () => {
    const own = await bed.team(0n);
    const channel = await putChannel(bed, own, own.owner);
    const steps: number[] = [];
    for (const status of ["succeeded", "failed", "skipped", "pending"]) {
      const id = await putDelivery(bed, own, channel, { status });
      await bed.db.query("update delivery set step = 3 where id = $1", [id]);
      await bed.ask("DeliveryAccepted", "POST", at(own, `/${id}/retry`), own.owner.key, { status: 202 });
      const [row] = await bed.db.query<{ step: number }>("select step from delivery where id = $1", [id]);
      steps.push(row?.step ?? -1);
    }
    expect(steps).toEqual([7, 7, 7, 3]);
  });

  test("is rejected while the channel is disabled or deleted, and for mail to a member", async () => {
    const own = await bed.team(0n);
    const channel = await putChannel(bed, own, own.owner, { enabled: false });
    const id = await putDelivery(bed, own, channel);
    const refused = async (): Promise<unknown> => bed.refusal(409, "POST", at(own, `/${id}/retry`), own.owner.key);
    const conflict = { code: "conflict", param: null };
    expect(await refused()).toEqual(conflict);
    await bed.db.query("delete from notification_channel where id = $1", [channel]);
    expect(await refused()).toEqual(conflict);
    const memberId = await putMember(bed, own, { role: "owner", email: "canary@example.com" });
    await bed.db.query("update delivery set channel_id = null, member_id = $2 where id = $1", [id, memberId]);
    expect(await refused()).toEqual(conflict);
    const read = await bed.ask("Delivery", "GET", at(own, `/${id}`), own.developer.key);
    expect(JSON.stringify(read)).not.toContain("canary");
    expect(await auditOf(bed, own)).toEqual([]);
  });
});
