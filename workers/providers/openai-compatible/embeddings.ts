/** Embeddings adapter for OpenAI's wire format. Source: platform.openai.com/docs/api-reference/embeddings. */
import { classifyAnswer, classifyErrorMember } from "./errors.ts";
import { type Endpoint, post, type JsonRequest } from "../http.ts";
import { parseObject } from "../json.ts";
import { type EmbeddingsCall, type EmbeddingsProvider, type EmbeddingsResult, ProviderError } from "../provider.ts";
import { readOpenAiUsage } from "./usage.ts";

export function createOpenAiEmbeddings(endpoint: Endpoint): EmbeddingsProvider {
  return {
    async embed(call) {
      const { status, headers, text } = await post(endpoint, embeddingsRequest(call), call.signal);
      if (status < 200 || status > 299) throw sharpened(classifyAnswer(status, headers, text));
      return embeddingsResult(text, call.inputs.length);
    },
  };
}

/** Builds the request. It asks for base64, which is exact and a fourth of the size. Servers without base64 return numbers. */
function embeddingsRequest(call: Omit<EmbeddingsCall, "signal">): JsonRequest {
  const body: Record<string, unknown> = {
    model: call.sourceModel,
    input: call.inputs,
    encoding_format: "base64",
    ...(call.dimensions === undefined ? {} : { dimensions: call.dimensions }),
    ...(call.user === undefined ? {} : { user: call.user }),
  };
  call.adapt(body);
  return { path: "/embeddings", body: JSON.stringify(body) };
}

/**
 * Parses the text of a response into vectors.
 * @throws ProviderError `failed` unless the text contains one vector per input
 */
function embeddingsResult(text: string, inputs: number): EmbeddingsResult {
  const answer = parseObject(text);
  if (!answer) throw new ProviderError("failed", "the answer is not a JSON object");
  if (answer["error"]) throw sharpened(classifyErrorMember(answer["error"]));
  const data = answer["data"];
  if (!Array.isArray(data) || data.length !== inputs) {
    throw new ProviderError("failed", `expected ${inputs} vectors, got ${Array.isArray(data) ? data.length : "none"}`);
  }
  const vectors = Array.from({ length: inputs }, (): Float32Array | undefined => undefined);
  for (const [at, item] of (data as (Record<string, unknown> | null)[]).entries()) {
    const index = item?.["index"] ?? at;
    if (typeof index !== "number" || !(index in vectors) || vectors[index] !== undefined) {
      throw new ProviderError("failed", "the vectors are not numbered one by one");
    }
    vectors[index] = readVector(item?.["embedding"]);
  }
  return { vectors: vectors as Float32Array[], usage: readOpenAiUsage(answer["usage"]) };
}

function readVector(value: unknown): Float32Array {
  const vector = typeof value === "string" ? fromBase64(value) : fromNumbers(value);
  if (vector === undefined || vector.length === 0) throw new ProviderError("failed", "an embedding is no vector");
  for (const number of vector) {
    if (!Number.isFinite(number)) throw new ProviderError("failed", "a vector holds what is no number");
  }
  return vector;
}

/** Decodes a base64 vector of little-endian floats. Little-endian is the byte order of all supported machines. */
function fromBase64(text: string): Float32Array | undefined {
  try {
    const bytes = Uint8Array.fromBase64(text);
    return bytes.length % 4 === 0 ? new Float32Array(bytes.buffer) : undefined;
  } catch {
    return undefined;
  }
}

function fromNumbers(value: unknown): Float32Array | undefined {
  if (!Array.isArray(value) || value.some((number) => typeof number !== "number")) return undefined;
  return Float32Array.from(value as number[]);
}

const TOO_LONG = /maximum (?:context|input) length|\bmax(?:imum)? \d+ tokens|too many tokens/i;
const NAMED_INPUT = /\binput\[\d{1,5}\]/;

/** Adds an error code and the parameter to OpenAI's error for a too long input. OpenAI's error has neither. */
function sharpened(error: ProviderError): ProviderError {
  if (error.kind !== "rejected") return error;
  const isTooLong = error.code === "context_length_exceeded" || TOO_LONG.test(error.detail);
  if (!isTooLong) return error;
  return new ProviderError("rejected", error.detail, {
    code: "context_length_exceeded",
    param: NAMED_INPUT.exec(error.detail)?.[0] ?? error.param,
    ...(error.status === undefined ? {} : { status: error.status }),
    cause: error,
  });
}
