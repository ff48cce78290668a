import { afterEach, describe, expect, test } from "bun:test";

import type { JobMessage } from "#schemas/generated/types.ts";
import { BASE } from "#tests/shared/calls/catalogue/build-catalogue.ts";
import { chatJob, REQUEST } from "#tests/workers/runner/job-message.ts";
import { jobAbort } from "#workers/job.ts";
import { type ChatCall, type ChatProvider, ProviderError } from "#workers/providers/provider.ts";

import {
  asked,
  bench,
  closeBenches,
  delta,
  END,
  ROLE,
  standIn,
  STREAM,
  streamOf,
  type Surroundings,
  untilAborted,
  WHOLE,
} from "./bench.ts";

afterEach(closeBenches);

/** Model `one` at two sources, and two others that may stand in for it at 1,000 and 2,000 nano-credits a token. */
const CHAIN = BASE + standIn("two") + standIn("three");
const FALLBACKS: Partial<JobMessage> = { fallbacks: ["two", "three"] };
const MOVED = [{ verdict: 0 }];

/** Sources that fail as told; what is not named serves. */
function sources(failures: Readonly<Record<string, ProviderError>>): Partial<ChatProvider> {
  return {
    complete(call) {
      const failure = failures[call.sourceModel];
      return failure ? Promise.reject(failure) : Promise.resolve(structuredClone(WHOLE));
    },
    async *stream(call) {
      const failure = failures[call.sourceModel];
      if (failure) throw failure;
      yield* streamOf(ROLE, delta({ content: call.sourceModel }), END)(call);
    },
  };
}

const FAILED = new ProviderError("failed", "by the test");
const BOTH_FAIL = { "acme-one": FAILED, "sandbox-chat": FAILED };

const around = (more: Surroundings = {}): Surroundings => ({ catalogue: CHAIN, progress: MOVED, ...more });

describe("a call whose first source fails", () => {
  test("is served by the model's next source, under the same hold, without a fallback header", async () => {
    const { run, calls, settlements, frames } = bench(sources({ "acme-one": FAILED }), around());
    await run(chatJob(FALLBACKS));
    expect(asked(calls)).toEqual(["acme-one", "sandbox-chat"]);
    expect(settlements).toMatchObject([{ source: "play/sandbox-chat", status: "succeeded" }]);
    expect(frames.at(-1)?.frame).toMatchObject({ t: "end", model: "one" });
    expect(frames.at(-1)?.frame).not.toHaveProperty("fallback");
  });
});

describe("a call whose model fails", () => {
  test("is served by its chain at the price of the serving model, and settled once", async () => {
    const { run, calls, settlements, frames } = bench(sources({ ...BOTH_FAIL, "acme-two": FAILED }), around());
    await run(chatJob(FALLBACKS));
    expect(asked(calls)).toEqual(["acme-one", "sandbox-chat", "acme-two", "acme-three"]);
    // 7 tokens in at 1,000 nano-credits, 11 out at 2,000.
    expect(settlements).toMatchObject([{ usedNano: 29_000n, source: "acme/acme-three", status: "succeeded" }]);
    expect(frames.at(-1)?.frame).toMatchObject({ t: "end", model: "three", fallback: { from: "one", depth: 2 } });
  });

  test("streams from its chain when nothing was delivered", async () => {
    const { run, frames, text, kinds } = bench(sources(BOTH_FAIL), around());
    await run(chatJob({ ...STREAM, ...FALLBACKS }));
    expect(kinds()).toEqual(["head", "delta", "end"]);
    expect(frames[0]?.frame).toMatchObject({ t: "head", model: "two", fallback: { from: "one", depth: 1 } });
    expect(text()).toContain('"content":"acme-two"');
    expect(text()).not.toContain('"model":"one"');
  });

  test("does not move once a piece was delivered, and the client receives the failure", async () => {
    const provider = { stream: streamOf(ROLE, delta({ content: "Eight" }), FAILED) };
    const { run, calls, failure, settlements } = bench(provider, around());
    await run(chatJob({ ...STREAM, ...FALLBACKS }));
    expect(calls).toHaveLength(1);
    expect(failure()).toMatchObject({ code: "upstream_error", retry: false });
    expect(settlements).toMatchObject([{ status: "failed", source: "acme/acme-one" }]);
  });

  test("skips a model above the balance", async () => {
    const answers = [[{ verdict: 1 }], [{ verdict: 0 }]];
    const { run, calls, settlements } = bench(sources(BOTH_FAIL), around({ rows: () => answers.shift() ?? [] }));
    await run(chatJob(FALLBACKS));
    expect(asked(calls)).toEqual(["acme-one", "sandbox-chat", "acme-three"]);
    expect(settlements).toMatchObject([{ source: "acme/acme-three" }]);
  });

  test("skips a model with fewer pages than a document has, without changing the hold", async () => {
    const takes = (slug: string, pages: number): string =>
      standIn(slug).replace("[text]", `[text, file], max_pdf_pages: ${pages}`);
    const catalogue = BASE.replace("[text, image]", "[text, file]") + takes("two", 3) + takes("three", 4);
    const content = [{ type: "file", file: { file_data: "data:application/pdf;base64,AAAA" } }];
    const { run, calls, settlements } = bench(sources(BOTH_FAIL), around({ catalogue, pdfPages: 4 }));
    await run(chatJob({ ...FALLBACKS, request: { ...REQUEST, messages: [{ role: "user", content }] } }));
    expect(asked(calls)).toEqual(["acme-one", "sandbox-chat", "acme-three"]);
    expect(settlements).toMatchObject([{ source: "acme/acme-three", status: "succeeded" }]);
  });

  test("skips a model that rejects the request, without changing the hold", async () => {
    const request = { ...REQUEST, n: 2 };
    const catalogue = BASE + standIn("two").replace("[text]", "[text], max_n: 1") + standIn("three");
    let moves = 0;
    const rows = (): object[] => {
      moves += 1;
      return MOVED;
    };
    const { run, calls } = bench(sources(BOTH_FAIL), around({ catalogue, rows }));
    await run(chatJob({ request, ...FALLBACKS }));
    expect(asked(calls)).toEqual(["acme-one", "sandbox-chat", "acme-three"]);
    expect(moves).toBe(1);
  });

  test("requests from each model its possible tokens, and holds for those", async () => {
    const request = { ...REQUEST, max_completion_tokens: 5_000 };
    const catalogue =
      BASE + standIn("two").replace("max_output_tokens: 500", "max_output_tokens: 600") + standIn("three");
    const { run, calls } = bench(sources({ ...BOTH_FAIL, "acme-two": FAILED }), around({ catalogue }));
    await run(chatJob({ request, ...FALLBACKS }));
    const limits = calls.map((call) => [call.sourceModel, call.request.max_completion_tokens, call.outputTokensMax]);
    expect(limits.filter(([source]) => source !== "sandbox-chat")).toEqual([
      ["acme-one", 500, expect.any(Number)],
      ["acme-two", 600, 600],
      ["acme-three", 500, 500],
    ]);
  });

  test("ends with the last failure when its chain is exhausted, without a charge", async () => {
    const refused = new ProviderError("refused", "by the test");
    const all = { ...BOTH_FAIL, "acme-two": FAILED, "acme-three": refused };
    const { run, failure, settlements } = bench(sources(all), around());
    await run(chatJob(FALLBACKS));
    expect(failure()).toMatchObject({ code: "upstream_refused" });
    expect(settlements).toMatchObject([{ usedNano: null, status: "failed", source: "acme/acme-three" }]);
  });

  test("continues when the database cannot change the hold, with the next model or a correct failure", async () => {
    const rows = (): never => {
      throw Object.assign(new Error("refused"), { code: "23514" });
    };
    const { run, calls, failure, settlements } = bench(sources(BOTH_FAIL), around({ rows }));
    await run(chatJob(FALLBACKS));
    expect(asked(calls)).toEqual(["acme-one", "sandbox-chat"]);
    expect(failure()).toMatchObject({ code: "upstream_error" });
    expect(settlements).toHaveLength(1);
  });
});

test("a plain call on a silent source costs one limit when another could serve it", async () => {
  const complete: ChatProvider["complete"] = (call) =>
    call.sourceModel === "acme-one" ? untilAborted(call) : Promise.resolve(structuredClone(WHOLE));
  const { run, settlements } = bench({ complete }, around({ limits: { plainMs: 20 } }));
  await run();
  expect(settlements).toMatchObject([{ source: "play/sandbox-chat", status: "succeeded" }]);
});

test("without an available source the caller receives model_unavailable, and the retry time", async () => {
  const resting = { "acme/acme-one": "open", "play/sandbox-chat": "open" } as const;
  const { run, calls, failure, settlements } = bench(sources({}), around({ breaker: resting }));
  await run();
  expect(calls).toEqual([]);
  expect(failure()).toMatchObject({ code: "service_unavailable", retry: true, retry_after_s: 4 });
  expect(settlements).toMatchObject([{ usedNano: null, source: null }]);
});

describe("a client that disconnects from a provider which charges for the whole", () => {
  const draining = CHAIN.replace("  - id: play", "    on_disconnect: drain\n  - id: play");

  test("has the answer read to its end: all of it is charged and marked as disconnected", async () => {
    const left = new AbortController();
    const stream = streamOf(
      ROLE,
      delta({ content: "Eight" }),
      () => Promise.resolve(left.abort(jobAbort("caller_left"))),
      delta({ content: " legs" }),
      { ...END, usage: WHOLE.usage },
    );
    const { run, settlements, calls, text } = bench({ stream }, around({ catalogue: draining }));
    await run(chatJob(STREAM), left.signal);
    expect(calls[0]?.signal.aborted).toBe(false);
    expect(settlements).toMatchObject([{ status: "cancelled", units: { input_tokens: 7, output_tokens: 11 } }]);
    expect(text()).not.toContain("legs");
  });

  test("does not delay a worker that stops, before or after the disconnect", async () => {
    const stop = new AbortController();
    const stream = streamOf(ROLE, delta({ content: "Eight" }), (call) => {
      stop.abort(jobAbort("shutdown"));
      return untilAborted(call);
    });
    const { run, settlements } = bench({ stream }, around({ catalogue: draining }));
    await run(chatJob(STREAM), stop.signal);
    expect(settlements).toMatchObject([{ status: "failed" }]);

    const [left, stopping] = [new AbortController(), new AbortController()];
    const later = streamOf(ROLE, delta({ content: "Eight" }), (call) => {
      left.abort(jobAbort("caller_left"));
      stopping.abort();
      return untilAborted(call);
    });
    const second = bench({ stream: later }, around({ catalogue: draining }));
    await second.run(chatJob(STREAM), left.signal, stopping.signal);
    expect(second.settlements).toMatchObject([{ units: { output_tokens: 1 } }]);
  });

  test("without any output ends the call, whose hold may be released already", async () => {
    const left = new AbortController();
    const stream = streamOf((call) => {
      left.abort(jobAbort("caller_left"));
      return untilAborted(call);
    });
    const { run, settlements, calls } = bench({ stream }, around({ catalogue: draining }));
    await run(chatJob(STREAM), left.signal);
    expect(calls[0]?.signal.aborted).toBe(true);
    expect(settlements).toMatchObject([{ usedNano: null, status: "cancelled" }]);
  });

  test("ends a plain call, which has no reader", async () => {
    const left = new AbortController();
    const complete = (call: ChatCall): Promise<never> => {
      left.abort(jobAbort("caller_left"));
      return untilAborted(call);
    };
    const { run, settlements } = bench({ complete }, around({ catalogue: draining }));
    await run(chatJob(), left.signal);
    expect(settlements).toMatchObject([{ usedNano: null, status: "cancelled" }]);
  });
});
