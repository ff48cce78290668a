/** Catalogues from texts, without files: what the tests of this folder share. */
import { buildCatalogue } from "#shared/calls/catalogue/build.ts";
import type { Catalogue, Surroundings } from "#shared/calls/model.ts";
import { CatalogueError, sentence } from "#shared/calls/catalogue/faults.ts";
import { readLayer } from "#shared/calls/catalogue/layer.ts";
import { mergeLayers } from "#shared/calls/catalogue/merge.ts";

export const EVERYTHING_ON: Surroundings = { sandbox: true, providerKey: () => "key" };

/** A provider and a whole chat model on it: the base that tests change. */
export const BASE = `
providers:
  - id: acme
    family: openai-compatible
    base_url: https://acme.example/v1
    api_key_env: ACME_API_KEY
  - id: play
    family: sandbox
models:
  - slug: one
    modality: text
    owned_by: acme
    created: 1700000000
    supports_chat: true
    supports_streaming: true
    max_context_tokens: 1000
    max_output_tokens: 500
    pricing:
      unit: per_token
      input_per_million: "25"
      output_per_million: "100"
      cached_input_per_million: "2.5"
    price_source: { source: a price list, date: "2026-07-02" }
    allowed_params: { supported_inputs: [text], default_params: { temperature: 1, nested: { a: 1, b: 2 } } }
    sources:
      - provider: acme
        model: acme-one
      - provider: play
        model: sandbox-chat
`;

/** One more chat model behind those of `BASE`. @param sources as in a catalogue */
export function chatModel(slug: string, sources: string): string {
  return `  - slug: ${slug}
    modality: text
    owned_by: acme
    created: 1700000000
    supports_chat: true
    max_context_tokens: 1000
    max_output_tokens: 500
    pricing: { unit: per_token, input_per_million: "1", output_per_million: "1" }
    sources: [${sources}]
`;
}

/** The catalogue of texts laid over each other; they are called 0.yaml, 1.yaml and so on. */
export function build(texts: readonly string[], surroundings: Surroundings = EVERYTHING_ON): Catalogue {
  return buildCatalogue(mergeLayers(texts.map((text, index) => readLayer(`${index}.yaml`, text))), surroundings);
}

/** The sentences with which texts are refused; empty when they are not. */
export function refusals(...texts: readonly string[]): readonly string[] {
  try {
    build(texts);
    return [];
  } catch (error) {
    if (error instanceof CatalogueError) return error.faults.map(sentence);
    throw error;
  }
}
