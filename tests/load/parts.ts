/** Parts that a load run starts, stopped in reverse order whatever ends the run. */
import { closeReaper } from "#deploy/embedded/reaper.mjs";

import { temporaryDirectory } from "../support/infrastructure.ts";
import { createCertificate } from "../support/trusted-certificate.ts";

import { startChild } from "./processes.ts";
import type { Bench } from "./rounds.ts";
import { type UpstreamAddress, upstreamOrigin } from "./targets.ts";
import type { Pace } from "./upstream.ts";

const closing: (() => Promise<unknown>)[] = [];

/** Sees to it that a part is stopped with the run. */
export function keep<T extends { stop(): Promise<void> }>(part: T): T {
  closing.push(() => part.stop());
  return part;
}

/** Starts the upstream and the driver, each in a process of its own. The upstream serves TLS unless `isPlain`. */
export async function startBench(
  isPlain: boolean,
): Promise<{ readonly bench: Bench; readonly address: UpstreamAddress }> {
  const { directory, remove } = temporaryDirectory();
  keep({ stop: () => Promise.resolve(remove()) });
  const certificate = isPlain ? undefined : createCertificate(directory);
  const files = certificate ? [certificate.keyFile, certificate.certFile] : [];
  const upstream = keep(startChild([process.execPath, `${import.meta.dir}/upstream.ts`, ...files]));
  const { port } = JSON.parse(await upstream.readLine()) as { port: number };
  const driver = keep(startChild([process.execPath, `${import.meta.dir}/driver.ts`]));
  await driver.readLine();
  return { bench: { driver, upstream, all: [] }, address: { port, certificate } };
}

export async function setPace(address: UpstreamAddress, pace: Pace): Promise<void> {
  const tls = address.certificate && { ca: address.certificate.cert };
  await fetch(`${upstreamOrigin(address)}/control`, {
    method: "POST",
    body: JSON.stringify(pace),
    ...(tls && { tls }),
  });
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
