/**
 * Basis of every fault test: the whole service as processes (apart unless told otherwise), a local upstream of each family whose behaviour the
 * test decides, and a client that records. Catalogue: `flat` costs one credit a call, `metered` goes by tokens, `wide` may
 * answer at length, and each `mock-…` slug is served by the behaviour of that name; all of these are of OpenAI's family.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { newId } from "#shared/base/ids.ts";
import { hashKey, keyHint, mintKey } from "#shared/secrets/api-keys.ts";

import type { OpenAiServer } from "../providers/openai-compatible/server.ts";
import { temporaryDirectory } from "../support/infrastructure.ts";
import { type Stack, type StackOptions, startStack } from "../support/stack.ts";
import { createCertificate } from "../support/trusted-certificate.ts";
import { type Client, createClient, type Target } from "./client.ts";
import { type BedModel, modelYaml, startUpstreams, type Upstreams } from "./families.ts";

/** Nano-credits of one call to the model `flat`, and of its hold. */
export const FLAT_NANO = 1_000_000_000n;

export interface Bed {
  readonly stack: Stack;
  /** The upstream of OpenAI's family. */
  readonly upstream: OpenAiServer;
  readonly upstreams: Upstreams;
  readonly client: Client;
  /** An ingress with a key; the first one and the bootstrap key unless told otherwise. */
  target(ingress?: number, key?: string): Target;
  /** Ends everything and removes its files. */
  stop(): Promise<void>;
}

export interface BedOptions extends StackOptions {
  /** Upstream behaviours (see named.ts) to offer as models. */
  readonly behaviours?: readonly string[];
  /** Further models, of any family. */
  readonly models?: readonly BedModel[];
  /** Further providers that speak OpenAI's dialect: id → base address. */
  readonly providers?: Readonly<Record<string, string>>;
  /** Further presets: name → calls a minute and tokens a day, null for no limit. */
  readonly presets?: Readonly<Record<string, readonly [number | null, number | null]>>;
  /** Files of further catalogues. */
  readonly catalogues?: readonly string[];
  /** True when the upstreams serve TLS, with a certificate that the roles trust. */
  readonly overTls?: boolean;
}

export async function startBed(options: BedOptions = {}): Promise<Bed> {
  const { directory, remove } = temporaryDirectory();
  const certificate = options.overTls ? createCertificate(directory) : undefined;
  const upstreams = startUpstreams({ tls: certificate });
  const catalogue = join(directory, "catalogue.yaml");
  writeFileSync(catalogue, catalogueYaml(upstreams, options));
  const close = (): void => {
    for (const upstream of Object.values(upstreams)) upstream.close();
    remove();
  };
  let stack: Stack;
  try {
    stack = await startStack({
      apart: true,
      ...options,
      // A worker of the sandbox loads a vocabulary at its start.
      env: {
        SLUICE_CATALOGUE: [catalogue, ...(options.catalogues ?? [])].join(","),
        MOCK_API_KEY: "key-of-the-mock-providers",
        SLUICE_SANDBOX: "off",
        ...certificate?.trust,
        ...options.env,
      },
    });
  } catch (error) {
    close();
    throw error;
  }
  return {
    stack,
    upstream: upstreams.openai,
    upstreams,
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
  stack: Pick<Stack, "query">,
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

function catalogueYaml(upstreams: Upstreams, options: BedOptions): string {
  const { behaviours = [], presets = {}, providers = {} } = options;
  const models = [
    model("flat", "upstream", 'unit: per_request, request_price: "1"'),
    model("metered", "upstream", BY_TOKENS),
    model("wide", "upstream", BY_TOKENS, 1_000_000),
    ...behaviours.map((name) => model(`mock-${name}`, `mock-${name}`, BY_TOKENS)),
    ...(options.models ?? []).map(modelYaml),
  ];
  return `
providers:
  - id: mock
    family: openai-compatible
    # Each test wants to see its own failure, whatever the ones before it did.
    breaker: off
    base_url: ${upstreams.openai.url}
  - { id: mock-drained, family: openai-compatible, breaker: off, on_disconnect: drain, base_url: "${upstreams.openai.url}" }
  - { id: mock-anthropic, family: anthropic, breaker: off, base_url: "${upstreams.anthropic.url}", api_key_env: MOCK_API_KEY }
  - { id: mock-gemini, family: gemini, breaker: off, base_url: "${upstreams.gemini.url}", api_key_env: MOCK_API_KEY }
${Object.entries(providers).map(provider).join("")}presets: [${Object.entries(presets).map(preset).join(", ")}]
models:
${models.join("")}`;
}

function provider([id, url]: [string, string]): string {
  return `  - { id: ${id}, family: openai-compatible, breaker: off, base_url: "${url}" }\n`;
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

/** Models that serve in place of others for the workspace of this key. Before the key's first call. */
export async function setFallbacks(
  { stack }: Pick<Bed, "stack">,
  chains: Readonly<Record<string, readonly string[]>>,
  key: string = stack.key,
): Promise<void> {
  for (const [slug, fallbacks] of Object.entries(chains)) {
    await stack.query(
      "insert into fallback_chain (workspace_id, model, fallbacks) select workspace_id, $1, $2 from api_key where sha256 = $3",
      [slug, fallbacks, Buffer.from(hashKey(key))],
    );
  }
}
