/** One running service for the stories that play a provider of their own. Each says at its import what the catalogue needs of it. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { temporaryDirectory } from "#tests/support/infrastructure.ts";

import { type Bench, startBench } from "./bench.ts";

interface Played {
  /** Address of the provider, which may be fetched from. */
  readonly url: URL;
  /** Entries of the catalogue, as JSON. */
  readonly provider: { readonly id: string; readonly breaker?: "off" };
  readonly models: readonly object[];
}

export interface LocalBench extends Bench {
  /** Temporary files of every role lie here. */
  readonly scratch: string;
}

/** Results that a worker may hold at once. */
const RESULT_BYTES_MAX = 1_048_576;

const played: Played[] = [];
let started: Promise<LocalBench> | undefined;

export function playProvider(one: Played): void {
  if (started !== undefined) throw new Error("the service has begun");
  played.push(one);
}

export function localBench(): Promise<LocalBench> {
  started ??= start();
  return started;
}

async function start(): Promise<LocalBench> {
  const { directory, remove } = temporaryDirectory();
  const catalogue = join(directory, "catalogue.yaml");
  const providers = played.map(({ url, provider }) => ({
    family: "openai-compatible",
    base_url: url.origin,
    api_key_env: "LOCAL_API_KEY",
    ...provider,
  }));
  const models = played.flatMap((one) => one.models);
  // JSON is YAML.
  writeFileSync(catalogue, JSON.stringify({ providers, models }));
  const bench = await startBench({
    pools: ["image", "audio"],
    env: {
      SLUICE_CATALOGUE: catalogue,
      LOCAL_API_KEY: "a-local-key",
      SLUICE_OUTBOUND_ALLOW: played.map(({ url }) => url.host).join(),
      SLUICE_RESULT_BYTES_MAX: String(RESULT_BYTES_MAX),
      TMPDIR: directory,
    },
  });
  const close = async (): Promise<void> => {
    await bench.close();
    remove();
  };
  return { ...bench, scratch: directory, close };
}
