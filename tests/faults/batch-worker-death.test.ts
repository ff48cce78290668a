/**
 * Workers killed and paused with jobs in hand. A job that a provider may have seen is not sent
 * again and ends as lost; one that no provider has seen is run by another worker; a worker that wakes up changes nothing.
 */
import { afterAll, beforeAll, expect, test } from "bun:test";

import type { BatchAnswer } from "#schemas/generated/types.ts";
import { newId } from "#shared/base/ids.ts";
import { holdRedeliveries } from "#tests/support/nats.ts";

import { audit } from "./audit.ts";
import { ask, type Bed, createWorkspace, startBed } from "./bed.ts";
import { openPublisher, type Publisher } from "./publisher.ts";
import { eventually } from "./wait.ts";

/** ack_wait of the batch lane, and room for a loaded machine. */
const TAKEN_OVER_WITHIN_MS = 60_000;

let bed: Bed;
let publisher: Publisher;

beforeAll(async () => {
  bed = await startBed({ behaviours: ["silent", "delay-3000"] });
  const workspace = await createWorkspace(bed.stack, { creditsNano: 100_000_000_000n });
  publisher = await openPublisher(bed.stack.natsUrl, workspace);
}, 120_000);
afterAll(async () => {
  await publisher?.close();
  await bed?.stop();
});

async function submit(model: string): Promise<BatchAnswer & { key: string }> {
  const key = newId();
  return { ...(await publisher.submit({ body: ask(model) }, { key })), key };
}

const rowOf = async (id: string) => (await bed.stack.query("select j.state, j.error->>'code' as code, j.claims, u.status, u.settled from job j left join usage_record u on u.job_id = j.id where j.id = $1", [id]))[0]; // prettier-ignore

test("every job ends once: submitted ones as lost, others by another worker", async () => {
  const { stack, upstream } = bed;
  const [first] = stack.workers;
  const sent = await submit("mock-silent");
  await upstream.received(1);

  // The next job's worker dies while it writes down that it is about to ask a provider.
  await stack.query(`create function slow_intent() returns trigger language plpgsql as
      'begin perform pg_sleep(8); return new; end'`);
  await stack.query(`create trigger slow_intent before update of intent_at on job for each row
      when (new.intent_at is distinct from old.intent_at) execute function slow_intent()`);
  const unsent = await submit("flat");
  const backend = await eventually("the intent is being written", async () => {
    const rows = await stack.query<{ pid: number }>(
      "select pid from pg_stat_activity where datname = current_database() and query like '%set intent_at%' and wait_event = 'PgSleep'",
    );
    return rows[0];
  });
  const giveAgain = await holdRedeliveries(stack.natsUrl, "chat", "batch");
  first?.kill("SIGKILL");
  await first?.exited();
  await stack.query("select pg_terminate_backend($1)", [backend.pid]);
  await stack.query("drop trigger slow_intent on job");

  // Another worker is paused with a job in hand whose provider answers meanwhile; it has no other.
  const zombie = await stack.addRole("worker", "chat");
  const paused = await submit("mock-delay-3000");
  await upstream.received(2);
  zombie.kill("SIGSTOP");
  await giveAgain();
  await stack.addRole("worker", "chat");

  expect(await publisher.ended(sent.key, TAKEN_OVER_WITHIN_MS)).toMatchObject({
    status: "failed",
    error: { code: "worker_lost" },
  });
  expect(await publisher.ended(unsent.key, TAKEN_OVER_WITHIN_MS)).toMatchObject({
    status: "completed",
    credits_used: 1,
  });
  expect(await publisher.ended(paused.key, TAKEN_OVER_WITHIN_MS)).toMatchObject({
    status: "failed",
    error: { code: "worker_lost" },
  });
  zombie.kill("SIGCONT");
  await eventually("the paused worker found out", () =>
    zombie.logs().some((line) => line.includes("end was discarded")),
  );

  await audit(bed);
  expect(await rowOf(sent.job_id)).toEqual({
    state: "failed",
    code: "worker_lost",
    claims: 1,
    status: "lost",
    settled: 0n,
  });
  expect(await rowOf(unsent.job_id)).toEqual({
    state: "completed",
    code: null,
    claims: 2,
    status: "succeeded",
    settled: 1_000_000_000n,
  });
  expect(await rowOf(paused.job_id)).toEqual({
    state: "failed",
    code: "worker_lost",
    claims: 1,
    status: "lost",
    settled: 0n,
  });
  expect(upstream.requests).toHaveLength(3);
  for (const { key } of [sent, unsent, paused]) {
    const ends = publisher.answers.filter((answer) => answer.key === key && answer.status !== "queued");
    expect(ends).toHaveLength(1);
  }
}, 150_000);
