// @ts-check
/**
 * A run with one step for tests/runner.test.ts: a shell that starts workers, as `bun test` does, and waits for them. With the argument
 * `dies-at-start` the run is killed after it has started the process of the step, and before it has registered the process.
 */
import childProcess from "node:child_process";
import { mkdtempSync } from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { closeReaper, watchFolder } from "#deploy/embedded/reaper.mjs";

import { endOnSignals, runStep } from "./process.mjs";

watchFolder(mkdtempSync(join(tmpdir(), "sluice-interrupted-")));
endOnSignals(
  () => process.stdout.write("interrupted\n"),
  async () => {
    await closeReaper();
    process.stdout.write("cleaned up\n");
  },
);
if (process.argv[2] === "dies-at-start") {
  const { spawn } = childProcess;
  childProcess.spawn = /** @type {typeof spawn} */ (
    (/** @type {Parameters<typeof spawn>} */ ...args) => {
      const child = spawn(...args);
      process.kill(process.pid, "SIGKILL");
      return child;
    }
  );
  syncBuiltinESMExports();
}
// The last of the workers takes a moment to end. All of them run before "ready": a process that starts after SIGTERM does not receive it.
const workers = "sleep 60 & sleep 60 & sh -c 'trap \"sleep 0.2; exit\" TERM; sleep 60 & echo ready; wait' & wait";
process.exitCode = await runStep(["sh", "-c", workers], { cwd: "/", env: process.env });
