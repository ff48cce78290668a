/**
 * Loaded into a role before its own code (BUN_OPTIONS): records the CPU time of each turn of the event loop. CPU time excludes other
 * processes of the machine, unlike wall-clock time.
 */
import { appendFileSync } from "node:fs";

const folder = process.env["LOOP_CLOCK"];
/** Shortest recorded turn, in milliseconds. */
const NOTED_MS = 5;

if (folder !== undefined) {
  const file = `${folder}/${process.pid}`;
  const usedMs = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  let before = usedMs();
  const sample = (): void => {
    const ms = usedMs() - before;
    if (ms >= NOTED_MS) appendFileSync(file, `${ms.toFixed(1)}\n`);
    before = usedMs();
    setTimeout(sample, 1).unref();
  };
  sample();
}
