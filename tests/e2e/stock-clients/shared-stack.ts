/** One running service for all stories of this folder: starting one for each takes longer than most of them. */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { type OpenAiServer, startOpenAiServer } from "#tests/providers/openai-compatible/server.ts";
import { temporaryDirectory } from "#tests/support/infrastructure.ts";
import { startStack, type Stack } from "#tests/support/stack.ts";

export const FILE_BYTES_MAX = 20 * 1_048_576;
export const STORAGE_BYTES_MAX = 60 * 1_048_576;

export interface SharedStack extends Stack {
  /** Serves the models `upstream-…`, which take two inputs a request. */
  readonly upstream: OpenAiServer;
}

const catalogueOf = (url: string): string => `
providers:
  - { id: mock, family: openai-compatible, base_url: "${url}" }
models:
  - &embed
    slug: upstream-embed
    modality: embedding
    owned_by: mock
    created: 1700000000
    supports_embeddings: true
    max_context_tokens: 512
    embedding: { dimensions: 8, source_inputs_max: 2 }
    pricing: { unit: per_token, input_per_million: "100" }
    sources: [{ provider: mock, model: mock-ok }]
  - <<: *embed
    slug: upstream-floats
    sources: [{ provider: mock, model: mock-ok, drop_params: [encoding_format] }]
  - <<: *embed
    slug: upstream-down
    sources: [{ provider: mock, model: mock-server-error }]
  - <<: *embed
    slug: upstream-silent
    sources: [{ provider: mock, model: mock-silent }]
  - &long
    slug: upstream-long
    modality: text
    owned_by: mock
    created: 1700000000
    supports_chat: true
    supports_streaming: true
    max_context_tokens: 128000
    max_output_tokens: 32000
    pricing: { unit: per_token, input_per_million: "0", output_per_million: "10000" }
    allowed_params: { supported_inputs: [text] }
    sources: [{ provider: mock, model: long }]
  - <<: *long
    slug: upstream-free
    pricing: { unit: per_token, input_per_million: "0", output_per_million: "0" }
  - slug: upstream-maskless
    modality: image
    owned_by: mock
    created: 1700000000
    pricing: { unit: per_image, image_price: "1" }
    allowed_params: { accepts_input_image: true }
    sources: [{ provider: mock, model: mock-ok, drop_params: [mask] }]
`;

let started: Promise<SharedStack> | undefined;

export function sharedStack(): Promise<SharedStack> {
  started ??= start();
  return started;
}

async function start(): Promise<SharedStack> {
  const { directory, remove } = temporaryDirectory();
  const upstream = startOpenAiServer();
  const catalogue = join(directory, "catalogue.yaml");
  writeFileSync(catalogue, catalogueOf(upstream.url));
  const stack = await startStack({
    pools: ["chat", "image"],
    env: {
      SLUICE_CALL_TOTAL_MS: "20000",
      SLUICE_CATALOGUE: catalogue,
      SLUICE_FILE_BYTES_MAX: String(FILE_BYTES_MAX),
      SLUICE_STORAGE_BYTES_MAX: String(STORAGE_BYTES_MAX),
    },
  });
  const stop = async (): Promise<void> => {
    await stack.stop();
    upstream.close();
    remove();
  };
  return { ...stack, upstream, stop };
}
