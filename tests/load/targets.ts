/**
 * Targets of the load test, each an address with headers and processes: the upstream itself and the Portkey gateway
 * (Sluice: sluice-target.ts).
 */
import { fileURLToPath } from "node:url";

import { freePort } from "#deploy/embedded/probe.mjs";

import type { TrustedCertificate } from "../support/trusted-certificate.ts";
import type { Child } from "./processes.ts";
import { startChild } from "./processes.ts";

export type TargetName = "direct" | SluiceName | "portkey on node" | "portkey on bun";

/** One Sluice is two targets: a key without a limit a minute, whose calls go on a credit line, and keys with limits. */
export const SLUICE_NAMES = ["sluice", "sluice limited"] as const;
export type SluiceName = (typeof SLUICE_NAMES)[number];

/** Address of the load runs' upstream on 127.0.0.1. */
export interface UpstreamAddress {
  readonly port: number;
  /** Certificate that clients must trust; absent when the upstream serves plain HTTP. */
  readonly certificate?: TrustedCertificate | undefined;
}

/** Protocol of the upstream. Figures of two protocols are never compared. */
export type UpstreamProtocol = "tls" | "plain";
export const PROTOCOL_SENTENCES: Readonly<Record<UpstreamProtocol, string>> = {
  tls: "The upstream serves TLS.",
  plain: "The upstream serves plain HTTP.",
};

/** Returns the upstream's URL without a path. */
export function upstreamOrigin({ port, certificate }: UpstreamAddress): string {
  return `${certificate ? "https" : "http"}://127.0.0.1:${port}`;
}

export interface Target {
  readonly name: TargetName;
  readonly port: number;
  readonly path: string;
  readonly headers: Readonly<Record<string, string>>;
  /** PEM certificate of a target that serves TLS. */
  readonly ca?: string | undefined;
  /** API keys that calls use in turn, in place of the one in `headers`. */
  readonly keys?: readonly string[];
  readonly model: string;
  /** Name → pids, asked for anew each time since servers fork. */
  processes(): Readonly<Record<string, readonly number[]>>;
  stop(): Promise<void>;
}

export const CHAT_PATH = "/v1/chat/completions";
const START_DEADLINE_MS = 20_000;

/** The upstream, called without anything in between: the baseline that is subtracted. */
export function directTarget({ port, certificate }: UpstreamAddress): Target {
  return {
    name: "direct",
    port,
    ca: certificate?.cert,
    path: CHAT_PATH,
    headers: { authorization: "Bearer sk-load" },
    model: "load-upstream",
    processes: () => ({}),
    stop: () => Promise.resolve(),
  };
}

/** Starts Portkey's own server in one process: under Node, as it ships, or under Bun, the runtime Sluice has. */
export async function startPortkey(runtime: "node" | "bun", upstream: UpstreamAddress): Promise<Target> {
  const port = await freePort();
  const script = fileURLToPath(import.meta.resolve("@portkey-ai/gateway/build/start-server.js"));
  const repair = `${import.meta.dir}/portkey-streams.mjs`;
  const program = runtime === "node" ? ["node", "--import", repair] : [process.execPath, "--preload", repair];
  const env = { NODE_ENV: "production", ...upstream.certificate?.trust };
  const child = startChild([...program, script, "--headless", `--port=${port}`], env);
  await answers(`http://127.0.0.1:${port}/`, child);
  return {
    name: `portkey on ${runtime}`,
    port,
    path: CHAT_PATH,
    headers: {
      authorization: "Bearer sk-load",
      "x-portkey-provider": "openai",
      "x-portkey-custom-host": `${upstreamOrigin(upstream)}/v1`,
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
