/** NATS is restarted under load, tidily and by force. Work goes on without restarting us, nothing is lost or doubled. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { storm } from "../support/storm.ts";
import { audit } from "./audit.ts";
import { ask, type Bed, startBed } from "./bed.ts";
import { isServed, sentTwice, startLoad, tally } from "./load.ts";
import { eventually } from "./wait.ts";

/** Times that the server goes, for each way of going. */
const ROUNDS = storm(1, 20);

/** Outcomes that calls under way may have. */
const HONEST = new Set(["200", "500", "503", "broken stream"]);

let bed: Bed;
beforeAll(async () => {
  bed = await startBed({ ingress: 2, workers: 2, env: { SLUICE_CALL_QUEUE_MS: "10000" } });
});
afterAll(() => bed?.stop());

for (const signal of ["SIGTERM", "SIGKILL"] as const) {
  test(`calls are served again after ${signal}, without a restart of our processes`, async () => {
    const { stack, upstream } = bed;
    upstream.setDefault({ delayMs: 20 });
    const load = startLoad(bed);
    for (let round = 0; round < ROUNDS; round += 1) {
      const before = load.served();
      await eventually("the load runs", () => load.served() > before + 50);
      await stack.nats.stop(signal);
      await stack.nats.start();
      const after = load.served();
      await eventually("calls are served again", () => load.served() > after + 50);
    }
    const answers = await load.stop();
    for (const role of [...stack.ingresses, ...stack.workers, ...stack.janitors]) expect(role.alive()).toBe(true);
    expect(Object.keys(tally(answers)).filter((status) => !HONEST.has(status))).toEqual([]);
    expect(sentTwice(upstream)).toEqual([]);
    await audit(bed, { withinMs: 25_000 });
  });
}

test("a stream that runs during a restart ends regularly", async () => {
  const { client, stack, upstream } = bed;
  upstream.setDefault({ tokens: 60, intervalMs: 50 });
  const streams = await Promise.all(
    [0, 1].map((ingress) => client.open(bed.target(ingress), ask("metered", { stream: true }))),
  );
  await Promise.all(streams.map((stream) => stream.frames(5)));
  await stack.nats.stop("SIGKILL");
  await stack.nats.start();
  // Whole, or broken off with an error frame: the audit knows the difference from a lie.
  for (const stream of streams) expect((await stream.ended).status).toBe(200);
  await audit(bed);
});

test("calls are rejected before their deadline while NATS is unavailable, and readiness reports it", async () => {
  const { client, stack, upstream } = bed;
  upstream.setDefault({});
  await stack.nats.stop();
  const readiness = (): Promise<number[]> =>
    Promise.all(stack.ingresses.map(async (ingress) => (await fetch(`${ingress.adminUrl}/readyz`)).status));
  await eventually("readiness is off", async () => (await readiness()).every((status) => status === 503));
  const refused = await Promise.all([0, 1].map((ingress) => client.chat(bed.target(ingress), ask("flat"))));
  expect(refused.map((answer) => answer.status)).toEqual([503, 503]);
  await stack.nats.start();
  await eventually("readiness is back", async () => (await readiness()).every((status) => status === 200));
  await eventually("calls are served", async () => isServed(await client.chat(bed.target(), ask("flat"))));
  await audit(bed);
});
