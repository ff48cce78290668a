/**
 * Sluice as a target: real Postgres with its default durability, real NATS, one ingress, one chat worker, a janitor,
 * every check on, and an operator's catalogue that names the local upstream as a provider.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { freePort } from "#deploy/embedded/probe.mjs";

import { createWorkspace } from "../faults/bed.ts";
import { closeShared, natsServerBinary } from "../support/infrastructure.ts";
import { startOwnPostgres } from "../support/postgres.ts";
import type { Stack } from "../support/stack.ts";
import { startStack } from "../support/stack.ts";
import type { Buckets, Counters } from "./counters.ts";
import { parseBuckets, readCounters } from "./counters.ts";
import { processTree } from "./processes.ts";
import type { SluiceName, Target } from "./targets.ts";
import { CHAT_PATH } from "./targets.ts";
import { UPSTREAM_USAGE } from "./upstream.ts";

export const LOAD_MODEL = "load-chat";

/** Credits per million tokens; one call of the upstream's constant usage costs `CALL_NANO`. */
const PRICE = { input: 100n, output: 200n } as const;
const NANO_PER_TOKEN_AND_CREDIT_PER_MILLION = 1_000n;
export const CALL_NANO =
  (BigInt(UPSTREAM_USAGE.prompt_tokens) * PRICE.input + BigInt(UPSTREAM_USAGE.completion_tokens) * PRICE.output) *
  NANO_PER_TOKEN_AND_CREDIT_PER_MILLION;

/** The largest limit a minute that a preset can have. */
const LIMIT = 4_095;
/** Number of workspaces with a limit: together they may make 8,700 calls a second, more than one machine carries. */
const LIMITED_WORKSPACES = 128;
const LIMITED_PRESET = "load-limited";
const LIMITED_CREDITS_NANO = 10n ** 15n;

/** Settings of a Postgres that waits for its disk, as in production. */
export const DURABLE = { fsync: "on", full_page_writes: "on" } as const;

export interface SluiceTarget extends Target {
  readonly name: SluiceName;
  readonly stack: Stack;
  counters(): Promise<Counters>;
  /** The ingress' own view: call time minus provider time. */
  overhead(): Promise<Buckets>;
}

/**
 * Starts everything; `stop` ends it and removes its files. `load:compare` calls the function of this name in other checkouts, so its
 * parameters stay as they are.
 * @param certFile certificate of an upstream that serves TLS; without it the upstream serves plain HTTP
 */
export async function startSluice(upstreamPort: number, certFile?: string): Promise<SluiceTarget> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-load-"));
  const catalogue = join(directory, "load.yaml");
  writeFileSync(
    catalogue,
    catalogueYaml(`${certFile === undefined ? "http" : "https"}://127.0.0.1:${upstreamPort}/v1`),
  );
  const monitorPort = await freePort();
  // The stack starts NATS without its monitoring port; a wrapper of the same name adds it.
  const wrapper = join(directory, "nats-server");
  writeFileSync(wrapper, `#!/bin/sh\nexec '${await natsServerBinary()}' "$@" -m ${monitorPort}\n`);
  chmodSync(wrapper, 0o755);
  const natsServer = process.env["TEST_NATS_SERVER"];
  process.env["TEST_NATS_SERVER"] = wrapper;
  // Tests go to a server that waits for no disk; a load run has one that does, unless it is a test itself.
  const postgres =
    process.env["TEST_POSTGRES_URL"] === undefined ? await startOwnPostgres({ settings: DURABLE }) : undefined;
  if (postgres !== undefined) process.env["TEST_POSTGRES_URL"] = postgres.url;

  const cleanUp = async (): Promise<void> => {
    if (natsServer === undefined) delete process.env["TEST_NATS_SERVER"];
    else process.env["TEST_NATS_SERVER"] = natsServer;
    await closeShared();
    await postgres?.close();
    rmSync(directory, { recursive: true, force: true });
  };
  const stack = await startStack({
    apart: true,
    ingress: 1,
    workers: 1,
    env: {
      SLUICE_CATALOGUE: catalogue,
      // The check stays on, with a limit that no run reaches.
      SLUICE_IP_LIMIT: "10000000",
      ...(certFile !== undefined && { NODE_EXTRA_CA_CERTS: certFile }),
    },
  }).catch(async (error: unknown) => {
    await cleanUp();
    throw error;
  });
  const [ingress] = stack.ingresses;
  if (ingress === undefined) throw new Error("the stack has no ingress");
  const postmaster = await postmasterPid(stack);
  return {
    name: "sluice",
    stack,
    port: Number(new URL(ingress.baseUrl).port),
    path: CHAT_PATH,
    headers: { authorization: `Bearer ${stack.key}` },
    model: LOAD_MODEL,
    processes: () => ({
      ingress: stack.ingresses.map((role) => role.pid),
      worker: stack.workers.map((role) => role.pid),
      janitor: stack.janitors.map((role) => role.pid),
      postgres: processTree(postmaster),
      nats: [stack.nats.pid()],
    }),
    counters: () => readCounters(stack.query, `http://127.0.0.1:${monitorPort}`),
    async overhead() {
      const page = await (await fetch(`${ingress.adminUrl}/metrics`)).text();
      return parseBuckets(page, "sluice_gateway_overhead_seconds");
    },
    async stop() {
      await stack.stop();
      await cleanUp();
    },
  };
}

/**
 * Returns the running Sluice as a second target, whose calls come from workspaces that have a limit of calls a minute. The exact window
 * remembers no more calls than `LIMIT`, so the calls of many workspaces make up the load.
 */
export async function limitKeys(sluice: SluiceTarget): Promise<SluiceTarget> {
  const options = { creditsNano: LIMITED_CREDITS_NANO, preset: LIMITED_PRESET };
  const keys: string[] = [];
  for (let made = 0; made < LIMITED_WORKSPACES; made += 1)
    keys.push((await createWorkspace(sluice.stack, options)).key);
  return { ...sluice, name: "sluice limited", headers: {}, keys, stop: () => Promise.resolve() };
}

function catalogueYaml(baseUrl: string): string {
  return `
providers:
  - id: load
    family: openai-compatible
    base_url: ${baseUrl}
presets:
  - { name: ${LIMITED_PRESET}, requests_per_minute: ${LIMIT}, daily_tokens: null }
models:
  - slug: ${LOAD_MODEL}
    modality: text
    owned_by: load
    created: 1767225600
    supports_chat: true
    supports_streaming: true
    supports_tools: true
    max_context_tokens: 128000
    max_output_tokens: 16384
    pricing: { unit: per_token, input_per_million: "${PRICE.input}", output_per_million: "${PRICE.output}" }
    price_source: { source: made up for load runs, date: "2026-01-01" }
    allowed_params: { supported_inputs: [text] }
    sources:
      - provider: load
        model: load-upstream
`;
}

/** The parent of the backend that answers us. */
export async function postmasterPid(stack: Pick<Stack, "query">): Promise<number> {
  const [row] = await stack.query<{ pid: number }>("select pg_backend_pid() as pid");
  const status = readFileSync(`/proc/${row?.pid}/status`, "utf8");
  return Number(/^PPid:\s+(\d+)/m.exec(status)?.[1]);
}
