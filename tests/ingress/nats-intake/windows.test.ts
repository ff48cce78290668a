import { describe, expect, test } from "bun:test";

import { createWindows } from "#ingress/nats-intake/intake.ts";

describe("a window", () => {
  test("that was full is not queried until it opens", () => {
    let now = 1_000_000;
    const windows = createWindows(() => now);
    expect(windows.openInMs("a")).toBeLessThanOrEqual(0);
    windows.isFull("a", 5_000);
    now += 2_000;
    expect([windows.openInMs("a"), windows.openInMs("b") <= 0]).toEqual([3_000, true]);
  });

  test("starves an older message, unless another message passed it", () => {
    let now = 1_000_000;
    const windows = createWindows(() => now);
    // What was let in before its start is not known to it.
    expect(windows.starves("a", 1)).toBe(false);
    now += 60_001;
    expect([windows.starves("a", now - 60_001), windows.starves("a", now - 59_000)]).toEqual([true, false]);
    windows.wasOpen("a");
    now += 59_000;
    expect([windows.starves("a", 1), windows.starves("b", 1)]).toEqual([false, true]);
    now += 2_000;
    expect(windows.starves("a", 1)).toBe(true);
  });

  test("is dropped when it has no effect any longer", () => {
    let now = 1_000_000;
    const windows = createWindows(() => now);
    for (let at = 0; at < 999; at++) windows.isFull(String(at), 1_000);
    windows.isFull("long", 600_000);
    now += 120_000;
    windows.isFull("new", 1_000);
    expect([windows.openInMs("0") < -120_000, windows.openInMs("long")]).toEqual([true, 480_000]);
  });
});
