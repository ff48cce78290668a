/** The local servers of the three dialects behind one face, and a model of theirs as a catalogue lists it. */
import { startAnthropicServer } from "../providers/anthropic/server.ts";
import { startGeminiServer } from "../providers/gemini/server.ts";
import type { Upstream } from "../providers/engine/upstream.ts";
import { startOpenAiServer } from "../providers/openai-compatible/server.ts";
import type { RawServerOptions } from "../providers/raw-server.ts";

export const FAMILIES = ["openai", "anthropic", "gemini"] as const;
export type FamilyName = (typeof FAMILIES)[number];

export type Upstreams = Readonly<Record<FamilyName, Upstream>>;

export function startUpstreams(options: RawServerOptions = {}): Upstreams {
  return {
    openai: startOpenAiServer(options),
    anthropic: startAnthropicServer(options),
    gemini: startGeminiServer(options),
  };
}

/** Answers 429 without a word of when to come back. */
export const BUSY: Readonly<Record<FamilyName, string>> = {
  openai: "rate-limit",
  anthropic: "rate-limit",
  gemini: "rate-limit-bare",
};

/** A model of the bed's catalogue. */
export interface BedModel {
  readonly slug: string;
  /** `provider/model`: one of the families, or a provider of the bed's own. */
  readonly sources: readonly string[];
  /** Credits of a million output tokens; a million of input cost half. */
  readonly outputPrice?: number;
  readonly outputTokensMax?: number;
  /** Serves embeddings in place of chat. */
  readonly embeds?: boolean;
}

/** A model for each behaviour, `family-behaviour`, served by that family's server alone. */
export function modelsOf(family: FamilyName, behaviours: readonly string[]): BedModel[] {
  return behaviours.map((name) => ({ slug: `${family}-${name}`, sources: [`${family}/mock-${name}`] }));
}

/** Its entry in a catalogue. */
export function modelYaml({ slug, sources, outputPrice = 200, outputTokensMax = 16_384, embeds }: BedModel): string {
  const listed = sources.map((source) => {
    const [provider, ...model] = source.split("/");
    return `{ provider: ${PROVIDER_IDS[provider ?? ""] ?? provider}, model: ${model.join("/")} }`;
  });
  const price = `input_per_million: "${outputPrice / 2}"`;
  const kind = embeds
    ? `modality: embedding
    supports_embeddings: true
    embedding: { dimensions: 8 }
    pricing: { unit: per_token, ${price} }`
    : `modality: text
    supports_chat: true
    supports_streaming: true
    supports_tools: true
    max_output_tokens: ${outputTokensMax}
    pricing: { unit: per_token, ${price}, output_per_million: "${outputPrice}" }`;
  return `
  - slug: ${slug}
    owned_by: test
    created: 1767225600
    max_context_tokens: ${embeds ? 8192 : 2_000_000}
    ${kind}
    price_source: { source: made up for tests, date: "2026-01-01" }
    allowed_params: { supported_inputs: [text] }
    sources: [${listed.join(", ")}]
`;
}

/** Catalogue ids, apart from the real providers' own. */
export const PROVIDER_IDS: Readonly<Record<string, string>> = {
  openai: "mock",
  anthropic: "mock-anthropic",
  gemini: "mock-gemini",
};
