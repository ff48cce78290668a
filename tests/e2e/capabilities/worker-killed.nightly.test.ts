/** A worker that is killed while it runs a capability. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { type CapabilityBench, startCapabilityBench } from "./bench.ts";
import { beginEndless, endOf } from "./endless-run.ts";

let bench: CapabilityBench;
beforeAll(async () => {
  bench = await startCapabilityBench({ apart: true });
}, 60_000);
afterAll(() => bench?.stop());

test("its run restarts in the next worker, and is settled once", async () => {
  const id = await beginEndless(bench);
  const [worker] = bench.stack.workers;
  worker?.kill("SIGKILL");
  await worker?.exited();
  await worker?.restart();
  // The script never ends, so each worker refuses it alike.
  expect((await endOf(bench, id)).error).toMatchObject({ code: "unprocessable_input" });
  expect(await bench.stack.query("select status, settled from usage_record where job_id = $1", [id])).toEqual([
    { status: "failed", settled: 0n },
  ]);
  expect((await bench.stack.query("select claims from job where id = $1", [id]))[0]).toMatchObject({ claims: 2 });
}, 60_000);
