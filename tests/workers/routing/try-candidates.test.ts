import { describe, expect, test } from "bun:test";

import type { Catalogue, Model } from "#shared/calls/model.ts";
import { BASE, build, chatModel } from "#tests/shared/calls/catalogue/build-catalogue.ts";
import { jobAbort } from "#workers/job.ts";
import { ProviderError, type ProviderErrorClass } from "#workers/providers/provider.ts";
import { createRepeatBudget } from "#workers/routing/repeat-budget.ts";
import {
  retryWaitMs,
  tryCandidates,
  PROVIDER_RETRY_HINT_MS,
  PROVIDER_RETRY_JITTER_MS,
} from "#workers/routing/try-candidates.ts";
import { candidatesOf } from "#workers/routing/candidates.ts";

import { fakeBreaker } from "./fake-breaker.ts";

const TEXT =
  BASE +
  chatModel("two", "{ provider: acme, model: acme-two }") +
  chatModel("three", "{ provider: acme, model: acme-three }");
const CATALOGUE = build([TEXT]);
/** The same catalogue, but `three` reads five times as much as the others. */
const UNEQUAL = build([TEXT.replace(/(slug: three[^]*?max_context_tokens: )1000/, "$15000")]);

const failed = (
  kind: ProviderErrorClass,
  options: ConstructorParameters<typeof ProviderError>[2] = {},
): ProviderError => new ProviderError(kind, `${kind} by the test`, options);

const jobOf = (fallbacks: readonly string[] = []) => ({
  job_id: "job",
  workspace_id: "workspace",
  model: "one",
  fallbacks: [...fallbacks],
});

interface Script {
  readonly fallbacks?: readonly string[];
  /** Result of each attempt in order; the last one repeats. */
  readonly outcomes: readonly (Error | "served" | "begins and fails" | "doubts and fails" | "doubts and serves")[];
  readonly sources?: Parameters<typeof fakeBreaker>[0];
  readonly retryInMs?: Parameters<typeof fakeBreaker>[1];
  readonly enter?: (model: Model) => boolean;
  readonly signal?: AbortSignal;
  readonly during?: () => void;
  readonly catalogue?: Catalogue;
  readonly repeats?: Parameters<typeof tryCandidates>[0]["repeats"];
}

async function run(script: Script) {
  const breaker = fakeBreaker(script.sources, script.retryInMs);
  const tried: string[] = [];
  const failures: string[] = [];
  const entered: string[] = [];
  let begun = false;
  const serving = tryCandidates({
    candidates: candidatesOf(script.catalogue ?? CATALOGUE, { job: jobOf(script.fallbacks) }, () => "adapter"),
    breaker,
    signal: script.signal ?? new AbortController().signal,
    ...(script.repeats ? { repeats: script.repeats } : {}),
    enter: (model) => {
      entered.push(model.slug);
      return Promise.resolve(script.enter?.(model) ?? true);
    },
    attempt: ({ candidate, depth, isLast, onBegun, onDoubt }) => {
      tried.push(`${candidate.name} ${depth}${isLast ? " last" : ""}`);
      script.during?.();
      const outcome = script.outcomes[Math.min(tried.length, script.outcomes.length) - 1];
      if (outcome instanceof Error) return Promise.reject(outcome);
      if (outcome?.startsWith("doubts") === true) onDoubt();
      if (outcome === "doubts and fails") return Promise.reject(failed("failed"));
      begun = outcome === "begins and fails";
      if (begun) onBegun();
      return begun ? Promise.reject(failed("failed")) : Promise.resolve(candidate.model.slug);
    },
    hasBegun: () => begun,
    onFailure: ({ candidate }, error, next) => void failures.push(`${candidate.name} ${error.kind} ${next}`),
  });
  const result = await serving.then(
    (value) => value,
    (error: unknown) => error as Error,
  );
  return { result, tried, failures, entered, told: breaker.told };
}

describe("a call", () => {
  test("is served by the first source, and no other is called", async () => {
    const { result, tried, told, entered } = await run({ outcomes: ["served"], fallbacks: ["two"] });
    expect(result).toBe("one");
    expect(tried).toEqual(["acme/acme-one 0"]);
    expect(told).toEqual(["record:ok acme/acme-one"]);
    expect(entered).toEqual([]);
  });

  test.each<ProviderErrorClass>(["refused", "misconfigured", "busy", "failed", "timeout"])(
    "moves to the next source, then along the chain, when a provider returns %s",
    async (kind) => {
      const { result, tried, entered } = await run({
        outcomes: [failed(kind), failed(kind), failed(kind), "served"],
        fallbacks: ["two", "three"],
      });
      expect(result).toBe("three");
      expect(tried).toEqual(["acme/acme-one 0", "play/sandbox-chat 0", "acme/acme-two 1", "acme/acme-three 2 last"]);
      expect(entered).toEqual(["two", "three"]);
    },
  );

  test("ends with the error of its own request, for any remaining candidates", async () => {
    const error = failed("rejected", { param: "messages" });
    const { result, tried, failures } = await run({ outcomes: [error], fallbacks: ["two"] });
    expect(result).toBe(error);
    expect(tried).toHaveLength(1);
    expect(failures).toEqual(["acme/acme-one rejected ended"]);
  });

  test("does not move once a client has received a piece", async () => {
    const { result, tried, told } = await run({ outcomes: ["begins and fails"], fallbacks: ["two"] });
    expect(result).toMatchObject({ kind: "failed" });
    expect(tried).toHaveLength(1);
    // It had answered, which ends a probe at once, and then it broke off, which speaks against it.
    expect(told).toEqual(["record:ok acme/acme-one", "record:failed acme/acme-one"]);
  });

  test("ends with the last failure when all candidates are exhausted", async () => {
    const { result, failures } = await run({ outcomes: [failed("timeout"), failed("refused")] });
    expect(result).toMatchObject({ kind: "refused" });
    expect(failures).toEqual(["acme/acme-one timeout moved", "play/sandbox-chat refused ended"]);
  });

  test("skips a fallback that rejects it, with all its sources, and does not count it", async () => {
    const { result, tried } = await run({
      outcomes: [failed("failed"), failed("failed"), "served"],
      fallbacks: ["two", "three"],
      enter: (model) => model.slug !== "two",
    });
    expect(result).toBe("three");
    expect(tried.at(-1)).toBe("acme/acme-three 1 last");
  });

  test("does not move after its client has disconnected", async () => {
    const left = new AbortController();
    const { tried, told } = await run({
      outcomes: [failed("failed")],
      fallbacks: ["two"],
      signal: left.signal,
      during: () => left.abort(),
    });
    expect(tried).toHaveLength(1);
    expect(told).toEqual([]);
  });

  test("whose client disconnected before a call to a source calls none, and returns its probe", async () => {
    const { result, tried, told } = await run({
      outcomes: ["served"],
      signal: AbortSignal.abort(jobAbort("caller_left")),
      sources: { "acme/acme-one": "probe" },
    });
    expect(result).toMatchObject({ kind: "aborted" });
    expect(tried).toEqual([]);
    expect(told).toEqual(["forget acme/acme-one"]);
  });

  test("whose fallback rejects its request continues, and ends with the first failure", async () => {
    const rejected = failed("rejected", { code: "context_length_exceeded" });
    const outcomes = [failed("failed"), failed("timeout"), rejected];
    const served = await run({ outcomes: [...outcomes, "served"], fallbacks: ["two", "three"] });
    expect(served.result).toBe("three");
    const spent = await run({ outcomes, fallbacks: ["two"] });
    expect(spent.result).toMatchObject({ kind: "timeout" });
    expect(spent.failures.at(-1)).toBe("acme/acme-two rejected moved");
  });

  test("whose model's circuit is open is not ended by a fallback's rejection", async () => {
    const sources = { "acme/acme-one": "open", "play/sandbox-chat": "open" } as const;
    const rejected = failed("rejected", { param: "n" });
    const served = await run({ outcomes: [rejected, "served"], fallbacks: ["two", "three"], sources });
    expect(served.result).toBe("three");
    const spent = await run({ outcomes: [rejected], fallbacks: ["two"], sources });
    expect(spent.result).toMatchObject({ name: "ProviderError", kind: "no_route" });
    // Another source of the model that was asked for knows as much as the first.
    const own = await run({ outcomes: [rejected], fallbacks: ["two"], sources: { "acme/acme-one": "open" } });
    expect(own.result).toBe(rejected);
  });

  test("whose only other source has an open circuit has the complete time", async () => {
    const { tried } = await run({ outcomes: ["served"], sources: { "play/sandbox-chat": "open" } });
    expect(tried).toEqual(["acme/acme-one 0 last"]);
  });

  test("ends with any error other than a provider's, and the source is not blamed", async () => {
    const bug = new TypeError("a bug");
    const { result, tried, told } = await run({ outcomes: [bug] });
    expect(result).toBe(bug);
    expect(tried).toHaveLength(1);
    expect(told).toEqual([]);
  });
});

describe("a call that is too long for its model", () => {
  const tooLong = failed("rejected", { code: "context_length_exceeded", param: "messages" });

  test("is served by the larger model of its chain, and no other of the same size is called", async () => {
    const { result, tried, failures } = await run({
      outcomes: [tooLong, "served"],
      fallbacks: ["two", "three"],
      catalogue: UNEQUAL,
    });
    expect(result).toBe("three");
    expect(tried).toEqual(["acme/acme-one 0", "acme/acme-three 1 last"]);
    expect(failures).toEqual(["acme/acme-one rejected moved"]);
  });

  test("ends there when no model of its chain is larger", async () => {
    const { result, tried } = await run({ outcomes: [tooLong], fallbacks: ["two", "three"] });
    expect([result, tried.length]).toEqual([tooLong, 1]);
  });

  test.each<[string, ProviderErrorClass]>([
    ["a policy", "refused"],
    ["its own limits", "rejected"],
  ])("and rejected by the larger one for %s receives the context length error", async (_what, kind) => {
    const catalogue = UNEQUAL;
    const { result } = await run({ outcomes: [tooLong, failed(kind)], fallbacks: ["two", "three"], catalogue });
    expect(result).toBe(tooLong);
  });

  test("and whose larger model is above the balance, or open, receives the context length error", async () => {
    const script = { outcomes: [tooLong], fallbacks: ["three"], catalogue: UNEQUAL };
    expect((await run({ ...script, enter: () => false })).result).toBe(tooLong);
    expect((await run({ ...script, sources: { "acme/acme-three": "open" } })).result).toBe(tooLong);
  });

  test("receives the larger one's outage, which may pass", async () => {
    const outage = failed("failed");
    const { result } = await run({ outcomes: [tooLong, outage], fallbacks: ["three"], catalogue: UNEQUAL });
    expect(result).toBe(outage);
  });
});

test("a call rejected by all receives the first rejection", async () => {
  const first = failed("refused");
  const outcomes = [first, failed("refused"), failed("refused")];
  expect((await run({ outcomes, fallbacks: ["two"] })).result).toBe(first);
});

describe("a source that fails alone", () => {
  const only = { sources: { "play/sandbox-chat": "open" } } as const;
  const never = { succeeded: () => undefined, take: () => false };
  const within = (deadlineMs = Date.now() + 60_000, budget = createRepeatBudget()) => ({ budget, deadlineMs });

  test("is retried once before another model", async () => {
    const script = { ...only, outcomes: [failed("failed", { status: 500 }), "served"] as const, fallbacks: ["two"] };
    const { result, tried, failures } = await run({ ...script, repeats: within() });
    expect([result, tried.length]).toEqual(["one", 2]);
    expect(failures).toEqual(["acme/acme-one failed retried"]);
  });

  test("is not called a third time, and no second source of the call is called twice", async () => {
    const { result, tried } = await run({
      ...only,
      outcomes: [
        failed("failed", { status: 500 }),
        failed("failed", { status: 500 }),
        failed("failed", { status: 500 }),
        "served",
      ],
      fallbacks: ["two", "three"],
      repeats: within(),
    });
    expect(result).toBe("three");
    expect(tried).toEqual(["acme/acme-one 0", "acme/acme-one 0", "acme/acme-two 1", "acme/acme-three 2 last"]);
  });

  test("that reports an invalid request the second time ends the call with that", async () => {
    const rejected = failed("rejected", { param: "n" });
    const { result } = await run({ ...only, outcomes: [failed("failed", { status: 500 }), rejected], fallbacks: ["two"], repeats: within() }); // prettier-ignore
    expect(result).toBe(rejected);
  });

  test.each<[string, Partial<Script>, ProviderErrorClass]>([
    ["whose calls may be paid twice", {}, "failed"],
    ["whose budget is spent", { repeats: { budget: never, deadlineMs: Infinity } }, "failed"],
    ["with no time left", { repeats: within(Date.now() + 100) }, "failed"],
    ["that took too long to fail", { repeats: within() }, "timeout"],
    ["whose answer cannot be read", { repeats: within(), outcomes: [failed("failed", { status: 200 }), "served"] }, "failed"], // prettier-ignore
    ["behind a gateway that gave up", { repeats: within(), outcomes: [failed("failed", { status: 504 }), "served"] }, "failed"], // prettier-ignore
    ["whose connection broke", { repeats: within(), outcomes: [failed("failed"), "served"] }, "failed"],
    ["that refused", { repeats: within() }, "refused"],
    ["whose circuit is open by now", { repeats: within(), retryInMs: { "acme/acme-one": 4_000 } }, "failed"],
    ["on trial", { repeats: within(), sources: { ...only.sources, "acme/acme-one": "probe" } }, "failed"],
    ["beside another one of its model", { repeats: within(), sources: {} }, "failed"],
  ])("%s is skipped immediately", async (_what, script, kind) => {
    const { tried } = await run({
      ...only,
      outcomes: [failed(kind, { status: 500 }), "served"],
      fallbacks: ["two"],
      ...script,
    });
    expect(tried).toHaveLength(2);
    expect(tried[1]).not.toStartWith("acme/acme-one");
  });

  test("has its retry budget from the calls that it serves, a tenth of them", async () => {
    let now = 0;
    const budget = createRepeatBudget(() => now);
    expect([budget.take("a"), budget.take("a")]).toEqual([true, false]);
    for (let call = 0; call < 9; call++) budget.succeeded("a");
    expect(budget.take("a")).toBe(false);
    budget.succeeded("a");
    budget.succeeded("a");
    expect([budget.take("a"), budget.take("a"), budget.take("b")]).toEqual([true, false, true]);
    now += 61_000;
    expect([budget.take("a"), budget.take("a")]).toEqual([true, false]);
    // However much it has served, an outage finds three at most.
    for (let call = 0; call < 1_000; call++) budget.succeeded("a");
    expect(Array.from({ length: 5 }, () => budget.take("a")).filter(Boolean)).toHaveLength(3);
  });
});

describe("the breaker", () => {
  test("skips an open source, and receives the probe's end", async () => {
    const { result, tried, told } = await run({
      outcomes: ["served"],
      sources: { "acme/acme-one": "open", "play/sandbox-chat": "probe" },
    });
    expect(result).toBe("one");
    expect(tried).toEqual(["play/sandbox-chat 0 last"]);
    expect(told).toEqual(["record:ok play/sandbox-chat"]);
  });

  test("with every source open there is no route, and the caller receives the time of the first trial", async () => {
    const { result, tried } = await run({
      outcomes: ["served"],
      sources: { "acme/acme-one": "open", "play/sandbox-chat": "open" },
      retryInMs: { "acme/acme-one": 120_000, "play/sandbox-chat": 900 },
    });
    expect(result).toMatchObject({ name: "ProviderError", kind: "no_route" });
    expect(result).toMatchObject({ retryAfterMs: 900 });
    expect(tried).toEqual([]);
  });

  test("receives failures, a rejected key, and no error of the request", async () => {
    const of = async (kind: ProviderErrorClass): Promise<string | undefined> =>
      (await run({ outcomes: [failed(kind), "served"] })).told[0];
    expect(await of("failed")).toBe("record:failed acme/acme-one");
    expect(await of("timeout")).toBe("record:failed acme/acme-one");
    expect(await of("busy")).toBe("record:failed acme/acme-one");
    expect(await of("misconfigured")).toBe("down acme/acme-one");
    expect(await of("refused")).toBe("record:ok acme/acme-one");
    expect(await of("rejected")).toBe("record:ok acme/acme-one");
  });

  test("receives nothing of a request that was never sent, and counts a missed deadline", async () => {
    const unsent = failed("rejected").unsent();
    expect((await run({ outcomes: [unsent] })).told).toEqual([]);
    expect((await run({ outcomes: [unsent], sources: { "acme/acme-one": "probe" } })).told).toEqual([
      "forget acme/acme-one",
    ]);
    const deadline = new AbortController();
    const late = await run({
      outcomes: [failed("aborted")],
      signal: deadline.signal,
      during: () => deadline.abort(jobAbort("deadline")),
    });
    expect(late.told).toEqual(["record:failed acme/acme-one"]);
  });

  test("gets an unused probe back, because its model rejected the call", async () => {
    const { told } = await run({
      outcomes: [failed("failed"), failed("failed")],
      fallbacks: ["two"],
      sources: { "acme/acme-two": "probe" },
      enter: () => false,
    });
    expect(told.at(-1)).toBe("forget acme/acme-two");
  });
});

describe("the same source", () => {
  test("is retried once when it is busy and free within two seconds", async () => {
    const { result, tried, failures } = await run({ outcomes: [failed("busy", { retryAfterMs: 5 }), "served"] });
    expect(result).toBe("one");
    expect(tried).toEqual(["acme/acme-one 0", "acme/acme-one 0"]);
    expect(failures).toEqual(["acme/acme-one busy retried"]);
  });

  test("is retried at most once", async () => {
    const { tried } = await run({
      outcomes: [failed("busy", { retryAfterMs: 1 }), failed("busy", { retryAfterMs: 1 }), "served"],
    });
    expect(tried).toEqual(["acme/acme-one 0", "acme/acme-one 0", "play/sandbox-chat 0 last"]);
  });

  test.each<[string, ProviderError, boolean, number | undefined]>([
    ["busy, free after a long time", failed("busy", { retryAfterMs: PROVIDER_RETRY_HINT_MS + 1 }), true, undefined],
    ["busy for as long as it says", failed("busy", { retryAfterMs: 1_500 }), false, 1_500],
    ["busy without a word, others are there", failed("busy"), false, undefined],
    ["busy without a word, nobody else is there", failed("busy"), true, PROVIDER_RETRY_JITTER_MS / 2],
    ["never reached, nobody else is there", failed("failed", { isUnsent: true }), true, PROVIDER_RETRY_JITTER_MS / 2],
    ["never reached, others are there", failed("failed", { isUnsent: true }), false, undefined],
    ["failed after the request was sent", failed("failed"), true, undefined],
    ["timed out", failed("timeout"), true, undefined],
    ["refused", failed("refused"), true, undefined],
  ])("%s", (_name, error, isLast, expected) => {
    expect(retryWaitMs(error, isLast, 0.5)).toBe(expected);
  });
});

test("candidates are the model's sources in order, then those of its chain, without removed models", () => {
  const candidates = candidatesOf(CATALOGUE, { job: jobOf(["gone", "two"]) }, (provider) =>
    provider.id === "acme" ? 1 : undefined,
  );
  expect(candidates.map(({ name, isFallback }) => [name, isFallback])).toEqual([
    ["acme/acme-one", false],
    ["acme/acme-two", true],
  ]);
});

test("a source in doubt counts as failed immediately, and once, for any outcome of the call", async () => {
  const serves = await run({ outcomes: ["doubts and serves"] });
  expect([serves.result, serves.told]).toEqual(["one", ["record:failed acme/acme-one"]]);
  const moves = await run({ outcomes: ["doubts and fails", "served"] });
  expect([moves.result, moves.told]).toEqual(["one", ["record:failed acme/acme-one", "record:ok play/sandbox-chat"]]);
});

test("a provider without a breaker is called each time, and the breaker receives nothing of it", async () => {
  const { result, told } = await run({
    outcomes: ["served"],
    sources: { "acme/acme-one": "open" },
    catalogue: build([BASE.replace("    api_key_env", "    breaker: off\n    api_key_env")]),
  });
  expect(result).toBe("one");
  expect(told).toEqual([]);
});
