/**
 * Fault: the worker that sends a notification dies at each point of an attempt, sleeps through its lease, or everything dies and the
 * queue is wiped inside the schedule. Expected: the notification arrives under the same id, at most once more than it was sent, and
 * its delivery says so.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import type { Delivery } from "#schemas/generated/types.ts";
import {
  type NotificationsBench,
  type Receiver,
  startNotifications,
  startReceiver,
} from "#tests/e2e/notifications/bench.ts";
import type { ManagedProcess } from "#tests/support/role-process.ts";
import { startRole } from "#tests/support/role-process.ts";

import { failpointsOf } from "./failpoints.ts";
import { eventually } from "./wait.ts";

let bench: NotificationsBench;
let receiver: Receiver;
beforeAll(async () => {
  [bench, receiver] = await Promise.all([startNotifications({ apart: true, workers: 0 }), startReceiver()]);
}, 120_000);
afterAll(async () => {
  await bench.close();
  await receiver.close();
});

const worker = (failpoint?: string): Promise<ManagedProcess> =>
  startRole(["worker", "webhook"], { ...bench.stack.env, ...(failpoint ? { SLUICE_FAILPOINT: failpoint } : {}) });

async function begin(channelId: string): Promise<string> {
  const { body } = await bench.call<{ deliveryId: string }>("POST", `/notification-channels/${channelId}/test`);
  return body.deliveryId;
}

const arrivals = (id: string) => receiver.received.filter(({ headers }) => headers["webhook-id"] === id).length;

describe("a worker dies at", () => {
  test.each(failpointsOf("webhook worker"))(
    "%s: another continues, under the same id",
    async (at) => {
      const { id } = await bench.channel(`${receiver.url}/${at}`);
      const mortal = await worker(at);
      const delivery = await begin(id);
      expect((await mortal.exited()).signal).toBe("SIGKILL");
      const next = await worker();
      try {
        const ended: Delivery = await bench.ended(delivery);
        expect(ended).toMatchObject({ status: "succeeded", attemptCount: 1 });
        // Behind the receiver's back nobody knows whether it got it: it is sent once more.
        expect(arrivals(delivery)).toBe(at === "delivery.sent" ? 2 : 1);
      } finally {
        await Promise.all([mortal.stop(), next.stop()]);
      }
    },
    60_000,
  );
});

test("a worker paused beyond its lease changes nothing after its pause", async () => {
  const { id } = await bench.channel(`${receiver.url}/asleep`);
  const first = await worker();
  const usual = receiver.answer;
  receiver.answer = ({ path }) => (path === "/asleep" ? "hang" : { status: 200 });
  const delivery = await begin(id);
  await eventually("it is sent", () => arrivals(delivery) === 1);
  first.kill("SIGSTOP");
  receiver.answer = usual;
  const next = await worker();
  try {
    expect(await bench.ended(delivery)).toMatchObject({ status: "succeeded", attemptCount: 1 });
    first.kill("SIGCONT");
    await eventually("the first has found out", () =>
      first.logs().some((line) => line.includes("longer than its lease")),
    );
    const { body } = await bench.call<Delivery>("GET", `/deliveries/${delivery}`);
    expect(body).toMatchObject({ status: "succeeded", attemptCount: 1 });
    expect(arrivals(delivery)).toBe(2);
  } finally {
    await Promise.all([first.stop(), next.stop()]);
  }
}, 90_000);

test("deliveries survive the death of every process and a wiped queue, with the same id", async () => {
  const { id } = await bench.channel(`${receiver.url}/wiped`);
  await bench.subscribe(id, "run.succeeded");
  const usual = receiver.answer;
  receiver.answer = () => ({ status: 503 });
  const workers = await Promise.all(
    ["chat", "workflow", "webhook"].map((pool) => startRole(["worker", pool], bench.stack.env)),
  );
  const answer = await fetch(`${bench.stack.baseUrls[0]}/v1/pipelines/runs`, {
    method: "POST",
    headers: { authorization: `Bearer ${bench.stack.key}`, "content-type": "application/json" },
    body: JSON.stringify({
      definition: {
        steps: [
          {
            id: "a",
            type: "model",
            model: "sandbox-chat",
            params: { messages: [{ role: "user", content: "Say exactly: yes" }] },
          },
        ],
      },
    }),
  });
  expect(answer.status).toBe(200);
  const { data } = await eventually("the first attempt failed", async () => {
    const { body } = await bench.call<{ data: Delivery[] }>("GET", `/deliveries?channelId=${id}`);
    return body.data[0]?.attemptCount === 1 ? body : undefined;
  });
  const delivery = data[0]?.id ?? "";
  for (const role of [...workers, ...bench.stack.ingresses, ...bench.stack.janitors]) {
    role.kill("SIGKILL");
    await role.exited();
  }
  await bench.stack.nats.wipe();
  // No janitor lives that would make the queue again.
  expect((await bench.stack.command("migrate")).code).toBe(0);
  receiver.answer = usual;
  await Promise.all([...bench.stack.ingresses, ...bench.stack.janitors].map((role) => role.restart()));
  const next = await worker();
  try {
    const ended = await bench.ended(delivery);
    expect(ended).toMatchObject({ status: "succeeded", attemptCount: 2 });
    expect(ended.attempts?.map(({ number, status }) => [number, status])).toEqual([
      [1, 503],
      [2, 200],
    ]);
    expect(arrivals(delivery)).toBe(2);
  } finally {
    await next.stop();
  }
}, 120_000);

describe("pending attempts use the current settings of the channel:", () => {
  test("another URL, another secret", async () => {
    const first = await worker();
    try {
      const usual = receiver.answer;
      receiver.answer = ({ path }) => ({ status: path === "/before" ? 500 : 200 });
      const { id } = await bench.channel(`${receiver.url}/before`);
      await bench.subscribe(id, "run.failed");
      await bench.stack.query(
        `insert into event (workspace_id, type, metadata, channel_ids) values ($1, 'run.failed', '{"runId":"r"}', array[$2::uuid])`,
        [bench.workspaceId, id],
      );
      const delivery = await eventually("it is tried in vain", async () => {
        const { body } = await bench.call<{ data: Delivery[] }>("GET", `/deliveries?channelId=${id}`);
        return body.data[0]?.attemptCount === 1 ? body.data[0].id : undefined;
      });
      await bench.call("PATCH", `/notification-channels/${id}`, { config: { url: `${receiver.url}/after` } });
      await bench.call("POST", `/notification-channels/${id}/signing-secret/rotate`);
      await bench.ended(delivery);
      const [before, after] = receiver.received.filter(({ headers }) => headers["webhook-id"] === delivery);
      expect([before?.path, after?.path]).toEqual(["/before", "/after"]);
      expect(after?.body).toBe(before?.body as string);
      expect(after?.headers["x-webhook-signature"]).not.toBe(before?.headers["x-webhook-signature"] as string);
      receiver.answer = usual;
    } finally {
      await first.stop();
    }
  }, 60_000);
});
