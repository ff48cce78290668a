/** The local servers of the three dialects behind one face, and a model of theirs as a catalogue lists it. */
import { startAnthropicServer } from "../providers/anthropic/server.ts";
import { startGeminiServer } from "../providers/gemini/server.ts";
import type { CustomBehaviour, HangBehaviour, ResetBehaviour } from "../providers/openai-compatible/behaviour.ts";
import { type OpenAiServer, type RecordedCall, startOpenAiServer } from "../providers/openai-compatible/server.ts";

export const FAMILIES = ["openai", "anthropic", "gemini"] as const;
export type FamilyName = (typeof FAMILIES)[number];

/** What a server of any family can do for a test. */
export interface Upstream {
  readonly url: string;
  readonly requests: readonly RecordedCall[];
  readonly faults: readonly unknown[];
  /** For the next calls to a model whose name is no behaviour. */
  next(...behaviours: readonly (HangBehaviour | ResetBehaviour | CustomBehaviour)[]): void;
  /** For every other call to such a model. */
  setDefault(behaviour: CustomBehaviour): void;
  /** Resolves with call number `count` (from 1) once it has arrived. */
  received(count: number): Promise<RecordedCall>;
  openSockets(): number;
  close(): void;
}

export interface Upstreams extends Readonly<Record<FamilyName, Upstream>> {
  readonly openai: OpenAiServer;
}

export async function startUpstreams(): Promise<Upstreams> {
  return { openai: await startOpenAiServer(), anthropic: startAnthropicServer(), gemini: await startGeminiServer() };
}

/** What the servers know one fault by. */
export const SILENT: Readonly<Record<FamilyName, string>> = { openai: "silent", anthropic: "hang", gemini: "silent" };
export const SILENT_AFTER_HEAD: Readonly<Record<FamilyName, string>> = {
  openai: "silent-after-head",
  anthropic: "hang-head",
  gemini: "silent-after-head",
};
export const RESET_AFTER_HEAD: Readonly<Record<FamilyName, string>> = {
  openai: "reset-after-head",
  anthropic: "reset-head",
  gemini: "reset-after-head",
};
export const REFUSES: Readonly<Record<FamilyName, string>> = {
  openai: "content-policy",
  anthropic: "content-policy",
  gemini: "blocked",
};
export const REJECTS: Readonly<Record<FamilyName, string>> = {
  openai: "bad-request",
  anthropic: "bad-request",
  gemini: "invalid-argument",
};
export const FAILS: Readonly<Record<FamilyName, string>> = {
  openai: "server-error",
  anthropic: "server-error",
  gemini: "internal",
};
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
