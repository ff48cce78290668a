/** Parts that a load run starts, stopped in reverse order whatever ends the run. */
import { closeReaper } from "#deploy/embedded/reaper.mjs";

import { startChild } from "./processes.ts";
import type { Bench } from "./rounds.ts";
import type { Pace } from "./upstream.ts";

const closing: (() => Promise<unknown>)[] = [];

/** Sees to it that a part is stopped with the run. */
export function keep<T extends { stop(): Promise<void> }>(part: T): T {
  closing.push(() => part.stop());
  return part;
}

/** Upstream and driver, each a process of its own. */
export async function startBench(): Promise<{ readonly bench: Bench; readonly upstreamPort: number }> {
  const upstream = keep(startChild([process.execPath, `${import.meta.dir}/upstream.ts`]));
  const { port } = JSON.parse(await upstream.readLine()) as { port: number };
  const driver = keep(startChild([process.execPath, `${import.meta.dir}/driver.ts`]));
  await driver.readLine();
  return { bench: { driver, upstream, all: [] }, upstreamPort: port };
}

export async function setPace(port: number, pace: Pace): Promise<void> {
  await fetch(`http://127.0.0.1:${port}/control`, { method: "POST", body: JSON.stringify(pace) });
}

/** Tells on stderr where the run is. */
export function tellProgress(text: string): void {
  process.stderr.write(`${new Date().toISOString().slice(11, 19)} ${text}\n`);
}

/** Does the work, which returns whether all is well, and stops every part after it. The exit code is 1 where it is not. */
export async function runToEnd(work: () => Promise<boolean>): Promise<void> {
  for (const signal of ["SIGINT", "SIGTERM"] as const) {
    process.once(signal, () => void stopAll().then(() => process.exit(130)));
  }
  try {
    if (!(await work())) process.exitCode = 1;
  } catch (error) {
    complain(error);
    process.exitCode = 1;
  } finally {
    await stopAll();
  }
}

async function stopAll(): Promise<void> {
  for (let close = closing.pop(); close !== undefined; close = closing.pop()) await close().catch(complain);
  await closeReaper();
}

function complain(error: unknown): void {
  process.stderr.write(`load: ${error instanceof Error ? error.message : String(error)}\n`);
}
