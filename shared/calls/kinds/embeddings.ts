/** Checks an embeddings call against its model's declarations and calculates its maximum cost. Pure. */
import type { EmbeddingsRequest } from "#schemas/generated/types.ts";
import { type EmbeddingModel, isEmbeddingModel } from "#shared/calls/model.ts";
import { parse } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";
import type { JsonBounds } from "#shared/json/parse.ts";
import { boundChat } from "#shared/calls/pricing/price.ts";
import { NO_USAGE } from "#shared/calls/pricing/usage.ts";
import { countInputs } from "#shared/tokens/count-inputs.ts";

import type { CallBound } from "./call-bound.ts";
import { withFirstModel } from "./first-model.ts";
import type { Kind } from "./kind.ts";

/** Maximum size of a response, in bytes: 2,048 vectors of 3,072 numbers in base64. It is below NATS' buffer for a reader (64 MB). */
const EMBEDDINGS_ANSWER_BYTES_MAX = 32 * 1_048_576;

/** A text, or the list of its token ids. */
export type EmbeddingInput = string | readonly number[];

/** Number of special tokens per text. Some models count one at each end. */
const MARKS_PER_TEXT = 2;

/** Limits for the JSON of the body. Numbers are not limited, because each of thousands of inputs may be a list of thousands of tokens. */
export const EMBEDDINGS_BOUNDS: JsonBounds = { countsNumbers: false };

export const EMBEDDINGS: Kind<EmbeddingsRequest> = {
  name: "embeddings",
  endpoint: "/v1/embeddings",
  pool: "chat",
  afterCrash: "report_lost",
  keepsFiles: false,
  keepsRecord: false,
  read: (body) => parse("EmbeddingsRequest", withFirstModel(body)),
  nouns: { one: "an embedding model", all: "embedding models" },
  isOfKind: isEmbeddingModel,
  check: (request, model) => ({ bound: checkEmbeddings(request, model as EmbeddingModel) }),
  async foresee({ input }, model, _, { tokenizer, slices }) {
    return { ...NO_USAGE, input: await countInputs(tokenizer, inputsOf(input), model.max_context_tokens, slices) };
  },
  route: {
    operationId: "createEmbeddings",
    summary: "Create embeddings",
    description:
      "Creates embedding vectors, compatible with OpenAI's embeddings. Calls with more inputs than the provider " +
      "accepts are split; the client receives one response.",
    tag: "Embeddings",
    request: { schema: "EmbeddingsRequest", example: { model: "sandbox-embed", input: "a cup of tea" } },
    answers: "live",
    answer: { description: "The embedding vectors", schema: "Embeddings", headers: ["x-cache"] },
    codes: ["context_length_exceeded"],
    bounds: EMBEDDINGS_BOUNDS,
  },
};

/**
 * Checks an embeddings call and returns its maximum usage.
 * @throws ApiError 400 that names the parameter which the model does not support
 */
export function checkEmbeddings(request: EmbeddingsRequest, model: EmbeddingModel): CallBound {
  checkDimensions(request, model);
  checkOneKind(request.input);
  const inputs = inputsOf(request.input);
  const { inputs_max: inputsMax } = model.embedding;
  if (inputs.length > inputsMax) {
    throw refusal(
      "unsupported_value",
      "input",
      `This model accepts at most ${inputsMax} inputs, got ${inputs.length}.`,
    );
  }
  for (const [at, input] of inputs.entries()) {
    if (typeof input !== "string") checkTokens(input, model, isList(request.input) ? `input[${at}]` : "input");
  }
  checkAnswerSize(request, model, inputs.length);
  let inputTokens = 0;
  for (const input of inputs) inputTokens += inputTokensMax(input, model);
  const holdNano = boundChat(model.price, {
    inputTokens,
    outputTokens: 0,
    hasAudioInput: false,
    hasImageInput: false,
    hasAudioOutput: false,
  });
  return { holdNano, outputTokensMax: 0, mayExceed: false, tokensMax: inputTokens };
}

/**
 * Returns the request for a fallback model, with the vector length of the original model.
 * @throws ApiError if the input consists of token ids and the fallback has another vocabulary
 */
export function standInRequest(
  request: EmbeddingsRequest,
  { embedding: asked }: EmbeddingModel,
  { embedding }: EmbeddingModel,
): EmbeddingsRequest {
  const hasTokens = inputsOf(request.input).some((input) => typeof input !== "string");
  if (hasTokens && embedding.vocabulary !== asked.vocabulary) {
    throw refusal("unsupported_value", "input", "Token numbers are valid for the requested model only.");
  }
  return { ...request, dimensions: request.dimensions ?? asked.dimensions };
}

/** Returns the inputs of a checked request, one for each vector. */
export function inputsOf(input: EmbeddingsRequest["input"]): readonly EmbeddingInput[] {
  return isList(input) ? (input as EmbeddingInput[]) : [input as EmbeddingInput];
}

/**
 * Returns true if the input is a list of several inputs, instead of one text or its tokens. Error messages then contain the index of the
 * input.
 */
export function isList(input: EmbeddingsRequest["input"]): boolean {
  return Array.isArray(input) && typeof input[0] !== "number";
}

/** Returns the maximum number of tokens of an input. A token has at least one byte, and a model reads no more tokens than its limit. */
export function inputTokensMax(input: EmbeddingInput, model: EmbeddingModel): number {
  const tokens = typeof input === "string" ? Buffer.byteLength(input) + MARKS_PER_TEXT : input.length;
  return Math.min(tokens, model.max_context_tokens);
}

function checkDimensions({ dimensions }: EmbeddingsRequest, { embedding }: EmbeddingModel): void {
  if (dimensions === undefined) return;
  const { dimensions_min: min, dimensions_max: max } = embedding;
  if (dimensions >= min && dimensions <= max) return;
  const expected = min === max ? `vectors of ${max} numbers only` : `vectors of ${min} to ${max} numbers`;
  throw refusal("unsupported_value", "dimensions", `This model returns ${expected}, got dimensions ${dimensions}.`);
}

const KIND_NOUNS = { string: "a string", number: "a whole number", array: "an array" } as const;

/** Checks that all items of a list have the same kind. The schema accepts a text, a token or an array for each item. */
function checkOneKind(input: EmbeddingsRequest["input"]): void {
  if (typeof input === "string") return;
  const first = kindOf(input[0]);
  for (const [at, item] of input.entries()) {
    const kind = kindOf(item);
    if (kind === first) continue;
    const message = `Expected input[${at}] to be ${KIND_NOUNS[first]} like input[0], got ${KIND_NOUNS[kind]}.`;
    throw refusal("invalid_request", `input[${at}]`, message);
  }
}

function kindOf(item: unknown): keyof typeof KIND_NOUNS {
  return typeof item === "string" ? "string" : typeof item === "number" ? "number" : "array";
}

function checkTokens(tokens: readonly number[], model: EmbeddingModel, param: string): void {
  const { vocabulary } = model.embedding;
  if (vocabulary === undefined) {
    throw refusal("unsupported_value", param, "This model accepts text, not token numbers.");
  }
  if (tokens.length > model.max_context_tokens) {
    const message = `This model accepts at most ${model.max_context_tokens} tokens per input, got ${tokens.length}.`;
    throw refusal("context_length_exceeded", param, message);
  }
  const at = tokens.findIndex((token) => token >= vocabulary);
  if (at === -1) return;
  const message = `Expected token numbers from 0 to ${vocabulary - 1}, got ${tokens[at]}.`;
  throw refusal("unsupported_value", `${param}[${at}]`, message);
}

/** Characters that a number takes in a response, including the comma: a double as text, or four bytes in base64. */
const CHARACTERS = { float: 22, base64: 16 / 3 } as const;

function checkAnswerSize(request: EmbeddingsRequest, { embedding }: EmbeddingModel, inputs: number): void {
  const format = request.encoding_format ?? "float";
  const bytes = Math.ceil(inputs * (request.dimensions ?? embedding.dimensions) * CHARACTERS[format]);
  const max = EMBEDDINGS_ANSWER_BYTES_MAX;
  if (bytes <= max) return;
  const advice = format === "float" ? "send fewer inputs, or ask for base64" : "send fewer inputs";
  const message = `The vectors would take about ${bytes} bytes, more than the ${max} of one response: ${advice}.`;
  throw refusal("unsupported_value", "input", message);
}

function refusal(
  code: "unsupported_value" | "invalid_request" | "context_length_exceeded",
  param: string,
  message: string,
): ApiError {
  return new ApiError(code, message, { param });
}
