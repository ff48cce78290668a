/** A catalogue with embedding models, for tests of what such models take. */
import { type Catalogue, type EmbeddingModel, isEmbeddingModel } from "#shared/calls/model.ts";
import { BASE, build } from "#tests/shared/calls/catalogue/build-catalogue.ts";

/** 1 credit a million tokens: 1,000 nano-credits each. */
const MODELS = `
models:
  - &embed
    slug: embed
    modality: embedding
    owned_by: acme
    created: 1700000000
    supports_embeddings: true
    max_context_tokens: 20
    embedding: { dimensions: 8, dimensions_min: 2, dimensions_max: 16, inputs_max: 5, vocabulary: 1000 }
    pricing: { unit: per_token, input_per_million: "1" }
    sources: [{ provider: acme, model: acme-embed }, { provider: play, model: sandbox-embed }]
  - <<: *embed
    slug: fixed
    embedding: { dimensions: 8 }
  - <<: *embed
    slug: split
    embedding: { dimensions: 8, dimensions_max: 8, source_inputs_max: 2, source_tokens_max: 30 }
  - <<: *embed
    slug: wide
    embedding: { dimensions: 3072, vocabulary: 1000 }
  - <<: *embed
    slug: other
    max_context_tokens: 200
    embedding: { dimensions: 16, dimensions_min: 4, dimensions_max: 16, inputs_max: 5, vocabulary: 2000 }
    pricing: { unit: per_token, input_per_million: "5" }
    sources: [{ provider: acme, model: other }]
  - <<: *embed
    slug: flat
    pricing: { unit: per_request, request_price: "0.25" }
`;

export const EMBEDDING_CATALOGUE: Catalogue = build([BASE, MODELS]);

export function embeddingModel(slug: string): EmbeddingModel {
  const model = EMBEDDING_CATALOGUE.models.get(slug);
  if (model && isEmbeddingModel(model)) return model;
  throw new Error(`no embedding model ${slug}`);
}
