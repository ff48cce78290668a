import { describe, expect, test } from "bun:test";

import { loadTokenizer } from "#shared/tokens/tokenizer.ts";
import type { EmbeddingsCall } from "#workers/providers/provider.ts";
import { createSandboxEmbeddings } from "#workers/providers/sandbox/embeddings.ts";
import { SANDBOX_EMBEDDING } from "#workers/providers/sandbox/models.ts";

import { failureOf } from "./calls.ts";

function embed(inputs: EmbeddingsCall["inputs"], call: Partial<EmbeddingsCall> = {}) {
  return createSandboxEmbeddings().embed({
    inputs,
    sourceModel: "sandbox-embed",
    dimensions: undefined,
    signal: new AbortController().signal,
    adapt: () => undefined,
    ...call,
  });
}

const cosine = (a: Float32Array | undefined, b: Float32Array | undefined): number =>
  [...(a ?? [])].reduce((sum, number, at) => sum + number * (b?.[at] ?? 0), 0);

const TEXTS = ["The cat sat on the mat.", "?!", " ", "ein Wal 🐳", "漢字", "a".repeat(5_000), "\ud800 alone"];

describe("a sandbox vector", () => {
  test("is equal at every call, alone or among others", async () => {
    const { vectors } = await embed(TEXTS);
    for (const [at, text] of TEXTS.entries()) expect((await embed([text])).vectors[0]).toEqual(vectors[at]);
  });

  test("is pinned: clients may keep vectors across versions", async () => {
    const { vectors } = await embed(["How many legs has a spider, and how many has a crab?"], { dimensions: 16 });
    expect([...vectors[0]!].map((number) => Math.round(number * 1e6) / 1e6)).toEqual([
      0, 0, 0, 0.282279, 0, 0, 0, 0, 0.423418, 0, 0.345719, 0.15461, 0, 0, 0, 0.773052,
    ]);
  });

  test.each([1, 7, 256, 1_024])("of %d numbers has length one, for every input", async (dimensions) => {
    const { vectors } = await embed([...TEXTS, [0], [1, 2, 3]], { dimensions });
    for (const vector of vectors) {
      expect(vector).toHaveLength(dimensions);
      expect(cosine(vector, vector)).toBeCloseTo(1, 5);
    }
  });

  test("has 256 numbers by default, and the source's own number if the catalogue sets one", async () => {
    expect((await embed(["a"])).vectors[0]).toHaveLength(SANDBOX_EMBEDDING.dimensions);
    const { vectors } = await embed(["a"], { adapt: (body) => (body["dimensions"] = 12) });
    expect(vectors[0]).toHaveLength(12);
  });

  test("is, when short, the beginning of the longer one, stretched to length one", async () => {
    const [long, short] = await Promise.all(
      [1_024, 300].map(async (dimensions) => (await embed(["a spider has eight legs"], { dimensions })).vectors[0]!),
    );
    expect(cosine(long?.slice(0, 300), short)).toBeCloseTo(Math.hypot(...(long?.slice(0, 300) ?? [])), 5);
  });

  test.each([
    ["How do I reset my password?", "Resetting a forgotten password", "Bananas ripen in warm weather"],
    ["The invoice was paid twice", "We paid an invoice two times", "Spiders have eight legs"],
    ["Der Zug nach Wien fährt um neun", "Wann fährt der Zug nach Wien?", "Die Suppe ist zu heiß"],
  ])("of %p is closer to %p than to %p", async (text, near, far) => {
    for (const dimensions of [64, 256, 1_024]) {
      const { vectors } = await embed([text, near, far], { dimensions });
      expect(cosine(vectors[0], vectors[1])).toBeGreaterThan(cosine(vectors[0], vectors[2]) + 0.15);
    }
  });

  test("depends on the order of words, and of tokens", async () => {
    const { vectors } = await embed(["dog bites man", "man bites dog", [1, 2, 3], [3, 2, 1]]);
    for (const [one, other] of [
      [0, 1],
      [2, 3],
    ] as const) {
      expect(cosine(vectors[one], vectors[other])).toBeGreaterThan(0.3);
      expect(cosine(vectors[one], vectors[other])).toBeLessThan(0.99);
    }
  });
});

describe("a sandbox call", () => {
  test("reports the tokens of its inputs", async () => {
    const tokenizer = await loadTokenizer();
    const { usage } = await embed([...TEXTS, [1, 2, 3]]);
    expect(usage).toMatchObject({ input: TEXTS.reduce((sum, text) => sum + tokenizer.count(text), 3), output: 0 });
  });

  test.each([
    [["a", "spider ".repeat(8_200)], "input[1]"],
    [[Array<number>(8_193).fill(1)], "input[0]"],
  ])("is rejected when an input is longer than the model's context", async (inputs, param) => {
    expect(await failureOf(embed(inputs))).toMatchObject({
      kind: "rejected",
      code: "context_length_exceeded",
      param,
    });
  });

  test("is rejected for more numbers than supported", async () => {
    const error = await failureOf(embed(["a"], { dimensions: 1_025 }));
    expect(error).toMatchObject({ kind: "rejected", code: "unsupported_value", param: "dimensions" });
  });

  test("ends when its caller disconnects", async () => {
    const controller = new AbortController();
    const failing = failureOf(embed(Array<string>(200).fill("spider ".repeat(200)), { signal: controller.signal }));
    setImmediate(() => controller.abort());
    expect((await failing).kind).toBe("aborted");
  });

  test("of an unknown model is our own configuration error", async () => {
    for (const sourceModel of ["sandbox-chat", "toString"]) {
      expect((await failureOf(embed(["a"], { sourceModel }))).kind).toBe("misconfigured");
    }
  });
});
