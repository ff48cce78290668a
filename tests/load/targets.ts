/**
 * Targets of the load test, each an address with headers and processes: the upstream itself and the Portkey gateway
 * (Sluice: sluice-target.ts).
 */
import { fileURLToPath } from "node:url";

import { freePort } from "#deploy/embedded/probe.mjs";

import type { Child } from "./processes.ts";
import { startChild } from "./processes.ts";

export type TargetName = "direct" | "sluice" | "portkey on node" | "portkey on bun";

export interface Target {
  readonly name: TargetName;
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly model: string;
  /** Name → pids, asked for anew each time since servers fork. */
  processes(): Readonly<Record<string, readonly number[]>>;
  stop(): Promise<void>;
}

export const CHAT_PATH = "/v1/chat/completions";
const START_DEADLINE_MS = 20_000;

/** The upstream, called without anything in between: the baseline that is subtracted. */
export function directTarget(upstreamPort: number): Target {
  return {
    name: "direct",
    port: upstreamPort,
    path: CHAT_PATH,
    headers: { authorization: "Bearer sk-load" },
    model: "load-upstream",
    processes: () => ({}),
    stop: () => Promise.resolve(),
  };
}

/** Starts Portkey's own server in one process: under Node, as it ships, or under Bun, the runtime Sluice has. */
export async function startPortkey(runtime: "node" | "bun", upstreamPort: number): Promise<Target> {
  const port = await freePort();
  const script = fileURLToPath(import.meta.resolve("@portkey-ai/gateway/build/start-server.js"));
  const repair = `${import.meta.dir}/portkey-streams.mjs`;
  const program = runtime === "node" ? ["node", "--import", repair] : [process.execPath, "--preload", repair];
  const child = startChild([...program, script, "--headless", `--port=${port}`], { NODE_ENV: "production" });
  await answers(`http://127.0.0.1:${port}/`, child);
  return {
    name: `portkey on ${runtime}`,
    port,
    path: CHAT_PATH,
    headers: {
      authorization: "Bearer sk-load",
      "x-portkey-provider": "openai",
      "x-portkey-custom-host": `http://127.0.0.1:${upstreamPort}/v1`,
    },
    model: "load-upstream",
    processes: () => ({ gateway: [child.pid] }),
    stop: () => child.stop(),
  };
}

async function answers(url: string, child: Child): Promise<void> {
  const until = performance.now() + START_DEADLINE_MS;
  for (;;) {
    const answer = await fetch(url).catch(() => null);
    await answer?.body?.cancel();
    if (answer?.ok) return;
    if (performance.now() > until) {
      await child.stop();
      throw new Error(`Portkey did not answer at ${url}`);
    }
    await Bun.sleep(50);
  }
}
