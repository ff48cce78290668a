/** Runs capabilities one after the other in one child, as a worker does. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";

import { createChildPool } from "#shared/children/pool.ts";
import type { RunResult, RunTask } from "#workers/capabilities/child.ts";
import { loadCapability } from "#workers/capabilities/list.ts";

import { checkedRun, inputsOf, type TestInputs, toolsFor } from "./in-folder.ts";

export interface OneChild {
  /** In a folder that goes with the run. @returns the bytes of its first file too. @throws MediaError of the run, `failed` when the child ends */
  run(id: string, input: TestInputs, params?: object): Promise<RunResult & { readonly bytes: Uint8Array }>;
  close(): Promise<void>;
}

/** @param engine loaded ahead */
export function openChild(engine: string, environment: Readonly<Record<string, string>> = {}): OneChild {
  const pool = createChildPool({
    script: fileURLToPath(import.meta.resolve("#workers/capabilities/child.ts")),
    args: [engine],
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
    environment,
  });
  return {
    async run(id, input, params = {}) {
      const folder = mkdtempSync(join(tmpdir(), "sluice-one-child-"));
      try {
        const checked = checkedRun(id, input, params);
        const inputs = (await inputsOf(id, folder, input)) as RunTask["inputs"];
        const task: RunTask = { capability: id, folder, params: checked.params, inputs };
        const tools = await toolsFor(await loadCapability(id), checked.params);
        const { output } = await pool.run({ task: "run", input: { ...task, tools }, owner: "one" });
        const [file] = (output as RunResult).files ?? [];
        return { ...(output as RunResult), bytes: file ? readFileSync(file.path) : new Uint8Array() };
      } finally {
        rmSync(folder, { recursive: true });
      }
    },
    close: () => pool.close(),
  };
}
