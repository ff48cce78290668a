/** F5: the ingress is killed while it relays. The upstream is let go within five seconds, and what it made is billed once. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { audit } from "./audit.ts";
import { ask, type Bed, startBed } from "./bed.ts";
import { DONE, requestId } from "./client.ts";
import { storm } from "../support/storm.ts";

const ABORTED_WITHIN_MS = storm(60_000, 5_000);

let bed: Bed;
beforeAll(async () => {
  bed = await startBed({ ingress: 2, behaviours: ["tokens-2000-every-20", "silent"] });
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

test("the other ingress goes on, and the killed one serves again after its restart", async () => {
  const { client, stack } = bed;
  expect((await client.chat(bed.target(1), ask("flat"))).status).toBe(200);
  await stack.ingresses[0]?.restart();
  expect((await client.chat(bed.target(0), ask("flat"))).status).toBe(200);
  await audit(bed);
});
