import { describe, expect, test } from "bun:test";

import { ApiError } from "#shared/base/errors.ts";
import { OutboundError } from "#shared/net/fetch.ts";
import { jobAbort } from "#workers/job.ts";
import type { Artifact, Polled } from "#workers/providers/media.ts";
import { ProviderError } from "#workers/providers/provider.ts";

import { begun, full, NARROWED, type Adapter, RESULT_BYTES_MAX, run, SOUND } from "./run-bench.ts";

const HELLO = 5_000_000_000n;
const DONE: Polled<Artifact> = { state: "done", output: SOUND, usage: {} };

/** Plays these answers to the questions about its job, the last one for good. */
function queued(answers: readonly Polled<Artifact>[], more: Partial<Adapter & { start: unknown }> = {}) {
  const asked: string[] = [];
  const left = [...answers];
  const adapter = {
    start: () => {
      asked.push("start");
      return Promise.resolve({ id: "1" });
    },
    poll: () => {
      asked.push("poll");
      return Promise.resolve((left.length > 1 ? left.shift() : left[0]) ?? DONE);
    },
    cancel: () => {
      asked.push("cancel");
      return Promise.resolve();
    },
    ...more,
  } as Adapter;
  return { adapter, asked };
}

const gone: Artifact = {
  open: () => Promise.reject(new OutboundError("unreachable", "nobody answers")),
  contentType: "audio/wav",
};

/** Fails with the call, as adapters do. */
function endOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = (): void => reject(new ProviderError("aborted", "the call was aborted", { cause: signal.reason }));
    if (signal.aborted) end();
    else signal.addEventListener("abort", end, { once: true });
  });
}

describe("a job", () => {
  test("at its provider is recorded, reported to the breaker immediately, followed and charged", async () => {
    const { adapter, asked } = queued([{ state: "pending" }, DONE]);
    const ran = await run([adapter]);
    expect(asked).toEqual(["start", "poll", "poll"]);
    expect(ran.kept).toEqual([expect.objectContaining({ source: "one/m", job: { id: "1" } })]);
    expect(ran.recorded).toEqual(["one/m ok"]);
    expect(ran.closed).toMatchObject([{ status: "succeeded", usedNano: HELLO }]);
  });

  test("whose caller disconnects during its start gets its name there, and is cancelled with it", async () => {
    const leaving = new AbortController();
    const cancelled: Polled<Artifact> = { state: "failed", error: new ProviderError("aborted", "cancelled") };
    let wasBrokenOff: boolean | undefined;
    const { adapter, asked } = queued([cancelled], {
      start: ({ signal }: { readonly signal: AbortSignal }) => {
        leaving.abort(jobAbort("caller_left"));
        wasBrokenOff = signal.aborted;
        return Promise.resolve({ id: "1" });
      },
    });
    const ran = await run([adapter], { kind: "images", signal: leaving.signal });
    expect([wasBrokenOff, ran.kept.length, asked]).toEqual([false, 1, ["cancel", "poll"]]);
  });

  test("that fails there is dropped before another provider is called synchronously", async () => {
    const { adapter } = queued([{ state: "failed", error: new ProviderError("failed", "an outage") }]);
    const second: Adapter = { run: () => Promise.resolve({ output: SOUND, usage: {} }) };
    const ran = await run([adapter, second]);
    expect(ran.kept).toEqual([expect.objectContaining({ source: "one/m" }), null]);
    expect(ran.closed).toMatchObject([{ status: "succeeded", usedNano: HELLO }]);
  });

  test("that was taken over late in its row's life has the full time from its start", async () => {
    const { adapter, asked } = queued([{ state: "pending" }, { state: "pending" }, DONE]);
    const ran = await run([adapter], {
      found: begun({ id: "1" }, Date.now() - 30_000),
      deadlineMs: Date.now() - 1_000,
    });
    expect([asked, ran.thrown]).toEqual([["poll", "poll", "poll"], undefined]);
    expect(ran.closed).toMatchObject([{ status: "succeeded" }]);
  });

  test("that was taken over and fails moves to the next source, as in its first worker", async () => {
    const { adapter, asked } = queued([{ state: "failed", error: new ProviderError("failed", "an outage") }]);
    const second: Adapter = { run: () => Promise.resolve({ output: SOUND, usage: {} }) };
    const ran = await run([adapter, second], { found: begun({ id: "1" }) });
    expect([asked, ran.kept]).toEqual([["poll"], [null]]);
    expect(ran.closed).toMatchObject([{ status: "succeeded", usedNano: HELLO }]);
    // What a call is refused for it is refused for everywhere.
    const rejected = queued([{ state: "failed", error: new ProviderError("rejected", "no such voice") }]);
    const ended = await run([rejected.adapter, second], { found: begun({ id: "1" }) });
    expect(ended.closed).toMatchObject([{ status: "failed", usedNano: null }]);
  });

  test.each(Object.entries(NARROWED))(
    "is delivered and charged as admitted though its model %s now",
    async (_how, catalogue) => {
      const stopping = new AbortController();
      const left = queued([{ state: "pending" }], {
        poll: () => {
          stopping.abort(jobAbort("shutdown"));
          return Promise.resolve({ state: "pending" });
        },
      });
      const { kept, closed } = await run([left.adapter], { signal: stopping.signal });
      expect(closed).toEqual([]);
      const { adapter, asked } = queued([{ state: "pending" }, DONE]);
      // As the row keeps it.
      const found = JSON.parse(JSON.stringify(kept.at(-1))) as object;
      const ran = await run([adapter], { found, catalogue });
      expect([ran.thrown, asked]).toEqual([undefined, ["poll", "poll"]]);
      expect(ran.closed).toMatchObject([{ status: "succeeded", usedNano: HELLO }]);
      expect(ran.heard).toBeGreaterThan(1_000);
    },
  );

  test("of long unknown state ends with its provider's outcome, and is started nowhere else", async () => {
    const { adapter } = queued([{ state: "failed", error: new ProviderError("failed", "an outage") }]);
    const second: Adapter = { run: () => Promise.reject(new Error("asked")) };
    const ran = await run([adapter, second], { found: begun({ id: "1" }), isLate: true });
    expect([ran.thrown, ran.kept]).toEqual([undefined, []]);
    expect(ran.closed).toMatchObject([{ status: "failed", usedNano: null }]);
  });

  test("that was taken over keeps its provider's error if the next one knows less", async () => {
    const { adapter } = queued([{ state: "failed", error: new ProviderError("refused", "not that") }]);
    const second: Adapter = { run: () => Promise.reject(new ProviderError("rejected", "no such voice")) };
    const ran = await run([adapter, second], { found: begun({ id: "1" }) });
    expect(ran.closed).toMatchObject([{ status: "failed", usedNano: null }]);
    expect(ran.told).toContain("upstream_refused");
  });

  test("past its time from the start is cancelled", async () => {
    const { adapter, asked } = queued([{ state: "pending" }]);
    const ran = await run([adapter], { found: begun({ id: "1" }, Date.now() - 30_000), totalMs: 20_000 });
    expect(asked).toEqual(["cancel", "poll"]);
    expect([ran.thrown, ran.closed]).toEqual([expect.objectContaining({ kind: "unknown" }), []]);
  });

  test("of unknown state is polled once, and cancelled first if its caller requested it", async () => {
    const { adapter, asked } = queued([{ state: "pending" }]);
    const late = { found: begun({ id: "1" }), isLate: true };
    expect((await run([adapter], late)).thrown).toMatchObject({ name: "ProviderError", kind: "unknown" });
    expect(asked).toEqual(["poll"]);
    await run([adapter], { ...late, wasCancelled: true });
    expect(asked).toEqual(["poll", "cancel", "poll"]);
  });

  test("of two phases whose second is not accepted keeps its first, and starts no third", async () => {
    let tries = 0;
    const start = () => {
      tries += 1;
      return tries < 3 ? Promise.reject(new ProviderError("busy", "full")) : Promise.resolve({ id: "2" });
    };
    const { adapter, asked } = queued([
      { state: "next", start },
      { state: "next", start },
      { state: "next", start },
      DONE,
    ]);
    const ran = await run([adapter]);
    expect(asked.filter((what) => what === "start")).toHaveLength(1);
    expect(ran.kept.at(-1)).toMatchObject({ job: { id: "2" } });
    expect(ran.closed).toMatchObject([{ status: "succeeded" }]);
  });
});

describe("a silent source", () => {
  const direct: Adapter = { run: () => Promise.resolve({ output: SOUND, usage: {} }) };
  /** An adapter whose provider takes the call and never answers. */
  const silent: Adapter = { run: ({ signal }) => endOf(signal) };

  test("costs speech a part of its time, and the next one serves", async () => {
    const ran = await run([silent, direct], { plainMs: 50 });
    expect(ran.recorded).toEqual(["one/m failed", "two/m ok"]);
    expect(ran.closed).toMatchObject([{ status: "succeeded", usedNano: HELLO }]);
  });

  test("leaves the next one time, for any total time", async () => {
    const ran = await run([silent, direct], { totalMs: 1_000 });
    expect(ran.closed).toMatchObject([{ status: "succeeded", usedNano: HELLO }]);
  });

  test("is cancelled if it queues its jobs, and its job dropped", async () => {
    const { adapter, asked } = queued([{ state: "pending" }]);
    const ran = await run([adapter, direct], { plainMs: 50 });
    expect(asked.slice(-2)).toEqual(["cancel", "poll"]);
    expect(ran.kept).toEqual([expect.objectContaining({ source: "one/m" }), null]);
    expect(ran.closed).toMatchObject([{ status: "succeeded", usedNano: HELLO }]);
  });

  test("has the complete time without another source", async () => {
    const broken: Adapter = { run: () => Promise.reject(new ProviderError("failed", "an outage")) };
    const ran = await run([broken, silent], { plainMs: 1, totalMs: 200 });
    expect(ran.recorded).toEqual(["one/m failed", "two/m failed"]);
    expect(ran.told).toContain("upstream_timeout");
    expect(ran.closed).toMatchObject([{ status: "failed", usedNano: null }]);
  });

  test("is not replaced if it may have charged unseen", async () => {
    const mute = queued([], { start: ({ signal }: { readonly signal: AbortSignal }) => endOf(signal) });
    const ran = await run([mute.adapter, direct], { plainMs: 1, totalMs: 200, kind: "music" });
    expect([ran.thrown, ran.closed]).toEqual([expect.objectContaining({ kind: "unknown" }), []]);
  });

  test("without a job list is a failure at the call's deadline", async () => {
    const ran = await run([silent, direct], { plainMs: 1, totalMs: 200, kind: "music" });
    expect([ran.thrown, ran.recorded]).toEqual([undefined, ["one/m failed"]]);
    expect(ran.told).toContain("upstream_timeout");
    expect(ran.closed).toMatchObject([{ status: "failed", usedNano: null }]);
  });

  test("is not one that answered in time and is read for longer, which ends with the call only", async () => {
    const { bytes } = SOUND as { readonly bytes: Uint8Array<ArrayBuffer> };
    const asked: AbortSignal[] = [];
    const speaking = (open: () => Promise<ReadableStream<Uint8Array>>): Adapter => ({
      run: ({ signal }) => {
        asked.push(signal);
        return Promise.resolve({ output: { open, contentType: "audio/wav" }, usage: {} });
      },
    });
    // Longer than the limit of its attempt.
    const slow = speaking(() => Bun.sleep(120).then(() => new Blob([bytes]).stream()));
    const ran = await run([slow, direct], { plainMs: 60 });
    expect([ran.recorded, asked[0]?.aborted]).toEqual([["one/m ok"], false]);
    expect(ran.closed).toMatchObject([{ status: "succeeded", usedNano: HELLO }]);

    const endless = speaking(() => endOf(asked[1] ?? AbortSignal.abort()));
    const ended = await run([endless, direct], { plainMs: 50, totalMs: 200 });
    expect(asked[1]?.reason).toMatchObject({ name: "AbortError", message: "deadline" });
    expect(ended.closed).toMatchObject([{ status: "failed", usedNano: null }]);
  });
});

describe("a synchronous source", () => {
  const direct: Adapter = { run: () => Promise.resolve({ output: SOUND, usage: {} }) };
  const fails = (error: Error) => {
    let calls = 0;
    const run = () => {
      calls += 1;
      return Promise.reject(error);
    };
    return { adapter: { run } as Adapter, calls: () => calls };
  };
  const lost = new ProviderError("unknown", "a bad gateway", { status: 502 });
  const late = new ProviderError("unknown", "late", { status: 504, cause: new ProviderError("timeout", "late") });

  test("that loses its answer is called once, and the next source serves", async () => {
    const { adapter, calls } = fails(lost);
    const ran = await run([adapter, direct], { kind: "images" });
    expect([ran.thrown, calls(), ran.recorded]).toEqual([undefined, 1, ["one/m failed", "two/m ok"]]);
    expect(ran.closed).toMatchObject([{ status: "succeeded", usedNano: HELLO }]);
  });

  test.each([
    ["an error", lost, "upstream_error"],
    ["a timeout", late, "upstream_timeout"],
  ])("that ends in %s without another source fails immediately, its hold released", async (_what, error, code) => {
    const { adapter, calls } = fails(error);
    const ran = await run([adapter], { kind: "images" });
    expect([ran.thrown, calls()]).toEqual([undefined, 1]);
    expect(ran.told).toContain(code);
    expect(ran.closed).toMatchObject([{ status: "failed", usedNano: null }]);
  });

  test("is aborted when the worker stops", async () => {
    const stopping = new AbortController();
    const adapter: Adapter = {
      run: ({ signal }) => {
        stopping.abort(jobAbort("shutdown"));
        return endOf(signal);
      },
    };
    const ran = await run([adapter], { kind: "images", signal: stopping.signal });
    expect(ran.thrown).toBeUndefined();
    expect(ran.told).toContain("service_unavailable");
    expect(ran.closed).toMatchObject([{ status: "failed", usedNano: null }]);
  });

  test("that sends a part after its caller has disconnected is not charged", async () => {
    const leaving = new AbortController();
    const adapter: Adapter = {
      run: () => {
        leaving.abort(jobAbort("caller_left"));
        return Promise.resolve({ output: SOUND, usage: {} });
      },
    };
    const ran = await run([adapter], { kind: "images", signal: leaving.signal });
    expect(ran.closed).toMatchObject([{ status: "cancelled", usedNano: null }]);
  });

  test("is the only kind that does so: a queue whose answer is lost may have started the job", async () => {
    const { adapter } = queued([], { start: () => Promise.reject(lost) });
    const ran = await run([adapter, direct], { kind: "images" });
    expect([ran.thrown, ran.closed]).toEqual([expect.objectContaining({ kind: "unknown" }), []]);
  });
});

describe("a generated result", () => {
  test("that cannot be fetched now is fetched again later, if its provider stores it", async () => {
    const { adapter } = queued([{ state: "done", output: gone, usage: {} }]);
    const ran = await run([adapter]);
    expect([ran.thrown, ran.closed]).toEqual([expect.objectContaining({ kind: "unknown" }), []]);
  }, 30_000);

  test("at a forbidden address is a failure immediately", async () => {
    const open = () => Promise.reject(new OutboundError("unsafe", "a private address"));
    const { adapter } = queued([{ state: "done", output: { open, contentType: "audio/wav" }, usage: {} }]);
    const ran = await run([adapter]);
    expect([ran.thrown, ran.closed]).toEqual([
      undefined,
      [expect.objectContaining({ status: "failed", usedNano: null })],
    ]);
  });

  test("is streamed only for a workspace with storage for it", async () => {
    const direct: Adapter = { run: () => Promise.resolve({ output: SOUND, usage: {} }) };
    expect((await run([direct])).heard).toBeGreaterThan(1_000);
    const ran = await run([direct], { stored: 990_000_000, store: full });
    expect([ran.heard, ran.closed]).toEqual([0, [expect.objectContaining({ status: "failed", usedNano: null })]]);
  });

  test("that was streamed and cannot be stored is charged", async () => {
    const direct: Adapter = { run: () => Promise.resolve({ output: SOUND, usage: {} }) };
    const ran = await run([direct], { store: full });
    expect(ran.heard).toBeGreaterThan(1_000);
    expect(ran.closed).toMatchObject([{ status: "succeeded", usedNano: HELLO }]);
  });

  test("uses memory of its pool while its answer is read, and none when the job is over", async () => {
    const adapter: Adapter = {
      async run({ reserveBytes }) {
        await reserveBytes?.(RESULT_BYTES_MAX, RESULT_BYTES_MAX);
        return { output: SOUND, usage: {} };
      },
    };
    const ran = await run([adapter]);
    expect([ran.held, ran.closed]).toEqual([0, [expect.objectContaining({ status: "succeeded" })]]);
    const fails: Adapter = {
      async run({ reserveBytes }) {
        await reserveBytes?.(1, 1);
        throw new ProviderError("failed", "broke off");
      },
    };
    expect((await run([fails, fails])).held).toBe(0);
  });

  test("that never got memory is a failure with that reason, and costs nothing", async () => {
    const full: Adapter = { run: () => Promise.reject(new ApiError("overloaded", "Too many results at once.")) };
    const ran = await run([full]);
    expect(ran.closed).toMatchObject([{ status: "failed", usedNano: null }]);
    expect(ran.told).toContain("overloaded");
  });

  test("is left to the next worker when this one stops", async () => {
    const { adapter, asked } = queued([{ state: "pending" }]);
    const stopping = AbortSignal.abort(jobAbort("shutdown"));
    const ran = await run([adapter], { found: begun({ id: "1" }), signal: stopping });
    expect(asked).toEqual([]);
    expect([ran.thrown, ran.closed]).toEqual([expect.anything(), []]);
  });
});
