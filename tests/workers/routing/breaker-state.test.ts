import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import { BREAKER } from "#workers/routing/limits.ts";
import { seeded, testSeed } from "#tests/support/seed.ts";
import { type Change, Sources, SourceState } from "#workers/routing/breaker-state.ts";

const NAME = "acme/large";
/** No jitter. */
const middle = (): number => 0.5;

function after(results: string, state = new SourceState(NAME), at = 1_000): SourceState {
  for (const letter of results) state.record(letter === "+" ? "ok" : "failed", at, middle);
  return state;
}

/** One that is open since 1,000 and whose probe is out. */
function probing(at = 6_000): SourceState {
  const state = after("-----");
  expect(state.isDue(at)).toBe(true);
  state.beginProbe(at);
  return state;
}

describe("an enabled source", () => {
  test.each([
    ["-----", true],
    ["----", false],
    ["----+----", false],
    // Ten calls, half of them failed, the last one too.
    ["+-+-+-+-+-", true],
    ["+-+-+-+-+", false],
    ["++++++-+-+-+", false],
    // A success takes nothing out, whatever the ratio.
    ["-+-+-+-+-+", false],
    ["-+-+-+-+-+-", true],
  ])("after %s is open: %p", (results, isOpen) => {
    expect(after(results).isOpen).toBe(isOpen);
  });

  test("needs more failures to be disabled while it serves many, 25 at most", () => {
    expect(after("+".repeat(99) + "-".repeat(5)).isOpen).toBe(false);
    expect(after("+".repeat(99) + "-".repeat(6)).isOpen).toBe(true);
    expect(after("+".repeat(9_000) + "-".repeat(24)).isOpen).toBe(false);
    expect(after("+".repeat(9_000) + "-".repeat(25)).isOpen).toBe(true);
  });

  test("is judged by its last ten seconds", () => {
    const state = after("+".repeat(20), new SourceState(NAME), 0);
    after("-+-+-+-+-", state, 9_999);
    expect(state.isOpen).toBe(false);
    after("-", state, 10_000);
    expect(state.isOpen).toBe(true);
  });

  test("counts other workers' calls, and a success among them ends a series", () => {
    const state = after("--");
    expect(state.receiveCounts({ ok: 0, failed: 2, run: 2 }, 1_000, middle)).toBeUndefined();
    expect(state.receiveCounts({ ok: 10, failed: 2, run: 1 }, 1_000, middle)).toBeUndefined();
    expect(after("---", state).isOpen).toBe(false);
    expect(state.receiveCounts({ ok: 0, failed: 1, run: 1 }, 1_000, middle)).toBe("opened");
  });
});

describe("an open source", () => {
  test("stays open five seconds, plus or minus a random fifth", () => {
    const ends = [0, 0.5, 1].map((random) => {
      const state = new SourceState(NAME);
      for (let n = 0; n < 5; n++) state.record("failed", 1_000, () => random);
      return state.until - 1_000;
    });
    expect(ends).toEqual([4_000, 5_000, 6_000]);
  });

  test("is due for its probe when the cooldown is over, not before, and not during the probe", () => {
    const state = after("-----");
    expect(state.isDue(5_999)).toBe(false);
    expect(state.isDue(6_000)).toBe(true);
    state.beginProbe(6_000);
    expect(state.isDue(6_000 + BREAKER.probeLeaseMs - 1)).toBe(false);
    expect(state.isDue(6_000 + BREAKER.probeLeaseMs)).toBe(true);
  });

  test("ignores calls that had started before it opened", () => {
    const state = after("-----");
    expect(after("+++---", state, 5_000).until).toBe(6_000);
    expect(state.unsent).toEqual({ ok: 0, failed: 0, run: 0 });
  });

  test("is enabled after a successful probe, with reset counters", () => {
    const state = probing();
    expect(state.record("ok", 6_100, middle)).toBe("closed");
    expect(state.retryInMs(6_100)).toBe(0);
    expect(after("----", state, 6_200).isOpen).toBe(false);
  });

  test("stays open slightly longer after each failed probe, 24 s at most", () => {
    const state = after("-----");
    const cooldowns: number[] = [];
    for (let n = 0; n < 14; n++) {
      const at = state.until;
      state.beginProbe(at);
      expect(state.record("failed", at, middle)).toBe("lengthened");
      cooldowns.push(state.until - at);
    }
    expect(cooldowns.slice(0, 3)).toEqual([5_750, 6_612, 7_604]);
    expect(cooldowns.slice(-3)).toEqual([24_000, 24_000, 24_000]);
  });

  test.each([
    ["a minute", 60_000, 20_000],
    ["an hour", 3_600_000, 30_000],
  ])("serves again soon after an outage of %s, for any jitter", (_what, awayMs, backWithinMs) => {
    const random = seeded(testSeed("breaker"));
    for (let round = 0; round < 300; round += 1) {
      const state = new SourceState(NAME);
      for (let failures = 0; failures < 5; failures += 1) state.record("failed", 1_000, random);
      let at = 1_000;
      for (let trials = 0; state.isOpen; trials += 1) {
        at = state.until;
        state.beginProbe(at);
        state.record(at < 1_000 + awayMs ? "failed" : "ok", at, random);
        // One call in five seconds is no hammering.
        expect(trials).toBeLessThan(awayMs / 4_000);
      }
      expect(at - 1_000 - awayMs).toBeLessThan(backWithinMs);
    }
  });

  test("stays open longest when our key is rejected, and again when a probe finds it rejected still", () => {
    const state = new SourceState(NAME);
    expect(state.down(1_000, middle)).toBe("opened");
    expect(state.until).toBe(25_000);
    // Others that were under way say the same.
    expect(state.down(20_000, middle)).toBeUndefined();
    state.beginProbe(25_000);
    expect(state.down(25_000, middle)).toBe("lengthened");
    expect(state.until).toBe(49_000);
  });

  test("keeps the longer of two deadlines", () => {
    const state = new SourceState(NAME);
    state.receiveOpening(60_000, 60_000, 1_000);
    expect(state.receiveOpening(5_000, 5_000, 1_000)).toBeUndefined();
    expect(state.down(1_000, middle)).toBeUndefined();
    expect(state.until).toBe(61_000);
    expect(state.receiveOpening(80_000, 80_000, 1_000)).toBe("lengthened");
    expect(state.until).toBe(81_000);
  });

  test("stays open when its cooldown was lengthened during the probe", () => {
    const state = probing();
    state.receiveOpening(30_000, 30_000, 6_100);
    expect(state.record("ok", 6_200, middle)).toBeUndefined();
    expect(state.receiveClosed(6_200)).toBeUndefined();
    expect(state.isOpen).toBe(true);
  });

  test("whose probe is returned may be tried immediately", () => {
    const state = probing();
    expect(state.forgetProbe()).toBe(true);
    expect(state.isDue(6_000)).toBe(true);
    expect(state.forgetProbe()).toBe(false);
  });

  test("returns the retry time, never 0", () => {
    const state = after("-----");
    expect(state.retryInMs(1_000)).toBe(5_000);
    expect(state.retryInMs(60_000)).toBe(1);
    state.beginProbe(60_000);
    expect(state.retryInMs(60_000)).toBe(BREAKER.probeAgainMs);
  });
});

describe("any sequence of events", () => {
  const count = fc.nat({ max: 12 });
  const event = fc.record({
    wait: fc.oneof({ weight: 4, arbitrary: fc.nat({ max: 400 }) }, fc.nat({ max: 40_000 })),
    random: fc.double({ min: 0, max: 1, noNaN: true }),
    act: fc.oneof(
      { weight: 6, arbitrary: fc.constantFrom("ok", "failed") },
      { weight: 2, arbitrary: fc.constantFrom("down", "forget", "probe", "hear closed") },
      fc.tuple(count, count, count).map(([ok, failed, run]) => ({ ok, failed, run: Math.min(run, failed) })),
      fc.record({ remainingMs: fc.nat({ max: 144_000 }), cooldownMs: fc.integer({ min: 5_000, max: 120_000 }) }),
    ),
  });

  function play(state: SourceState, act: typeof event extends fc.Arbitrary<infer E> ? E : never, now: number) {
    const random = (): number => act.random;
    const what = act.act;
    if (typeof what === "object") {
      return "failed" in what
        ? state.receiveCounts(what, now, random)
        : state.receiveOpening(what.remainingMs, what.cooldownMs, now);
    }
    if (what === "ok" || what === "failed") return state.record(what, now, random);
    if (what === "down") return state.down(now, random);
    if (what === "hear closed") return state.receiveClosed(now);
    if (what === "forget") state.forgetProbe();
    else if (state.isDue(now)) state.beginProbe(now);
    return undefined;
  }

  test("opens exactly when a plain list of the last calls requires it, and never breaks a rule", () => {
    fc.assert(
      fc.property(fc.array(event, { maxLength: 200 }), (events) => {
        const state = new SourceState(NAME);
        let calls: { bucket: number; ok: number; failed: number }[] = [];
        let run = 0;
        let now = 0;
        for (const each of events) {
          now += each.wait;
          const before = { isOpen: state.isOpen, until: state.until, isProbing: state.isProbing };
          const { act } = each;
          const change: Change | undefined = play(state, each, now);

          const heard = typeof act === "object" && "failed" in act ? act : undefined;
          const isCall = act === "ok" || act === "failed";
          if (!before.isOpen && (isCall || heard !== undefined)) {
            const bucket = Math.floor(now / 1_000);
            const ok = heard?.ok ?? Number(act === "ok");
            const failed = heard?.failed ?? Number(act === "failed");
            calls = [...calls, { bucket, ok, failed }].filter((call) => call.bucket > bucket - 10);
            run = ok > 0 ? (heard?.run ?? 0) : run + failed;
            const good = calls.reduce((sum, call) => sum + call.ok, 0);
            const bad = calls.reduce((sum, call) => sum + call.failed, 0);
            const isBad = (good + bad >= 10 && bad >= good) || run >= Math.min(25, 5 + Math.floor(good / 50));
            expect(change).toBe(failed > 0 && isBad ? "opened" : undefined);
          }
          if (state.isOpen !== before.isOpen) {
            calls = [];
            run = 0;
            expect(change).toBe(state.isOpen ? "opened" : "closed");
          }
          if (act === "ok" && state.isOpen) expect(before.isOpen).toBe(true);
          if (before.isOpen && state.isOpen) expect(state.until).toBeGreaterThanOrEqual(before.until);
          if (before.isOpen && !state.isOpen) {
            // Only a good probe ends a cooldown, here or elsewhere, and only one that is as good as over.
            expect(act === "ok" ? before.isProbing && before.until <= now : act === "hear closed").toBe(true);
            expect(before.until).toBeLessThanOrEqual(now + 1_000);
          }
          expect(state.isProbing && !state.isOpen).toBe(false);
          expect(state.cooldownMs === 0 || (state.cooldownMs >= 5_000 && state.cooldownMs <= 120_000)).toBe(true);
          expect(state.until - now).toBeLessThanOrEqual(144_000);
          expect(state.retryInMs(now) === 0).toBe(!state.isOpen);
          if (state.isDue(now)) expect(state.until).toBeLessThanOrEqual(now);
        }
      }),
      { seed: 20_261_120, numRuns: 400 },
    );
  });

  test("leaves nothing enabled after 25 failures in a row", () => {
    fc.assert(
      fc.property(
        fc.array(event, { maxLength: 100 }),
        fc.array(fc.nat({ max: 100 }), { minLength: 25, maxLength: 25 }),
        (events, waits) => {
          const state = new SourceState(NAME);
          let now = 0;
          for (const each of events) play(state, each, (now += each.wait));
          for (const wait of waits) state.record("failed", (now += wait), middle);
          expect(state.isOpen).toBe(true);
        },
      ),
      { seed: 20_261_120, numRuns: 400 },
    );
  });
});

describe("the remembered sources", () => {
  test("are a thousand at most: the least recently used is dropped", () => {
    const forgotten: string[] = [];
    const sources = new Sources((state) => forgotten.push(state.name));
    for (let n = 0; n < BREAKER.sourcesMax; n++) sources.use(`acme/${n}`);
    sources.used("acme/0");
    sources.use("acme/new");
    sources.use("acme/newer");
    expect(forgotten).toEqual(["acme/1", "acme/2"]);
    expect(Array.from(sources.all())).toHaveLength(BREAKER.sourcesMax);
  });

  test("known only by reports are dropped before those used here", () => {
    const forgotten: string[] = [];
    const sources = new Sources((state) => forgotten.push(state.name));
    for (let n = 0; n < BREAKER.sourcesMax - 1; n++) sources.use(`acme/${n}`);
    for (let n = 0; n < 3; n++) sources.getOrAdd(`other/${n}`);
    expect(forgotten).toEqual(["other/0", "other/1"]);
  });
});
