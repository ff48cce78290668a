/** Limits on the mail that channels send: nobody has confirmed an address. Against a mail server and a database. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { randomBytes } from "node:crypto";

import { OPERATOR } from "#shared/database/audit-log.ts";
import { insertChannel } from "#shared/database/channels.ts";
import { insertDelivery } from "#shared/database/deliveries.ts";
import { MAIL_PER_ADDRESS_DAY_MAX, MAIL_PER_WORKSPACE_DAY_MAX } from "#shared/database/delivery-work.ts";
import { insertMember } from "#shared/database/members.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { mailboxOf } from "#shared/base/mail-address.ts";
import { createMetrics } from "#shared/metrics/metrics.ts";
import { envelopeText } from "#shared/notifications/envelope.ts";
import { createSealer } from "#shared/secrets/sealed.ts";
import { eventually } from "#tests/faults/wait.ts";
import { createWorkspace } from "#tests/shared/accounts.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { SENDERS } from "#workers/webhook/channels/index.ts";
import { openMailer } from "#workers/webhook/mailer.ts";
import { startDeliveries } from "#workers/webhook/runner.ts";

import { postbox, refusal } from "./smtp.ts";

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

async function channel(workspaceId: string, recipient: string): Promise<string> {
  const id = newId();
  const wanted = { id, type: "email", name: id, enabled: true, config: { recipient }, sealed: {}, createdBy: null };
  await insertChannel(db.database, workspaceId, { ...wanted, actor: OPERATOR } as never);
  return id;
}

/** Makes these deliveries, one for each channel that is named, and tells what their first attempts met, and those of `others`, in that order. */
async function attempts(
  workspaceId: string,
  channels: readonly string[],
  options?: Parameters<typeof postbox>[0],
  others: readonly string[] = [],
): Promise<{ readonly met: readonly (string | null)[]; readonly heads: readonly string[] }> {
  const box = await postbox(options);
  const mailer = openMailer({ smtpUrl: box.url(), from: "sluice@example.com" });
  const ids = [...others];
  for (const channelId of channels) {
    const id = newId();
    const facts = { deliveryId: id, workspaceId, occurredAt: new Date(), metadata: { channelId, message: "A test." } };
    const body = envelopeText({ event: "test", ...facts });
    await insertDelivery(db.database, workspaceId, {
      id,
      channelId,
      event: "test",
      body,
      step: 0,
      perHourMax: null,
      actor: OPERATOR,
    });
    ids.push(id);
  }
  const [log, metrics] = [createLogger({ level: "silent", role: "test" }), createMetrics("test")];
  const common = { database: db.database, sealer: createSealer([randomBytes(32)]), log, metrics };
  const runner = startDeliveries({ ...common, mailer, senders: SENDERS, slots: 8 });
  try {
    const rows = await eventually("all have been tried", async () => {
      const found = await db.query<{ delivery_id: string; error: string | null }>(
        "select delivery_id, error from delivery_attempt where delivery_id = any ($1) and number = 1",
        [ids],
      );
      return found.length === ids.length && found;
    });
    const met = ids.map((id) => rows.find((row) => row.delivery_id === id)?.error ?? null);
    return { met, heads: box.letters.map(({ source }) => source.slice(0, source.indexOf("\r\n\r\n"))) };
  } finally {
    await runner.stop(AbortSignal.abort());
    mailer.close();
    await box.close();
    metrics.close();
  }
}

const count = async (workspaceId: string, mailbox: string): Promise<number> => {
  const sql = "select sent from mail_sent where workspace_id = $1 and mailbox = $2";
  return (await db.query<{ sent: number }>(sql, [workspaceId, mailbox]))[0]?.sent ?? 0;
};
const setCount = (workspaceId: string, mailbox: string, sent: number) =>
  db.query(
    `insert into mail_sent (workspace_id, mailbox, day, sent) values ($1, $2, (now() at time zone 'UTC')::date, $3)
     on conflict (workspace_id, mailbox, day) do update set sent = excluded.sent`,
    [workspaceId, mailbox, sent],
  );

test("an address receives its daily maximum, for any spelling and channel, and no channel is blamed for others", async () => {
  const [own, other] = [await createWorkspace(db.database, 0n), await createWorkspace(db.database, 0n)];
  await setCount(own, "jo@example.org", MAIL_PER_ADDRESS_DAY_MAX - 1);
  const channels = [await channel(own, "jo@example.org"), await channel(own, "Jo+lists@EXAMPLE.org")];
  const { met, heads } = await attempts(own, channels);
  expect(new Set(met)).toEqual(new Set(["mail_limit", null]));
  expect(heads).toHaveLength(1);
  expect(heads[0]).toMatch(/^List-Unsubscribe:\s+<mailto:sluice@example\.com\?subject=unsubscribe%20[0-9a-f-]{36}>/m);
  const [late] = await db.query<{ status: string; next_at: Date | null }>(
    "select d.status, d.next_at from delivery d join delivery_attempt a on a.delivery_id = d.id where d.workspace_id = $1 and a.error is not null",
    [own],
  );
  expect(late).toEqual({ status: "pending", next_at: expect.any(Date) as Date });
  const health = await db.query("select enabled, failing_since from notification_channel where workspace_id = $1", [
    own,
  ]);
  expect(health).toEqual([1, 2].map(() => ({ enabled: true, failing_since: null })));
  // Nobody takes another's.
  expect((await attempts(other, [await channel(other, "jo@example.org")])).met).toEqual([null]);
});

test("a workspace sends its daily maximum, to any number of addresses", async () => {
  const own = await createWorkspace(db.database, 0n);
  await setCount(own, "", MAIL_PER_WORKSPACE_DAY_MAX - 1);
  const channels = [await channel(own, "ada@example.org"), await channel(own, "bob@example.org")];
  expect(new Set((await attempts(own, channels)).met)).toEqual(new Set(["mail_limit", null]));
  await setCount(own, "", 0);
  expect((await attempts(own, channels)).met).toEqual([null, null]);
});

test("mail to owners about their channels is counted: addresses of members are not confirmed", async () => {
  const own = await createWorkspace(db.database, 0n);
  const member = await insertMember(db.database, own, {
    id: newId(),
    name: "jo",
    role: "owner",
    email: "jo@example.org",
    actor: OPERATOR,
  });
  await setCount(own, "jo@example.org", MAIL_PER_ADDRESS_DAY_MAX);
  const id = newId();
  const metadata = { channelId: newId(), channelName: "hook", channelType: "webhook", reason: "gone" };
  const body = envelopeText({
    event: "channel.disabled",
    deliveryId: id,
    workspaceId: own,
    occurredAt: new Date(),
    metadata,
  });
  await db.query(
    "insert into delivery (id, workspace_id, member_id, event, body) values ($1, $2, $3, 'channel.disabled', $4)",
    [id, own, member?.id ?? null, body],
  );
  expect((await attempts(own, [], undefined, [id])).met).toEqual(["mail_limit"]);
});

test("mail that was not sent is not counted", async () => {
  const own = await createWorkspace(db.database, 0n);
  const onRcptTo = (_address: unknown, _session: unknown, callback: (error: Error) => void): void =>
    callback(refusal("451 later"));
  const { met } = await attempts(own, [await channel(own, "ada@example.org")], { onRcptTo });
  expect(met).toEqual(["status"]);
  expect([await count(own, ""), await count(own, "ada@example.org")]).toEqual([0, 0]);
});

test.each([
  ["jo@example.org", "jo@example.org"],
  ["Jo+a+b@Example.ORG", "jo@example.org"],
  ["+tag@example.org", "+tag@example.org"],
])("%s is read by %s", (address, mailbox) => expect(mailboxOf(address)).toBe(mailbox));
