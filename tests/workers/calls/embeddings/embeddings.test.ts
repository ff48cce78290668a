import { afterEach, describe, expect, test } from "bun:test";

import type { JobMessage } from "#schemas/generated/types.ts";
import { validate } from "#shared/json/contracts.ts";
import type { CallSettlement } from "#shared/ledger/settle.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createMetrics } from "#shared/metrics/metrics.ts";
import { serializePrice } from "#shared/calls/pricing/price.ts";
import { NO_USAGE } from "#shared/calls/pricing/usage.ts";
import { CALLER_LIVES, type Frame } from "#shared/queue/frames.ts";
import { EMBEDDING_CATALOGUE, embeddingModel } from "#tests/shared/calls/kinds/embedding-models.ts";
import { chatJob } from "#tests/workers/runner/job-message.ts";
import { controllerOf, fakeIngress, callOf } from "#tests/workers/runner/fake-ingress.ts";
import type { WorkerContext } from "#workers/context.ts";
import { type AbortReason, jobAbort } from "#workers/job.ts";
import { createCallHandler } from "#workers/calls/handlers.ts";
import { openLiveCalls } from "#workers/runner/live-calls.ts";
import { batchesOf } from "#workers/calls/embeddings/embeddings.ts";
import { type EmbeddingsCall, type EmbeddingsResult, ProviderError } from "#workers/providers/provider.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

type Embed = (call: EmbeddingsCall, provider: string) => Promise<EmbeddingsResult> | EmbeddingsResult;

interface Bench {
  readonly settlements: CallSettlement[];
  readonly calls: EmbeddingsCall[];
  /** Verdicts that the breaker was told. */
  readonly verdicts: string[];
  readonly run: (request: object, signal?: AbortSignal, job?: Partial<JobMessage>) => Promise<void>;
  /** The answer; fails when there is none. */
  readonly answer: () => { data: { index: number; embedding: number[] | string }[]; usage: object; model: string };
  readonly failure: () => Extract<Frame, { t: "error" }>;
}

/** The pool over providers of the test's own, a ledger that takes what it is asked, and a wire that is watched. */
function bench(embed: Embed, log = createLogger({ level: "silent", role: "test" })): Bench {
  const { replies, answers, frames } = fakeIngress({ word: "taken", answer: CALLER_LIVES });
  const settlements: CallSettlement[] = [];
  const calls: EmbeddingsCall[] = [];
  const verdicts: string[] = [];
  const metrics = createMetrics("test");
  closing.push(() => metrics.close());
  const context = {
    config: { calls: { totalMs: 60_000, firstByteMs: 60_000, stallMs: 60_000, queueMs: 60_000, plainMs: 100 } },
    log,
    metrics,
    ledger: {
      settle: (finish: CallSettlement) => {
        settlements.push(finish);
        return Promise.resolve({ takenNano: finish.usedNano ?? 0n, wasClosed: false });
      },
    },
    storage: {},
    database: { query: () => Promise.resolve([{ verdict: 0 }]) },
    catalogue: { current: () => EMBEDDING_CATALOGUE },
    providers: {
      embeddings: (provider: { id: string }) => ({
        embed: (call: EmbeddingsCall) => {
          calls.push(call);
          return Promise.try(() => embed(call, provider.id));
        },
      }),
    },
    breaker: {
      admit: () => Promise.resolve("closed"),
      record: (source: string, verdict: string) => verdicts.push(`${source} ${verdict}`),
      down: (source: string) => verdicts.push(`${source} down`),
      forget: (source: string) => verdicts.push(`${source} forgotten`),
      retryInMs: () => 0,
    },
    repeats: { succeeded: () => undefined, take: () => false },
    replies,
    answers,
    failures: { record: () => Promise.resolve() },
  } as unknown as WorkerContext;
  const cancels = { onCancel: () => () => undefined, subject: "_INBOX.wk.test.cancel" };
  const live = openLiveCalls({ context, handler: createCallHandler(context), cancels });
  closing.push(() => live.close());
  return {
    settlements,
    calls,
    verdicts,
    run: (request, signal = new AbortController().signal, members = {}) => {
      const { model = "embed" } = request as { model?: string };
      const job = chatJob({
        kind: "embeddings",
        model,
        may_exceed: false,
        output_tokens_max: 0,
        price: serializePrice(embeddingModel(model).price),
        request: { model, ...request },
        ...members,
      });
      expect(validate("JobMessage", job)).toBeNull();
      return live.run(callOf(job), controllerOf(signal), new AbortController().signal);
    },
    answer: () => {
      expect(frames.map(({ frame }) => frame.t)).toEqual(["end"]);
      const answer: unknown = JSON.parse(new TextDecoder().decode(frames[0]?.data));
      expect(validate("Embeddings", answer)).toBeNull();
      return answer as ReturnType<Bench["answer"]>;
    },
    failure: () => {
      const last = frames.at(-1)?.frame;
      if (frames.length !== 1 || last?.t !== "error") throw new Error(`expected one error frame, got ${last?.t}`);
      return last;
    },
  };
}

/** A vector that tells its input: its length in characters, or its tokens. */
const vectorOf = (input: string | readonly number[], dimensions = 8): Float32Array =>
  Float32Array.from({ length: dimensions }, (_, at) => (at === 0 ? input.length : 0.1 * at));

const serve: Embed = ({ inputs, dimensions }) => ({
  vectors: inputs.map((input) => vectorOf(input, dimensions)),
  usage: { ...NO_USAGE, input: inputs.reduce((sum, input) => sum + input.length, 0) },
});

test("a provider's text, which may repeat an input, is logged by its length and hash only", async () => {
  const lines: string[] = [];
  const log = createLogger({ level: "trace", role: "test", write: (line) => lines.push(line) });
  const { run, failure } = bench(() => {
    throw new ProviderError("failed", "cannot embed zanzibarquokka", { status: 500 });
  }, log);
  await run({ input: "zanzibarquokka" });
  expect(lines.join("") + JSON.stringify(failure())).not.toContain("zanzibarquokka");
  const failed = lines.find((line) => line.includes("provider call failed")) ?? "{}";
  expect(JSON.parse(failed)).toMatchObject({ kind: "failed", status: 500, text_chars: 27, text_hash: expect.any(String) as string }); // prettier-ignore
});

describe("an embeddings job", () => {
  test("is answered under the slug, and settled at its source's report", async () => {
    const { run, answer, settlements, calls, verdicts } = bench(serve);
    await run({ input: ["abc", "abcdef"], dimensions: 4, user: "someone" });
    expect(answer()).toMatchObject({ model: "embed", usage: { prompt_tokens: 9, total_tokens: 9 } });
    expect(answer().data.map(({ embedding }) => embedding)).toEqual([
      [...vectorOf("abc", 4)],
      [...vectorOf("abcdef", 4)],
    ]);
    expect(settlements).toEqual([
      expect.objectContaining({
        usedNano: 9_000n,
        status: "succeeded",
        source: "acme/acme-embed",
        units: { input_tokens: 9 },
        isEstimated: false,
        tokens: 9,
      }),
    ]);
    expect(calls[0]).toMatchObject({ sourceModel: "acme-embed", dimensions: 4, user: "someone" });
    expect(verdicts).toEqual(["acme/acme-embed ok"]);
  });

  test("is answered in base64 with the exact bytes of the source", async () => {
    const bytes = new Uint8Array(32).map((_, at) => (at % 4 === 3 ? 0x3f : at * 7));
    const { run, answer } = bench(() => ({ vectors: [new Float32Array(bytes.buffer)], usage: null }));
    await run({ input: "abc", encoding_format: "base64" });
    expect(answer().data[0]?.embedding).toBe(bytes.toBase64());
  });

  test("does not request from a source its only length", async () => {
    const { run, answer, calls } = bench(serve);
    await run({ model: "fixed", input: "a", dimensions: 8 });
    expect(calls[0]?.dimensions).toBeUndefined();
    expect(answer().data[0]?.embedding).toHaveLength(8);
  });

  test.each([
    ["9000", 7_000n],
    ["5000", 5_000n],
  ])(
    "is settled at our own count, marked, if the source reports nothing; of a hold of %s at %d",
    async (hold, nano) => {
      const { run, answer, settlements } = bench(({ inputs }) => ({
        vectors: inputs.map((one) => vectorOf(one)),
        usage: null,
      }));
      await run({ input: "How many legs has a spider?" }, undefined, { hold_nano: hold });
      expect(answer().usage).toEqual({ prompt_tokens: 7, total_tokens: 7, credits: Number(nano) / 1e9 });
      expect(settlements).toEqual([expect.objectContaining({ usedNano: nano, isEstimated: true })]);
    },
  );

  test.each([["impossible" as const], [{ ...NO_USAGE, input: 1_000_000 }]])(
    "is settled at its hold if the source reports %j",
    async (usage) => {
      const { run, settlements } = bench((call) => ({ vectors: call.inputs.map((input) => vectorOf(input)), usage }));
      await run({ input: "abc" }, undefined, { hold_nano: "5000" });
      expect(settlements).toEqual([expect.objectContaining({ usedNano: 5_000n, isEstimated: true, tokens: 1 })]);
    },
  );

  test("costs the price of a request if that is the unit", async () => {
    const { run, settlements } = bench(serve);
    await run({ model: "flat", input: ["abc", "abcdef"] });
    expect(settlements).toEqual([expect.objectContaining({ usedNano: 250_000_000n, status: "succeeded" })]);
  });
});

describe("an embeddings chain", () => {
  const down: Embed = (call, provider) => {
    if (call.sourceModel !== "other") throw new ProviderError("failed", "an outage");
    return serve(call, provider);
  };
  const chained = { fallbacks: ["wide", "other"] };

  test("is followed to a model whose vectors have the caller's length, at its price", async () => {
    const { run, answer, calls, settlements } = bench(down);
    await run({ input: "abc" }, undefined, chained);
    expect(calls.map(({ sourceModel, dimensions }) => [sourceModel, dimensions])).toEqual([
      ["acme-embed", undefined],
      ["sandbox-embed", undefined],
      ["other", 8],
    ]);
    expect(answer()).toMatchObject({ model: "other", data: [{ embedding: { length: 8 } }] });
    expect(settlements).toEqual([expect.objectContaining({ usedNano: 15_000n, source: "acme/other" })]);
  });

  test.each([
    ["another length than the fallback makes", { input: "abc", dimensions: 2 }],
    ["token numbers of another vocabulary", { input: [1, 2, 3] }],
  ])("skips a model for %s", async (_what, request) => {
    const { run, failure, calls } = bench(down);
    await run(request, undefined, chained);
    expect(calls.map(({ sourceModel }) => sourceModel)).toEqual(["acme-embed", "sandbox-embed"]);
    expect(failure().code).toBe("upstream_error");
  });

  test("is followed for a text that is too long for its model", async () => {
    const { run, answer } = bench((call, provider) => {
      if (call.sourceModel === "other") return serve(call, provider);
      throw new ProviderError("rejected", "too long", { code: "context_length_exceeded", param: "input" });
    });
    await run({ input: "abc" }, undefined, chained);
    expect(answer().model).toBe("other");
  });
});

describe("a call with more inputs than a source accepts", () => {
  test("is split by number and by tokens, in order", () => {
    const inputs = ["a", "b", "c", "x".repeat(20), "y".repeat(9), "z".repeat(9), "w".repeat(19), "v"];
    const batches = batchesOf(inputs, embeddingModel("split"));
    expect(batches.map(({ from, inputs }) => [from, inputs.map((input) => String(input)[0]).join("")])).toEqual([
      [0, "ab"],
      [2, "cx"],
      [4, "yz"],
      [6, "wv"],
    ]);
    expect(batches.flatMap((batch) => batch.inputs)).toEqual(inputs);
  });

  test("is one answer, with the usage of all its requests", async () => {
    const { run, answer, calls, settlements } = bench(serve);
    const input = ["a", "ab", "abc", "abcd", "abcde"];
    await run({ model: "split", input });
    expect(calls).toHaveLength(3);
    expect(answer().data.map(({ index, embedding }) => [index, embedding[0]])).toEqual(
      input.map((_, at) => [at, at + 1]),
    );
    expect(settlements).toEqual([expect.objectContaining({ usedNano: 15_000n, units: { input_tokens: 15 } })]);
  });

  test("is charged by our own count for all when one request reports nothing", async () => {
    const { run, settlements } = bench((call, provider) =>
      call.inputs.includes("c") ? { vectors: [vectorOf("c")], usage: null } : serve(call, provider),
    );
    await run({ model: "split", input: ["a", "b", "c"] });
    expect(settlements).toEqual([expect.objectContaining({ usedNano: 3_000n, isEstimated: true })]);
  });

  test("names a rejected input by the caller's index", async () => {
    const { run, failure, settlements } = bench((call, provider) => {
      if (!call.inputs.includes("long")) return serve(call, provider);
      throw new ProviderError("rejected", "too long", { code: "context_length_exceeded", param: "input[1]" });
    });
    await run({ model: "split", input: ["a", "b", "c", "long"] });
    expect(failure()).toMatchObject({ code: "context_length_exceeded", param: "input[3]" });
    expect(failure().message).not.toContain("messages");
    expect(settlements).toEqual([expect.objectContaining({ usedNano: null, status: "failed" })]);
  });

  test.each([
    ["a text", "long", "input[0]", "input"],
    ["the only input of its request", ["a", "b", "long"], "input", "input[2]"],
    ["one of several", ["a", "long"], "input", "input"],
    ["another parameter", ["a", "b", "long"], "dimensions", "dimensions"],
  ])("reports of %s the source's error", async (_what, input, param, told) => {
    const { run, failure } = bench((call, provider) => {
      if (!call.inputs.includes("long")) return serve(call, provider);
      throw new ProviderError("rejected", "no", { code: "unsupported_value", param });
    });
    await run({ model: "split", input });
    expect(failure().param).toBe(told);
  });

  test("aborts its other requests when one fails, and sends no more", async () => {
    const aborted: string[] = [];
    const { run, failure, calls } = bench((call) => {
      if (call.inputs[0] === "a") throw new ProviderError("rejected", "no");
      return new Promise((_resolve, reject) => {
        call.signal.addEventListener("abort", () => {
          aborted.push(String(call.inputs[0]));
          reject(new ProviderError("aborted", "aborted"));
        });
      });
    });
    // Five requests, of which four may be under way at once.
    await run({ model: "split", input: Array.from({ length: 10 }, (_, at) => String.fromCharCode(97 + at)) });
    expect(failure().code).toBe("invalid_request");
    expect(aborted.toSorted()).toEqual(
      calls
        .slice(1)
        .map(({ inputs }) => String(inputs[0]))
        .toSorted(),
    );
    expect(calls.length).toBeLessThan(5);
  });

  test("retries a busy source only for the missing part", async () => {
    let refusals = 1;
    const { run, answer, calls } = bench((call, provider) => {
      if (call.inputs.includes("c") && refusals-- > 0) throw new ProviderError("busy", "busy", { retryAfterMs: 1 });
      return serve(call, provider);
    });
    await run({ model: "split", input: ["a", "b", "c", "d"] });
    expect(calls.map(({ inputs }) => inputs.join(""))).toEqual(["ab", "cd", "cd"]);
    expect(answer().data).toHaveLength(4);
  });
});

describe("when a source fails", () => {
  test("the next source of the same model serves and is the one recorded", async () => {
    const { run, answer, settlements, verdicts } = bench((call, provider) => {
      if (provider === "acme") throw new ProviderError("failed", "500");
      return serve(call, provider);
    });
    await run({ input: "abc" });
    expect(answer().model).toBe("embed");
    expect(settlements).toEqual([expect.objectContaining({ source: "play/sandbox-embed", status: "succeeded" })]);
    expect(verdicts).toEqual(["acme/acme-embed failed", "play/sandbox-embed ok"]);
  });

  test("a silent source is replaced by the next after its limit", async () => {
    const { run, answer } = bench((call, provider) => {
      if (provider !== "acme") return serve(call, provider);
      return new Promise((_resolve, reject) => {
        call.signal.addEventListener("abort", () => reject(new ProviderError("aborted", "aborted")));
      });
    });
    await run({ input: "abc" });
    expect(answer().model).toBe("embed");
  });

  test("no model serves whose vectors have another length, for any chain of the workspace", async () => {
    const { run, failure, calls } = bench(() => {
      throw new ProviderError("failed", "500");
    });
    await run({ input: "abc" }, undefined, { fallbacks: ["wide"] });
    expect(failure()).toMatchObject({ code: "upstream_error", retry: true });
    expect(calls.map(({ sourceModel }) => sourceModel)).toEqual(["acme-embed", "sandbox-embed"]);
  });

  test.each<[string, EmbeddingsResult["vectors"]]>([
    ["too few vectors", [vectorOf("a")]],
    ["vectors of another length than asked for", [vectorOf("a", 5), vectorOf("b", 5)]],
    ["vectors of several lengths", [vectorOf("a", 4), vectorOf("b", 5)]],
  ])("%s are a failure, which costs nothing", async (_what, vectors) => {
    const { run, failure, settlements } = bench(() => ({ vectors, usage: { ...NO_USAGE, input: 2 } }));
    await run({ input: ["a", "b"], dimensions: 4 });
    expect(failure().code).toBe("upstream_error");
    expect(settlements).toEqual([expect.objectContaining({ usedNano: null, status: "failed" })]);
  });

  test.each<[AbortReason, string, string, string[]]>([
    ["caller_left", "service_unavailable", "cancelled", []],
    ["deadline", "upstream_timeout", "failed", ["acme/acme-embed failed"]],
    ["shutdown", "service_unavailable", "failed", []],
  ])("because of %s, the hold is released, and only a missed deadline is the source's error", async (...row) => {
    const [reason, code, status, blamed] = row;
    const controller = new AbortController();
    const { run, failure, settlements, verdicts } = bench(
      (call) =>
        new Promise((_resolve, reject) => {
          call.signal.addEventListener("abort", () => reject(new ProviderError("aborted", "aborted")));
          controller.abort(jobAbort(reason));
        }),
    );
    await run({ input: "abc" }, controller.signal);
    expect(failure().code).toBe(code as never);
    expect(settlements).toEqual([expect.objectContaining({ usedNano: null, status })]);
    expect(verdicts).toEqual(blamed);
  });

  test("a model removed from the catalogue is reported and costs nothing", async () => {
    const { run, failure, settlements } = bench(serve);
    await run({ input: "abc" }, undefined, { model: "gone" });
    expect(failure().code).toBe("model_unavailable");
    expect(settlements).toEqual([expect.objectContaining({ usedNano: null })]);
  });

  test("an internal error is thrown, so that the message is delivered again and reported lost", async () => {
    const { run, settlements } = bench(() => {
      throw new TypeError("a bug");
    });
    expect(await run({ input: "abc" }).catch((error: unknown) => error)).toBeInstanceOf(TypeError);
    expect(settlements).toEqual([]);
  });
});
