/** What is measured: the upstream itself, the Portkey gateway and Sluice, each as an address with headers and processes. */
import { createServer } from "node:net";

import { startChild } from "./processes.ts";
import type { Child } from "./processes.ts";

export interface Target {
  readonly name: "direct" | "sluice" | "portkey";
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly model: string;
  /** Name → root pid; descendants are counted with it. */
  readonly processes: Readonly<Record<string, number>>;
  stop(): Promise<void>;
}

const PATH = "/v1/chat/completions";
const START_DEADLINE_MS = 15_000;

/** The upstream, called without anything in between: the baseline that is subtracted. */
export function directTarget(upstreamPort: number): Target {
  return {
    name: "direct",
    port: upstreamPort,
    path: PATH,
    headers: { authorization: "Bearer sk-load" },
    model: "load-upstream",
    processes: {},
    stop: () => Promise.resolve(),
  };
}

/** Starts Portkey's own server under Node, its native runtime, one process as its documentation does. */
export async function startPortkey(upstreamPort: number): Promise<Target> {
  const port = await freePort();
  const script = Bun.resolveSync("@portkey-ai/gateway/build/start-server.js", import.meta.dir);
  const repair = `${import.meta.dir}/portkey-streams.mjs`;
  const command = ["node", "--import", repair, script, "--headless", `--port=${port}`];
  const child = startChild(command, { NODE_ENV: "production" });
  await answers(`http://127.0.0.1:${port}/`, child);
  return {
    name: "portkey",
    port,
    path: PATH,
    headers: {
      authorization: "Bearer sk-load",
      "x-portkey-provider": "openai",
      "x-portkey-custom-host": `http://127.0.0.1:${upstreamPort}/v1`,
    },
    model: "load-upstream",
    processes: { portkey: child.pid },
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

/** A port that was free a moment ago; Portkey can't be told to choose one itself. */
async function freePort(): Promise<number> {
  const server = createServer();
  const port = await new Promise<number>((resolve, reject) => {
    server.once("error", reject);
    server.listen(0, "127.0.0.1", () => {
      const address = server.address();
      if (address === null || typeof address === "string") reject(new Error("no TCP address"));
      else resolve(address.port);
    });
  });
  await new Promise((resolve) => server.close(resolve));
  return port;
}
