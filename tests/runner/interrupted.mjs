// @ts-check
/** A run with one step for tests/runner.test.ts: a shell that starts workers, as `bun test` does, and waits for them. */
import { mkdtempSync } from "node:fs";
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
// The last of the workers takes a moment to end.
const workers = "sleep 60 & sleep 60 & sh -c 'trap \"sleep 0.2; exit\" TERM; echo ready; sleep 60 & wait' & wait";
process.exitCode = await runStep(["sh", "-c", workers], { cwd: "/", env: process.env });
