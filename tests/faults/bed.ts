/**
 * What every fault test stands on: the whole service as processes, a local upstream whose behaviour the test decides, and
 * a client that records. Catalogue: `flat` costs one credit a call, `metered` goes by tokens, `wide` may answer at length,
 * and each `mock-…` slug is served by the upstream behaviour of that name.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { newId } from "#shared/ids.ts";
import { hashKey, keyHint, mintKey } from "#shared/secrets/api-keys.ts";

import { type OpenAiServer, startOpenAiServer } from "../providers/openai-compatible/server.ts";
import { temporaryDirectory } from "../support/infrastructure.ts";
import { type Stack, type StackOptions, startStack } from "../support/stack.ts";
import { type Client, createClient, type Target } from "./client.ts";

/** Nano-credits of one call to the model `flat`, and of its hold. */
export const FLAT_NANO = 1_000_000_000n;

export interface Bed {
  readonly stack: Stack;
  readonly upstream: OpenAiServer;
  readonly client: Client;
  /** An ingress with a key; the first one and the bootstrap key unless told otherwise. */
  target(ingress?: number, key?: string): Target;
  /** Ends everything and removes its files. */
  stop(): Promise<void>;
}

export interface BedOptions extends StackOptions {
  /** Upstream behaviours (see named.ts) to offer as models. */
  readonly behaviours?: readonly string[];
  /** Further presets: name → calls a minute and tokens a day, null for no limit. */
  readonly presets?: Readonly<Record<string, readonly [number | null, number | null]>>;
}

export async function startBed(options: BedOptions = {}): Promise<Bed> {
  const upstream = await startOpenAiServer();
  const { directory, remove } = temporaryDirectory();
  const catalogue = join(directory, "catalogue.yaml");
  writeFileSync(catalogue, catalogueYaml(upstream.url, options));
  const close = (): void => {
    upstream.close();
    remove();
  };
  let stack: Stack;
  try {
    stack = await startStack({ ...options, env: { SLUICE_CATALOGUE: catalogue, ...options.env } });
  } catch (error) {
    close();
    throw error;
  }
  return {
    stack,
    upstream,
    client: createClient(),
    target: (ingress = 0, key = stack.key) => ({ url: stack.baseUrls[ingress] ?? "", key }),
    async stop() {
      await stack.stop();
      close();
    },
  };
}

/** A one-message body for a model. */
export function ask(model: string, more: Record<string, unknown> = {}): Record<string, unknown> {
  return { model, messages: [{ role: "user", content: "say hello there" }], ...more };
}

export interface Workspace {
  readonly id: string;
  readonly keyId: string;
  readonly key: string;
}

/** A workspace of its own with a key. */
export async function createWorkspace(
  stack: Stack,
  options: { creditsNano: bigint; preset?: string },
): Promise<Workspace> {
  const [id, memberId, keyId, key] = [newId(), newId(), newId(), mintKey()];
  await stack.query("insert into workspace (id, name) values ($1, $2)", [id, `test ${id}`]);
  await stack.query("insert into member (id, workspace_id, name, role) values ($1, $2, 'tester', 'developer')", [
    memberId,
    id,
  ]);
  await stack.query(
    `insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset) values ($1, $2, $3, 'test', $4, $5, $6)`,
    [keyId, id, memberId, Buffer.from(hashKey(key)), keyHint(key), options.preset ?? "unlimited"],
  );
  await stack.query("select move_credits($1, 'top_up', $2, $3, null)", [id, options.creditsNano, newId()]);
  return { id, keyId, key };
}

function catalogueYaml(upstreamUrl: string, { behaviours = [], presets = {} }: BedOptions): string {
  const models = [
    model("flat", "upstream", 'unit: per_request, request_price: "1"'),
    model("metered", "upstream", BY_TOKENS),
    model("wide", "upstream", BY_TOKENS, 1_000_000),
    ...behaviours.map((name) => model(`mock-${name}`, `mock-${name}`, BY_TOKENS)),
  ];
  return `
providers:
  - id: mock
    family: openai-compatible
    base_url: ${upstreamUrl}
presets: [${Object.entries(presets).map(preset).join(", ")}]
models:
${models.join("")}`;
}

function preset([name, [callsPerMinute, tokensPerDay]]: [string, readonly [number | null, number | null]]): string {
  return `{ name: ${name}, requests_per_minute: ${callsPerMinute}, daily_tokens: ${tokensPerDay} }`;
}

const BY_TOKENS = 'unit: per_token, input_per_million: "100", output_per_million: "200"';

function model(slug: string, source: string, pricing: string, outputTokensMax = 16_384): string {
  return `
  - slug: ${slug}
    modality: text
    owned_by: test
    created: 1767225600
    supports_chat: true
    supports_streaming: true
    supports_tools: true
    max_context_tokens: 2000000
    max_output_tokens: ${outputTokensMax}
    pricing: { ${pricing} }
    price_source: { source: made up for tests, date: "2026-01-01" }
    allowed_params: { supported_inputs: [text] }
    sources: [{ provider: mock, model: ${source} }]
`;
}
