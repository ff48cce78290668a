/**
 * Loaded into a role before its own code (BUN_OPTIONS): notes how much processor time one turn of its event loop takes. Time of
 * the processor, and not of the clock: what else the machine does meanwhile is no turn of the role's.
 */
import { appendFileSync } from "node:fs";

const folder = process.env["LOOP_CLOCK"];
/** Shorter turns are not noted. */
const NOTED_MS = 5;

if (folder !== undefined) {
  const file = `${folder}/${process.pid}`;
  const usedMs = (): number => {
    const { user, system } = process.threadCpuUsage();
    return (user + system) / 1_000;
  };
  let before = usedMs();
  const look = (): void => {
    const ms = usedMs() - before;
    if (ms >= NOTED_MS) appendFileSync(file, `${ms.toFixed(1)}\n`);
    before = usedMs();
    setTimeout(look, 1).unref();
  };
  look();
}
