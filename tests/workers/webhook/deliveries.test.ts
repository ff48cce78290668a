/** From events to attempts: who gets what, when it is tried again, and what becomes of channels that fail. The senders are ours. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";

import { insertChannel } from "#shared/database/channels.ts";
import { claimDeliveries, endAttempt, fanOutEvents } from "#shared/database/delivery-work.ts";
import { OPERATOR } from "#shared/database/audit-log.ts";
import type { EventName } from "#shared/events/events.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createMetrics } from "#shared/metrics/metrics.ts";
import { sealAll } from "#shared/notifications/channel-secrets.ts";
import { ATTEMPTS_MAX } from "#shared/notifications/schedule.ts";
import { createSealer } from "#shared/secrets/sealed.ts";
import { eventually } from "#tests/faults/wait.ts";
import { createWorkspace } from "#tests/shared/accounts.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import type { AttemptResult, OpenChannel, Outgoing } from "#workers/webhook/channel.ts";
import { startDeliveries, CHANNEL_ATTEMPTS_MAX } from "#workers/webhook/runner.ts";
import { ATTEMPT_DEATHS_MAX } from "#workers/webhook/attempt.ts";

const sealer = createSealer([randomBytes(32)]);
const log = createLogger({ level: "silent", role: "test" });
const OK: AttemptResult = { ok: true, status: 200, responseStart: "ok" };
const AGAIN: AttemptResult = { ok: false, verdict: "again", status: 500, error: "status", responseStart: "" };
const GONE: AttemptResult = { ok: false, verdict: "gone", status: 410, error: "refused", responseStart: "" };

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());
// What an earlier test left on its way would take slots.
beforeEach(async () => {
  await db.query("update event set fanned_out_at = now() where fanned_out_at is null");
  await db.query("update delivery set status = 'cancelled' where status = 'pending'");
});

interface Team {
  readonly id: string;
  readonly owner: string;
}

async function team(): Promise<Team> {
  const id = await createWorkspace(db.database, 0n);
  const owner = newId();
  await db.query(
    "insert into member (id, workspace_id, name, role, email) values ($1, $2, 'o', 'owner', 'o@example.com')",
    [owner, id],
  );
  return { id, owner };
}

async function channel(of: Team, events: readonly EventName[] = ["run.failed"], workflowId: string | null = null) {
  const id = newId();
  const secrets = { url: `https://hooks.example.com/${id}`, signingSecret: "whsec_x" };
  await insertChannel(db.database, of.id, {
    id,
    type: "webhook",
    name: id,
    enabled: true,
    config: {},
    sealed: sealAll(sealer, { workspaceId: of.id, id }, secrets),
    createdBy: of.owner,
    actor: OPERATOR,
  });
  for (const event of events) {
    await db.query(
      "insert into subscription (id, workspace_id, channel_id, event, workflow_id) values ($1, $2, $3, $4, $5)",
      [newId(), of.id, id, event, workflowId],
    );
  }
  return id;
}

/** An event, as the transaction of what happened writes it. */
async function happen(
  of: Team,
  type: EventName = "run.failed",
  more: { workflowId?: string; channelIds?: string[] } = {},
) {
  const id = newId();
  await db.query(
    'insert into event (id, workspace_id, workflow_id, type, metadata, channel_ids) values ($1, $2, $3, $4, \'{"runId":"r"}\', $5)',
    [id, of.id, more.workflowId ?? null, type, more.channelIds ?? null],
  );
  return id;
}

interface Sent {
  readonly channel: OpenChannel;
  readonly outgoing: Outgoing;
}

/** A worker that sends as `answer` says, for as long as `work` takes. */
async function during<T>(
  answer: (sent: Sent) => AttemptResult | Promise<AttemptResult>,
  work: (sent: Sent[]) => Promise<T>,
  slots = 32,
): Promise<T> {
  const sent: Sent[] = [];
  const send = async (to: OpenChannel, outgoing: Outgoing): Promise<AttemptResult> => {
    sent.push({ channel: to, outgoing });
    return answer({ channel: to, outgoing });
  };
  const hurry = new AbortController();
  const senders = { webhook: send, slack: send, telegram: send, email: send };
  const metrics = createMetrics("test");
  const runner = startDeliveries({ database: db.database, sealer, mailer: undefined, senders, log, metrics, slots });
  try {
    return await work(sent);
  } finally {
    hurry.abort();
    await runner.stop(hurry.signal);
  }
}

const stateOf = async (channelId: string) =>
  (
    await db.query<{
      enabled: boolean;
      disabled_reason: string | null;
      opened: number;
      failing_since: Date | null;
      is_open: boolean;
    }>(
      "select enabled, disabled_reason, opened, failing_since, coalesce(open_until > now(), false) as is_open from notification_channel where id = $1",
      [channelId],
    )
  )[0];

const deliveriesOf = (channelId: string) =>
  db.query<{ id: string; status: string; attempts: number; waits: boolean }>(
    "select id, status, attempts, next_at > now() as waits from delivery where channel_id = $1 order by id",
    [channelId],
  );

describe("an event", () => {
  test("is delivered once to each channel that subscribes to it, by any scope, and to no other workspace's", async () => {
    const [mine, other] = [await team(), await team()];
    const workflow = newId();
    await db.query("insert into workflow (id, workspace_id, name, created_by) values ($1, $2, 'w', $3)", [
      workflow,
      mine.id,
      mine.owner,
    ]);
    const all = await channel(mine);
    const scoped = await channel(mine, ["run.failed"], workflow);
    const both = await channel(mine);
    await db.query(
      "insert into subscription (id, workspace_id, channel_id, event, workflow_id) values ($1, $2, $3, 'run.failed', $4)",
      [newId(), mine.id, both, workflow],
    );
    const elsewhere = [await channel(mine, ["run.started"]), await channel(other)];
    const off = await channel(mine);
    await db.query("update notification_channel set enabled = false where id = $1", [off]);
    await happen(mine, "run.failed", { workflowId: workflow });
    await happen(mine);
    await during(
      () => OK,
      async (sent) => {
        await eventually("all arrive", () => sent.length === 5);
        const counts = Object.fromEntries(
          [all, scoped, both].map((id) => [id, sent.filter((one) => one.channel.id === id).length]),
        );
        expect(counts).toEqual({ [all]: 2, [scoped]: 1, [both]: 2 });
        expect(sent.filter(({ channel: to }) => [...elsewhere, off].includes(to.id))).toEqual([]);
        const { outgoing } = sent[0] as Sent;
        expect(JSON.parse(outgoing.body)).toEqual({
          event: "run.failed",
          deliveryId: outgoing.deliveryId,
          workspaceId: mine.id,
          occurredAt: expect.any(String),
          metadata: { runId: "r" },
        });
      },
    );
  });

  test("with its own channels is delivered to those, without subscriptions", async () => {
    const mine = await team();
    const own = await channel(mine, []);
    const subscribed = await channel(mine, ["budget.threshold_reached"]);
    await happen(mine, "budget.threshold_reached", { channelIds: [own] });
    await happen(mine, "budget.threshold_reached");
    await during(
      () => OK,
      async (sent) => {
        await eventually("both arrive", () => sent.length === 2);
        expect(sent.map((one) => one.channel.id).toSorted()).toEqual([own, subscribed].toSorted());
      },
    );
  });

  test("is fanned out once by many concurrent workers", async () => {
    const mine = await team();
    const to = await channel(mine);
    for (let at = 0; at < 30; at += 1) await happen(mine);
    const counts = await Promise.all(Array.from({ length: 8 }, () => fanOutEvents(db.database, 10)));
    expect(
      counts.reduce((sum, count) => sum + count, 0) + (await fanOutEvents(db.database, 100)),
    ).toBeGreaterThanOrEqual(30);
    expect(await deliveriesOf(to)).toHaveLength(30);
    await db.query("update delivery set status = 'cancelled' where channel_id = $1", [to]);
  });
});

describe("an attempt that fails", () => {
  test("is followed by the next of the schedule under the same id and body, up to the last", async () => {
    const mine = await team();
    const to = await channel(mine);
    await happen(mine);
    await during(
      () => AGAIN,
      async (sent) => {
        for (let attempt = 1; attempt <= ATTEMPTS_MAX; attempt += 1) {
          await eventually(`attempt ${attempt}`, async () => (await deliveriesOf(to))[0]?.attempts === attempt);
          const [one] = await deliveriesOf(to);
          expect([one?.status, one?.waits]).toEqual(
            attempt < ATTEMPTS_MAX ? ["pending", true] : ["failed", null as never],
          );
          await db.query("update delivery set next_at = now() where channel_id = $1 and status = 'pending'", [to]);
        }
        expect(new Set(sent.map(({ outgoing }) => outgoing.body)).size).toBe(1);
        expect(sent.map(({ outgoing }) => outgoing.attempt)).toEqual(
          Array.from({ length: ATTEMPTS_MAX }, (_, at) => at + 1),
        );
      },
    );
    const numbers = await db.query<{ number: number; error: string; status: number }>(
      "select number, error, a.status from delivery_attempt a join delivery d on d.id = a.delivery_id where d.channel_id = $1 order by number",
      [to],
    );
    expect(numbers.map(({ number }) => number)).toEqual(Array.from({ length: ATTEMPTS_MAX }, (_, at) => at + 1));
    expect(numbers[0]).toMatchObject({ error: "status", status: 500 });
  });

  test("as gone disables its channel immediately, is audited, and its owners receive mail; its waiting deliveries are skipped", async () => {
    const mine = await team();
    const to = await channel(mine);
    for (let at = 0; at < 3; at += 1) await happen(mine);
    await during(
      ({ channel: at }) => (at.type === "email" ? OK : GONE),
      async (sent) => {
        await eventually("the owner is told", () => sent.find((one) => one.channel.type === "email"));
        const mail = sent.find((one) => one.channel.type === "email");
        expect(mail?.channel.config).toEqual({ recipient: "o@example.com" });
        expect(mail?.outgoing).toMatchObject({
          event: "channel.disabled",
          metadata: { channelId: to, reason: "gone" },
        });
        await eventually("nothing waits", async () =>
          (await deliveriesOf(to)).every(({ status }) => status !== "pending"),
        );
      },
    );
    expect(await stateOf(to)).toMatchObject({ enabled: false, disabled_reason: "gone" });
    expect((await deliveriesOf(to)).map(({ status, attempts }) => [status, attempts])).toEqual([
      ["failed", 1],
      ["skipped", 0],
      ["skipped", 0],
    ]);
    const audited = await db.query(
      "select actor->>'type' as actor, action, after from audit_log where subject = $1 order by id desc limit 1",
      [to],
    );
    expect(audited).toEqual([
      { actor: "system", action: "channel.disable", after: { enabled: false, reason: "gone" } },
    ]);
  });

  test("after five days of failures only disables its channel, and not a moment before", async () => {
    const mine = await team();
    const to = await channel(mine);
    await happen(mine);
    await during(
      () => AGAIN,
      async () => {
        await eventually("it fails", async () => (await stateOf(to))?.failing_since);
        await db.query(
          "update notification_channel set failing_since = now() - interval '4 days 23 hours' where id = $1",
          [to],
        );
        await db.query("update delivery set next_at = now() where channel_id = $1", [to]);
        await eventually("the second", async () => (await deliveriesOf(to))[0]?.attempts === 2);
        expect((await stateOf(to))?.enabled).toBe(true);
        await db.query(
          "update notification_channel set failing_since = now() - interval '5 days 1 minute' where id = $1",
          [to],
        );
        await db.query("update delivery set next_at = now() where channel_id = $1", [to]);
        await eventually("the third", async () => (await stateOf(to))?.enabled === false);
      },
    );
    expect(await stateOf(to)).toMatchObject({ disabled_reason: "failing" });
  });

  test("long after the previous one starts the count again, since nothing was sent between", async () => {
    const mine = await team();
    const to = await channel(mine);
    await db.query(
      "update notification_channel set failing_since = now() - interval '9 days', last_failed_at = now() - interval '2 days' where id = $1",
      [to],
    );
    await happen(mine);
    await during(
      () => AGAIN,
      () => eventually("it fails", async () => (await deliveriesOf(to))[0]?.attempts === 1),
    );
    expect(await stateOf(to)).toMatchObject({ enabled: true, failing_since: expect.any(Date) });
    expect(Date.now() - Number((await stateOf(to))?.failing_since)).toBeLessThan(86_400_000);
  });

  test("because of our installation, or under settings that have changed since, does not count for the channel", async () => {
    for (const error of ["mail_off", "status"] as const) {
      const mine = await team();
      const to = await channel(mine);
      await happen(mine);
      await during(
        async () => {
          if (error === "status")
            await db.query("update notification_channel set version = version + 1 where id = $1", [to]);
          return { ...AGAIN, error };
        },
        () => eventually("it fails", async () => (await deliveriesOf(to))[0]?.attempts === 1),
      );
      expect([error, await stateOf(to)]).toEqual([error, expect.objectContaining({ failing_since: null })]);
    }
  });

  test("is retried when the pause that its receiver requests is not a whole millisecond", async () => {
    const mine = await team();
    const to = await channel(mine);
    await happen(mine);
    await during(
      () => ({ ...AGAIN, error: "rate_limited", retryAfterMs: 1_234.567 }),
      () => eventually("it is written", async () => (await deliveriesOf(to))[0]?.attempts === 1),
    );
    expect(await deliveriesOf(to)).toMatchObject([{ status: "pending", waits: true }]);
  });

  test("for a missing key of its channel is retried, as another worker may have it", async () => {
    const mine = await team();
    const to = await channel(mine);
    await db.query('update notification_channel set sealed = \'{"url":"v1.x.y"}\' where id = $1', [to]);
    await happen(mine);
    await during(
      () => OK,
      async (sent) => {
        await eventually("it is written", async () => (await deliveriesOf(to))[0]?.attempts === 1);
        expect(sent).toEqual([]);
      },
    );
    expect(await deliveriesOf(to)).toMatchObject([{ status: "pending", waits: true }]);
    expect(await stateOf(to)).toMatchObject({ enabled: true, failing_since: null });
  });
});

describe("the breaker of a channel", () => {
  test("opens at ten failures, allows one attempt after its cooldown, and closes at a success", async () => {
    const mine = await team();
    const to = await channel(mine);
    for (let at = 0; at < 30; at += 1) await happen(mine);
    let answer: AttemptResult = AGAIN;
    await during(
      () => answer,
      async (all) => {
        const sent = () => all.filter((one) => one.channel.id === to);
        await eventually("it opens", async () => (await stateOf(to))?.is_open);
        expect(sent()).toHaveLength(10);
        await db.query("update notification_channel set open_until = now() where id = $1", [to]);
        await eventually("one more is tried, and fails", async () => (await stateOf(to))?.opened === 2);
        expect(sent()).toHaveLength(11);
        answer = OK;
        await db.query("update notification_channel set open_until = now() where id = $1", [to]);
        await db.query("update delivery set next_at = now() where channel_id = $1 and status = 'pending'", [to]);
        await eventually("all the others arrive", async () =>
          (await deliveriesOf(to)).every(({ status }) => status === "succeeded"),
        );
      },
    );
    expect(await stateOf(to)).toMatchObject({ opened: 0, failing_since: null, is_open: false });
  });
});

describe("slots", () => {
  test("are shared so that channels with slow receivers do not delay others", async () => {
    const mine = await team();
    const dead = new Set(await Promise.all(Array.from({ length: 12 }, () => channel(mine))));
    const live = await Promise.all(Array.from({ length: 12 }, () => channel(mine)));
    // They are known to take what they are sent.
    await db.query("update notification_channel set recent_ok = 5 where id = any ($1)", [live]);
    for (let at = 0; at < 20; at += 1) await happen(mine);
    const never = Promise.withResolvers<AttemptResult>();
    await during(
      ({ channel: to }) => (dead.has(to.id) ? never.promise : OK),
      async (sent) => {
        const arrived = () => sent.filter((one) => !dead.has(one.channel.id)).length;
        try {
          await eventually("all of the others arrive", () => arrived() === 240);
          // Half of sixteen slots for what has not been tried, and a quarter for what fails.
          expect(sent.length - arrived()).toBeLessThanOrEqual(12);
        } finally {
          never.resolve(AGAIN);
        }
      },
      16,
    );
  });

  test("of one channel are limited", async () => {
    const mine = await team();
    const to = await channel(mine);
    await db.query("update notification_channel set recent_ok = 5 where id = $1", [to]);
    for (let at = 0; at < 40; at += 1) await happen(mine);
    let busy = 0;
    let most = 0;
    await during(
      async ({ channel: at }) => {
        if (at.id !== to) return OK;
        busy += 1;
        most = Math.max(most, busy);
        await Bun.sleep(5);
        busy -= 1;
        return OK;
      },
      async () => {
        await eventually(
          "all arrive",
          async () => (await deliveriesOf(to)).filter((one) => one.status === "succeeded").length === 40,
        );
      },
      64,
    );
    expect(most).toBe(CHANNEL_ATTEMPTS_MAX);
  });
});

describe("a worker that is lost during an attempt", () => {
  const claim = {
    max: 10,
    failingMax: 10,
    newMax: 10,
    spareMax: 10,
    eachMax: 8,
    from: "00000000-0000-0000-0000-000000000000",
  };

  test("leaves it to another when its lease has ended, and changes nothing after its pause", async () => {
    const mine = await team();
    const to = await channel(mine);
    await happen(mine);
    await fanOutEvents(db.database, 100);
    const [lost] = await claimDeliveries(db.database, { ...claim, leaseMs: 60_000 });
    expect(lost?.channel?.id).toBe(to);
    expect(await claimDeliveries(db.database, { ...claim, leaseMs: 60_000 })).toEqual([]);
    await db.query("update delivery set lease_until = now() where channel_id = $1", [to]);
    await during(
      () => OK,
      async (sent) => {
        await eventually("another makes it", () => sent.length === 1);
        expect(sent[0]?.outgoing.deliveryId).toBe(lost?.id as string);
        await eventually("it is written", async () => (await deliveriesOf(to))[0]?.status === "succeeded");
      },
    );
    if (!lost) throw new Error("nothing was claimed");
    const end = {
      verdict: "gone",
      status: 410,
      error: "refused",
      responseStart: "",
      ms: 1,
      nextMs: null,
      pauseMs: null,
      chatId: null,
      isOurs: false,
      failingMs: 1,
      gapMs: 1,
      openMs: 1,
    } as const;
    expect(await endAttempt(db.database, lost, end)).toBeUndefined();
    expect(await stateOf(to)).toMatchObject({ enabled: true });
    expect(await deliveriesOf(to)).toMatchObject([{ status: "succeeded", attempts: 1 }]);
  });

  test("repeatedly is not retried forever", async () => {
    const mine = await team();
    const to = await channel(mine);
    await happen(mine);
    await fanOutEvents(db.database, 100);
    await db.query("update delivery set epoch = $2 where channel_id = $1", [to, ATTEMPT_DEATHS_MAX]);
    await during(
      () => OK,
      async (sent) => {
        await eventually("it is given up", async () => (await deliveriesOf(to))[0]?.status === "failed");
        expect(sent).toEqual([]);
      },
    );
  });
});

test("a channel deleted with open deliveries receives none of them, and they are not repeated", async () => {
  const mine = await team();
  const to = await channel(mine);
  for (let at = 0; at < 3; at += 1) await happen(mine);
  await fanOutEvents(db.database, 100);
  // Behind the back of what deletes channels, as a fan-out under way would leave them.
  await db.query("delete from notification_channel where id = $1", [to]);
  await during(
    () => OK,
    async (sent) => {
      await eventually("they are cancelled", async () =>
        (await deliveriesOf(to)).every(({ status }) => status === "cancelled"),
      );
      expect(sent).toEqual([]);
    },
  );
});
