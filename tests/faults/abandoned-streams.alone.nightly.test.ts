/** A thousand clients that leave, at every moment and in both ways. Nothing of them stays behind. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { chmodSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { freePort } from "#deploy/embedded/probe.mjs";

import { abandonStreams, MOMENTS } from "../load/abandon.ts";
import { residentMb } from "../load/processes.ts";
import { natsServerBinary, temporaryDirectory } from "../support/infrastructure.ts";
import { audit } from "./audit.ts";
import { ask, type Bed, startBed } from "./bed.ts";
import { isServed } from "./load.ts";
import { metric } from "./metric.ts";
import { eventually } from "./wait.ts";

const SLOTS = 64;
/** Back at the baseline plus or minus a tenth; what the allocator keeps comes on top. */
const GROWTH_MB_MAX = 40;

let bed: Bed;
let monitorUrl = "";
const { directory, remove } = temporaryDirectory();

beforeAll(async () => {
  // The stack starts NATS without its monitoring port; a wrapper of the same name adds it.
  const port = await freePort();
  monitorUrl = `http://127.0.0.1:${port}`;
  const wrapper = join(directory, "nats-server");
  writeFileSync(wrapper, `#!/bin/sh\nexec '${await natsServerBinary()}' "$@" -m ${port}\n`);
  chmodSync(wrapper, 0o755);
  const given = process.env["TEST_NATS_SERVER"];
  process.env["TEST_NATS_SERVER"] = wrapper;
  try {
    bed = await startBed({
      janitor: false,
      behaviours: ["tokens-20-every-5"],
      env: { SLUICE_WORKER_SLOTS: String(SLOTS) },
    });
  } finally {
    if (given === undefined) delete process.env["TEST_NATS_SERVER"];
    else process.env["TEST_NATS_SERVER"] = given;
  }
});
afterAll(async () => {
  await bed?.stop();
  remove();
});

/** All subscriptions of the server; each call that leaked one would raise it. */
async function subscriptions(): Promise<number> {
  const page = (await (await fetch(`${monitorUrl}/subsz`)).json()) as { num_subscriptions: number };
  return page.num_subscriptions;
}

const abandon = (count: number): ReturnType<typeof abandonStreams> =>
  abandonStreams({ url: bed.target().url, key: bed.stack.key, model: "mock-tokens-20-every-5", count });

test("a thousand abandoned streams leave no socket, no hold, no slot and no memory in use", async () => {
  const { client, stack, upstream } = bed;
  const pids = [...stack.ingresses, ...stack.workers].map((role) => role.pid);
  const ingress = stack.ingresses[0]?.adminUrl ?? "";
  const settle = async (): Promise<void> => {
    await Promise.all(upstream.requests.map((call) => call.finished));
    await audit(bed, { withinMs: 20_000 });
    await eventually(
      "no stream is counted as active",
      async () => (await metric(ingress, "sluice_streams_active")) === 0,
    );
  };
  // The first visitors warm up caches, pools and the compiler.
  await abandon(300);
  await settle();
  const before = pids.map((pid) => residentMb([pid]));
  const subscribed = await subscriptions();

  const result = await abandon(1_000);
  expect(result.endedEarly, `seed ${result.seed}`).toEqual([]);
  for (const moment of MOMENTS) expect(result.left[moment]).toBeGreaterThan(100);
  await settle();

  // All slots at once: one that leaked would keep a call waiting.
  upstream.setDefault({ delayMs: 300 });
  const answers = await Promise.all(Array.from({ length: SLOTS }, () => client.chat(bed.target(), ask("flat"))));
  expect(answers.filter((answer) => !isServed(answer))).toEqual([]);
  await eventually("idle sockets to the upstream are at most the pool's", () => upstream.openSockets() <= SLOTS);
  // Two wide: a pull that was just renewed, a request of the janitor.
  await eventually("subscriptions are as before", async () => (await subscriptions()) <= subscribed + 2);
  const after = pids.map((pid) => residentMb([pid]));
  for (const [at, mb] of after.entries()) expect(mb - (before[at] ?? 0)).toBeLessThan(GROWTH_MB_MAX);
  await audit(bed);
});
