/**
 * The whole service with three local providers, one of each family, and models whose prices do not depend on who serves
 * them. `openai-one`, `claude-one` and `gemini-one` are always there, and the preset `one-a-minute`; a test names what
 * else it needs.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { type Client, createClient, type Target } from "#tests/faults/client.ts";
import { type AnthropicServer, startAnthropicServer } from "#tests/providers/anthropic/server.ts";
import { type GeminiServer, startGeminiServer } from "#tests/providers/gemini/server.ts";
import { type OpenAiServer, startOpenAiServer } from "#tests/providers/openai-compatible/server.ts";
import { temporaryDirectory } from "#tests/support/infrastructure.ts";
import { type Stack, startStack } from "#tests/support/stack.ts";

import { tellAnthropic } from "./anthropic.ts";
import { tellGemini } from "./gemini.ts";
import { tellOpenAi } from "./openai.ts";
import { speak } from "./speak.ts";
import type { Report, Turn } from "./turn.ts";

export const FAMILIES = ["openai", "claude", "gemini"] as const;
export type Family = (typeof FAMILIES)[number];

/** Credits per million tokens. A picture costs what text costs. */
export const PRICES: Readonly<Record<string, string>> = {
  input_per_million: "300",
  output_per_million: "1500",
  cached_input_per_million: "30",
  cache_write_per_million: "375",
  cache_write_1h_per_million: "600",
  audio_input_per_million: "1000",
  audio_output_per_million: "2000",
};

export interface ModelOptions {
  readonly slug: string;
  readonly family: Family;
  /** Name of the model at the provider, and so at the local server: `mock-…`. */
  readonly source?: string;
  readonly prices?: Readonly<Record<string, unknown>>;
  /** Nobody listens at its provider's address. */
  readonly isGone?: boolean;
  readonly contextTokens?: number;
  /** It is said to go on with an answer that the messages end in. */
  readonly continues?: boolean;
  /** Models of its provider that serve it as equals, with their weights; in place of `source`. */
  readonly equals?: Readonly<Record<string, number>>;
  /** Inputs that it takes; text, pictures and, except for Claude, sound unless told otherwise. */
  readonly inputs?: readonly string[];
}

export interface FamilyServers {
  readonly openai: OpenAiServer;
  readonly claude: AnthropicServer;
  readonly gemini: GeminiServer;
}

export interface FamilyBed {
  readonly stack: Stack;
  readonly servers: FamilyServers;
  readonly client: Client;
  target(key?: string): Target;
  /** The family's next calls are answered with these turns, in order. */
  says(family: Family, turns: readonly Turn[], report?: Report): void;
  stop(): Promise<void>;
}

const TELL = { openai: tellOpenAi, claude: tellAnthropic, gemini: tellGemini } as const;
const KEYS = { openai: "sk-local", claude: "sk-ant-local", gemini: "AIzaLocal" } as const;
const DIALECTS = { openai: "openai-compatible", claude: "anthropic", gemini: "gemini" } as const;

export async function startFamilies(
  options: { models?: readonly ModelOptions[]; env?: Readonly<Record<string, string>> } = {},
): Promise<FamilyBed> {
  const servers: FamilyServers = {
    openai: startOpenAiServer({ apiKey: KEYS.openai }),
    claude: startAnthropicServer({ apiKey: KEYS.claude }),
    gemini: startGeminiServer({ apiKey: KEYS.gemini }),
  };
  const { directory, remove } = temporaryDirectory();
  const close = (): void => {
    for (const family of FAMILIES) servers[family].close();
    remove();
  };
  const catalogue = join(directory, "catalogue.yaml");
  // JSON is YAML.
  writeFileSync(catalogue, JSON.stringify(catalogueOf(servers, options.models ?? [])));
  const keys = Object.fromEntries(FAMILIES.map((family) => [keyVariable(family), KEYS[family]]));
  let stack: Stack;
  try {
    stack = await startStack({ env: { SLUICE_CATALOGUE: catalogue, ...keys, ...options.env } });
  } catch (error) {
    close();
    throw error;
  }
  return {
    stack,
    servers,
    client: createClient(),
    target: (key = stack.key) => ({ url: stack.baseUrls[0] ?? "", key }),
    says(family, turns, report) {
      for (const turn of turns) servers[family].next(speak(TELL[family](turn, report)));
    },
    async stop() {
      await stack.stop();
      close();
    },
  };
}

function catalogueOf(servers: FamilyServers, more: readonly ModelOptions[]): object {
  const own = FAMILIES.map((family) => ({ slug: `${family}-one`, family }));
  return {
    providers: FAMILIES.flatMap((family) => [
      providerOf(family, family, servers[family].url),
      // A port that is never given out to anybody.
      providerOf(`${family}-gone`, family, "http://127.0.0.1:1/v1"),
    ]),
    presets: [{ name: "one-a-minute", requests_per_minute: 1, daily_tokens: null }],
    models: [...own, ...more].map(modelOf),
  };
}

function providerOf(id: string, family: Family, url: string): object {
  return {
    id: `local-${id}`,
    family: DIALECTS[family],
    base_url: url,
    api_key_env: keyVariable(family),
    // Each test wants to see its own failure, whatever the ones before it did.
    breaker: "off",
  };
}

function keyVariable(family: Family): string {
  return `LOCAL_${family.toUpperCase()}_API_KEY`;
}

function modelOf({
  slug,
  family,
  source = "golden",
  prices = {},
  isGone = false,
  contextTokens = 400_000,
  continues = false,
  equals,
  inputs = ["text", "image", ...(family === "claude" ? [] : ["audio"])],
}: ModelOptions): object {
  return {
    slug,
    modality: "text",
    owned_by: "test",
    created: 1_767_225_600,
    supports_chat: true,
    supports_streaming: true,
    supports_tools: true,
    max_context_tokens: contextTokens,
    max_output_tokens: Math.min(contextTokens, 32_000),
    pricing: { unit: "per_token", ...PRICES, ...prices },
    price_source: { source: "made up for tests", date: "2026-01-01" },
    allowed_params: { supported_inputs: inputs },
    sources: equals
      ? Object.entries(equals).map(([model, weight]) => ({ provider: `local-${family}`, model, weight }))
      : [{ provider: `local-${family}${isGone ? "-gone" : ""}`, model: source, continues_assistant: continues }],
  };
}
