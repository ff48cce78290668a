/**
 * Many events for many channels, a third of which never answer. Expected: every notification to the others arrives once, and soon;
 * the dead ones take no more than their share. `npm run soak` sends 10,000 to 100 channels, and asserts the times.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";

import {
  type NotificationsBench,
  type Receiver,
  startNotifications,
  startReceiver,
} from "#tests/e2e/notifications/bench.ts";
import { storm } from "#tests/support/storm.ts";

import { eventually } from "./wait.ts";

const CHANNELS = storm(20, 100);
const EVENTS = storm(600, 10_000);
const EACH_MS = 1;
const HEALTHY_P99_MS = 2_000;

let bench: NotificationsBench;
let receiver: Receiver;
let dead: Receiver;
beforeAll(async () => {
  [bench, receiver, dead] = await Promise.all([
    startNotifications({ apart: true, pools: ["webhook"], workers: 2, env: { SLUICE_WORKER_SLOTS: "224" } }),
    startReceiver(),
    startReceiver(),
  ]);
  dead.answer = () => "hang";
}, 120_000);
afterAll(async () => {
  await bench.close();
  await Promise.all([receiver.close(), dead.close()]);
});

test(`${EVENTS} events for ${CHANNELS} channels`, async () => {
  const ids: string[] = [];
  const isDead = (at: number): boolean => at % 10 < 3;
  for (let at = 0; at < CHANNELS; at += 1) {
    ids.push((await bench.channel(`${isDead(at) ? dead.url : receiver.url}/${at}`)).id);
  }
  const arrivedAt = new Map<string, number>();
  const usual = receiver.answer;
  receiver.answer = (one) => {
    arrivedAt.set(one.headers["webhook-id"] as string, Date.now());
    return usual(one);
  };
  const BATCH = 100;
  for (let at = 0; at < EVENTS; at += BATCH) {
    const batch =
      ids.length === 0 ? [] : Array.from({ length: BATCH }, (_, index) => ids[(at + index) % ids.length] ?? "");
    await bench.stack.query(
      `insert into event (workspace_id, type, metadata, channel_ids)
       select $1, 'run.succeeded', '{"runId":"r"}', array[id] from unnest($2::uuid[]) id`,
      [bench.workspaceId, batch],
    );
    await Bun.sleep(BATCH * EACH_MS);
  }
  const healthy = Array.from({ length: EVENTS }, (_, at) => at).filter((at) => !isDead(at % CHANNELS)).length;
  await eventually("all that can arrive", () => arrivedAt.size === healthy, 120_000);
  const rows = await bench.stack.query<{ id: string; at: Date; attempts: number }>(
    `select d.id, e.occurred_at as at, d.attempts from delivery d join event e on e.id = d.event_id where d.id = any ($1)`,
    [[...arrivedAt.keys()]],
  );
  expect(receiver.received).toHaveLength(healthy);
  const waits = rows.map(({ id, at }) => (arrivedAt.get(id) ?? 0) - at.getTime()).toSorted((one, other) => one - other);
  const p99 = waits[Math.floor(waits.length * 0.99)] ?? 0;
  process.stderr.write(
    `healthy: ${healthy}, median ${waits[waits.length >> 1]} ms, p99 ${p99} ms; dead took ${dead.received.length}\n`,
  );
  if (storm(false, true)) expect(p99).toBeLessThan(HEALTHY_P99_MS);
}, 300_000);
