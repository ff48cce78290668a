import { describe, expect, test } from "bun:test";

import { Call, type CallFacts, type EndReason, FRAME_SILENCE_MS } from "#ingress/wait/call.ts";
import type { ApiError, Code } from "#shared/base/errors.ts";
import { newId } from "#shared/base/ids.ts";
import type { ErrorFrame, Frame } from "#shared/queue/frames.ts";
import { UNMETERED } from "#ingress/core/call.ts";
import { NO_SPAN } from "#shared/tracing/tracing.ts";

interface Opened {
  readonly call: Call;
  /** Why it ended; undefined stands for the worker's own word. */
  readonly ends: (EndReason | undefined)[];
  readonly firsts: { upstreamMs: number; isStream: boolean }[];
  readonly frame: (frame: Frame, data?: string) => void;
  /** The clock, so many milliseconds from now. */
  readonly tick: (ms: number) => void;
}

/** @param isReleased what closing the hold of an abandoned call says */
function open(facts: Partial<CallFacts> = {}, isReleased = true): Opened {
  const ends: Opened["ends"] = [];
  const firsts: Opened["firsts"] = [];
  const call = new Call(
    {
      jobId: newId(),
      workspaceId: newId(),
      requestId: newId(),
      startedAt: performance.now(),
      span: NO_SPAN,
      addCharge: UNMETERED.addCharge,
      waitMs: 600_000,
      queueMs: 60_000,
      requestBytes: 100,
      api: "openai",
      usageKind: "chat",
      pool: "chat",
      ...facts,
    },
    {
      onEnd(_call, reason) {
        ends.push(reason);
        return Promise.resolve(isReleased);
      },
      onFirst: (_call, upstreamMs, isStream) => void firsts.push({ upstreamMs, isStream }),
      onSettlementPending: () => undefined,
    },
  );
  return {
    call,
    ends,
    firsts,
    frame: (frame, data = "") => call.onFrame(frame, new TextEncoder().encode(data)),
    tick: (ms) => call.tick(performance.now() + ms),
  };
}

const HEAD = { t: "head", n: 0, model: "m", upstream_ms: 12, nano: "0", tokens: 0 } as const;
const DELTA = { t: "delta", n: 1, nano: "42", tokens: 7 } as const;
const END = { t: "end", n: 2, model: "m", nano: "1500000000", upstream_ms: 30 } as const;
const FAULT: ErrorFrame = { t: "error", n: 0, code: "overloaded", message: "Busy.", param: null, retry: true };

async function errorOf({ call }: Opened): Promise<ApiError> {
  const error = await call.response.then(
    () => undefined,
    (fault: unknown) => fault as ApiError,
  );
  if (!error) throw new Error("the call was answered");
  return error;
}

/** The error in the last event of a stream. */
function lastError(text: string): { code: string } {
  const events = text.trimEnd().split("\n\n");
  expect(text).not.toContain("[DONE]");
  return (JSON.parse(events.at(-1)?.slice("data: ".length) ?? "") as { error: { code: string } }).error;
}

describe("a plain answer", () => {
  test("is the worker's bytes, with the model and the cost", async () => {
    const opened = open();
    opened.frame({ ...END, n: 0 }, '{"a":"é"}');
    const response = await opened.call.response;
    expect(response.status).toBe(200);
    expect(Object.fromEntries(response.headers)).toEqual({
      "content-type": "application/json; charset=utf-8",
      "x-model-used": "m",
      "x-credits-used": "1.5",
    });
    expect(await response.text()).toBe('{"a":"é"}');
    expect(opened.ends).toEqual([undefined]);
    expect(opened.firsts).toEqual([{ upstreamMs: 30, isStream: false }]);
    expect(opened.call.isFinished).toBe(true);
  });

  test("is joined from its parts", async () => {
    const opened = open();
    opened.frame({ t: "part", n: 0 }, "abc");
    opened.frame({ t: "part", n: 1 }, "def");
    opened.frame(END, "g");
    expect(await (await opened.call.response).text()).toBe("abcdefg");
  });
});

test.each(["plain", "streamed"])("a %s answer that is read past its wait limit is a timeout", async (form) => {
  const opened = open({ waitMs: 20 });
  const { call, ends, frame } = opened;
  if (form === "streamed") frame(HEAD, "data: a\n\n");
  await Bun.sleep(30);
  frame(form === "streamed" ? END : { ...END, n: 0 }, "{}");
  expect(ends).toEqual(["deadline"]);
  if (form === "plain") expect(await errorOf(opened)).toMatchObject({ code: "upstream_timeout", shouldRetry: false });
  else expect(lastError(await (await call.response).text()).code).toBe("upstream_timeout");
});

describe("a stream", () => {
  test("receives the parts of an end that is larger than a frame", async () => {
    const opened = open();
    opened.frame(HEAD, "data: a\n\n");
    opened.frame({ t: "part", n: 1 }, "data: b");
    opened.frame(END, "c\n\n");
    expect(await (await opened.call.response).text()).toBe("data: a\n\ndata: bc\n\n");
  });

  test("starts with its headers, and a failure before them has a status", async () => {
    const opened = open();
    opened.frame({ t: "beat" });
    expect(opened.call.isStream).toBe(false);
    opened.frame(HEAD, "data: a\n\n");
    const response = await opened.call.response;
    expect(Object.fromEntries(response.headers)).toEqual({
      "content-type": "text/event-stream; charset=utf-8",
      "cache-control": "no-cache",
      "x-accel-buffering": "no",
      "x-model-used": "m",
    });
    expect(opened.firsts).toEqual([{ upstreamMs: 12, isStream: true }]);
    opened.frame(DELTA, "data: b\n\n");
    opened.frame(END, "data: [DONE]\n\n");
    expect(await response.text()).toBe("data: a\n\ndata: b\n\ndata: [DONE]\n\n");
    expect(opened.ends).toEqual([undefined]);
  });

  test("records its relayed part, in case its worker dies", () => {
    const opened = open();
    opened.frame(HEAD);
    expect(opened.call.relayed).toEqual({ nano: 0n, tokens: 0 });
    opened.frame(DELTA);
    expect(opened.call.relayed).toEqual({ nano: 42n, tokens: 7 });
    opened.frame({ ...DELTA, nano: "99", tokens: 9 });
    expect(opened.call.relayed).toEqual({ nano: 99n, tokens: 9 });
  });

  test("is not finished before its last byte was read", async () => {
    const opened = open();
    opened.frame(HEAD, "data: a\n\n");
    opened.frame(END, "data: [DONE]\n\n");
    expect(opened.call.isFinished).toBe(false);
    await (await opened.call.response).text();
    expect(opened.call.isFinished).toBe(true);
  });
});

describe("a failure reported by the worker", () => {
  test("before the headers is a status, with the retry time", async () => {
    const opened = open();
    opened.frame({ ...FAULT, retry_after_s: 7, param: "model" });
    const error = await errorOf(opened);
    expect(error).toMatchObject({
      code: "overloaded",
      message: "Busy.",
      param: "model",
      headers: { "retry-after": "7" },
    });
    expect(error.shouldRetry).toBeUndefined();
    expect(opened.ends).toEqual([undefined]);
  });

  test("after a charge must not be retried, and has no hint", async () => {
    const opened = open();
    opened.frame({ ...FAULT, retry: false, retry_after_s: 7 });
    expect(await errorOf(opened)).toMatchObject({ shouldRetry: false, headers: {} });
  });

  test("in the middle of a stream is its last event, without [DONE]", async () => {
    const opened = open();
    opened.frame(HEAD, "data: a\n\n");
    opened.frame({ ...FAULT, n: 1 });
    const text = await (await opened.call.response).text();
    expect(text).toStartWith("data: a\n\n");
    expect(lastError(text)).toEqual({
      message: "Busy.",
      type: "server_error",
      code: "overloaded",
      param: null,
    } as never);
    expect(opened.ends).toEqual([undefined]);
  });
});

describe("a call that the ingress ends", () => {
  test.each<[string, (opened: Opened) => void, EndReason, Code, boolean | undefined]>([
    ["a hole in its frames", ({ call }) => call.onGap(), "gap", "internal_error", false],
    ["a later delivery that tells the loss", ({ frame }) => frame({ t: "lost" }), "lost", "internal_error", false],
    ["no worker in time", ({ tick }) => tick(61_000), "queue", "overloaded", undefined],
    [
      "silence after a sign of life",
      ({ frame, tick }) => (frame({ t: "beat" }), tick(FRAME_SILENCE_MS + 1_000)),
      "silence",
      "internal_error",
      false,
    ],
    ["its deadline", ({ frame, tick }) => (frame({ t: "beat" }), tick(600_001)), "deadline", "upstream_timeout", false],
    ["the end of the grace", ({ call }) => call.end("shutdown"), "shutdown", "service_unavailable", false],
  ])(
    "for %s: a status before the headers, an error event after them",
    async (_name, act, reason, code, shouldRetry) => {
      const plain = open();
      act(plain);
      const error = await errorOf(plain);
      expect(error).toMatchObject({ code });
      expect(error.shouldRetry).toBe(shouldRetry as never);
      expect(plain.ends).toEqual([reason]);

      // A stream has a worker, and one that is heard is not lost.
      if (reason === "queue" || reason === "lost") return;
      const stream = open();
      stream.frame(HEAD, "data: a\n\n");
      const text = (await stream.call.response).text();
      await Bun.sleep(0);
      act(stream);
      expect(lastError(await text).code).toBe(code);
      expect(stream.ends).toEqual([reason]);
    },
  );

  test("is not ended by a later delivery while its worker sends frames: only its queue heartbeats were lost", () => {
    const opened = open();
    opened.frame(HEAD, "data: a\n\n");
    opened.frame({ t: "lost" });
    expect(opened.ends).toEqual([]);
  });

  test("because it could not be dispatched: with that error", async () => {
    const opened = open();
    const fault = new Error("the queue is away");
    opened.call.end("dispatch", fault);
    expect(await errorOf(opened)).toBe(fault as never);
    expect(opened.ends).toEqual(["dispatch"]);
  });

  test("must not be retried if it was charged without our knowledge", async () => {
    for (const reason of ["queue", "dispatch"] as const) {
      const opened = open({}, false);
      opened.call.end(reason, new Error("the queue is away"));
      expect(await errorOf(opened)).toMatchObject({ code: "internal_error", shouldRetry: false });
    }
  });

  test("because its client disconnected: nothing is sent, and no rejection is unhandled", async () => {
    const opened = open();
    opened.call.end("client");
    await Promise.resolve();
    expect(opened.ends).toEqual(["client"]);
    const stream = open();
    stream.frame(HEAD, "data: a\n\n");
    await (await stream.call.response).body?.cancel();
    expect(stream.ends).toEqual(["client"]);
    expect(stream.call.isFinished).toBe(true);
  });

  test("ends once: the first reason counts", async () => {
    const opened = open();
    opened.call.onGap();
    opened.call.end("shutdown");
    opened.frame(END, "late");
    opened.tick(900_000);
    expect(opened.ends).toEqual(["gap"]);
    expect(await errorOf(opened)).toMatchObject({ code: "internal_error" });
  });

  test("that succeeded is not a disconnect, even if its client disconnects afterwards", async () => {
    const opened = open();
    opened.frame(HEAD, "data: a\n\n");
    opened.frame(END, "data: [DONE]\n\n");
    await (await opened.call.response).body?.cancel();
    opened.call.end("client");
    expect(opened.ends).toEqual([undefined]);
  });

  test("is not ended by silence while its worker sends heartbeats", () => {
    const opened = open();
    for (let beat = 0; beat < 5; beat++) {
      opened.frame({ t: "beat" });
      opened.tick(FRAME_SILENCE_MS - 1_000);
    }
    expect(opened.ends).toEqual([]);
  });

  test("has a silence limit from the moment of its delivery", () => {
    const opened = open();
    opened.call.onHandedOut();
    opened.tick(FRAME_SILENCE_MS - 1_000);
    expect(opened.ends).toEqual([]);
    opened.tick(FRAME_SILENCE_MS + 1_000);
    expect(opened.ends).toEqual(["silence"]);
  });
});
