import { describe, expect, test } from "bun:test";

import { createWaitingMessages, WINDOW_RETRY_MAX_MS, WAITING_MESSAGES_MAX } from "#ingress/nats-intake/intake.ts";

describe("waiting messages", () => {
  test("under one key: the first stays, in either order of their deliveries", () => {
    const waiting = createWaitingMessages();
    expect([waiting.isFirst("a", 7), waiting.isFirst("a", 9), waiting.isFirst("a", 7)]).toEqual([true, false, true]);
    // The second ingress saw the repeat before the message that it repeats.
    expect([waiting.isFirst("a", 5), waiting.isFirst("a", 7), waiting.isFirst("b", 9)]).toEqual([true, false, true]);
    waiting.forget("a");
    expect(waiting.isFirst("a", 9)).toBe(true);
  });

  test("that were not delivered for long are dropped: their store may be lost", () => {
    let now = 0;
    const waiting = createWaitingMessages(() => now);
    waiting.isFirst("a", 7);
    now = 2 * WINDOW_RETRY_MAX_MS;
    expect(waiting.isFirst("a", 9)).toBe(false);
    now = 3 * WINDOW_RETRY_MAX_MS;
    expect(waiting.isFirst("a", 9)).toBe(true);
  });

  test("are dropped above the maximum, the least recently delivered first", () => {
    const waiting = createWaitingMessages();
    for (let at = 0; at <= WAITING_MESSAGES_MAX; at++) waiting.isFirst(`job ${at}`, 1);
    expect(waiting.isFirst("job 1", 2)).toBe(false);
    expect(waiting.isFirst("job 0", 2)).toBe(true);
  });
});
