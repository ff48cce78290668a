/** Postgres is restarted under load. Nothing is answered 2xx that was not committed, and the pools heal alone. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { audit } from "./audit.ts";
import { ask, type Bed, startBed } from "./bed.ts";
import { errorCode } from "./client.ts";
import { isServed, sentTwice, startLoad, tally } from "./load.ts";
import { eventually } from "./wait.ts";
import { storm } from "../support/storm.ts";

/** Served before the server goes, and after it. */
const CALLS_BETWEEN = storm(40, 100);

let bed: Bed;
beforeAll(async () => {
  bed = await startBed({ ingress: 2, workers: 2, ownPostgres: true });
});
afterAll(() => bed?.stop());

for (const mode of ["fast", "immediate", "kill"] as const) {
  test(`calls are served again after a restart (${mode}), and the books are exact`, async () => {
    const { stack, upstream } = bed;
    upstream.setDefault({ delayMs: 30 });
    const load = startLoad(bed);
    await eventually("the load runs", () => load.served() > CALLS_BETWEEN);
    await stack.postgres?.stop(mode);
    await stack.postgres?.start();
    const before = load.served();
    await eventually("calls are served again", () => load.served() > before + CALLS_BETWEEN, 15_000);
    const answers = await load.stop();
    for (const role of [...stack.ingresses, ...stack.workers, ...stack.janitors]) expect(role.alive()).toBe(true);
    expect(Object.keys(tally(answers)).filter((status) => status !== "200" && status !== "503")).toEqual([]);
    expect(sentTwice(upstream)).toEqual([]);
    await audit(bed, { withinMs: 40_000 });
  });
}

test("calls are rejected with 503 while Postgres is unavailable, never with 401 or 500, and running streams continue", async () => {
  const { client, stack, upstream } = bed;
  upstream.setDefault({ tokens: 60, intervalMs: 50 });
  const stream = await client.open(bed.target(), ask("metered", { stream: true }));
  await stream.frames(3);
  // A workspace that was busy until now is served on its line for some seconds more.
  const lines = "select from credit_line where free > 0";
  await eventually("no call is admitted on a line", async () => (await stack.query(lines)).length === 0);
  await stack.postgres?.stop("fast");
  const refused = await Promise.all(
    [0, 1].flatMap((ingress) => [1, 2, 3].map(() => client.chat(bed.target(ingress), ask("flat")))),
  );
  for (const answer of refused) expect([answer.status, errorCode(answer)]).toEqual([503, "service_unavailable"]);
  await eventually("the stream goes on", () => stream.answer.frames.length > 40);
  await stack.postgres?.start();
  // Its end waits for its settle.
  expect(isServed(await stream.ended)).toBe(true);
  await eventually("calls are served", async () => isServed(await client.chat(bed.target(1), ask("flat"))));
  await audit(bed, { withinMs: 40_000 });
});
