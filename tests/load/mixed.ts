/**
 * Ten thousand mixed calls with random disconnects and faults (issue 3): `bun tests/load/mixed.ts [--calls=10000] [--seed=…]`.
 * Prints what became of them; ends with 1 when something was not as it should be.
 */
import { parseArgs } from "node:util";

import { closeReaper } from "#deploy/embedded/reaper.mjs";

import { growthMb, type MixedBed, type MixResult, runMixed, startMixedBed } from "../faults/mixed.ts";
import { closeShared } from "../support/infrastructure.ts";

/** From the second quarter to the last; measured: up to 30 in ten thousand calls, 1 in thirty thousand. */
const GROWTH_MB_MAX = 48;

const { values } = parseArgs({ options: { calls: { type: "string", default: "10000" }, seed: { type: "string" } } });

let bed: MixedBed | undefined;
async function close(): Promise<void> {
  await bed?.stop();
  await closeShared();
  await closeReaper();
}

for (const signal of ["SIGINT", "SIGTERM"] as const) {
  process.once(signal, () => void close().then(() => process.exit(130)));
}

function whole(name: string, text: string): number {
  const number = Number(text);
  if (Number.isSafeInteger(number) && number >= 0) return number;
  throw new Error(`--${name} takes a whole number, got "${text}"`);
}

function faultsOf(result: MixResult): string[] {
  const grown = growthMb(result).flatMap((mb, at) =>
    mb < GROWTH_MB_MAX ? [] : [`process ${at} grew by ${mb.toFixed(1)} MB from the second quarter to the last`],
  );
  const [first = 0, second = 0] = result.subscriptions;
  const leaked = second - first > 2 ? [`${second - first} subscriptions more than after the first half`] : [];
  return [...result.faults, ...grown, ...leaked];
}

try {
  const calls = whole("calls", values.calls);
  const seed = values.seed === undefined ? Date.now() >>> 0 : whole("seed", values.seed);
  process.stdout.write(`${calls} calls, seed ${seed}\n`);
  bed = await startMixedBed();
  const result = await runMixed(bed, { calls, seed });
  const faults = faultsOf(result);
  const counts = Object.entries(result.outcomes).toSorted(([a], [b]) => a.localeCompare(b));
  process.stdout.write(
    [
      `${calls} calls in ${result.seconds.toFixed(1)} s`,
      ...counts.map(([way, count]) => `  ${String(count).padStart(6)}  ${way}`),
      "least resident MB in each quarter (ingress, ingress, worker, worker):",
      ...result.floorsMb.map((quarter) => `  ${quarter.map((mb) => mb.toFixed(0)).join(", ")}`),
      `NATS subscriptions: ${result.subscriptions.join(", ")}`,
      "ledger exact, no open hold, no open request at an upstream, no active stream, no message left",
      faults.length === 0 ? "nothing was wrong" : `${faults.length} things were wrong:\n${faults.join("\n")}`,
      "",
    ].join("\n"),
  );
  if (faults.length > 0) process.exitCode = 1;
} catch (error) {
  process.stderr.write(`${error instanceof Error ? (error.stack ?? error.message) : String(error)}\n`);
  process.exitCode = 1;
} finally {
  await close();
}
