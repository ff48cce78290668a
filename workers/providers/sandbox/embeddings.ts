/**
 * Embedding models of the sandbox. Vectors depend only on the words of a text and are equal on every machine. Texts that share words or
 * parts of words have similar vectors. A shorter vector is the beginning of a longer one.
 */
import { NO_USAGE } from "#shared/calls/pricing/usage.ts";
import { loadTokenizer, type Tokenizer } from "#shared/tokens/tokenizer.ts";

import { type ChatUsage, type EmbeddingsCall, type EmbeddingsProvider } from "../provider.ts";
import { failIfDue, rejected, stopIfAborted, waitForAbort } from "./faults.ts";
import { SANDBOX_EMBEDDING, type SandboxModel, sandboxModel } from "./models.ts";
import { hashText } from "./random.ts";
import { isStopWord } from "./words.ts";

/** Number of characters after which a long call yields to other calls, about 20 ms of computing. */
const CHARACTERS_PER_TURN = 16_384;

export function createSandboxEmbeddings(): EmbeddingsProvider {
  const callsByModel = new Map<string, number>();
  return {
    async embed(call) {
      const { sourceModel, signal, inputs } = call;
      stopIfAborted(signal);
      const model = sandboxModel(sourceModel, "embeddings");
      const calls = (callsByModel.get(sourceModel) ?? 0) + 1;
      callsByModel.set(sourceModel, calls);
      failIfDue(model, { calls });
      if (model.hangs === true) await waitForAbort(signal);
      const dimensions = dimensionsOf(call);
      const tokenizer = await loadTokenizer();
      const known: KnownWords = new Map();
      let tokens = 0;
      let characters = 0;
      const vectors: Float32Array[] = [];
      for (const [at, input] of inputs.entries()) {
        tokens += countTokens(tokenizer, input, at);
        vectors.push(vectorOf(featuresOf(input, known), dimensions));
        characters += input.length;
        if (characters < CHARACTERS_PER_TURN) continue;
        characters = 0;
        await new Promise(setImmediate);
        stopIfAborted(signal);
      }
      return { vectors, usage: reportOf(model, tokens) };
    },
  };
}

function dimensionsOf(call: EmbeddingsCall): number {
  const body: Record<string, unknown> = call.dimensions === undefined ? {} : { dimensions: call.dimensions };
  call.adapt(body);
  const dimensions = body["dimensions"] ?? SANDBOX_EMBEDDING.dimensions;
  const { dimensionsMax } = SANDBOX_EMBEDDING;
  if (Number.isInteger(dimensions) && Number(dimensions) >= 1 && Number(dimensions) <= dimensionsMax) {
    return Number(dimensions);
  }
  throw rejected("unsupported_value", "dimensions", `expected 1 to ${dimensionsMax} dimensions`);
}

/**
 * Returns the number of tokens of an input.
 * @throws ProviderError `rejected` that names the input, when the input exceeds the model's token limit
 */
function countTokens(tokenizer: Tokenizer, input: string | readonly number[], at: number): number {
  const tokens = typeof input === "string" ? tokenizer.count(input) : input.length;
  const { inputTokensMax } = SANDBOX_EMBEDDING;
  if (tokens <= inputTokensMax) return tokens;
  const say = `This model accepts at most ${inputTokensMax} tokens per input, got ${tokens}.`;
  throw rejected("context_length_exceeded", `input[${at}]`, `an input of ${tokens} tokens`, { say });
}

function reportOf(model: SandboxModel, tokens: number): ChatUsage {
  if (model.reports === "no usage") return null;
  return { ...NO_USAGE, input: model.reports === "absurd usage" ? tokens * 1_000 + 100_000 : tokens };
}

/** Weights of features; the key is the hash of the feature. */
type Features = Map<number, number>;

/** Hashes of the parts of each word. They are cached per call, because the texts of a call share most words. */
type KnownWords = Map<string, readonly number[]>;

const WORD = /[\p{L}\p{N}]+/gu;
const WORD_LETTERS_MAX = 64;
const STOP_WORD_WEIGHT = 0.15;
const PAIR_WEIGHT = 0.5;
/** Hash seed for token numbers, which keeps their hashes distinct from those of words. */
const TOKEN_SEED = 3;
/** Total weight of all letter groups of a word. */
const PARTS_WEIGHT = 0.8;

/**
 * Returns the features of an input: words, adjacent words, and groups of three letters, so that forms of a word are similar. Token numbers
 * count as words without letters.
 */
function featuresOf(input: string | readonly number[], known: KnownWords): Features {
  const features: Features = new Map();
  const isText = typeof input === "string";
  let before = 0;
  for (const found of isText ? (input.normalize("NFKC").toLowerCase().match(WORD) ?? []) : input.map(String)) {
    const word = found.slice(0, WORD_LETTERS_MAX);
    const weight = isStopWord(word) ? STOP_WORD_WEIGHT : 1;
    const hash = hashText(word, isText ? 0 : TOKEN_SEED);
    add(features, hash, weight);
    if (before !== 0) add(features, mixed(before, hash), weight * PAIR_WEIGHT);
    before = hash;
    if (!isText) continue;
    let parts = known.get(word);
    if (parts === undefined) known.set(word, (parts = hashParts(word)));
    for (const part of parts) add(features, part, (weight * PARTS_WEIGHT) / parts.length);
  }
  // A text of symbols only, such as "?!", is one feature.
  if (features.size === 0) add(features, hashText(String(input), 1), 1);
  return features;
}

function hashParts(word: string): readonly number[] {
  const letters = ["^", ...Array.from(word), "$"];
  return letters.slice(2).map((_letter, at) => hashText(letters.slice(at, at + 3).join(""), 2));
}

function add(features: Features, hash: number, weight: number): void {
  features.set(hash, (features.get(hash) ?? 0) + weight);
}

/** Combines two hashes into one. The order of the two matters. */
function mixed(one: number, other: number): number {
  const product = Math.imul(one ^ (one >>> 15), 0x85ebca6b) ^ Math.imul(other ^ (other >>> 13), 0xc2b2ae35);
  return (product ^ (product >>> 16)) >>> 0;
}

/**
 * Builds a vector from features. Each feature changes two numbers of the vector: one among the first `SANDBOX_EMBEDDING.dimensions`, so
 * that short vectors are meaningful, and one among all.
 */
function vectorOf(features: Features, dimensions: number): Float32Array {
  const { dimensions: near, dimensionsMax: all } = SANDBOX_EMBEDDING;
  const sums = new Float64Array(all);
  for (const [hash, weight] of features) {
    const second = mixed(hash, 1);
    // A word that occurs ten times counts more than once, but not tenfold.
    const value = Math.sqrt(weight);
    sums[(hash >>> 1) % near]! += (hash & 1) === 0 ? value : -value;
    sums[(second >>> 1) % all]! += (second & 1) === 0 ? value : -value;
  }
  const vector = Float32Array.from(sums.subarray(0, dimensions));
  const length = Math.sqrt(vector.reduce((sum, number) => sum + number * number, 0));
  if (length === 0) vector[0] = 1;
  else for (const at of vector.keys()) vector[at]! /= length;
  return vector;
}
