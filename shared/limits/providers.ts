/** Limits on requests to providers, on their answers, and on servers that callers name. */
import { paced } from "#shared/pace.ts";

export const PROVIDERS_LIMITS = {
  /** Held for a chat call that sets no output limit (design part 4). */
  chatDefaultOutputTokens: 8_192,
  /** Output of a chat call that an estimate takes for typical, where the call sets no lower limit. */
  estimateOutputTokens: 512,
  /** Inputs of one embeddings call, as OpenAI has it; a model may take fewer. */
  embeddingInputsMax: 2_048,
  /** Vectors of one answer as text: 2,048 of 3,072 numbers in base64. Below what NATS keeps for a reader (64 MB). */
  embeddingsAnswerBytesMax: 32 * 1_048_576,
  /** Requests that one embeddings call has under way at its source, where it takes more than one. */
  embeddingsParallel: 4,
  /** Usage may follow the finish reason this long; then the stream is taken for whole as it is. */
  afterFinishMs: 2_000,
  /** Fetched media that all calls of a worker hold together; a call that fetches waits until its share is free. */
  inlineProcessBytesMax: 512 * 1_048_576,
  /** A busy source is asked again when it says it will be free within this; else the next one is. */
  providerRetryHintMs: 2_000,
  /** Full jitter of the one retry that has no hint. */
  providerRetryJitterMs: 500,
  /** Repeats of a lone failure: how many a source can save up, what a call that ends well adds, and what time adds. */
  providerRepeats: { tokensMax: 3, tokensPerCall: 0.1, msPerToken: 60_000, sourcesMax: 5_000 },
  /** A call without an answer by then has its provider's address tried: one that cannot be reached fails at once. */
  providerConnectMs: paced(5_000),
  /** One provider answer, after inflation. */
  providerBytesMax: 64 * 1_048_576,
  /** Pieces of parallel tool calls that wait for their turn in an Anthropic stream; no answer of a model is longer. */
  blocksWaitingCharactersMax: 4 * 1_048_576,
  /** One line of a provider's event stream. */
  sseLineBytesMax: 4 * 1_048_576,
  /** A server that callers named and that sends nothing of its answer for this long is given up. */
  outboundStallMs: paced(10_000),
  /** An address that callers name: servers take about as much, and signed ones of object stores have 2,000. */
  outboundUrlCharactersMax: 8_000,
  /** Media servers redirect to a store or a mirror, seldom further. */
  outboundRedirectsMax: 3,
  /** One image or file that we fetch for a dialect that takes bytes only; providers refuse larger ones. */
  inlineItemBytesMax: 20 * 1_048_576,
  /** All of one call, each counted as often as it is sent: a request grows by this much in memory. */
  inlineBytesMax: 50 * 1_048_576,
  /** Different addresses of one call, and how many are fetched at once: a call is no tool to flood others with. */
  inlineAddressesMax: 100,
  inlineParallel: 4,
  /** Fetching them all. Well under the first-byte deadline: a caller's slow server is not the provider's fault. */
  inlineMs: 30_000,
  /** Models tried after the one asked for: more would outlast any client's patience. */
  fallbacksMax: 10,
} as const;
