import { afterEach, describe, expect, test } from "bun:test";

import { commonNow, followClock } from "#shared/base/clock.ts";
import type { Queryable } from "#shared/database/client.ts";

/** A Postgres whose clock is ahead of ours, and that takes its time. */
function ahead(ms: number, tookMs = 0): Queryable {
  return {
    async query<Row extends object>() {
      await Bun.sleep(tookMs);
      return [{ ms: Date.now() + ms }] as unknown as Row[];
    },
  };
}

const offMs = (): number => Math.abs(commonNow() - Date.now());

afterEach(() => followClock(ahead(0)));

describe("the common clock", () => {
  test.each([3_600_000, -3_600_000, 86_400_000, 1_500])("follows Postgres, which is %d ms ahead", async (ms) => {
    await followClock(ahead(ms));
    expect(commonNow() - Date.now() - ms).toBeWithin(-100, 100);
    await followClock(ahead(0));
    expect(offMs()).toBeLessThan(50);
  });

  test("is local while they differ by less than a second", async () => {
    await followClock(ahead(900));
    expect(offMs()).toBeLessThan(50);
  });

  test("is unchanged after a slow answer, and after none", async () => {
    await followClock(ahead(3_600_000));
    await followClock(ahead(-3_600_000, 600));
    await followClock({ query: () => Promise.resolve([]) });
    expect(commonNow() - Date.now()).toBeGreaterThan(3_599_000);
  });
});
