import { afterEach, describe, expect, test } from "bun:test";

import { validate } from "#shared/json/contracts.ts";
import { parsePrice } from "#shared/calls/pricing/price.ts";
import { NO_USAGE } from "#shared/calls/pricing/usage.ts";
import { CALLER_GONE, CALLER_LIVES, FRAME_BYTES_MAX } from "#shared/queue/frames.ts";
import { countPrompt } from "#shared/tokens/count.ts";
import { loadTokenizer } from "#shared/tokens/tokenizer.ts";
import { BASE } from "#tests/shared/calls/catalogue/build-catalogue.ts";
import { chatJob, REQUEST } from "#tests/workers/runner/job-message.ts";
import { replyTo } from "#tests/workers/runner/fake-ingress.ts";
import { type AbortReason, jobAbort } from "#workers/job.ts";
import { type ChatCall, type ChatProvider, ProviderError } from "#workers/providers/provider.ts";

import {
  bench,
  closeBenches,
  delta,
  END,
  ONE_SOURCE,
  ROLE,
  STREAM,
  streamOf,
  type Surroundings,
  untilAborted,
  USED,
  WHOLE,
  WITH_USAGE,
} from "./bench.ts";

afterEach(closeBenches);

/** The answer of the tests costs 117. */
const BEYOND_HOLD = chatJob({ hold_nano: "116" });

async function countOfRequest(): Promise<number> {
  return countPrompt(await loadTokenizer(), REQUEST, () => 0);
}

describe("a successful plain call", () => {
  test("is settled once at the captured price and answered with its cost", async () => {
    const { run, settlements, frames, text } = bench({ complete: () => Promise.resolve(WHOLE) });
    const job = chatJob();
    await run(job);
    expect(settlements).toEqual([
      {
        workspaceId: job.workspace_id,
        jobId: job.job_id,
        attempt: 1,
        usedNano: 117n,
        status: "succeeded",
        source: "acme/acme-one",
        units: { input_tokens: 7, output_tokens: 11 },
        isEstimated: false,
        tokens: 18,
        isPatient: true,
        isDelivered: true,
        course: { kind: "chat", asked_ms: expect.any(Number) },
      },
    ]);
    expect(frames).toHaveLength(1);
    expect(frames[0]?.frame).toMatchObject({ t: "end", n: 0, model: "one", nano: "117" });
    const answer = JSON.parse(text()) as object;
    expect(validate("ChatCompletion", answer)).toBeNull();
    expect(answer).toMatchObject({
      model: "one",
      usage: { prompt_tokens: 7, completion_tokens: 11, total_tokens: 18 },
    });
  });

  test("keeps the price of its hold, after changes of the catalogue", async () => {
    const { run, settlements } = bench({ complete: () => Promise.resolve(WHOLE) });
    const price = { unit: "per_token", input_per_million: "3000000", output_per_million: "0" };
    await run(chatJob({ price }));
    expect(settlements[0]?.usedNano).toBe(21n);
    expect(parsePrice({ unit: "per_token", input_per_million: "25" }).tokenRates.input_per_million).toBe(
      25_000_000_000n,
    );
  });

  test("returns the charged amount, not the full cost", async () => {
    const { run, frames, text } = bench(
      { complete: () => Promise.resolve(WHOLE) },
      { ingress: CALLER_LIVES, settle: () => Promise.resolve({ takenNano: 100n, wasClosed: false }) },
    );
    await run(BEYOND_HOLD);
    expect(frames[0]?.frame).toMatchObject({ t: "end", nano: "100" });
    expect(JSON.parse(text())).toMatchObject({ usage: { credits: 0.0000001 } });
  });

  test("with an impossible report is settled at its hold, and counted", async () => {
    for (const usage of ["impossible", { ...NO_USAGE, input: 7, output: 100_000 }] as const) {
      const { run, settlements, metric } = bench({ complete: () => Promise.resolve({ ...WHOLE, usage }) });
      await run();
      expect(settlements[0]).toMatchObject({ usedNano: 5_000n, isEstimated: true, status: "succeeded" });
      expect(await metric("sluice_usage_estimated_total")).toContain('reason="impossible",role="test"} 1');
    }
  });

  test("without a report is settled at our own count, marked", async () => {
    const { run, settlements, metric } = bench({ complete: () => Promise.resolve({ ...WHOLE, usage: null }) });
    await run();
    expect(settlements[0]).toMatchObject({ isEstimated: true, units: { output_tokens: 2 } });
    expect(await metric("sluice_usage_estimated_total")).toContain('reason="missing",role="test"} 1');
  });

  test("beyond its hold has no answer when it could not be settled: the delivery is retried", async () => {
    const { run, frames } = bench(
      { complete: () => Promise.resolve(WHOLE) },
      { ingress: CALLER_LIVES, settle: () => Promise.reject(new Error("the database is away")) },
    );
    expect(await run(BEYOND_HOLD).catch(String)).toContain("the database is away");
    expect(frames).toEqual([]);
  });

  test("that cannot be settled has its answer, and its delivery is retried", async () => {
    const { run, kinds } = bench(
      { complete: () => Promise.resolve(WHOLE) },
      { settle: () => Promise.reject(new Error("the database is away")) },
    );
    expect(await run().catch(String)).toContain("the database is away");
    expect(kinds()).toEqual(["end"]);
  });
});

describe("a successful stream", () => {
  test.each<[string, ReturnType<typeof delta>, number | undefined]>([
    ["by our own count where its provider says it at the end", ROLE, undefined],
    ["by its provider's count where that is there", { ...ROLE, inputUsage: { ...NO_USAGE, input: 5 } }, 5],
  ])("starts for clients of Anthropic's API with its input %s", async (_name, first, known) => {
    const pieces = streamOf(first, delta({ content: "Eight" }), END, { choices: [], usage: USED });
    const { run, text, settlements } = bench({ stream: pieces });
    await run(chatJob({ ...STREAM, api: "anthropic" }));
    const inputs = [...text().matchAll(/"input_tokens":(\d+)/g)].map(([, tokens]) => Number(tokens));
    expect(inputs).toEqual([known ?? (await countOfRequest()), 7]);
    expect(settlements).toMatchObject([{ usedNano: 117n, isEstimated: false }]);
  });

  test("is relayed chunk by chunk, settled once, and ends with [DONE]", async () => {
    const pieces = streamOf(ROLE, delta({ content: "Eight" }), delta({ content: " legs" }), END, {
      choices: [],
      usage: USED,
    });
    const { run, settlements, text, kinds } = bench({ stream: pieces });
    await run(chatJob(STREAM));
    expect(kinds()[0]).toBe("head");
    expect(kinds().at(-1)).toBe("end");
    const events = text().trimEnd().split("\n\n");
    expect(events.pop()).toBe("data: [DONE]");
    expect(events).toHaveLength(4);
    for (const event of events) expect(validate("ChatCompletionChunk", JSON.parse(event.slice(6)))).toBeNull();
    expect(settlements).toMatchObject([{ usedNano: 117n, status: "succeeded", isEstimated: false }]);
  });

  test("has a chunk of usage on request only", async () => {
    for (const [request, expected] of [
      [STREAM, 0],
      [WITH_USAGE, 1],
    ] as const) {
      const { run, text } = bench({
        stream: streamOf(ROLE, delta({ content: "a" }), END, { choices: [], usage: USED }),
      });
      await run(chatJob(request));
      expect(text().match(/"choices":\[\],"usage":\{"prompt_tokens":7/g) ?? []).toHaveLength(expected);
      expect(text().match(/"usage":null/g) ?? []).toHaveLength(expected * 3);
    }
  });

  test("is settled by the last report", async () => {
    const early = { ...delta({ content: "a" }), usage: { ...NO_USAGE, input: 900, output: 400 } };
    const { run, settlements } = bench({ stream: streamOf(ROLE, early, { ...END, usage: USED }) });
    await run(chatJob(STREAM));
    expect(settlements).toMatchObject([{ usedNano: 117n }]);
  });

  test("relays an event of a megabyte in frames of allowed size", async () => {
    const content = "é".repeat(524_288);
    const { run, frames, text } = bench({ stream: streamOf(ROLE, delta({ content }), END) }, { catalogue: BIG });
    await run(chatJob(STREAM));
    expect(text()).toContain(`"content":"${content}"`);
    for (const { bytes } of frames) expect(bytes).toBeLessThan(FRAME_BYTES_MAX + 1_024);
    expect(frames.map(({ frame }) => ("n" in frame ? frame.n : -1))).toEqual(frames.map((_, at) => at));
  });
});

/** The same model, able to write a megabyte. */
const BIG = BASE.replace("max_output_tokens: 500", "max_output_tokens: 1000000").replace(
  "max_context_tokens: 1000",
  "max_context_tokens: 1000000",
);

describe("a call that fails before any output", () => {
  test.each<[string, Partial<ChatProvider>, object]>([
    [
      "plain",
      { complete: () => Promise.reject(new ProviderError("busy", "vendor text", { retryAfterMs: 7_000 })) },
      {},
    ],
    [
      "streamed, at once",
      { stream: streamOf(new ProviderError("busy", "vendor text", { retryAfterMs: 7_000 })) },
      STREAM,
    ],
    [
      "streamed, behind a piece without content",
      { stream: streamOf(ROLE, new ProviderError("busy", "vendor text", { retryAfterMs: 7_000 })) },
      STREAM,
    ],
  ])("%s: has its actual status, costs nothing and may be retried", async (_name, provider, request) => {
    const { run, settlements, frames, failure } = bench(provider);
    await run(chatJob(request));
    expect(frames).toHaveLength(1);
    expect(failure()).toEqual({
      t: "error",
      n: 0,
      run: expect.any(String),
      code: "overloaded",
      message: expect.any(String) as string,
      param: null,
      retry: true,
      retry_after_s: 7,
    });
    expect(settlements).toMatchObject([{ usedNano: null, status: "failed", units: {}, tokens: 0 }]);
  });

  test("costs nothing even when the provider reported usage, since nothing was delivered", async () => {
    const { run, settlements } = bench({
      stream: streamOf({ ...ROLE, usage: USED }, new ProviderError("failed", "x")),
    });
    await run(chatJob(STREAM));
    expect(settlements).toMatchObject([{ usedNano: null, status: "failed", units: {} }]);
  });

  test("contains nothing of the vendor for the client", async () => {
    const { run, frames } = bench({ complete: () => Promise.reject(new ProviderError("failed", "vendor text")) });
    await run();
    expect(JSON.stringify(frames.map(({ frame }) => frame))).not.toContain("vendor text");
  });

  test("because the model is no longer in the catalogue: the hold is released", async () => {
    const { run, settlements, failure, calls } = bench({});
    await run(chatJob({ model: "gone" }));
    expect(calls).toEqual([]);
    expect(settlements).toMatchObject([{ usedNano: null, status: "failed", source: null }]);
    expect(failure()).toMatchObject({ code: "model_unavailable", param: "model" });
  });

  test("because its request cannot be read from storage: the hold is released", async () => {
    const storage = { bucket: "b", client: { send: () => Promise.reject(new Error("S3 is away")) } };
    const { run, settlements, failure, calls } = bench({}, { storage });
    await run(chatJob({ request_ref: "claims/x#00" }));
    expect(calls).toEqual([]);
    expect(settlements).toMatchObject([{ usedNano: null, status: "failed" }]);
    expect(failure()).toMatchObject({ code: "service_unavailable", retry: true });
  });

  test("because of an internal error has no answer: the delivery is retried", async () => {
    const bug = new TypeError("undefined is not a function");
    const { run, settlements, frames } = bench({ complete: () => Promise.reject(bug) });
    expect(run()).rejects.toBe(bug);
    await Bun.sleep(0);
    expect([settlements, frames]).toEqual([[], []]);
  });
});

describe("a stream that fails after some output", () => {
  test("is charged for the generated part and must not be retried", async () => {
    const pieces = streamOf(ROLE, delta({ content: "Eight" }), new ProviderError("failed", "vendor text"));
    const { run, settlements, failure, kinds, text } = bench({ stream: pieces });
    await run(chatJob(STREAM));
    expect(kinds()).toEqual(["head", "error"]);
    expect(failure()).toMatchObject({ code: "upstream_error", retry: false });
    expect(text()).not.toContain("[DONE]");
    expect(settlements).toMatchObject([{ status: "failed", isEstimated: true, units: { output_tokens: 1 } }]);
    expect(settlements[0]?.usedNano).toBeGreaterThan(10n);
  });

  test("is settled by the report received so far", async () => {
    const pieces = streamOf({ ...delta({ content: "Eight" }), usage: USED }, new ProviderError("failed", "x"));
    const { run, settlements } = bench({ stream: pieces });
    await run(chatJob(STREAM));
    expect(settlements).toMatchObject([{ usedNano: 117n, isEstimated: false, status: "failed" }]);
  });

  test("is cut off above the model's maximum output, and settled", async () => {
    const { run, settlements, failure, text } = bench({
      async *stream() {
        for (;;) yield delta({ content: "x".repeat(1_000) });
      },
    });
    await run(chatJob(STREAM));
    expect(failure()).toMatchObject({ code: "upstream_error", retry: false });
    expect(settlements).toHaveLength(1);
    expect(settlements[0]?.usedNano).not.toBeNull();
    expect(text().length).toBeLessThan(400_000);
  });

  test("buffers a limited amount when pieces without content never end", async () => {
    let given = 0;
    const { run, frames, settlements } = bench({
      async *stream() {
        for (; frames.length === 0 && given < 10_000; given++) yield ROLE;
        throw new ProviderError("failed", "x");
      },
    });
    await run(chatJob(STREAM));
    expect(given).toBeLessThan(1_000);
    expect(settlements).toMatchObject([{ usedNano: null, status: "failed" }]);
  });
});

describe("a call whose job ends", () => {
  test.each<[AbortReason, string, string]>([
    ["caller_left", "cancelled", "service_unavailable"],
    ["caller_gone", "cancelled", "service_unavailable"],
    ["shutdown", "failed", "service_unavailable"],
  ])("before the first piece (%s): costs nothing", async (reason, status, code) => {
    for (const request of [{}, STREAM]) {
      const abort = new AbortController();
      const asked = Promise.withResolvers<undefined>();
      const hang = (call: ChatCall): Promise<never> => {
        asked.resolve(undefined);
        return untilAborted(call);
      };
      const { run, settlements, failure, calls } = bench({ complete: hang, stream: streamOf(hang) });
      const ended = run(chatJob(request), abort.signal);
      await asked.promise;
      abort.abort(jobAbort(reason));
      await ended;
      expect(calls[0]?.signal.aborted).toBe(true);
      expect(settlements).toMatchObject([{ usedNano: null, status }]);
      expect(failure()).toMatchObject({ code });
    }
  });

  test("before any provider was called: none is called", async () => {
    const left = AbortSignal.abort(jobAbort("caller_left"));
    const { run, settlements, calls } = bench({ complete: () => Promise.resolve(WHOLE) });
    await run(chatJob(), left);
    expect(calls).toEqual([]);
    expect(settlements).toMatchObject([{ usedNano: null, status: "cancelled" }]);
  });

  test("in the middle of its stream: is charged for the generated part", async () => {
    const abort = new AbortController();
    const leave = (): Promise<void> => {
      abort.abort(jobAbort("caller_left"));
      return Promise.resolve();
    };
    const pieces = streamOf(ROLE, delta({ content: "Eight" }), leave, untilAborted);
    const { run, settlements, failure } = bench({ stream: pieces });
    await run(chatJob(STREAM), abort.signal);
    expect(settlements).toMatchObject([{ status: "cancelled", isEstimated: true, units: { output_tokens: 1 } }]);
    expect(failure()).toMatchObject({ retry: false });
  });

  test("by any error caused by it is that end, not an internal error", async () => {
    const abort = new AbortController();
    const complete = async (call: ChatCall): Promise<never> => {
      abort.abort(jobAbort("caller_left"));
      await untilAborted(call).catch(() => undefined);
      throw new TypeError("fetch failed");
    };
    const { run, settlements } = bench({ complete });
    await run(chatJob(), abort.signal);
    expect(settlements).toMatchObject([{ usedNano: null, status: "cancelled" }]);
  });

  test("after its last piece stays a success: it is never counted as a disconnect", async () => {
    const abort = new AbortController();
    const { run, settlements } = bench(
      { complete: () => Promise.resolve(WHOLE) },
      {
        settle: (settlement) => {
          abort.abort(jobAbort("caller_left"));
          return Promise.resolve({ takenNano: settlement.usedNano ?? 0n, wasClosed: false });
        },
      },
    );
    await run(chatJob(), abort.signal);
    expect(settlements).toMatchObject([{ status: "succeeded", usedNano: 117n }]);
  });
});

describe("a slow provider", () => {
  test.each<[string, Surroundings["limits"] & object, number | undefined, ChatProvider["stream"]]>([
    ["with its first byte", { firstByteMs: 20 }, undefined, streamOf(untilAborted)],
    ["in all", {}, 50, streamOf(untilAborted)],
  ])("%s: 504, without a charge", async (_name, limits, lifeMs, stream) => {
    const { run, settlements, failure, calls } = bench({ stream }, { limits });
    await run(chatJob({ ...STREAM, ...(lifeMs === undefined ? {} : { deadline_ms: Date.now() + lifeMs }) }));
    expect(calls[0]?.signal.aborted).toBe(true);
    expect(failure()).toMatchObject({ code: "upstream_timeout", retry: false });
    expect(settlements).toMatchObject([{ usedNano: null, status: "failed" }]);
  });

  const twice = (limit = ""): string => `${ONE_SOURCE}${limit}      - provider: acme
        model: acme-two
`;

  test.each<[string, Surroundings, string[]]>([
    [
      "to the next source in less time than the last one has",
      { limits: { firstByteNextMs: 20 }, catalogue: twice() },
      ["acme-one", "acme-two"],
    ],
    [
      "in the time that its model says, the last one too",
      { catalogue: twice().replace("    sources:", "    first_byte_ms: 100\n    sources:") },
      ["acme-one", "acme-two"],
    ],
    [
      "in the time that its provider says",
      { catalogue: twice().replace("  - id: acme", "  - id: acme\n    first_byte_ms: 100") },
      ["acme-one", "acme-two"],
    ],
  ])("with a late first byte of a stream moves on %s", async (_name, around, asked) => {
    const { run, calls, failure } = bench({ stream: streamOf(untilAborted) }, around);
    await run(chatJob({ ...STREAM, deadline_ms: Date.now() + 2_000 }));
    expect(calls.map(({ sourceModel }) => sourceModel)).toEqual(asked);
    expect(failure()).toMatchObject({ code: "upstream_timeout" });
  });

  test("between two pieces: the generated part is charged", async () => {
    const stream = streamOf(ROLE, delta({ content: "Eight" }), untilAborted);
    const { run, settlements, failure } = bench({ stream }, { limits: { stallMs: 20 } });
    await run(chatJob(STREAM));
    expect(failure()).toMatchObject({ code: "upstream_timeout", retry: false });
    expect(settlements).toMatchObject([{ status: "failed", units: { output_tokens: 1 } }]);
  });

  test("with a plain answer has until the deadline, since its first byte is its last", async () => {
    const complete = async (): Promise<typeof WHOLE> => {
      await Bun.sleep(60);
      return WHOLE;
    };
    const { run, settlements } = bench({ complete }, { limits: { firstByteMs: 20, stallMs: 20 } });
    await run();
    expect(settlements).toMatchObject([{ status: "succeeded" }]);
  });
});

describe("the source's edits", () => {
  const edited = ONE_SOURCE.replace(
    "        model: acme-one",
    `        model: acme-one
        drop_params: [seed, logit_bias]
        rename_params: { max_completion_tokens: max_tokens, user: end_user }
        overrides: { temperature: 1, service_tier: flex }`,
  );

  async function bodyFor(request: object, catalogue = edited): Promise<Record<string, unknown>> {
    const { run, calls } = bench({ complete: () => Promise.resolve(WHOLE) }, { catalogue });
    await run(chatJob({ request: { ...REQUEST, ...request } }));
    const body: Record<string, unknown> = { ...REQUEST, ...request };
    calls[0]?.adapt(body);
    return body;
  }

  test("drop, then rename, then override", async () => {
    const request = { seed: 7, logit_bias: {}, max_completion_tokens: 5, user: "u", temperature: 0, top_p: 1 };
    expect(await bodyFor(request)).toEqual({
      ...REQUEST,
      max_tokens: 5,
      end_user: "u",
      temperature: 1,
      top_p: 1,
      service_tier: "flex",
    });
  });

  test("rename only sent members, and set overridden ones in any case", async () => {
    expect(await bodyFor({})).toEqual({ ...REQUEST, temperature: 1, service_tier: "flex" });
  });

  test("prefer the newer output limit, since the hold was computed for it", async () => {
    expect(await bodyFor({ max_completion_tokens: 5, max_tokens: 400 })).toMatchObject({ max_tokens: 5 });
    const kept = await bodyFor({ max_completion_tokens: 5, max_tokens: 400 }, BASE);
    expect(kept).toMatchObject({ max_completion_tokens: 5 });
    expect(kept).not.toHaveProperty("max_tokens");
    expect(await bodyFor({ max_completion_tokens: null, max_tokens: 400 }, BASE)).toMatchObject({ max_tokens: 400 });
  });

  test("include the source's own name of the model and its limits", async () => {
    const { run, calls } = bench({ complete: () => Promise.resolve(WHOLE) });
    await run();
    expect(calls[0]).toMatchObject({ sourceModel: "acme-one", outputTokensMax: 500, request: REQUEST });
  });
});

const JOB = chatJob();

describe("a later delivery", () => {
  test("is left to the ingress while that lives: it knows the relayed part", async () => {
    const { live, settlements } = bench({}, { ingress: CALLER_LIVES });
    await live.lost(JOB, replyTo(JOB));
    expect(settlements).toEqual([]);
  });

  test.each<[string, Surroundings, string | undefined]>([
    ["the ingress no longer knows the call", { ingress: CALLER_GONE }, replyTo(JOB)],
    ["nobody answers", { ingress: new Error("timeout") }, replyTo(JOB)],
    ["the message names no address of ours", { ingress: CALLER_LIVES }, undefined],
  ])("is closed as lost when %s, and never run again", async (_name, around, reply) => {
    const { live, settlements, calls, metric } = bench({}, around);
    await live.lost(JOB, reply);
    expect(calls).toEqual([]);
    expect(settlements).toMatchObject([{ usedNano: null, status: "lost" }]);
    expect(await metric("sluice_calls_lost_total")).toContain("} 1");
  });

  test("settles the recorded relayed part", async () => {
    const progress = [{ amount: 42n, tokens: 5n, units: { tokens: 5 } }];
    const { live, settlements } = bench({}, { ingress: CALLER_GONE, progress });
    await live.lost(JOB, replyTo(JOB));
    expect(settlements).toMatchObject([{ usedNano: 42n, status: "lost", tokens: 5, isEstimated: true }]);
  });
});

test("a later delivery of a call that was settled before its ack is no loss", async () => {
  const { live, metric } = bench(
    {},
    { ingress: CALLER_GONE, settle: () => Promise.resolve({ takenNano: 117n, wasClosed: true }) },
  );
  await live.lost(JOB, replyTo(JOB));
  expect(await metric("sluice_calls_lost_total")).toContain("} 0");
});

test("an abandoned call releases its hold, and reports that in case of a late reader", async () => {
  const { live, settlements, calls, failure } = bench({});
  await live.drop(JOB, replyTo(JOB));
  expect(failure()).toMatchObject({ code: "overloaded", retry: true });
  expect(calls).toEqual([]);
  expect(settlements).toMatchObject([{ usedNano: null, status: "cancelled", source: null }]);
});
