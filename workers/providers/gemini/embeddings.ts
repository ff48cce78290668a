/** Embeddings adapter of Gemini. Source: ai.google.dev/api/embeddings. */
import { NO_USAGE } from "#shared/calls/pricing/usage.ts";

import { type Endpoint, post } from "../http.ts";
import { isMembers, type Members, parseObject } from "../json.ts";
import { type ChatUsage, type EmbeddingsCall, type EmbeddingsProvider, ProviderError } from "../provider.ts";

import { classifyAnswer, classifyErrorMember } from "./errors.ts";
import { unsupported } from "./rejected.ts";
import { readUsage } from "./usage.ts";

/** Maximum number of texts of one `:batchEmbedContents` request. */
const BATCH_MAX = 100;

/** Sends the texts of one call in sequential requests of at most a hundred texts. */
export function createGeminiEmbeddings(endpoint: Endpoint): EmbeddingsProvider {
  return {
    async embed(call) {
      const entries = call.inputs.map((input) => entryOf(input, call));
      const vectors: Float32Array[] = [];
      let usage: ChatUsage = NO_USAGE;
      for (let at = 0; at < entries.length; at += BATCH_MAX) {
        const answer = await ask(endpoint, entries.slice(at, at + BATCH_MAX), call);
        vectors.push(...answer.vectors);
        usage = plus(usage, answer.usage);
      }
      return { vectors, usage: usage === NO_USAGE ? null : usage };
    },
  };
}

interface Batch {
  readonly vectors: readonly Float32Array[];
  readonly usage: ChatUsage;
}

async function ask(endpoint: Endpoint, entries: readonly Members[], call: EmbeddingsCall): Promise<Batch> {
  const model = `/models/${encodeURIComponent(call.sourceModel)}`;
  const isSingle = entries.length === 1;
  const request = isSingle
    ? { path: `${model}:embedContent`, body: JSON.stringify(entries[0]) }
    : { path: `${model}:batchEmbedContents`, body: JSON.stringify({ requests: entries }) };
  const { status, headers, text } = await post(endpoint, request, call.signal);
  if (status < 200 || status > 299) throw classifyAnswer(status, headers, text);
  const answer = parseObject(text);
  if (!answer) throw new ProviderError("failed", "the answer is not a JSON object");
  if (answer["error"]) throw classifyErrorMember(answer["error"]);
  const found: unknown = isSingle ? [answer["embedding"]] : answer["embeddings"];
  if (!Array.isArray(found) || found.length !== entries.length) {
    throw new ProviderError("failed", "the answer has not one vector for each text");
  }
  return { vectors: found.map((value) => vectorOf(value, call.dimensions)), usage: readUsage(answer["usageMetadata"]) };
}

/**
 * Builds the request entry of one text, and applies the source's overrides. Requests for one text and for several texts use the same entry.
 * @throws ProviderError `rejected` for token numbers instead of text
 */
function entryOf(input: string | readonly number[], { sourceModel, dimensions, adapt }: EmbeddingsCall): Members {
  if (typeof input !== "string") {
    throw unsupported("input", "This model accepts text only, not token numbers.");
  }
  const entry: Members = {
    model: `models/${sourceModel}`,
    content: { parts: [{ text: input }] },
    ...(dimensions === undefined ? {} : { outputDimensionality: dimensions }),
  };
  adapt(entry);
  return entry;
}

function vectorOf(value: unknown, dimensions: number | undefined): Float32Array {
  const values: unknown = isMembers(value) ? value["values"] : undefined;
  if (!Array.isArray(values) || values.length === 0 || values.length !== (dimensions ?? values.length)) {
    throw new ProviderError("failed", "a vector is missing or has another length than was asked for");
  }
  const vector = Float32Array.from(values as number[]);
  if (!values.every((number) => typeof number === "number") || !vector.every(Number.isFinite)) {
    throw new ProviderError("failed", "a vector holds what is no number");
  }
  return dimensions === undefined ? vector : unit(vector);
}

/** Normalizes a vector to length one, which comparisons assume. Google does not normalize vectors after truncating them. */
function unit(vector: Float32Array): Float32Array {
  const length = Math.sqrt(vector.reduce((sum, number) => sum + number * number, 0));
  return length === 0 ? vector : vector.map((number) => number / length);
}

/** Adds the usage of two requests. Returns null if one of them has no report, and "impossible" if one report cannot be true. */
function plus(sum: ChatUsage, next: ChatUsage): ChatUsage {
  if (sum === "impossible" || next === "impossible") return "impossible";
  if (sum === null || next === null) return null;
  return { ...NO_USAGE, input: sum.input + next.input + next.cachedInput + next.audioInput + next.imageInput };
}
