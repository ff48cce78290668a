/** …/notification-channels/{channelId}/signing-secret, and what else a channel is asked to do: a test, and recovery. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";
import {
  MAIL_TESTS_PER_HOUR_MAX,
  PREVIOUS_SECRET_MS,
  RECOVER_DAYS_MAX,
} from "#ingress/routes/settings/notification-channels.ts";

import type { Person } from "../managed-bed.ts";
import { audited, auditOf, BAD_BODIES, putChannel, putDelivery } from "./settings-bed.ts";
import { openSpendBed, type SpendBed, type Team } from "./spend-bed.ts";

let bed: SpendBed;
let team: Team;
beforeAll(async () => {
  bed = await openSpendBed();
  team = await bed.team(0n);
});
afterAll(() => bed.close());

const at = (of: Pick<Team, "id">, rest = ""): string => `/workspaces/${of.id}/notification-channels${rest}`;
const DAY_MS = 86_400_000;
const daysAgo = (days: number): Date => new Date(Date.now() - days * DAY_MS);

describe("a signing secret", () => {
  test("is returned to owner and admin, each time with an audit entry without the secret", async () => {
    const own = await bed.team(0n);
    const id = await putChannel(bed, own, own.developer);
    const path = at(own, `/${id}/signing-secret/reveal`);
    for (const by of [own.owner, own.admin]) {
      const line = await audited(bed, own, by, { method: "POST", path });
      expect(line).toMatchObject({ action: "channel.reveal_secret", subject: id, before: null, after: null });
      expect(line.answer).toEqual({ signingSecret: `whsec_${id}` });
    }
    const shown = await bed.send("POST", path, own.owner.key);
    expect(shown.headers.get("cache-control")).toBe("no-store");
    expect(JSON.stringify(await auditOf(bed, own))).not.toContain("whsec_");
  });

  test("is replaced by owner and admin, with an audit entry, and the previous one stays valid for a day", async () => {
    const own = await bed.team(0n);
    const id = await putChannel(bed, own, own.developer);
    const secrets: string[] = [`whsec_${id}`];
    for (const by of [own.owner, own.admin]) {
      const line = await audited(bed, own, by, { method: "POST", path: at(own, `/${id}/signing-secret/rotate`) });
      expect(line).toMatchObject({ action: "channel.rotate_secret", subject: id });
      const { signingSecret, previousUntil } = line.answer as { signingSecret: string; previousUntil: string };
      expect(Date.parse(previousUntil)).toBeGreaterThan(Date.now());
      expect(Date.parse(previousUntil)).toBeLessThanOrEqual(Date.now() + PREVIOUS_SECRET_MS);
      expect(secrets).not.toContain(signingSecret);
      secrets.push(signingSecret);
    }
    const told = JSON.stringify(await auditOf(bed, own));
    for (const secret of secrets) expect(told).not.toContain(secret);
    const revealed = await bed.ask("SigningSecret", "POST", at(own, `/${id}/signing-secret/reveal`), own.owner.key);
    expect(revealed).toEqual({ signingSecret: secrets.at(-1) ?? "" });
  });

  test("exists for webhooks only", async () => {
    const body = { type: "slack", name: `slack ${newId()}`, config: { url: "https://hooks.slack.com/services/a" } };
    const { id } = await bed.ask("Channel", "POST", at(team), team.owner.key, { body, status: 201 });
    for (const act of ["reveal", "rotate"]) {
      const refusal = await bed.refusal(400, "POST", at(team, `/${id}/signing-secret/${act}`), team.owner.key);
      expect(refusal).toEqual({ code: "invalid_request", param: null });
    }
  });

  test("that does not exist is created, and cannot be read before", async () => {
    const own = await bed.team(0n);
    const id = await putChannel(bed, own, own.owner);
    await bed.db.query("update notification_channel set sealed = sealed - 'signingSecret' where id = $1", [id]);
    const path = at(own, `/${id}/signing-secret`);
    expect((await bed.refusal(409, "POST", `${path}/reveal`, own.owner.key)).code).toBe("conflict");
    expect(await auditOf(bed, own)).toEqual([]);
    expect(await bed.ask("SigningSecret", "POST", `${path}/rotate`, own.owner.key)).not.toHaveProperty("previousUntil");
  });
});

describe("a test delivery", () => {
  const send = (own: Team, id: string, { key }: Person) => bed.send("POST", at(own, `/${id}/test`), key);

  test("is sent by owner, admin and the developer who created the channel", async () => {
    const own = await bed.team(0n);
    const id = await putChannel(bed, own, own.developer);
    for (const person of [own.owner, own.admin, own.developer]) {
      const line = await audited(bed, own, person, { method: "POST", path: at(own, `/${id}/test`), status: 202 });
      const deliveryId = String(line.answer["deliveryId"]);
      expect(line).toMatchObject({
        action: "delivery.create",
        subject: deliveryId,
        before: null,
        after: { channel_id: id, event: "test" },
      });
      const sent = await bed.ask("Delivery", "GET", `/workspaces/${own.id}/deliveries/${deliveryId}`, own.owner.key);
      expect(sent).toMatchObject({ channelId: id, event: "test", status: "pending", attemptCount: 0, attempts: [] });
      expect(Object.keys(JSON.parse(sent.body ?? "") as object)).toEqual([
        "event",
        "deliveryId",
        "workspaceId",
        "occurredAt",
        "metadata",
      ]);
    }
  });

  test("is not sent to a disabled channel", async () => {
    const own = await bed.team(0n);
    const id = await putChannel(bed, own, own.owner, { enabled: false });
    expect((await bed.refusal(409, "POST", at(own, `/${id}/test`), own.owner.key)).code).toBe("conflict");
    expect(await bed.db.query("select 1 from delivery where channel_id = $1", [id])).toEqual([]);
  });

  test("is limited to five an hour for mail, also concurrently, and unlimited for other types", async () => {
    const own = await bed.team(0n);
    const [hook, mail] = [await putChannel(bed, own, own.owner), await putChannel(bed, own, own.owner)];
    const config = JSON.stringify({ recipient: "jo@example.org" });
    await bed.db.query("update notification_channel set type = 'email', config = $2::jsonb where id = $1", [
      mail,
      config,
    ]);
    const most = MAIL_TESTS_PER_HOUR_MAX;
    const statuses = async (id: string): Promise<number[]> => {
      const answers = Array.from({ length: most + 1 }, () => send(own, id, own.owner));
      return (await Promise.all(answers)).map(({ status }) => status).toSorted((a, b) => a - b);
    };
    const all = Array.from({ length: most }, () => 202);
    expect(await statuses(hook)).toEqual([...all, 202]);
    expect(await statuses(mail)).toEqual([...all, 409]);
    expect(await auditOf(bed, own)).toHaveLength(2 * most + 1);
    await bed.db.query("update delivery set created_at = created_at - interval '1 hour' where channel_id = $1", [mail]);
    expect(await statuses(mail)).toEqual([...all, 409]);
  });
});

describe("recovery", () => {
  const recover = (own: Team, id: string, body: object) =>
    bed.ask("DeliveriesRecovered", "POST", at(own, `/${id}/recover`), own.admin.key, { body, status: 202 });
  const pending = async (): Promise<string[]> =>
    (await bed.db.query<{ id: string }>("select id from delivery where status = 'pending' order by id")).map(
      ({ id }) => id,
    );

  test("repeats the undelivered events of one channel in the time range, and nothing else", async () => {
    const [own, foreign] = [await bed.team(0n), await bed.team(0n)];
    const [channel, sibling] = [await putChannel(bed, own, own.owner), await putChannel(bed, own, own.owner)];
    const theirs = await putChannel(bed, foreign, foreign.owner);
    const [since, until] = [daysAgo(3), daysAgo(1)];
    const within = daysAgo(2);
    const meant: string[] = [];
    for (const status of ["failed", "skipped", "cancelled"]) {
      meant.push(await putDelivery(bed, own, channel, { status, createdAt: within }));
    }
    meant.push(await putDelivery(bed, own, channel, { createdAt: since }));
    await putDelivery(bed, own, channel, { status: "succeeded", createdAt: within });
    await putDelivery(bed, own, channel, { createdAt: until });
    await putDelivery(bed, own, channel, { createdAt: new Date(since.getTime() - 1) });
    await putDelivery(bed, own, sibling, { createdAt: within });
    await putDelivery(bed, foreign, theirs, { createdAt: within });
    // Another workspace's row that names this channel is not this workspace's.
    await putDelivery(bed, foreign, channel, { createdAt: within });
    const earlier = await pending();
    const span = { since: since.toISOString(), until: until.toISOString() };
    expect(await recover(own, channel, span)).toEqual({ count: meant.length });
    expect((await pending()).filter((id) => !earlier.includes(id))).toEqual(meant.toSorted());
    expect(await recover(own, channel, span)).toEqual({ count: 0 });
    const again = await bed.ask("Delivery", "GET", `/workspaces/${own.id}/deliveries/${meant[0]}`, own.owner.key);
    expect(again).toMatchObject({ status: "pending", endedAt: null, nextAttemptAt: expect.any(String) as string });
    // Without an end the span goes on to now.
    const line = await audited(bed, own, own.owner, {
      method: "POST",
      path: at(own, `/${channel}/recover`),
      body: { since: span.since },
      status: 202,
    });
    expect(line).toMatchObject({
      action: "channel.recover",
      subject: channel,
      before: null,
      after: { until: null, count: 1 },
      answer: { count: 1 },
    });
  });

  test("is rejected for invalid time ranges, and invalid bodies", async () => {
    const own = await bed.team(0n);
    const path = at(own, `/${await putChannel(bed, own, own.owner)}/recover`);
    const since = daysAgo(1).toISOString();
    for (const [body, param] of [
      [{}, "since"],
      [{ since: daysAgo(RECOVER_DAYS_MAX + 0.001).toISOString() }, "since"],
      [{ since: "yesterday" }, "since"],
      [{ since: "2026-02-30T00:00:00Z" }, "since"],
      [{ since: 7 }, "since"],
      [{ since, until: "later" }, "until"],
      [{ since, until: "2026-13-01T00:00:00Z" }, "until"],
      [{ since, until: daysAgo(2).toISOString() }, "until"],
      [{ since, until: "0000-01-01T00:00:00Z" }, "until"],
    ] as const) {
      expect([body, await bed.refusal(400, "POST", path, own.owner.key, body)]).toEqual([
        body,
        { code: expect.any(String) as unknown as string, param },
      ]);
    }
    for (const [body, status, code] of BAD_BODIES) {
      expect((await bed.refusal(status, "POST", path, own.owner.key, body)).code).toBe(code);
    }
    const until = "9999-12-31T23:59:59.999999999Z";
    const oldest = daysAgo(RECOVER_DAYS_MAX - 0.001).toISOString();
    for (const body of [{ since: oldest, until }, { since: daysAgo(-1).toISOString() }]) {
      expect((await bed.send("POST", path, own.owner.key, body)).status).toBe(202);
    }
  });

  test("is rejected for a disabled channel", async () => {
    const own = await bed.team(0n);
    const id = await putChannel(bed, own, own.developer, { enabled: false });
    const body = { since: daysAgo(1).toISOString() };
    expect((await bed.refusal(409, "POST", at(own, `/${id}/recover`), own.owner.key, body)).code).toBe("conflict");
  });
});
