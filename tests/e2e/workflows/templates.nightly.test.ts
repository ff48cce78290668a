/** Every template that the gate does not run, as it is. */
import { afterAll, beforeAll, test } from "bun:test";

import type { WorkflowTemplate } from "#schemas/generated/types.ts";

import { type RunsBench, startRunsBench } from "./runs-bench.ts";
import { expectRun, GATE_TEMPLATES, listTemplates, TEMPLATES } from "./templates.ts";

let bench: RunsBench;
let listed: readonly WorkflowTemplate[];
beforeAll(async () => {
  bench = await startRunsBench({
    pools: ["chat", "image", "audio", "3d", "capability", "workflow"],
    env: { SLUICE_WORKER_SLOTS: "24" },
  });
  listed = await listTemplates(bench);
}, 120_000);
afterAll(() => bench?.close());

test.each(TEMPLATES.filter((id) => !GATE_TEMPLATES.includes(id)))(
  "the template %s runs",
  (id) =>
    expectRun(
      bench,
      listed.find((one) => one.id === id),
    ),
  100_000,
);
