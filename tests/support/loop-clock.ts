/**
 * Records the CPU time of each turn of the event loop. BUN_OPTIONS loads this file into a role before its own code. Unlike wall-clock time,
 * CPU time excludes other processes of the machine.
 */
import { appendFileSync } from "node:fs";

const folder = process.env["LOOP_CLOCK"];
/** Minimum CPU time of a turn that is recorded, in milliseconds. */
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
