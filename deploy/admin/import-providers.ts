/** Converts providers of a LiteLLM configuration to providers of a catalogue. */
import type { ProviderEntry } from "#schemas/generated/types.ts";

import { type Members, type Notes, ownOf, textIn } from "./import-notes.ts";

/** Id of the shipped provider, by LiteLLM's model prefix. */
const SHIPPED: Readonly<Record<string, string>> = {
  openai: "openai",
  anthropic: "anthropic",
  groq: "groq",
  mistral: "mistral",
  deepseek: "deepseek",
  together_ai: "together",
  openrouter: "openrouter",
  fireworks_ai: "fireworks",
  xai: "xai",
  cerebras: "cerebras",
  gemini: "google",
  fal_ai: "fal",
  replicate: "replicate",
  elevenlabs: "elevenlabs",
  deepgram: "deepgram",
};

/** Usual address of OpenAI-compatible services, by LiteLLM's model prefix. Null when LiteLLM has no default address either. */
const COMPATIBLE: Readonly<Record<string, string | null>> = {
  custom_openai: null,
  deepinfra: "https://api.deepinfra.com/v1/openai",
  hosted_vllm: null,
  hyperbolic: "https://api.hyperbolic.xyz/v1",
  litellm_proxy: null,
  llamafile: "http://localhost:8080/v1",
  lm_studio: null,
  moonshot: "https://api.moonshot.ai/v1",
  nvidia_nim: "https://integrate.api.nvidia.com/v1",
  ollama: "http://localhost:11434/v1",
  ollama_chat: "http://localhost:11434/v1",
  openai_like: null,
  perplexity: "https://api.perplexity.ai",
  sambanova: "https://api.sambanova.ai/v1",
  vllm: null,
  xinference: null,
};

/** Reasons why no adapter supports a provider, by LiteLLM's model prefix. */
const FOREIGN: Readonly<Record<string, string>> = {
  azure: "Azure's deployment paths are not offered; an api_base that ends with /openai/v1 is",
  azure_ai: "Azure's deployment paths are not offered; an api_base that ends with /openai/v1 is",
  bedrock: "Amazon Bedrock is not offered",
  bedrock_converse: "Amazon Bedrock is not offered",
  sagemaker: "Amazon SageMaker is not offered",
  sagemaker_chat: "Amazon SageMaker is not offered",
  vertex_ai: "chat models of Vertex AI are not offered; use gemini/ with GEMINI_API_KEY",
  "text-completion-openai": "models that continue a text are not offered, chat models are",
  azure_text: "models that continue a text are not offered, chat models are",
};

/** Patterns of model names without a prefix, and the provider that each pattern implies. */
const BY_NAME: readonly (readonly [RegExp, string])[] = [
  [/^(gpt-|chatgpt-|o[134](-|$)|text-embedding-|whisper-|tts-|dall-e-)/, "openai"],
  [/^claude-/, "anthropic"],
  [/^gemini-/, "gemini"],
];

/** Values of `api_key` that are placeholders for no key. */
const NO_KEY = new Set(["", "none", "null", "empty", "anything", "dummy", "fake", "fake-key", "no-key", "not-needed"]);

const VARIABLE = /^[A-Z][A-Z0-9_]*_API_KEY$/;
const REFERENCE = /^os\.environ\//;

export interface Found {
  readonly provider: string;
  /** The provider's name for the model. */
  readonly model: string;
  /** Id of the shipped provider that serves the model. The shipped catalogue has the model's facts and prices. */
  readonly shipped?: string;
  /** Owner of the model, from the prefix of its name if present there. */
  readonly owner: string;
}

export interface Providers {
  /** Returns the provider entries for the catalogue file, without the shipped providers. */
  entries(): readonly ProviderEntry[];
  /** Returns the provider and model of a deployment. Returns undefined and adds a note when the deployment cannot be served. */
  find(params: Members, place: string): Found | undefined;
}

/**
 * Returns a collector of the providers that the configuration uses.
 * @param shipped providers that ship with the service
 * @param named environment variables that the file references; no other key gets a variable with such a name
 */
export function openProviders(
  shipped: ReadonlyMap<string, ProviderEntry>,
  named: ReadonlySet<string>,
  notes: Notes,
): Providers {
  const entries = openEntries(shipped);
  const variables = openVariables(named, notes);
  return {
    entries: entries.all,
    find(params, place) {
      const whole = nameOf(params["model"], `${place}.model`, notes);
      const base = addressOf(params["api_base"] ?? params["base_url"], `${place}.api_base`, notes);
      if (whole === undefined || base === null) return undefined;
      const { prefix, model } = splitName(whole, textIn(params["custom_llm_provider"]), base);
      const key = { text: textIn(params["api_key"]), place: `${place}.api_key` };
      const ours = shipped.get(ownOf(SHIPPED, prefix) ?? "");
      if (ours !== undefined && (base === undefined || base === ours.base_url || ours.family !== "openai-compatible")) {
        const variable = variables.of(key, ours.id, ours.api_key_env);
        const provider = entries.idOf(atAddress(ours, base, variable), ours.id);
        return { provider, model, shipped: ours.id, owner: ours.id };
      }
      const address = serverAddress(prefix, base, `${place}.model`, notes);
      if (address === undefined) return undefined;
      const host = new URL(address).host
        .replaceAll(/[^a-z0-9]+/g, "-")
        .replaceAll(/^-|-$/g, "")
        .slice(0, 60);
      const isUsual = Object.hasOwn(COMPATIBLE, prefix) && base === undefined;
      const variable = variables.of(key, isUsual ? prefix : host, undefined);
      const wanted = { family: "openai-compatible", base_url: address, ...keyed(variable) } as const;
      const owner = prefix === "" || prefix === "openai" ? host : printable(prefix).slice(0, 100);
      return { provider: entries.idOf(wanted, host), model, owner };
    },
  };
}

/**
 * Creates unique names. A name is the stem itself if it is free, otherwise the stem with the first free number. The last number of each
 * stem is stored, because a file may need thousands of names with one stem.
 */
function openNames(taken: Iterable<string>) {
  const names = new Set(taken);
  const counts = new Map<string, number>();
  return {
    /**
     * Returns a new unique name for a stem.
     * @param numbered returns the name for the stem and a number from 2
     */
    of(stem: string, numbered: (count: number) => string): string {
      let count = counts.get(stem) ?? 1;
      let name = count === 1 ? stem : numbered(count);
      while (names.has(name)) {
        count += 1;
        name = numbered(count);
      }
      counts.set(stem, count);
      names.add(name);
      return name;
    },
  };
}

/**
 * Collects the provider entries of the catalogue file. Each combination of adapter family, address and key variable gets one entry, unless
 * a shipped provider has the same combination.
 */
function openEntries(shipped: ReadonlyMap<string, ProviderEntry>) {
  const entries = new Map<string, ProviderEntry>();
  const keyOf = ({ family, base_url, api_key_env }: Omit<ProviderEntry, "id">): string =>
    JSON.stringify([family, base_url, api_key_env]);
  const unique = openNames(shipped.keys());
  return {
    all: (): readonly ProviderEntry[] => [...entries.values()],
    idOf(wanted: Omit<ProviderEntry, "id">, stem: string): string {
      const key = keyOf(wanted);
      const known = entries.get(key) ?? shipped.values().find((entry) => keyOf(entry) === key);
      if (known !== undefined) return known.id;
      const id = unique.of(stem, (count) => `${stem.slice(0, 58)}-${count}`);
      entries.set(key, { id, ...wanted });
      return id;
    },
  };
}

/** Assigns an environment variable to each key reference and each literal key in the file. The keys themselves are never copied. */
function openVariables(named: ReadonlySet<string>, notes: Notes) {
  /** Environment variables that replace the literal keys of the file, by key. */
  const literals = new Map<string, string>();
  const renamed = new Map<string, string>();
  // Two keys never share a variable: a source would be called with the key of another account.
  const unique = openNames(named);

  function ofReference(name: string, place: string): string {
    if (VARIABLE.test(name)) return name;
    const known = renamed.get(name);
    if (known !== undefined) return known;
    const own = unique.of(variableFrom(name), (count) => variableFrom(`${name}_${count}`));
    renamed.set(name, own);
    notes.add(place, `key variables end in _API_KEY: set ${own} to the value of ${printable(name)}`);
    return own;
  }

  return {
    /**
     * Assigns an environment variable to a key and returns the variable's name. Returns `usual` if the configuration contains no key.
     * @param usual key variable of a shipped provider; undefined if there is none
     */
    of(
      { text, place }: { readonly text: string | undefined; readonly place: string },
      stem: string,
      usual: string | undefined,
    ): string | undefined {
      if (text === undefined || NO_KEY.has(text.toLowerCase())) return usual;
      if (REFERENCE.test(text)) return ofReference(text.replace(REFERENCE, ""), place);
      const known = literals.get(text);
      if (known !== undefined) return known;
      const own = unique.of(usual ?? variableFrom(stem), (count) => variableFrom(`${stem}_${count}`));
      literals.set(text, own);
      notes.add(place, `the key in this file is not copied: set ${own} where the service starts`);
      return own;
    },
  };
}

function nameOf(value: unknown, place: string, notes: Notes): string | undefined {
  const name = textIn(value);
  if (name !== undefined && !name.includes("*")) return name;
  const reason =
    name === undefined
      ? "expected the name of a model as text"
      : "a catalogue has no wildcards: name each model. Models that ship with the service are offered once their provider's key is set";
  notes.add(place, reason);
  return undefined;
}

/**
 * Returns a copy of a shipped provider with the configured address and key variable.
 * @param base configured address; undefined: the address of the shipped provider
 * @param variable configured key variable; undefined: the variable of the shipped provider
 */
function atAddress(
  ours: ProviderEntry,
  base: string | undefined,
  variable: string | undefined,
): Omit<ProviderEntry, "id"> {
  const { id: _id, disabled: _disabled, ...entry } = ours;
  const version = /\/v1(beta)?$/.exec(ours.base_url ?? "")?.[0] ?? "";
  const address = base === undefined ? ours.base_url : `${base.replace(/\/v1(beta)?(\/messages)?$/, "")}${version}`;
  return { ...entry, ...(address !== undefined && { base_url: address }), ...keyed(variable) };
}

function keyed(variable: string | undefined): { readonly api_key_env?: string } {
  return variable === undefined ? {} : { api_key_env: variable };
}

/**
 * Returns the address of an OpenAI-compatible server. Returns undefined and adds a note when the address is missing or the server speaks
 * another API.
 */
function serverAddress(prefix: string, base: string | undefined, place: string, notes: Notes): string | undefined {
  const isAzureV1 = prefix.startsWith("azure") && base?.endsWith("/openai/v1") === true;
  const foreign = isAzureV1 ? undefined : ownOf(FOREIGN, prefix);
  const address = base ?? ownOf(COMPATIBLE, prefix) ?? undefined;
  if (foreign === undefined && address !== undefined) {
    return prefix.startsWith("ollama") && !address.endsWith("/v1") ? `${address}/v1` : address;
  }
  const unknown =
    prefix === ""
      ? "its provider cannot be told from its name; write provider/name or api_base"
      : `${printable(prefix)} is no provider of this service; with an api_base it is called as an OpenAI-compatible server`;
  notes.add(place, `not served: ${foreign ?? unknown}`);
  return undefined;
}

/** Splits a model name into its prefix and the name after it. Model names on a server with a custom address may contain slashes. */
function splitName(
  whole: string,
  custom: string | undefined,
  base: string | undefined,
): { prefix: string; model: string } {
  const slash = whole.indexOf("/");
  const first = slash === -1 ? "" : whole.slice(0, slash);
  const isPrefix = Object.hasOwn(SHIPPED, first) || Object.hasOwn(COMPATIBLE, first) || Object.hasOwn(FOREIGN, first);
  if (custom !== undefined) return { prefix: custom, model: first === custom ? whole.slice(slash + 1) : whole };
  if (isPrefix) return { prefix: first, model: whole.slice(slash + 1) };
  if (base !== undefined) return { prefix: "", model: whole };
  if (first !== "") return { prefix: first, model: whole.slice(slash + 1) };
  return { prefix: BY_NAME.find(([pattern]) => pattern.test(whole))?.[1] ?? "", model: whole };
}

/**
 * Returns an address, or undefined if the value is absent. Returns null and adds a note for an unusable address. The note does not repeat
 * the address, because it may contain a key.
 */
function addressOf(value: unknown, place: string, notes: Notes): string | null | undefined {
  if (value === undefined || value === null) return undefined;
  const text = textIn(value)?.replace(/\/+$/, "");
  if (text !== undefined && REFERENCE.test(text)) {
    notes.add(place, "an address cannot come from the environment: write it as base_url of a provider");
    return null;
  }
  const url = text !== undefined && URL.canParse(text) ? new URL(text) : undefined;
  const isPlain =
    url && /^https?:$/.test(url.protocol) && `${url.username}${url.password}${url.search}${url.hash}` === "";
  if (isPlain === true) return text;
  notes.add(place, "expected an http or https URL without credentials, query or fragment");
  return null;
}

/** Converts a name to the name of an API key variable: `OPENAI_KEY_EU` → `OPENAI_KEY_EU_API_KEY`; `AZURE_TOKEN` → `AZURE_API_KEY`. */
function variableFrom(name: string): string {
  const upper = name
    .toUpperCase()
    .replaceAll(/[^A-Z0-9]+/g, "_")
    .replaceAll(/^_+|_+$/g, "");
  const stem = upper.replace(/_?(API_KEY|APIKEY|KEY|TOKEN|SECRET)$/, "");
  return `${/^[A-Z]/.test(stem) ? stem : `MODEL_${stem}`.replace(/_$/, "")}_API_KEY`;
}

/** Returns a name for use in a note: at most 80 characters, on one line. */
export function printable(name: string): string {
  const text = name.replaceAll(/[^\p{L}\p{N}\p{P}\p{S} ]/gu, "");
  return text.length <= 80 ? text : `${text.slice(0, 79)}…`;
}
