/** Bounds of a workspace's deliveries: of those that wait, and of those that can be read. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { fanOutEvents, DELIVERIES_WAITING_MAX } from "#shared/database/delivery-work.ts";
import { newId } from "#shared/base/ids.ts";
import { createWorkspace } from "#tests/shared/accounts.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { sweepExcessDeliveries } from "#workers/janitor/queue.ts";

let db: TestDatabase;
beforeAll(async () => {
  db = await createTestDatabase();
});
afterAll(() => db.drop());

async function newChannel(workspaceId: string): Promise<string> {
  const id = newId();
  await db.query(
    "insert into notification_channel (id, workspace_id, type, name, config) values ($1, $2, 'webhook', $3, '{}')",
    [id, workspaceId, id],
  );
  await db.query("insert into subscription (id, workspace_id, channel_id, event) values ($1, $2, $3, 'run.failed')", [
    newId(),
    workspaceId,
    id,
  ]);
  return id;
}

const waiting = (workspaceId: string, channelId: string, count: number) =>
  db.query(
    `insert into delivery (id, workspace_id, channel_id, event, body)
     select gen_random_uuid(), $1, $2, 'run.failed', '{}' from generate_series(1, $3::int)`,
    [workspaceId, channelId, count],
  );
const countOf = async (channelId: string): Promise<number> =>
  (await db.query("select 1 from delivery where channel_id = $1 and status = 'pending'", [channelId])).length;
const happen = (workspaceId: string, channels: readonly string[] | null = null) =>
  db.query(
    "insert into event (workspace_id, type, metadata, channel_ids) values ($1, 'run.failed', '{}', $2::uuid[])",
    [workspaceId, channels === null ? null : `{${channels.join(",")}}`],
  );

test("a channel has a maximum of waiting deliveries; its neighbours, and events that name it, continue", async () => {
  const workspaceId = await createWorkspace(db.database, 0n);
  const [full, last] = [await newChannel(workspaceId), await newChannel(workspaceId)];
  await waiting(workspaceId, full, DELIVERIES_WAITING_MAX);
  await waiting(workspaceId, last, DELIVERIES_WAITING_MAX - 1);
  await happen(workspaceId);
  await fanOutEvents(db.database, 10);
  const counts = async () => [await countOf(full), await countOf(last)];
  expect(await counts()).toEqual([DELIVERIES_WAITING_MAX, DELIVERIES_WAITING_MAX]);
  await happen(workspaceId);
  await fanOutEvents(db.database, 10);
  expect(await counts()).toEqual([DELIVERIES_WAITING_MAX, DELIVERIES_WAITING_MAX]);
  await happen(workspaceId, [full]);
  await fanOutEvents(db.database, 10);
  expect(await countOf(full)).toBe(DELIVERIES_WAITING_MAX + 1);
});

test("a workspace keeps the newest of its ended deliveries, and all waiting ones", async () => {
  const [many, few] = [await createWorkspace(db.database, 0n), await createWorkspace(db.database, 0n)];
  const ended = (workspaceId: string, count: number) =>
    db.query(
      `insert into delivery (id, workspace_id, event, body, status, next_at, ended_at)
       select uuidv7(), $1, 'run.failed', n::text, 'succeeded', null, now() from generate_series(1, $2::int) n`,
      [workspaceId, count],
    );
  await ended(many, 30);
  await ended(few, 20);
  await waiting(many, await newChannel(many), 5);
  await sweepExcessDeliveries(db.database, 20);
  const left = async (workspaceId: string, status: string) =>
    (await db.query<{ body: string }>("select body from delivery where workspace_id = $1 and status = $2 order by id", [workspaceId, status]))
      .map(({ body }) => body); // prettier-ignore
  expect(await left(many, "succeeded")).toEqual(Array.from({ length: 20 }, (_, at) => String(at + 11)));
  expect(await left(few, "succeeded")).toHaveLength(20);
  expect(await left(many, "pending")).toHaveLength(5);
});
