import { describe, expect, test } from "bun:test";

import { jobAbort } from "#workers/job.ts";
import { type Following, pollOnce, pollToEnd } from "#workers/calls/media/at-provider.ts";
import type { Polled, ProviderJob } from "#workers/providers/media.ts";
import { ProviderError } from "#workers/providers/provider.ts";

const DONE: Polled<string> = { state: "done", output: "a picture", usage: {} };

/** Plays these answers, the last one for good, and notes what it was asked. */
function provider(...answers: readonly Polled<string>[]) {
  const asked: string[] = [];
  const polled: Polled<string>[] = [...answers];
  return {
    asked,
    adapter: {
      poll: () => {
        asked.push("poll");
        const [next] = polled.length > 1 ? polled.splice(0, 1) : polled;
        return Promise.resolve(next ?? DONE);
      },
      cancel: () => {
        asked.push("cancel");
        return Promise.reject(new Error("cancelled too late"));
      },
    },
  };
}

function following(adapter: Following<string>["adapter"], more: Partial<Following<string>> = {}): Following<string> {
  const signal = new AbortController().signal;
  return { adapter, job: { task: "1" }, pollMinMs: 1, pollMaxMs: 2, signal, onUnknown: () => undefined, ...more };
}

describe("a job at a provider", () => {
  test("is polled until it is done, and only a final state ends it (unknown is never failure)", async () => {
    const { adapter, asked } = provider({ state: "pending" }, { state: "unknown", detail: "a 500" }, DONE);
    const unknown: string[] = [];
    const followed = await pollToEnd(following(adapter, { onUnknown: (detail) => unknown.push(detail) }));
    expect(followed).toMatchObject({ result: { output: "a picture" }, job: { task: "1" } });
    expect([asked, unknown]).toEqual([["poll", "poll", "poll"], ["a 500"]]);
  });

  test("that has failed contains its provider's error", async () => {
    const error = new ProviderError("refused", "not that");
    const { adapter } = provider({ state: "failed", error });
    expect(await pollToEnd(following(adapter)).catch((fault: unknown) => fault)).toBe(error);
  });

  test("past its deadline is cancelled, and polled once more: a finished result is used", async () => {
    const { adapter, asked } = provider(DONE);
    const late = AbortSignal.abort(jobAbort("deadline"));
    expect(await pollToEnd(following(adapter, { signal: late }))).toMatchObject({ result: { output: "a picture" } });
    expect(asked).toEqual(["cancel", "poll"]);
  });

  test("past its deadline and unfinished fails", async () => {
    const { adapter } = provider({ state: "pending" });
    const late = AbortSignal.abort(jobAbort("deadline"));
    expect(pollToEnd(following(adapter, { signal: late }))).rejects.toMatchObject({ kind: "aborted" });
  });

  test("is not cancelled by a worker that stops", async () => {
    const { adapter, asked } = provider({ state: "pending" });
    const stopping = AbortSignal.abort(jobAbort("shutdown"));
    const fault = await pollToEnd(following(adapter, { signal: stopping })).catch((error: unknown) => error);
    expect(fault).toBeInstanceOf(ProviderError);
    expect(asked).toEqual([]);
  });

  test("reports its progress", async () => {
    const { adapter } = provider({ state: "pending", progress: 0.25 }, { state: "pending" }, DONE);
    const progress: number[] = [];
    await pollToEnd(following(adapter, { onProgress: (share) => progress.push(share) }));
    expect(progress).toEqual([0.25]);
  });

  test("of two phases whose second is not accepted now is polled again, which offers it again", async () => {
    const start = () => Promise.resolve({ task: "2" });
    const { adapter, asked } = provider({ state: "next", start }, { state: "next", start }, DONE);
    const answers = [undefined, { task: "2" }];
    const followed = await pollToEnd(following(adapter, { onNext: () => Promise.resolve(answers.shift()) }));
    expect([followed.job, asked.length]).toEqual([{ task: "2" }, 3]);
  });

  test("between its phases at its deadline has ended, not unknown", async () => {
    const { adapter } = provider({ state: "next", start: () => Promise.reject(new Error("begun")) });
    const late = AbortSignal.abort(jobAbort("caller_left"));
    expect(await pollToEnd(following(adapter, { signal: late })).catch((error: unknown) => error)).toMatchObject({
      kind: "failed",
    });
    expect(await pollOnce(adapter, { task: "1" }).catch((error: unknown) => error)).toMatchObject({ kind: "failed" });
  });

  test("of two phases starts the second one and follows that", async () => {
    const asked: unknown[] = [];
    const start = () => Promise.resolve({ task: "2" });
    const adapter = {
      poll: (job: ProviderJob): Promise<Polled<string>> => {
        asked.push(job["task"]);
        return Promise.resolve(job["task"] === "1" ? { state: "next", start } : DONE);
      },
    };
    const followed = await pollToEnd(
      following(adapter, {
        onNext: (begin) => begin({ signal: new AbortController().signal, noteStart: () => Promise.resolve() }),
      }),
    );
    expect([followed.job, asked]).toEqual([{ task: "2" }, ["1", "2"]]);
  });

  test("is polled as soon as its provider calls back, not only at its interval", async () => {
    const { adapter, asked } = provider(DONE);
    let ring = (): void => undefined;
    const ended = pollToEnd(
      following(adapter, {
        pollMinMs: 3_600_000,
        pollMaxMs: 3_600_000,
        onProviderCallback: (listener) => {
          ring = listener;
          return () => undefined;
        },
      }),
    );
    expect(asked).toEqual([]);
    ring();
    await ended;
    expect(asked).toEqual(["poll"]);
  });
});
