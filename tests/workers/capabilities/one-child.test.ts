/** All capabilities in one child, each after each other: what one leaves behind is no other's matter. */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { expect, test } from "bun:test";

import { CAPABILITIES, CHECKS } from "#shared/capabilities/list.ts";
import { createChildPool } from "#shared/children/pool.ts";
import type { RunTask } from "#workers/capabilities/child.ts";

import { seeded, testSeed } from "../../support/seed.ts";
import { storm } from "../../support/storm.ts";

import { hasLibreOffice, inputsOf, tools } from "./in-folder.ts";

const SAMPLES = CAPABILITIES.filter(({ engine }) => engine !== "libreoffice" || hasLibreOffice);

/** Each in a folder that is gone before the next one's is there, as with a worker. */
async function runAll(ids: readonly string[]): Promise<string[]> {
  const pool = createChildPool({
    script: fileURLToPath(import.meta.resolve("#workers/capabilities/child.ts")),
    args: ["code"],
    childrenMax: 1,
    queueMax: 1,
    jobMs: 60_000,
    idleMs: 60_000,
    addressSpaceBytes: Infinity,
    memoryBytesMax: Infinity,
    watchMs: 1_000,
    processorSeconds: 3_600,
    jobsMax: Infinity,
    residentBytesMax: Infinity,
    environment: {},
  });
  const faults: string[] = [];
  try {
    for (const id of ids) {
      const capability = SAMPLES.find((one) => one.id === id);
      const folder = mkdtempSync(join(tmpdir(), "sluice-one-child-"));
      const { sample_input: sample = {}, examples: [example] = [] } = capability ?? {};
      const checked = CHECKS.get(id)?.({ input: sample, params: example?.params ?? {} });
      const task: RunTask = {
        capability: id,
        folder,
        params: checked?.params ?? {},
        inputs: (await inputsOf(id, folder, sample as never)) as RunTask["inputs"],
      };
      const input = { ...task, tools: await tools() };
      await pool.run({ task: "run", input, owner: "one" }).catch((error: unknown) => faults.push(`${id}: ${String(error)}`)); // prettier-ignore
      rmSync(folder, { recursive: true });
    }
  } finally {
    await pool.close();
  }
  return faults;
}

test("all in their order, then in others", async () => {
  const ids = SAMPLES.map(({ id }) => id);
  const quick = SAMPLES.filter(({ category }) => category === "code" || category === "archive").map(({ id }) => id);
  const random = seeded(testSeed("one child"));
  const shuffled = (): string[] => ids.toSorted(() => random() - 0.5);
  const others = storm(quick.toReversed(), [...ids.toReversed(), ...Array.from({ length: 5 }, shuffled).flat()]);
  expect(await runAll([...ids, ...others])).toEqual([]);
}, 600_000);
