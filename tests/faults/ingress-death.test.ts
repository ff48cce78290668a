/** The ingress is killed while it relays. The upstream is let go within five seconds, and what it made is billed once. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { formatCredits } from "#shared/base/money.ts";
import { paced } from "#shared/config/pace.ts";

import { audit } from "./audit.ts";
import { ask, type Bed, startBed } from "./bed.ts";
import { type Answer, DONE, requestId } from "./client.ts";
import { eventually } from "./wait.ts";
import { storm } from "../support/storm.ts";

const ABORTED_WITHIN_MS = storm(60_000, 5_000);

let bed: Bed;
beforeAll(async () => {
  bed = await startBed({ ingress: 2, behaviours: ["tokens-2000-every-20", "silent", "delay-400"] });
});
afterAll(() => bed?.stop());

test("calls of a killed ingress are aborted and settled by their worker", async () => {
  const { client, stack, upstream } = bed;
  const [ingress] = stack.ingresses;
  const streams = await Promise.all(
    [1, 2, 3].map(() => client.open(bed.target(0), ask("mock-tokens-2000-every-20", { stream: true }))),
  );
  const plain = client.chat(bed.target(0), ask("mock-silent"));
  await Promise.all([...streams.map((stream) => stream.frames(5)), upstream.received(4)]);
  ingress?.kill("SIGKILL");
  await ingress?.exited();
  const killedAt = performance.now();

  for (const stream of streams) {
    const answer = await stream.ended;
    expect(answer.isCut).toBe(true);
    expect(answer.frames).not.toContain(DONE);
  }
  expect((await plain).status).toBe(0);
  await Promise.all(upstream.requests.map((call) => call.finished));
  for (const call of upstream.requests) {
    expect(call.answeredAt).toBeNull();
    expect((call.closedByClientAt ?? Infinity) - killedAt).toBeLessThan(ABORTED_WITHIN_MS);
  }
  await audit(bed);
  const usage = await stack.query<{ job_id: string; status: string; settled: bigint; output: number }>(
    "select job_id, status, settled, (units->>'output_tokens')::int as output from usage_record",
  );
  expect(usage).toHaveLength(4);
  expect(new Set(usage.map((row) => row.status))).toEqual(new Set(["cancelled"]));
  for (const stream of streams) {
    const row = usage.find((row) => row.job_id === requestId(stream.answer));
    expect(row?.settled).toBeGreaterThan(0n);
    // What was produced until the abort, which is more than the client saw and less than the whole.
    expect(row?.output).toBeGreaterThanOrEqual(stream.answer.frames.length - 1);
    expect(row?.output).toBeLessThan(1_000);
  }
});

test("the other ingress continues, and the killed one serves again after its restart", async () => {
  const { client, stack } = bed;
  expect((await client.chat(bed.target(1), ask("flat"))).status).toBe(200);
  await stack.ingresses[0]?.restart();
  expect((await client.chat(bed.target(0), ask("flat"))).status).toBe(200);
  await audit(bed);
});

test("plain answers that reach no ingress are not charged", async () => {
  const { client, stack, upstream } = bed;
  const before = upstream.requests.length;
  const calls = Array.from({ length: 6 }, () => client.chat(bed.target(0), ask("mock-delay-400")));
  await upstream.received(before + 6);
  stack.ingresses[0]?.kill("SIGKILL");
  expect((await Promise.all(calls)).map(({ status }) => status)).toEqual(calls.map(() => 0));
  await Promise.all(upstream.requests.map((call) => call.finished));
  await audit(bed);
  const usage = await stack.query<{ status: string; settled: bigint }>(
    "select status, settled from usage_record order by job_id desc limit 6",
  );
  expect(usage).toEqual(calls.map(() => ({ status: "cancelled", settled: 0n })));
});

test("a paused ingress delivers waiting answers after its pause, charges them despite their released hold, and nothing else", async () => {
  const { client, stack, upstream } = bed;
  const [, ingress] = stack.ingresses;
  const before = upstream.requests.length;
  const calls = Array.from({ length: 40 }, () => client.chat(bed.target(1), ask("mock-delay-400")));
  await upstream.received(before + 40);
  ingress?.kill("SIGSTOP");
  try {
    // Its worker has had no word for so long that it gave up all of them; the answers lie in the socket of the ingress.
    const isOpen = async (): Promise<boolean> => (await stack.query("select 1 from hold")).length > 0;
    await eventually("every hold is released", async () => !(await isOpen()), 40_000);
  } finally {
    ingress?.kill("SIGCONT");
  }
  const answers = await Promise.all(calls);
  const told = await eventually("what was delivered is paid", async () => {
    const fates = await Promise.all(answers.map(fateOf));
    return fates.every((fate) => fate !== "delivered and free") && fates;
  });
  expect(told).toEqual(told.map(() => expect.stringMatching(/^(delivered and paid|free)$/)));
  expect(told).toContain("delivered and paid");
  const late = "select 1 from usage_record where attempt = 2 and status = 'succeeded' and settled > 0";
  expect((await stack.query(late)).length).toBeGreaterThan(0);
  await audit(bed);
}, 90_000);

test("a paused ingress charges nothing to callers that disconnected meanwhile", async () => {
  const { stack, upstream } = bed;
  const [, ingress] = stack.ingresses;
  const before = upstream.requests.length;
  const leaving = new AbortController();
  const { url, key } = bed.target(1);
  const calls = Array.from({ length: 40 }, () =>
    fetch(`${url}/v1/chat/completions`, {
      method: "POST",
      headers: { authorization: `Bearer ${key}`, "content-type": "application/json" },
      body: JSON.stringify(ask("mock-delay-400")),
      signal: leaving.signal,
    }).catch(() => "left"),
  );
  await upstream.received(before + 40);
  ingress?.kill("SIGSTOP");
  try {
    await Promise.all(upstream.requests.map((call) => call.finished));
    leaving.abort();
    expect(await Promise.all(calls)).toEqual(calls.map(() => "left"));
    await Bun.sleep(paced(5_000));
  } finally {
    ingress?.kill("SIGCONT");
  }
  await audit(bed);
  const usage = await stack.query("select status, settled from usage_record order by job_id desc limit 40");
  expect(usage).toEqual(calls.map(() => ({ status: "cancelled", settled: 0n })));
});

async function fateOf(answer: Answer): Promise<string> {
  const { status, body, headers } = answer;
  const [row] = await bed.stack.query<{ nano: bigint }>(
    "select coalesce(sum(settled), 0)::bigint as nano from usage_record where job_id = $1",
    [requestId(answer)],
  );
  const nano = row?.nano ?? 0n;
  if (status !== 200) return nano === 0n ? "free" : `paid ${nano}, told ${status} ${body}`;
  if (nano === 0n) return "delivered and free";
  return formatCredits(nano) === headers.get("x-credits-used") ? "delivered and paid" : `paid ${nano}, told otherwise`;
}
