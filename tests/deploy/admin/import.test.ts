import { afterAll, describe, expect, test } from "bun:test";
import { readFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";

import { creditsOf } from "#deploy/admin/import-prices.ts";
import { importLiteLlm } from "#deploy/admin/import-litellm.ts";
import { catalogueOf, loadOurLayers } from "#shared/calls/catalogue/load.ts";
import type { Catalogue } from "#shared/calls/model.ts";
import { temporaryDirectory } from "#tests/support/infrastructure.ts";

import { admin } from "./commands.ts";

const OURS = await loadOurLayers();
const SET = { sandbox: false, providerKey: () => "set" };

function convert(text: string) {
  const imported = importLiteLlm({ file: "config.yaml", text, ours: OURS, date: "2026-11-29" });
  const layers = imported.models.length === 0 ? [] : [{ name: "catalogue.yaml", text: imported.yaml }];
  const catalogue: Catalogue = catalogueOf(OURS, layers, SET);
  const reasons = imported.notes.map(({ line, place, reason }) => `${line} ${place}: ${reason}`);
  return { ...imported, catalogue, reasons };
}

/** Shapes of LiteLLM's documentation: load balancing, aliases, fallbacks, wildcards. */
const BALANCED = `model_list:
  - model_name: gpt-4o ### RECEIVED MODEL NAME ###
    litellm_params:
      model: azure/gpt-4o-eu
      api_base: https://my-endpoint-europe.openai.azure.com/
      api_key: "os.environ/AZURE_API_KEY_EU"
      rpm: 6
  - model_name: gpt-4o
    litellm_params:
      model: openai/gpt-4o
      api_key: os.environ/OPENAI_TEAM_KEY
      rpm: 60
  - model_name: gpt-4o
    litellm_params:
      model: gpt-4o
      api_key: sk-canary-first
      rpm: 600
  - model_name: bedrock-claude-v1
    litellm_params:
      model: bedrock/anthropic.claude-instant-v1
  - model_name: opus
    litellm_params: { model: anthropic/claude-opus-5, api_key: os.environ/ANTHROPIC_API_KEY }
  - model_name: vllm-models
    litellm_params:
      model: openai/facebook/opt-125m # the prefix says that the server is OpenAI-compatible
      api_base: http://0.0.0.0:4000/v1
      api_key: none
      rpm: 1440
    model_info:
      version: 2
      input_cost_per_token: 1e-6
      output_cost_per_token: 0.00000025
      max_input_tokens: 2048
      max_output_tokens: 512
      supports_function_calling: false
  - model_name: "*"
    litellm_params:
      model: "*"

litellm_settings:
  drop_params: True
  success_callback: ["langfuse"]
  fallbacks: [{ "vllm-models": ["gpt-4o", "bedrock-claude-v1"] }]
  context_window_fallbacks: [{ "vllm-models": ["gpt-4o"] }]

router_settings:
  routing_strategy: simple-shuffle
  model_group_alias: { "gpt-4": "gpt-4o", "best": { "model": "opus", "hidden": true }, "gone": "bedrock-claude-v1" }
  redis_host: localhost

general_settings:
  master_key: sk-canary-master
`;

describe("a configuration with load balancing", () => {
  const { catalogue, reasons, chains, variables, providers, yaml, models } = convert(BALANCED);

  test("becomes models whose deployments are sources with weights", () => {
    expect(models).toEqual(["gpt-4o", "opus", "vllm-models", "gpt-4", "best"]);
    const sources = catalogue.models
      .get("gpt-4o")
      ?.sources.map(({ provider, model, weight }) => [provider, model, weight]);
    expect(sources).toEqual([
      ["openai-2", "gpt-4o", 60],
      ["openai", "gpt-4o", 600],
    ]);
    expect(catalogue.providers.get("openai-2")).toMatchObject({
      family: "openai-compatible",
      base_url: "https://api.openai.com/v1",
      api_key_env: "OPENAI_TEAM_API_KEY",
    });
    // The adapter's settings come with the shipped source.
    const [, shipped] = catalogue.models.get("gpt-4o")?.sources ?? [];
    expect(shipped?.rename_params).toEqual({ max_tokens: "max_completion_tokens" });
  });

  test("keeps prices and limits of shipped models, and imports its own", () => {
    const ours = catalogueOf(OURS, [], SET).models;
    expect(catalogue.models.get("gpt-4o")?.pricing).toEqual(ours.get("gpt-4o")?.pricing);
    expect(catalogue.models.get("opus")?.pricing).toEqual(ours.get("claude-opus-5")?.pricing);
    expect(catalogue.models.get("opus")?.max_context_tokens).toBe(ours.get("claude-opus-5")?.max_context_tokens ?? 0);
    expect(catalogue.models.get("vllm-models")).toMatchObject({
      pricing: { unit: "per_token", input_per_million: "100", output_per_million: "25" },
      price_source: { source: "configuration of LiteLLM", date: "2026-11-29" },
      max_context_tokens: 2048,
      max_output_tokens: 512,
      supports_tools: false,
      sources: [{ provider: "0-0-0-0-4000", model: "facebook/opt-125m" }],
    });
    expect(catalogue.providers.get("0-0-0-0-4000")).toEqual({
      id: "0-0-0-0-4000",
      family: "openai-compatible",
      base_url: "http://0.0.0.0:4000/v1",
    });
  });

  test("becomes aliases as models, and fallbacks as chains to set", () => {
    expect(catalogue.models.get("gpt-4")?.sources).toEqual(catalogue.models.get("gpt-4o")?.sources ?? []);
    expect(catalogue.models.get("best")?.sources).toEqual(catalogue.models.get("opus")?.sources ?? []);
    expect(chains).toEqual([{ model: "vllm-models", fallbacks: ["gpt-4o"] }]);
  });

  test("never carries a key, and names each variable", () => {
    expect(variables).toEqual(["OPENAI_TEAM_API_KEY", "OPENAI_API_KEY", "ANTHROPIC_API_KEY"]);
    expect(providers).toEqual(["openai-2", "0-0-0-0-4000"]);
    expect(yaml + reasons.join("\n")).not.toContain("canary");
  });

  test("lists everything else with its line and the reason", () => {
    for (const expected of [
      /^4 model_list\[0\]\.litellm_params\.model: not served: Azure's/,
      /^11 model_list\[1\]\.litellm_params\.api_key: .*set OPENAI_TEAM_API_KEY to the value of OPENAI_TEAM_KEY$/,
      /^16 model_list\[2\]\.litellm_params\.api_key: the key in this file is not copied: set OPENAI_API_KEY/,
      /^20 model_list\[3\]\.litellm_params\.model: not served: Amazon Bedrock/,
      /^36 model_list\[6\]\.model_name: .*wildcards/,
      /^41 litellm_settings\.drop_params: /,
      /^42 litellm_settings\.success_callback: no counterpart/,
      /^44 litellm_settings\.context_window_fallbacks: no counterpart/,
      /^47 router_settings\.routing_strategy: /,
      /^48 router_settings\.model_group_alias\.gone: no model of this name was imported/,
      /^49 router_settings\.redis_host: not needed/,
      /^52 general_settings\.master_key: not copied/,
    ]) {
      expect(reasons).toContainEqual(expect.stringMatching(expected) as string);
    }
  });
});

describe("other configurations", () => {
  test("map credentials, custom servers and modes", () => {
    const { catalogue, reasons, variables, models } = convert(`
credential_list:
  - credential_name: lab
    credential_values: { api_key: os.environ/LAB_API_KEY, api_base: "https://lab.example/v1/" }
    credential_info: {}
model_list:
  - model_name: lab/chat
    litellm_params: { model: hosted_vllm/meta/llama, litellm_credential_name: lab, extra_headers: { a: b }, temperature: 0.2, additional_drop_params: [seed], stream_timeout: 30 }
    model_info: { supports_vision: true, input_cost_per_token: "0", output_cost_per_token: 0 }
  - model_name: local
    litellm_params: { model: ollama/mistral, api_base: "http://localhost:11434" }
    model_info: { base_model: openai/gpt-4o-mini }
  - model_name: vectors
    litellm_params: { model: text-embedding-3-small, api_key: os.environ/OPENAI_API_KEY }
  - model_name: own-vectors
    litellm_params: { model: xinference/bge, api_base: "http://127.0.0.1:9997/v1" }
    model_info: { mode: embedding, output_vector_size: 768, input_cost_per_token: 1.0e-8 }
  - model_name: no-size
    litellm_params: { model: xinference/bge, api_base: "http://127.0.0.1:9997/v1" }
    model_info: { mode: embedding }
  - model_name: ranks
    litellm_params: { model: jina_ai/jina-reranker, api_base: "https://api.jina.ai/v1" }
    model_info: { mode: rerank }
  - model_name: mine
    litellm_params: { model: nvidia_nim/meta/llama3, api_key: os.environ/NVIDIA_NIM_API_KEY }
  - model_name: unknown
    litellm_params: { model: watsonx/ibm/granite }
litellm_settings: { cache: true, cache_params: { type: redis, ttl: 600 } }
`);
    expect(models).toEqual(["lab-chat", "local", "vectors", "own-vectors", "mine"]);
    expect(variables).toEqual(["LAB_API_KEY", "OPENAI_API_KEY", "NVIDIA_NIM_API_KEY"]);
    expect(catalogue.models.get("lab-chat")).toMatchObject({
      pricing: { input_per_million: "0", output_per_million: "0" },
      allowed_params: { supported_inputs: ["text", "image"] },
      cache_ttl_s: 600,
      first_byte_ms: 30_000,
      sources: [{ provider: "lab-example", model: "meta/llama", drop_params: ["seed"] }],
    });
    expect(catalogue.providers.get("lab-example")).toMatchObject({
      base_url: "https://lab.example/v1",
      api_key_env: "LAB_API_KEY",
    });
    const ours = catalogueOf(OURS, [], SET).models;
    expect(catalogue.models.get("local")?.pricing).toEqual(ours.get("gpt-4o-mini")?.pricing);
    expect(catalogue.providers.get("localhost-11434")?.base_url).toBe("http://localhost:11434/v1");
    expect(catalogue.models.get("vectors")?.embedding?.dimensions).toBe(1536);
    expect(catalogue.models.get("vectors")?.cache_ttl_s).toBeUndefined();
    expect(catalogue.models.get("own-vectors")).toMatchObject({
      supports_embeddings: true,
      pricing: { input_per_million: "1" },
    });
    expect(catalogue.unroutable.get("mine")).toBe("it has no price");
    for (const part of [
      "model_list[0].model_name: names contain no slashes or spaces: lab/chat is called lab-chat here",
      "litellm_params.extra_headers: no counterpart",
      "litellm_params.temperature: no counterpart",
      "model_list[4].model_info: not served: an embedding model needs output_vector_size",
      "models of the mode rerank are not served",
      "mine is not offered: no price is known",
      "limits of mine are not known: 8192 and 4096 tokens were assumed",
      "watsonx is no provider of this service",
    ]) {
      expect(reasons).toContainEqual(expect.stringContaining(part) as string);
    }
  });

  test("map weights, an order and deployments that are equal in Sluice", () => {
    const entry = (name: string, model: string, more: string): string =>
      `  - { model_name: ${name}, litellm_params: { model: ${model}, ${more} } }\n`;
    const { catalogue, reasons } = convert(
      `model_list:\n${entry("a", "groq/llama-3.3-70b-versatile", "rpm: 50000")}${entry("a", "openai/gpt-4o", "rpm: 5")}${entry("b", "openai/gpt-4o", "order: 2")}${entry("b", "groq/llama-3.3-70b-versatile", "order: 1")}${entry("c", "openai/gpt-4o", "region_name: eu")}${entry("c", "openai/gpt-4o", "region_name: us")}`,
    );
    const sources = (slug: string) =>
      catalogue.models.get(slug)?.sources.map(({ provider, weight }) => [provider, weight]);
    expect(sources("a")).toEqual([
      ["groq", 1000],
      ["openai", 1],
    ]);
    expect(sources("b")).toEqual([
      ["groq", undefined],
      ["openai", undefined],
    ]);
    expect(sources("c")).toEqual([["openai", undefined]]);
    expect(reasons.join()).toContain("deployments of c that differ in nothing a catalogue has are one source");
    // One price for both sources, the dearest.
    const input = catalogue.models.get("a")?.pricing.input_per_million;
    expect(input).toBe(catalogueOf(OURS, [], SET).models.get("gpt-4o")?.pricing.input_per_million ?? "none");
  });

  test("map two keys for one provider without replacing a named variable", () => {
    const { variables, catalogue } = convert(`model_list:
  - { model_name: a, litellm_params: { model: openai/gpt-4o, api_key: sk-canary-1 } }
  - { model_name: b, litellm_params: { model: openai/gpt-4o, api_key: sk-canary-2 } }
  - { model_name: c, litellm_params: { model: openai/gpt-4o, api_key: sk-canary-1 } }
  - { model_name: d, litellm_params: { model: openai/gpt-4o, api_key: os.environ/OPENAI_API_KEY } }
`);
    const variable = (slug: string) =>
      catalogue.providers.get(catalogue.models.get(slug)?.sources[0]?.provider ?? "")?.api_key_env;
    expect(["a", "b", "c", "d"].map(variable)).toEqual([
      "OPENAI_2_API_KEY",
      "OPENAI_3_API_KEY",
      "OPENAI_2_API_KEY",
      "OPENAI_API_KEY",
    ]);
    expect(variables.toSorted()).toEqual(["OPENAI_2_API_KEY", "OPENAI_3_API_KEY", "OPENAI_API_KEY"]);
  });

  test("with references whose names cannot be kept, each of which has a variable of its own", () => {
    const names = ["OPENAI_API_KEY", "OPENAI_KEY", "OPENAI_TOKEN", "OPENAI_KEY", "openai_secret"];
    const entries = names.map(
      (name, at) =>
        `  - { model_name: m${at}, litellm_params: { model: openai/gpt-4o, api_key: os.environ/${name} } }\n`,
    );
    const { catalogue, reasons } = convert(
      `model_list:\n  - { model_name: own, litellm_params: { model: openai/gpt-4o, api_key: sk-canary } }\n${entries.join("")}`,
    );
    const variable = (slug: string) =>
      catalogue.providers.get(catalogue.models.get(slug)?.sources[0]?.provider ?? "")?.api_key_env;
    const variables = names.map((_, at) => variable(`m${at}`));
    expect(variables[0]).toBe("OPENAI_API_KEY");
    expect(variables[3]).toBe(variables[1] as string);
    expect(new Set([...variables, variable("own")]).size).toBe(5);
    for (const [at, name] of names.entries()) {
      if (at > 0) expect(reasons.join("\n")).toContain(`set ${variables[at]} to the value of ${name}`);
    }
  });

  test("import the prices of long contexts, service tiers and batches", () => {
    const { catalogue, reasons } = convert(`model_list:
  - model_name: tiered
    litellm_params: { model: openai/tiered, api_key: os.environ/OPENAI_API_KEY }
    model_info:
      max_input_tokens: 1000000
      max_output_tokens: 1000
      input_cost_per_token: 5e-6
      output_cost_per_token: 3e-5
      cache_read_input_token_cost: 5e-7
      cache_creation_input_token_cost: 5e-6
      input_cost_per_token_above_272k_tokens: 1e-5
      output_cost_per_token_above_272k_tokens: 4.5e-5
      cache_read_input_token_cost_above_272k_tokens: 1e-6
      input_cost_per_token_priority: 1.25e-5
      output_cost_per_token_priority: 7.5e-5
      cache_read_input_token_cost_priority: 1.25e-6
      input_cost_per_token_flex: 2.5e-6
      output_cost_per_token_flex: 1.5e-5
      cache_read_input_token_cost_flex: 2.5e-7
      input_cost_per_token_above_272k_tokens_flex: 5e-6
      output_cost_per_token_flex_above_272k_tokens: 2.25e-5
      input_cost_per_token_batches: 2.5e-6
      output_cost_per_token_batches: 1.6e-5
  - model_name: steps
    litellm_params: { model: openai/steps, api_key: os.environ/OPENAI_API_KEY }
    model_info: { input_cost_per_token: 1e-6, output_cost_per_token: 1e-6, input_cost_per_token_above_128k_tokens: 2e-6, input_cost_per_token_above_200k_tokens: 3e-6 }
  - model_name: own-vectors
    litellm_params: { model: xinference/bge, api_base: "http://127.0.0.1:9997/v1" }
    model_info: { mode: embedding, output_vector_size: 768, input_cost_per_token: 1e-8, input_cost_per_token_batches: 5e-9, input_cost_per_token_priority: 2e-8 }
`);
    const rates = (input: string, output: string, cached: string, write = input) => ({
      input_per_million: input,
      output_per_million: output,
      cached_input_per_million: cached,
      cache_write_per_million: write,
    });
    // A rate that the file does not contain is the higher of the price's rate and the tier's input rate.
    expect(catalogue.models.get("tiered")?.pricing).toEqual({
      currency: "credits",
      unit: "per_token",
      ...rates("500", "3000", "50"),
      long_context: { above_tokens: 272_000, ...rates("1000", "4500", "100") },
      service_tiers: {
        flex: {
          ...rates("250", "1500", "25", "500"),
          long_context: { above_tokens: 272_000, ...rates("500", "2250", "500", "500") },
        },
        priority: rates("1250", "7500", "125"),
      },
      // 1.6e-5 of 3e-5, rounded up
      batch_factor: "0.533334",
    });
    expect(catalogue.models.get("steps")?.pricing.long_context).toEqual({
      above_tokens: 128_000,
      input_per_million: "300",
      output_per_million: "100",
    });
    expect(catalogue.models.get("own-vectors")?.pricing).toMatchObject({ batch_factor: "0.5" });
    expect(catalogue.models.get("own-vectors")?.pricing.service_tiers).toBeUndefined();
    const all = reasons.join("\n");
    expect(all).toContain("a price has one threshold: the highest of these prices apply above 128000 input tokens");
    expect(all).toContain("input_cost_per_token_priority: a catalogue has no such price for this kind of model");
    expect(all).not.toContain("_flex");
  });

  test("never price a tier of one source below the plain rates of another source that lacks it", () => {
    const { catalogue } = convert(`model_list:
  - model_name: two
    litellm_params: { model: openai/one, api_key: os.environ/OPENAI_API_KEY }
    model_info:
      input_cost_per_token: 1e-6
      output_cost_per_token: 1e-6
      input_cost_per_token_above_200k_tokens: 2e-6
      output_cost_per_token_above_200k_tokens: 9e-6
      input_cost_per_token_flex: 5e-7
      output_cost_per_token_flex: 5e-7
  - model_name: two
    litellm_params: { model: openai/other, api_key: os.environ/OPENAI_API_KEY }
    model_info: { input_cost_per_token: 5e-6, output_cost_per_token: 5e-6 }
`);
    const rates = (input: string, output: string) => ({ input_per_million: input, output_per_million: output });
    const long_context = { above_tokens: 200_000, ...rates("500", "900") };
    expect(catalogue.models.get("two")?.pricing).toEqual({
      currency: "credits",
      unit: "per_token",
      ...rates("500", "500"),
      long_context,
      service_tiers: { flex: { ...rates("500", "500"), long_context } },
    });
  });

  test("omit what a catalogue rejects, and import the remainder", () => {
    const { models, reasons } = convert(`model_list:
  - { model_name: good, litellm_params: { model: openai/gpt-4o } }
  - { model_name: dear, litellm_params: { model: openai/gpt-4o, input_cost_per_token: 5, output_cost_per_token: 1 } }
`);
    expect(models).toEqual(["good"]);
    expect(reasons.join()).toContain(
      "dear was left out, since a catalogue cannot have it: pricing.output_per_million: expected at most",
    );
  });
});

/** Members that LiteLLM documents, and one that nobody knows. */
const MEMBERS =
  "access_groups api_base api_key api_version base_model cache credential_info custom_llm_provider description extra_headers hidden host id " +
  "input_cost_per_token litellm_credential_name litellm_provider max_budget max_input_tokens max_output_tokens max_retries max_tokens mode " +
  "model_info namespace order organization output_vector_size region_name rpm stream_timeout supports_function_calling supports_vision tags " +
  "temperature timeout tpm ttl type unheard_of version weight";

/** Configuration with one more member, of this value, in the mapping at a place. */
const WITH: Readonly<Record<string, (member: string) => string>> = {
  "model_list[0]": (member) => base({ entry: member }),
  "model_list[0].litellm_params": (member) => base({ params: member }),
  "model_list[0].model_info": (member) => base({ info: member }),
  "credential_list[0]": (member) => base({ credential: member }),
  "credential_list[0].credential_values": (member) => base({ values: member }),
  "litellm_settings.cache_params": (member) => base({ cache: member }),
  litellm_settings: (member) => base({ settings: member }),
  router_settings: (member) => base({ router: member }),
  "router_settings.model_group_alias.best": (member) => base({ alias: member }),
  general_settings: (member) => base({ general: member }),
};

function base(more: Readonly<Record<string, string>>): string {
  const at = (name: string): string => (more[name] === undefined ? "" : `, ${more[name]}`);
  return `credential_list:
  - { credential_name: lab, credential_values: { api_base: "https://lab.example/v1"${at("values")} }${at("credential")} }
model_list:
  - { model_name: own, litellm_params: { model: openai/own, litellm_credential_name: lab${at("params")} }, model_info: { max_input_tokens: 4096, input_cost_per_token: 1e-6, output_cost_per_token: 1e-6${at("info")} }${at("entry")} }
  - { model_name: own, litellm_params: { model: openai/other, api_base: "https://other.example/v1", weight: 3 }, model_info: { max_input_tokens: 4096 } }
litellm_settings: { cache: true, cache_params: { type: redis, mode: default_on${at("cache")} }${at("settings")} }
router_settings: { model_group_alias: { best: { model: own${at("alias")} } }${at("router")} }
general_settings: { a: 1${at("general")} }
`;
}

/** Members that mean nothing where they are: dimensions of a chat model, the server of a cache that needs none, the usual mode. */
const MEANINGLESS = new Set([
  "model_list[0].model_info.output_vector_size: 7",
  "litellm_settings.cache_params.type: word",
  "litellm_settings.cache_params.mode: word",
]);

test.each(Object.keys(WITH))("every member of %s is taken over or listed", (place) => {
  const outcomeOf = (text: string) => {
    const { yaml, variables, notes, models } = importLiteLlm({ file: "c", text, ours: OURS, date: "2026-11-29" });
    expect(models.length).toBeLessThan(3);
    return JSON.stringify({ yaml, variables, notes });
  };
  const without = outcomeOf(base({}));
  expect(without).toContain("own");
  const silent = MEMBERS.split(" ").flatMap((member) =>
    ["7", "word", "[1]", "{ a: b }"].flatMap((value) =>
      outcomeOf(WITH[place]?.(`${member}: ${value}`) ?? "") === without ? [`${place}.${member}: ${value}`] : [],
    ),
  );
  expect(silent.filter((one) => !MEANINGLESS.has(one))).toEqual([]);
});

test.each(Object.keys(WITH))("members of %s may have any name", (place) => {
  for (const name of ["a[b", "a]", ".", "a..b", "[0]", "x\\e[2J", "a[0]_cost_b"]) {
    const { notes } = importLiteLlm({
      file: "c",
      text: WITH[place]?.(`"${name}": 1`) ?? "",
      ours: OURS,
      date: "2026-11-29",
    });
    // A price of a credential is listed at the deployment that uses the credential.
    const isListed = notes.some(({ place: at }) => at.startsWith(place) || at.endsWith("_cost_b"));
    expect([name, isListed]).toEqual([name, true]);
  }
});

test("a key that is given twice is listed", () => {
  const { reasons } = convert(
    "model_list: []\nmodel_list:\n  - { model_name: a, litellm_params: { model: gpt-4o } }\n",
  );
  expect(reasons).toContain("1 model_list: given again in line 2: the last one was taken");
});

describe("prices", () => {
  test.each([
    [0.0000025, 1_000_000n, "250"],
    ["2.5e-7", 1_000_000n, "25"],
    ["1e-06", 1_000_000n, "100"],
    [1.1e-7, 1_000_000n, "11"],
    [0, 1_000_000n, "0"],
    [0.04, 1n, "4"],
    ["0.0001", 60n, "0.6"],
    [1e21, 1n, "100000000000000000000000"],
    ["1e-20", 1n, undefined],
    [-1, 1n, undefined],
    ["", 1n, undefined],
    ["two", 1n, undefined],
    [NaN, 1n, undefined],
    [Infinity, 1n, undefined],
    [null, 1n, undefined],
    ["1e9999", 1n, undefined],
  ])("%p dollars for one, times %p, are %p credits", (dollars, factor, credits) => {
    expect(creditsOf(dollars, factor)).toBe(credits as string);
  });

  test("a price of a million digits is none", () => {
    expect(creditsOf("9".repeat(1_000_000), 1n)).toBeUndefined();
  });
});

describe("a hostile file", () => {
  const bomb = `a: &a [x,x,x,x,x,x,x,x,x,x]\n${Array.from("bcdefghijkl")
    .map(
      (name, at) =>
        `${name}: &${name} [${Array(10)
          .fill(`*${"abcdefghijkl".charAt(at)}`)
          .join(",")}]`,
    )
    .join("\n")}\nmodel_list: *l\n`;
  test.each([
    ["that is no YAML", "model_list: [\n", /config\.yaml:\d+ is not YAML/],
    ["of aliases that multiply", bomb, /is not YAML: Excessive aliasing|more than 100000 values/],
    [
      "that contains itself",
      "model_list: &m\n  - &x { model_name: a, litellm_params: *m }\n",
      /more than 100000 values/,
    ],
    ["nested too deeply", `model_list: ${"[".repeat(50_000)}${"]".repeat(50_000)}`, /is not YAML/],
    ["of many values", `model_list: [${"1,".repeat(200_000)}1]`, /more than 100000 values/],
    ["too large", `# ${"x".repeat(1_100_000)}\nmodel_list: []`, /has \d+ bytes; expected at most 1048576/],
    ["that is empty", "", /expected a mapping with model_list/],
    ["that is a list", "- model_list", /expected a mapping with model_list/],
    ["of another kind", "services: {}", /expected a mapping with model_list/],
  ])("is rejected with one sentence: %s", (_what, text, expected) => {
    expect(() => convert(text)).toThrow(expected);
  });

  test.each([
    [
      "of thousands of keys for one server",
      (at: number) =>
        `  - { model_name: m${at}, litellm_params: { model: openai/x, api_base: "http://h/v1", api_key: k${at} } }\n`,
    ],
    [
      "of thousands of references",
      (at: number) =>
        `  - { model_name: m${at}, litellm_params: { model: openai/x, api_base: "http://h/v1", api_key: os.environ/K${at}_KEY } }\n`,
    ],
  ])("%s is read in seconds", (_what, entry) => {
    const { models, variables } = convert(
      `model_list:\n${Array.from({ length: 4_000 }, (_, at) => entry(at)).join("")}`,
    );
    expect([models.length, new Set(variables).size]).toEqual([4_000, 4_000]);
  });

  test("with lines that look like lists without an end is read in seconds", () => {
    const { models } = convert(
      `text: a\n${"  [ b\n".repeat(150_000)}model_list:\n  - { model_name: a, litellm_params: { model: openai/gpt-4o } }\n`,
    );
    expect(models).toEqual(["a"]);
  });

  test("with wrong types becomes notes", () => {
    const { models, reasons } = convert(`model_list:
  - 7
  - { model_name: 8, litellm_params: { model: openai/gpt-4o } }
  - { model_name: a, litellm_params: text }
  - { model_name: b, litellm_params: { model: [openai/gpt-4o] } }
  - { model_name: c, litellm_params: { model: openai/gpt-4o, api_base: "https://user:canary@host/v1" } }
  - { model_name: d, litellm_params: { model: openai/x, api_base: "file:///etc/passwd" } }
  - { model_name: e, litellm_params: { model: constructor/x } }
  - { model_name: __proto__, litellm_params: { model: openai/gpt-4o, constructor: 1 }, model_info: { mode: toString } }
  - { model_name: "///", litellm_params: { model: openai/gpt-4o } }
  - { model_name: g, litellm_params: { model: openai/gpt-4o, rpm: many, weight: -3, input_cost_per_token: free } }
litellm_settings: [cache]
router_settings: { model_group_alias: [a], fallbacks: { a: b } }
credential_list: none
general_settings: 1
`);
    expect(models).toEqual(["g"]);
    expect(reasons.length).toBeGreaterThan(12);
    expect(reasons.join()).not.toMatch(/canary|passwd/);
    expect(reasons).toContainEqual(expect.stringContaining("expected US dollars") as string);
  });
});

describe("the command", () => {
  const { directory, remove } = temporaryDirectory();
  afterAll(remove);
  const config = join(directory, "config.yaml");
  writeFileSync(config, BALANCED);

  test("writes a file that catalogue check accepts, and does not overwrite it", async () => {
    const out = join(directory, "catalogue.yaml");
    const said = await admin(["import", "litellm", config, "--out", out]);
    expect(said).toMatchObject({ code: 0, stderr: "" });
    expect(said.stdout).toContain(`${out}: 5 models`);
    expect(said.stdout).toContain("fallback-chains set vllm-models gpt-4o --workspace <workspace>");
    expect(said.stdout).toContain("OPENAI_TEAM_API_KEY");
    expect(said.stdout).not.toContain("canary");
    expect(readFileSync(out, "utf8")).not.toContain("canary");
    const check = await admin(["catalogue", "check", out, "--json"], { ANTHROPIC_API_KEY: "set" });
    expect(check).toMatchObject({ code: 0, stderr: "" });
    expect(JSON.parse(check.stdout)).toMatchObject({ is_valid: true });
    const size = statSync(out).size;
    const again = await admin(["import", "litellm", config, "--out", out]);
    expect(again).toMatchObject({ code: 1, stdout: "" });
    expect(again.stderr).toContain("it exists");
    expect(statSync(out).size).toBe(size);
  });

  test("prints a file without --out, whose notes are comments", async () => {
    const said = await admin(["import", "litellm", config]);
    expect(said.code).toBe(0);
    const catalogue = catalogueOf(OURS, [{ name: "stdout", text: said.stdout }], SET);
    expect(catalogue.models.has("vllm-models")).toBeTrue();
    expect(said.stdout).toContain("#   52  general_settings.master_key");
    const json = JSON.parse((await admin(["import", "litellm", config, "--json"])).stdout) as Record<string, unknown>;
    expect(json).toMatchObject({
      out: null,
      models: expect.arrayContaining(["gpt-4o"]) as string[],
      chains: [{ model: "vllm-models" }],
    });
  });

  test("exits with 1 if nothing can be served or read, and writes nothing", async () => {
    const empty = join(directory, "empty.yaml");
    writeFileSync(empty, "model_list: [{ model_name: a, litellm_params: { model: bedrock/x } }]\n");
    const out = join(directory, "none.yaml");
    const said = await admin(["import", "litellm", empty, "--out", out]);
    expect(said.code).toBe(1);
    expect(said.stdout).toContain("no model of");
    expect(() => statSync(out)).toThrow();
    const absent = await admin(["import", "litellm", join(directory, "absent.yaml")]);
    expect(absent).toMatchObject({ code: 1, stdout: "" });
    expect(absent.stderr).toMatch(/^sluice: .*absent\.yaml cannot be read: [^\n]+$/);
    expect((await admin(["import", "litellm", directory])).stderr).toContain("it is no file");
    expect((await admin(["import", "litellm"])).code).toBe(2);
  });
});
