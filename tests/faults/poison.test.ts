/** Messages that nobody should have written, and messages delivered again. Neighbours progress, money moves once. */
import { jetstream, jetstreamManager } from "@nats-io/jetstream";
import { afterAll, beforeAll, expect, test } from "bun:test";
import { connect, type Msg, type NatsConnection } from "nats";

import { readBalance } from "#shared/database/credits.ts";
import { newId } from "#shared/base/ids.ts";
import { streamName, workSubject } from "#shared/queue/subjects.ts";

import { audit } from "./audit.ts";
import { ask, type Bed, createWorkspace, FLAT_NANO, startBed } from "./bed.ts";
import { errorCode, requestId, streamedText } from "./client.ts";
import { isServed } from "./load.ts";
import { eventually } from "./wait.ts";

let bed: Bed;
let nats: NatsConnection;
beforeAll(async () => {
  bed = await startBed({ workers: 2 });
  nats = await connect({ servers: bed.stack.natsUrl });
});
afterAll(async () => {
  await nats?.close();
  await bed?.stop();
});

/** Puts a message on the work stream as it is, under an id of its own. */
async function put(subject: string, body: string | Uint8Array): Promise<void> {
  await jetstream(nats).publish(subject, body, { msgID: newId() });
}

test("unreadable messages become dead letters, and calls beside them are served", async () => {
  const { client, stack } = bed;
  const workspace = newId();
  const subject = workSubject("chat", "live", workspace);
  const poison: [string, string | Uint8Array][] = [
    [subject, "this is no JSON"],
    [subject, ""],
    [subject, Uint8Array.from([0, 255, 254, 0])],
    [subject, JSON.stringify({ job_id: newId(), kind: "chat" })],
    [subject, "[".repeat(100_000)],
    [workSubject("chat", "batch", workspace), "null"],
    // Whole, but it speaks for another workspace than its subject.
    [subject, JSON.stringify(await realMessage())],
    ["work.chat.live.no-workspace", JSON.stringify(await realMessage())],
  ];
  const [answers] = await Promise.all([
    Promise.all(Array.from({ length: 20 }, () => client.chat(bed.target(), ask("flat")))),
    ...poison.map(([to, body]) => put(to, body)),
  ]);
  expect(answers.filter((answer) => !isServed(answer))).toEqual([]);
  await eventually("all are dead letters", async () => (await deadLetters()) === BigInt(poison.length));
  const rows = await stack.query<{ reason: string; deliveries: number }>("select reason, deliveries from dead_letter");
  expect(new Set(rows.map((row) => `${row.reason} ${row.deliveries}`))).toEqual(new Set(["unreadable 1"]));
  for (const worker of stack.workers) expect(worker.alive()).toBe(true);
  await audit(bed, { deadLetters: poison.length });
});

test("a message that crashes its handler ends as lost after one more delivery, and its caller receives the error", async () => {
  const { client, stack, upstream } = bed;
  const before = upstream.requests.length;
  await Promise.all(stack.workers.map((worker) => worker.stop()));
  // The call's own message is replaced by a broken one before any worker sees it.
  const captured = capture();
  await nats.flush();
  const broken = client.chat(bed.target(), ask("flat"));
  const message = await captured;
  const manager = await jetstreamManager(nats);
  const { state } = await manager.streams.info(streamName("chat"));
  await manager.streams.deleteMessage(streamName("chat"), state.last_seq);
  const body = JSON.parse(message.string()) as Record<string, unknown>;
  await put(message.subject, JSON.stringify({ ...body, price: { unit_rate: "no number" } }));
  await Promise.all(stack.workers.map((worker) => worker.restart()));

  expect(isServed(await client.chat(bed.target(), ask("flat")))).toBe(true);
  const answer = await broken;
  expect([answer.status, errorCode(answer)]).toEqual([500, "internal_error"]);
  await audit(bed, { deadLetters: Number(await deadLetters()) });
  const rows = await stack.query("select status, settled from usage_record where job_id = $1", [requestId(answer)]);
  expect(rows).toEqual([{ status: "lost", settled: 0n }]);
  expect(upstream.requests.length).toBe(before + 1);
});

test("a work message delivered five more times, during the call and after it, settles once", async () => {
  const { client, stack, upstream } = bed;
  const workspace = await createWorkspace(stack, { creditsNano: 10n * FLAT_NANO });
  upstream.setDefault({ delayMs: 500 });
  const captured = capture();
  await nats.flush();
  const answer = client.chat(bed.target(0, workspace.key), ask("flat"));
  const message = await captured;
  const again = (): Promise<void> => put(message.subject, message.data);
  await Promise.all([again(), again()]);
  expect(isServed(await answer)).toBe(true);
  await Promise.all([again(), again(), again()]);
  await audit(bed, { deadLetters: Number(await deadLetters()) });
  const rows = await stack.query("select status, settled from usage_record where job_id = $1", [
    requestId(await answer),
  ]);
  expect(rows).toEqual([{ status: "succeeded", settled: FLAT_NANO }]);
  expect(await readBalance(stack, workspace.id)).toEqual({ amount: 9n * FLAT_NANO, held: 0n });
});

test("a streamed call whose message is delivered again sends its text once", async () => {
  const { client, stack, upstream } = bed;
  upstream.setDefault({ tokens: 40, intervalMs: 20 });
  const captured = capture();
  await nats.flush();
  const live = await client.open(bed.target(), ask("metered", { stream: true }));
  const message = await captured;
  await put(message.subject, message.data);
  const answer = await live.ended;
  expect(isServed(answer)).toBe(true);
  const whole = await client.chat(bed.target(), ask("metered", { stream: true }));
  expect(streamedText(answer)).toBe(streamedText(whole));
  await audit(bed, { deadLetters: Number(await deadLetters()) });
  const rows = await stack.query("select status from usage_record where job_id = $1", [requestId(answer)]);
  expect(rows).toEqual([{ status: "succeeded" }]);
});

/** The next message on the work subjects, as whoever may read them sees it. */
function capture(): Promise<Msg> {
  return new Promise((resolve, reject) => {
    nats.subscribe("work.>", {
      max: 1,
      callback: (error, message) => {
        if (error) reject(error);
        else resolve(message);
      },
    });
  });
}

/** A work message of a call that was served. */
async function realMessage(): Promise<Record<string, unknown>> {
  const captured = capture();
  await nats.flush();
  await bed.client.chat(bed.target(), ask("flat"));
  return JSON.parse((await captured).string()) as Record<string, unknown>;
}

async function deadLetters(): Promise<bigint> {
  const [row] = await bed.stack.query<{ count: bigint }>("select count(*) as count from dead_letter");
  return row?.count ?? 0n;
}
