/** Number of processes that a lane wants. */
import { expect, test } from "bun:test";

import { loadOf } from "#shared/operators/pools.ts";

const lane = { pool: "chat", lane: "live" } as const;
const load = (queued: number, running: number, slots: number, processes: number, calls = 0) => {
  const { wanted_processes: wanted, ...rest } = loadOf(
    { ...lane, queued, deferred: 0, running, oldest_waiting_seconds: 0 },
    { ...lane, slots, processes },
    calls,
  );
  return { wanted, queued: rest.queued, running: rest.running };
};

test.each([
  [0, 0, 224, 1, 0],
  [0, 1, 224, 1, 1],
  [0, 168, 224, 1, 1],
  [0, 169, 224, 1, 2],
  [1_000, 0, 448, 2, 6],
  [0, 0, 0, 0, 0],
  [5, 0, 0, 0, 1],
])("%d queued and %d running on %d slots of %d processes request %d", (queued, running, slots, processes, wanted) => {
  expect(load(queued, running, slots, processes).wanted).toBe(wanted);
});

test("calls without a job use the slots that jobs leave free, and the others wait", () => {
  expect(load(1, 3, 10, 1, 4)).toEqual({ queued: 1, running: 7, wanted: 2 });
  expect(load(1, 3, 10, 1, 9)).toEqual({ queued: 3, running: 10, wanted: 2 });
  expect(load(0, 12, 10, 1, 2)).toEqual({ queued: 2, running: 12, wanted: 2 });
});
