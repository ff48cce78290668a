import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import { decide, type DeliveryFacts, nakDelayMs, type DeliveryVerdict } from "#workers/runner/runner.ts";

const FRESH: DeliveryFacts = { deliveries: 1, isReadable: true, deadlineMs: 2_000, nowMs: 1_000, isCancelled: false };

describe("handling of a delivery", () => {
  test.each<[string, Partial<DeliveryFacts>, DeliveryVerdict]>([
    ["the first one of a call that is waited for", {}, "run"],
    ["a moment before the deadline", { nowMs: 1_999 }, "run"],
    ["at the deadline", { nowMs: 2_000 }, "drop"],
    ["past the deadline", { nowMs: 9_999 }, "drop"],
    ["a cancelled call", { isCancelled: true }, "drop"],
    ["the second one", { deliveries: 2 }, "lost"],
    ["the fifth one", { deliveries: 5 }, "lost"],
    ["the second one, past the deadline", { deliveries: 2, nowMs: 9_999 }, "lost"],
    ["the second one, cancelled", { deliveries: 2, isCancelled: true }, "lost"],
    ["an unreadable one", { isReadable: false }, "dead_letter"],
    ["an unreadable one, again", { isReadable: false, deliveries: 3 }, "dead_letter"],
    ["an unreadable one without a deadline", { isReadable: false, deadlineMs: 0 }, "dead_letter"],
  ])("%s", (_name, facts, outcome) => {
    expect(decide({ ...FRESH, ...facts })).toBe(outcome);
  });

  test("only a first delivery ever runs", () => {
    const facts = fc.record({
      deliveries: fc.integer({ min: 1, max: 10 }),
      isReadable: fc.boolean(),
      deadlineMs: fc.nat(),
      nowMs: fc.nat(),
      isCancelled: fc.boolean(),
    });
    fc.assert(
      fc.property(facts, (fact) => {
        const runs = decide(fact) === "run";
        expect(runs).toBe(
          fact.deliveries === 1 && fact.isReadable && fact.nowMs < fact.deadlineMs && !fact.isCancelled,
        );
      }),
    );
  });
});

describe("the delay of a retried delivery", () => {
  test.each([
    [1, 4_000, 6_000],
    [2, 16_000, 24_000],
    [3, 40_000, 60_000],
    [9, 40_000, 60_000],
  ])("number %i waits from %i to %i ms", (deliveries, min, max) => {
    expect(nakDelayMs(deliveries, 0)).toBe(min);
    expect(nakDelayMs(deliveries, 1)).toBe(max);
    expect(nakDelayMs(deliveries, 0.5)).toBe((min + max) / 2);
  });

  test("is random, and never longer than a minute", () => {
    const drawn = Array.from({ length: 50 }, () => nakDelayMs(5));
    expect(new Set(drawn).size).toBeGreaterThan(1);
    for (const delay of drawn) expect(delay).toBeLessThanOrEqual(60_000);
  });

  test("causes at most three deliveries during an outage of 20 s", () => {
    expect(nakDelayMs(1, 0) + nakDelayMs(2, 0)).toBeGreaterThanOrEqual(20_000);
  });
});
