/** A stream is read no faster than its pieces leave the worker: the NATS client keeps without end whatever it is given. */
import { afterEach, expect, test } from "bun:test";

import { chatJob } from "#tests/workers/runner/job-message.ts";
import { jobAbort } from "#workers/job.ts";

import { bench, closeBenches, delta, END, ROLE, STREAM, streamOf } from "./bench.ts";

afterEach(closeBenches);

test("without memory the provider is not read further, and the stream then ends regularly", async () => {
  const { promise: room, resolve: makeRoom } = Promise.withResolvers<void>();
  const { promise: isFull, resolve: full } = Promise.withResolvers<void>();
  let asked = 0;
  let read = 0;
  const counted = (): Promise<unknown> => Promise.resolve((read += 1));
  const words = ["one ", "two ", "three "].flatMap((content) => [counted, delta({ content })]);
  const { run, text, settlements } = bench(
    { stream: streamOf(ROLE, ...words, END) },
    {
      waitForDrain: () => {
        asked += 1;
        // After the second word.
        if (asked !== 2) return undefined;
        full();
        return room;
      },
    },
  );
  const running = run(chatJob(STREAM));
  await isFull;
  await new Promise(setImmediate);
  expect(read).toBe(2);
  makeRoom();
  await running;
  expect(read).toBe(3);
  expect(text()).toEndWith("data: [DONE]\n\n");
  expect(settlements).toMatchObject([{ status: "succeeded" }]);
});

test("a caller that disconnects meanwhile ends the call", async () => {
  const controller = new AbortController();
  const room = (): Promise<void> => {
    controller.abort(jobAbort("caller_left"));
    return new Promise(() => undefined);
  };
  const { run, settlements } = bench(
    { stream: streamOf(ROLE, delta({ content: "one " }), new Error("aborted")) },
    { waitForDrain: room },
  );
  await run(chatJob(STREAM), controller.signal);
  expect(settlements).toMatchObject([{ status: "cancelled" }]);
});
