/** Stop of `npm start`: the line that a person reads, and the way of a signal to the service. */
import { afterAll, expect, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";

import { countRunning, waitingText } from "#deploy/supervisor/admin.mjs";
import { createMetrics } from "#shared/metrics/metrics.ts";
import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";

const metrics = createMetrics("worker");
const worker = Bun.serve({
  hostname: "127.0.0.1",
  port: 0,
  fetch: async () => new Response(await metrics.registry.metrics()),
});
afterAll(() => worker.stop(true));

test("prints the number of jobs it waits for, and how to stop immediately", async () => {
  const state = { name: "worker", up: true, restarts: 0, adminPort: worker.port ?? 0 };
  const away = { ...state, adminPort: null };
  expect(await countRunning([state, away])).toBe(0);
  metrics.workerSlotsBusy.set(2, "chat", "live");
  metrics.workerSlotsBusy.set(1, "video", "batch");
  expect(await countRunning([state, away])).toBe(3);
  expect(waitingText(3, 25_000)).toBe(
    "waiting for 3 jobs to end (at most 25 s for each process); press Ctrl-C again to stop at once",
  );
  expect(waitingText(1, 25_000)).toStartWith("waiting for 1 job to end");
  expect(waitingText(0, 25_000)).toStartWith("waiting for the processes to end");
});

/** A shell that does not replace itself by its last command ends at the signal that npm passes on, and what it ran stays. */
test("every service that npm runs receives npm's signals itself", () => {
  const { scripts } = JSON.parse(readFileSync(join(PROJECT_ROOT, "package.json"), "utf8")) as {
    scripts: Record<string, string>;
  };
  expect(["start", "sluice"].filter((name) => scripts[name]?.startsWith("exec ") !== true)).toEqual([]);
});
