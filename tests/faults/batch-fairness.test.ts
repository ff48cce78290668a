/** A backlog of one workspace delays another's next call or job by no more than two fleets full and what runs with it. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { newId } from "#shared/ids.ts";
import { LIMITS } from "#shared/limits.ts";
import { laneFilter } from "#shared/queue/subjects.ts";

import { audit } from "./audit.ts";
import { ask, type Bed, createWorkspace, startBed } from "./bed.ts";
import { openPublisher, type Publisher } from "./publisher.ts";
import { eventually } from "./wait.ts";

/** An eighth of the worker's slots. */
const BATCH_SLOTS = 4;
const LIVE_SLOTS = BATCH_SLOTS * 8;
/** Nearly all that the queue keeps of one workspace: what it refuses is not repeated here. */
const BACKLOG = LIMITS.batchMessagesPerWorkspace - 20;

let bed: Bed;
let greedy: Publisher;
let modest: Publisher;
let greedyKey: string;
let modestKey: string;
let modestId: string;

beforeAll(async () => {
  bed = await startBed({ behaviours: ["delay-50", "delay-300"], env: { SLUICE_WORKER_SLOTS: String(LIVE_SLOTS) } });
  const [one, two] = [
    await createWorkspace(bed.stack, { creditsNano: 10_000_000_000_000n }),
    await createWorkspace(bed.stack, { creditsNano: 10_000_000_000_000n }),
  ];
  [greedyKey, modestKey, modestId] = [one.key, two.key, two.id];
  greedy = await openPublisher(bed.stack.natsUrl, one.id);
  modest = await openPublisher(bed.stack.natsUrl, two.id);
}, 120_000);
afterAll(async () => {
  await Promise.all([greedy?.close(), modest?.close()]);
  await bed?.stop();
});

test("300 calls that one workspace sends at once do not keep another's call waiting", async () => {
  const { client, stack, upstream } = bed;
  await eventually("the worker has told its slots", async () => (await stack.query("select 1 from worker_slots where lane = 'live'")).length === 1); // prettier-ignore
  const before = upstream.requests.length;
  const queued = watchQueue(before);
  await modest.connection.flush();
  const flood = Array.from({ length: 300 }, () => client.chat(bed.target(0, greedyKey), ask("mock-delay-300")));
  await eventually("all of the flood is admitted, and the fleet is full", async () => {
    const [row] = await stack.query<{ count: bigint }>("select (select count(*) from hold) + (select count(*) from usage_record) as count"); // prettier-ignore
    return row?.count === 300n && upstream.requests.length >= before + LIVE_SLOTS;
  });
  for (let round = 0; round < 3; round++) {
    const content = `a call of the other workspace, ${round}`;
    const answer = await client.chat(bed.target(0, modestKey), ask("mock-delay-300", { messages: [{ role: "user", content }] })); // prettier-ignore
    expect(answer.status).toBe(200);
    const [begunBefore = -1] = upstream.requests.slice(before).flatMap(({ body }, at) => (JSON.stringify(body).includes(content) ? [at] : [])); // prettier-ignore
    const { sentBefore, begunThen } = queued[round] ?? { sentBefore: Infinity, begunThen: 0 };
    // A quarter of what the fleet runs lies on the queue before it; each slot may have taken one that is not seen to begin yet.
    expect(sentBefore - begunThen).toBeLessThanOrEqual(1.25 * LIVE_SLOTS);
    // Calls behind it come first only in other slots.
    expect(begunBefore - sentBefore).toBeLessThanOrEqual(LIVE_SLOTS);
    expect(upstream.requests.length).toBeLessThan(before + 290);
  }
  expect((await Promise.all(flood)).map(({ status }) => status)).toEqual(flood.map(() => 200));
  await audit(bed);
}, 60_000);

/** What each call of the modest workspace finds on the queue: calls that went onto it before, and calls that had begun by then. */
function watchQueue(requestsBefore: number): { readonly sentBefore: number; readonly begunThen: number }[] {
  const queued: { sentBefore: number; begunThen: number }[] = [];
  let sent = 0;
  const own = laneFilter("chat", "live").replace("*", modestId);
  modest.connection.subscribe(laneFilter("chat", "live"), {
    callback(_error, { subject }) {
      if (subject === own) queued.push({ sentBefore: sent, begunThen: bed.upstream.requests.length - requestsBefore });
      sent += 1;
    },
  });
  return queued;
}

test("a queue full of waiting jobs of one workspace does not keep another's waiting", async () => {
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
