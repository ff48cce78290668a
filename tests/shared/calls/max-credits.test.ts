import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import components from "#schemas/generated/components.json" with { type: "json" };
import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import { ApiError } from "#shared/base/errors.ts";
import type { ReadRun } from "#shared/calls/capabilities/read-run.ts";
import { checkChat, withHeldLimit } from "#shared/calls/kinds/chat/constraints.ts";
import { CHAT_DEFAULT_OUTPUT_TOKENS } from "#shared/calls/kinds/call-bound.ts";
import { withFirstModel } from "#shared/calls/kinds/first-model.ts";
import {
  costMaxAt,
  costMaxOf,
  lowerMax,
  maxCreditsBytes,
  readMaxCredits,
  SHARED_OUTPUT_TOKENS_MIN,
  takeMaxCredits,
  withinMax,
} from "#shared/calls/max-credits.ts";
import { callOfRun } from "#shared/calls/read.ts";
import { priceAt } from "#shared/ledger/charge.ts";
import { BASE, build } from "#tests/shared/calls/catalogue/build-catalogue.ts";

const [MODEL] = build([BASE]).models.values();
if (!MODEL) throw new Error("the catalogue has no model");
const model = { ...MODEL, max_output_tokens: 20_000, max_context_tokens: 1_000_000 };

const errorOf = (work: () => unknown): ApiError => {
  try {
    work();
  } catch (error) {
    if (error instanceof ApiError) return error;
    throw error;
  }
  throw new Error("expected an error");
};

/** Members that must not be misspelt. */
interface Limited {
  readonly max_credits?: unknown;
  readonly models?: unknown;
}

describe("an amount", () => {
  test.each<[number | string, bigint]>([
    [1, 1_000_000_000n],
    [1e-9, 1n],
    [0.000000001, 1n],
    ["2.5e-3", 2_500_000n],
    [" 0.5 ", 500_000_000n],
    [1_000_000_000, 1_000_000_000_000_000_000n],
  ])("%p is exact", (credits, nano) => {
    expect(readMaxCredits(credits)).toBe(nano);
  });

  test.each<[number | string]>([
    [0],
    [-1],
    [1e-10],
    [1.0000000001],
    [1_000_000_001],
    [""],
    ["many"],
    ["1,5"],
    ["1e999"],
  ])("%p is refused", (credits) => {
    expect(errorOf(() => readMaxCredits(credits, "x-max-credits"))).toMatchObject({
      code: "unsupported_value",
      param: "x-max-credits",
    });
  });

  test("of two maximums the lower applies", () => {
    expect([lowerMax(1n, 2n), lowerMax(2n, 1n), lowerMax(undefined, 3n), lowerMax(3n, undefined)]).toEqual([
      1n,
      1n,
      3n,
      3n,
    ]);
    expect(lowerMax(undefined, undefined)).toBeUndefined();
  });

  test("is taken out of a request, which is otherwise unchanged", () => {
    const plain = { model: "one" };
    expect(takeMaxCredits(plain).request).toBe(plain);
    const taken: { request: object; maxNano?: bigint } = takeMaxCredits({ ...plain, max_credits: 0.25 });
    expect(taken).toEqual({ request: plain, maxNano: 250_000_000n });
  });

  test("must not be misspelt, unless it is present", () => {
    for (const name of [
      "max_credit",
      "maxCredits",
      "MAX_CREDITS",
      "max-credits",
      "max_creidts",
      "max_budget",
      "maxCost",
      "max-spend",
    ]) {
      expect(errorOf(() => takeMaxCredits({ model: "one", [name]: 1 }))).toMatchObject({
        code: "unknown_parameter",
        param: name,
        message: `${name} is not a known parameter. Did you mean max_credits?`,
      });
      expect(takeMaxCredits({ max_credits: 1, [name]: 1 })).toMatchObject({ maxNano: 1_000_000_000n });
    }
    expect(errorOf(() => withFirstModel({ model: "one", models: null, modles: ["two"] }))).toMatchObject({
      param: "modles",
    });
  });

  test("is not confused with members that clients send", () => {
    const names = [
      "max_tokens",
      "max_completion_tokens",
      "max_output_tokens",
      "max_tool_calls",
      "max_retries",
      "maxRetries",
    ];
    const more = [
      "max_results",
      "max_steps",
      "max_price_usd",
      "model_id",
      "modelId",
      "modalities",
      "modality",
      "mode",
      "moderation",
    ];
    const sent = Object.fromEntries([...names, ...more].map((name) => [name, 1]));
    expect(takeMaxCredits(sent).request).toBe(sent);
    expect(withFirstModel(sent)).toBe(sent);
  });

  test("is not confused with the members of any request", () => {
    const requests = Object.entries(components.schemas).filter(([name]) => name.endsWith("Request"));
    expect(requests.length).toBeGreaterThan(20);
    for (const [, schema] of requests) {
      const { max_credits: _max, ...others } = "properties" in schema ? (schema.properties as object & Limited) : {};
      expect(takeMaxCredits(others).request).toBe(others);
      const { models: _models, ...named } = others as object & Limited;
      expect(withFirstModel(named)).toBe(named);
    }
  });

  test("counts no more bytes than it adds to a body", () => {
    const amounts = fc.oneof(
      fc.double({ min: 1e-9, max: 1e9, noNaN: true }),
      fc.integer({ min: 1, max: 1_000_000_000 }),
    );
    fc.assert(
      fc.property(amounts, (max_credits) => {
        const body = { model: "one", max_credits };
        const added = JSON.stringify(body).length - JSON.stringify({ model: "one" }).length;
        const counted = maxCreditsBytes(body);
        expect(counted).toBeLessThanOrEqual(added);
        expect(counted).toBeGreaterThan(0);
      }),
    );
    expect(maxCreditsBytes({ model: "one" })).toBe(0);
    expect(maxCreditsBytes(null)).toBe(0);
  });
});

test("for a line of a batch, the largest full price whose share fits is allowed", () => {
  fc.assert(
    fc.property(fc.bigInt(1n, 10n ** 12n), fc.integer({ min: 1, max: 1_000_000 }), (nano, price_millionths) => {
      const line = { price_millionths };
      const full = costMaxOf(nano, { line })?.nano ?? 0n;
      expect(priceAt(full, line) <= nano).toBe(true);
      expect(priceAt(full + 1n, line) > nano).toBe(true);
      // A model may have its own share for batches.
      const own = { price_millionths: 250_000 };
      const at =
        costMaxAt(costMaxOf(nano, { line }), { price: { ...model.price, batchMillionths: 250_000 } })?.nano ?? 0n;
      expect(priceAt(at, own) <= nano && priceAt(at + 1n, own) > nano).toBe(true);
    }),
  );
});

const bound = { holdNano: 1_000_000_000n, outputTokensMax: 0, mayExceed: false, tokensMax: 0 };

test("a bound that fits contains the maximum, and another one is refused with both amounts", () => {
  expect(withinMax(bound, undefined)).toBe(bound);
  expect(withinMax(bound, { nano: 1_000_000_000n, fitNano: 1_000_000_000n }).maxNano).toBe(1_000_000_000n);
  const error = errorOf(() => withinMax(bound, { nano: 999_999_999n, fitNano: 1n }));
  expect(error).toMatchObject({ code: "max_credits_exceeded", status: 402, param: "max_credits" });
  expect(error.message).toContain("up to 1 credits");
  expect(error.message).toContain("allows 0.999999999");
});

describe("a chat call", () => {
  const request = (more: object = {}): ChatCompletionRequest => ({
    model: "one",
    messages: [{ role: "user", content: "hello" }],
    ...more,
  });
  const BYTES = 100;
  const check = (more: object, nano: bigint, outer: object = {}) =>
    checkChat(request(more), model, BYTES, undefined, costMaxOf(nano, outer));
  const holdOf = (max_tokens: number, n = 1): bigint => checkChat(request({ max_tokens, n }), model, BYTES).holdNano;

  test("without an output limit gets the largest one that fits, and never exceeds its hold", () => {
    fc.assert(
      fc.property(
        fc.integer({ min: 1, max: 25_000 }),
        fc.integer({ min: 1, max: 4 }),
        fc.bigInt(0n, 1_000n),
        (tokens, n, extra) => {
          const nano = holdOf(Math.min(tokens, 20_000), n) + extra;
          const checked = check({ n }, nano);
          expect(checked.mayExceed).toBe(false);
          expect(checked.holdNano <= nano).toBe(true);
          const each = checked.outputTokensMax / n;
          expect(each).toBeGreaterThanOrEqual(Math.min(tokens, 20_000));
          if (each < 20_000) expect(holdOf(each + 1, n) > nano).toBe(true);
          expect(checked.loweredLimit).toBe(each < 20_000 ? each : undefined);
          expect(withHeldLimit(request({ n }), checked.outputTokensMax).max_completion_tokens).toBe(each);
        },
      ),
    );
  });

  test("keeps its own output limit, and is refused with the limit that would fit", () => {
    const fits = holdOf(50);
    expect(check({ max_tokens: 50 }, fits)).toMatchObject({ outputLimit: 50, mayExceed: false, maxNano: fits });
    const error = errorOf(() => check({ max_tokens: 51 }, fits));
    expect(error.code).toBe("max_credits_exceeded");
    expect(error.message).toContain("at most 50 tokens");
    expect(withHeldLimit(request({ max_tokens: 7 }), 100)).toEqual(request({ max_tokens: 7 }));
  });

  test("whose input alone does not fit is refused", () => {
    for (const members of [{}, { max_tokens: 5 }]) {
      const error = errorOf(() => check(members, 1n));
      expect(error.code).toBe("max_credits_exceeded");
      expect(error.message).toContain("shorten the input");
    }
  });

  test("of a run holds no more than a call without maximum, and is lowered to what is left", () => {
    const whole = checkChat(request(), model, BYTES, undefined, costMaxOf(undefined, { sharedNano: holdOf(20_000) }));
    expect(whole).toMatchObject({ outputTokensMax: CHAT_DEFAULT_OUTPUT_TOKENS, mayExceed: false });
    const lowered = checkChat(request(), model, BYTES, undefined, costMaxOf(undefined, { sharedNano: holdOf(300) }));
    expect(lowered).toMatchObject({ outputTokensMax: 300, loweredLimit: 300, mayExceed: false });
    // Too little is left: the admission refuses the call, and its message has the amounts of the run.
    const max = costMaxOf(undefined, { sharedNano: holdOf(SHARED_OUTPUT_TOKENS_MIN - 1) });
    expect(checkChat(request(), model, BYTES, undefined, max).outputTokensMax).toBe(CHAT_DEFAULT_OUTPUT_TOKENS);
    const limited = checkChat(request({ max_tokens: 500 }), model, BYTES, undefined, max);
    expect(limited).toMatchObject({ outputTokensMax: 500, mayExceed: false });
  });

  test("of a run with a maximum of its own is limited by both", () => {
    const both = (own: bigint, sharedNano: bigint) => check({}, own, { sharedNano });
    expect(both(holdOf(400), holdOf(300)).outputTokensMax).toBe(300);
    expect(both(holdOf(300), holdOf(400)).outputTokensMax).toBe(300);
    expect(both(holdOf(300), 1n).outputTokensMax).toBe(300);
    expect(errorOf(() => both(1n, holdOf(300))).code).toBe("max_credits_exceeded");
  });
});

test("for a batch line of a capability with its own share, its charge is at most the maximum", () => {
  const price = { ...model.price, batchMillionths: 1_000_000 };
  const run = (nano: bigint) =>
    callOfRun({
      model: { ...model, price },
      checked: { bound: { holdNano: 2n, outputTokensMax: 0, mayExceed: false, tokensMax: 0 } },
      max: costMaxOf(nano, { line: { price_millionths: 500_000 } }),
      request: {},
      inline: [],
    } as unknown as ReadRun);
  expect(errorOf(() => run(1n)).code).toBe("max_credits_exceeded");
  expect(run(2n).leastNano).toBe(2n);
});
