import { expect, spyOn, test } from "bun:test";

import { sendAtTickEnd, publishAtTickEnd } from "#shared/queue/tick-end.ts";

test("at the end of a turn all callbacks run first and their messages are sent then; an error stops no other", async () => {
  const steps: string[] = [];
  const report = spyOn(globalThis, "reportError").mockImplementation((error) => void steps.push(String(error)));
  sendAtTickEnd(() => steps.push("sent 1"));
  publishAtTickEnd(() => {
    steps.push("told 1");
    // As the client of NATS does with what is published.
    queueMicrotask(() => sendAtTickEnd(() => steps.push("sent 2")));
    throw new Error("a fault");
  });
  publishAtTickEnd(() => steps.push("told 2"));
  await Promise.resolve();
  expect(steps).toEqual([]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(steps).toEqual(["told 1", "Error: a fault", "told 2", "sent 1", "sent 2"]);
  report.mockRestore();
});

test("a callback registered at the end of a turn belongs to the next", async () => {
  const steps: string[] = [];
  sendAtTickEnd(() => publishAtTickEnd(() => steps.push("told")));
  await new Promise((resolve) => setImmediate(resolve));
  expect(steps).toEqual([]);
  await new Promise((resolve) => setImmediate(resolve));
  expect(steps).toEqual(["told"]);
});
