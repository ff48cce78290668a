/**
 * Sluice as a target: real Postgres with its default durability, real NATS, one ingress, one chat worker, a janitor,
 * every check on, and an operator's catalogue that names the local upstream as a provider.
 */
import { chmodSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { freePort } from "#deploy/embedded/probe.mjs";

import { closeShared, natsServerBinary } from "../support/infrastructure.ts";
import { startOwnPostgres } from "../support/postgres.ts";
import type { Stack } from "../support/stack.ts";
import { startStack } from "../support/stack.ts";
import type { Buckets, Counters } from "./counters.ts";
import { parseBuckets, readCounters } from "./counters.ts";
import { processTree } from "./processes.ts";
import type { Target } from "./targets.ts";
import { CHAT_PATH } from "./targets.ts";
import { UPSTREAM_USAGE } from "./upstream.ts";

export const LOAD_MODEL = "load-chat";

/** Credits per million tokens; one call of the upstream's constant usage costs `CALL_NANO`. */
const PRICE = { input: 100n, output: 200n } as const;
const NANO_PER_TOKEN_AND_CREDIT_PER_MILLION = 1_000n;
export const CALL_NANO =
  (BigInt(UPSTREAM_USAGE.prompt_tokens) * PRICE.input + BigInt(UPSTREAM_USAGE.completion_tokens) * PRICE.output) *
  NANO_PER_TOKEN_AND_CREDIT_PER_MILLION;

/** Settings of a Postgres that waits for its disk, as in production. */
export const DURABLE = { fsync: "on", full_page_writes: "on" } as const;

export interface SluiceTarget extends Target {
  readonly stack: Stack;
  counters(): Promise<Counters>;
  /** The ingress' own view: call time minus provider time. */
  overhead(): Promise<Buckets>;
}

/** Starts everything; `stop` ends it and removes its files. */
export async function startSluice(upstreamPort: number): Promise<SluiceTarget> {
  const directory = mkdtempSync(join(tmpdir(), "sluice-load-"));
  const catalogue = join(directory, "load.yaml");
  writeFileSync(catalogue, catalogueYaml(upstreamPort));
  const monitorPort = await freePort();
  // The stack starts NATS without its monitoring port; a wrapper of the same name adds it.
  const wrapper = join(directory, "nats-server");
  writeFileSync(wrapper, `#!/bin/sh\nexec '${await natsServerBinary()}' "$@" -m ${monitorPort}\n`);
  chmodSync(wrapper, 0o755);
  process.env["TEST_NATS_SERVER"] = wrapper;
  // Tests go to a server that waits for no disk; a load run has one that does, unless it is a test itself.
  const postgres =
    process.env["TEST_POSTGRES_URL"] === undefined ? await startOwnPostgres({ settings: DURABLE }) : undefined;
  if (postgres !== undefined) process.env["TEST_POSTGRES_URL"] = postgres.url;

  const cleanUp = async (): Promise<void> => {
    await closeShared();
    await postgres?.close();
    rmSync(directory, { recursive: true, force: true });
  };
  const stack = await startStack({
    ingress: 1,
    workers: 1,
    // A limit no run reaches: the net itself stays on.
    env: { SLUICE_CATALOGUE: catalogue, SLUICE_IP_LIMIT: "10000000" },
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

function catalogueYaml(upstreamPort: number): string {
  return `
providers:
  - id: load
    family: openai-compatible
    base_url: http://127.0.0.1:${upstreamPort}/v1
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
