/**
 * A backlog of one workspace delays another's next call not at all, and another's next job by no more than two fleets full and
 * what runs with it.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { newId } from "#shared/base/ids.ts";
import { BATCH_MESSAGES_PER_KEY } from "#shared/queue/topology.ts";

import { audit } from "./audit.ts";
import { ask, type Bed, createWorkspace, startBed } from "./bed.ts";
import { openPublisher, type Publisher } from "./publisher.ts";
import { eventually } from "./wait.ts";

/** An eighth of the worker's slots. */
const BATCH_SLOTS = 4;
const LIVE_SLOTS = BATCH_SLOTS * 8;
/** An eighth of them stays free. */
const SHARE = LIVE_SLOTS - LIVE_SLOTS / 8;
/** Connections that a client of Bun opens at once, less some for the other workspace. */
const FLOOD = 250;
/** Nearly all that the queue keeps of one workspace: what it refuses is not repeated here. */
const BACKLOG = BATCH_MESSAGES_PER_KEY - 20;

let bed: Bed;
let greedy: Publisher;
let modest: Publisher;
let greedyKey: string;
let modestKey: string;

beforeAll(async () => {
  bed = await startBed({
    ingress: 2,
    behaviours: ["delay-50", "silent"],
    // Ingresses tell each other as often as they do in production: here they may be starved for a moment.
    env: { SLUICE_WORKER_SLOTS: String(LIVE_SLOTS), SLUICE_PACE: "1" },
  });
  const [one, two] = [
    await createWorkspace(bed.stack, { creditsNano: 10_000_000_000_000n }),
    await createWorkspace(bed.stack, { creditsNano: 10_000_000_000_000n }),
  ];
  [greedyKey, modestKey] = [one.key, two.key];
  greedy = await openPublisher(bed.stack.natsUrl, one);
  modest = await openPublisher(bed.stack.natsUrl, two);
}, 120_000);
afterAll(async () => {
  await Promise.all([greedy?.close(), modest?.close()]);
  await bed?.stop();
});

test("a burst of endless calls of one workspace at two ingresses leaves a slot for another's calls", async () => {
  const { client, stack, upstream } = bed;
  await eventually("the worker has told its slots", async () => (await stack.query("select 1 from worker_slots where lane = 'live'")).length === 1); // prettier-ignore
  const silent = (): number =>
    upstream.requests.filter(({ body }) => JSON.stringify(body).includes("mock-silent")).length;
  const flood = Array.from({ length: FLOOD }, (_, at) =>
    client.begin(bed.target(at % 2, greedyKey), ask("mock-silent")),
  );
  for (const { head } of flood) head.catch(() => undefined);
  await eventually("all of the flood is admitted, and as much of it as may be is at work", async () => {
    const [row] = await stack.query<{ count: bigint }>("select count(*) from hold");
    return row?.count === BigInt(FLOOD) && silent() >= SHARE;
  });
  for (let round = 0; round < 8; round++) {
    const answer = await client.chat(bed.target(round % 2, modestKey), ask("mock-delay-50"));
    expect(answer.status).toBe(200);
  }
  expect(silent()).toBeLessThan(LIVE_SLOTS);
  for (const { leave } of flood) leave();
  await stack.settled();
  await audit(bed);
}, 60_000);

test("a queue full of waiting jobs of one workspace does not delay another's", async () => {
  const { stack } = bed;
  await eventually("the worker has told its slots", async () => (await stack.query("select 1 from worker_slots where lane = 'batch'")).length === 1); // prettier-ignore
  await Promise.all(
    Array.from({ length: BACKLOG }, () => greedy.publish({ body: ask("mock-delay-50") }, { key: newId() })),
  );
  await eventually(
    "the backlog is taken in",
    async () => {
      const [row] = await stack.query<{ count: bigint }>("select count(*) from job");
      return row?.count === BigInt(BACKLOG);
    },
    30_000,
  );
  const overtaken: number[] = [];
  for (let round = 0; round < 3; round++) {
    const key = newId();
    const { job_id } = await modest.submit({ body: ask("mock-delay-50") }, { key });
    expect(await modest.ended(key)).toMatchObject({ status: "completed" });
    const [row] = await stack.query<{ before: bigint; waiting: bigint }>(
      `select count(*) filter (where a.ended_at between b.created_at and b.ended_at) as before,
                count(*) filter (where a.ended_at is null) as waiting
         from job a, job b where b.id = $1 and a.workspace_id <> b.workspace_id`,
      [job_id],
    );
    // Otherwise there was no backlog to wait behind.
    expect(row?.waiting).toBeGreaterThan(50n);
    overtaken.push(Number(row?.before));
  }
  // On the queue before it: two fleets full. Meanwhile and beside it: each slot may end one more.
  for (const count of overtaken) expect(count).toBeLessThanOrEqual(2 * BATCH_SLOTS + 2 * BATCH_SLOTS);
  await eventually(
    "the backlog is worked off",
    async () => {
      const [row] = await stack.query<{ count: bigint }>("select count(*) from job where state = 'completed'");
      return row?.count === BigInt(BACKLOG + 3);
    },
    60_000,
  );
  await audit(bed);
}, 150_000);
