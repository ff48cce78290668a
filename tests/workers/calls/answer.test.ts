import { afterEach, beforeEach, describe, expect, jest, spyOn, test } from "bun:test";

import { decodeFrame, type Frame, FRAME_BYTES_MAX } from "#shared/queue/frames.ts";
import { Answer, DELTA_BATCH_BYTES, DELTA_BATCH_MS, DELTA_MOMENT_MS } from "#workers/calls/answer.ts";
import type { BufferedPublisher } from "#shared/queue/buffered-publisher.ts";

const REPLY = "_INBOX.gw.ingress.job";

interface Sent {
  readonly subject: string;
  readonly frame: Frame;
  readonly data: Uint8Array;
}

function open(reply: string | undefined = REPLY) {
  const sent: Sent[] = [];
  const runs = new Set<string>();
  const sender: Pick<BufferedPublisher, "publish" | "isClosed" | "waitForDrain"> = {
    publish(subject, bytes) {
      const { frame, data } = decodeFrame(bytes);
      const { run, ...rest } = frame as Frame & { run?: string };
      if (run !== undefined) runs.add(run);
      sent.push({ subject, frame: rest, data });
    },
    isClosed: () => false,
    waitForDrain: () => undefined,
  };
  const cost = { nano: 0n, tokens: 0 };
  const answer = new Answer(sender, reply, "m");
  answer.progress = () => cost;
  return {
    sent,
    runs,
    cost,
    answer,
    frames: () => sent.map(({ frame }) => frame),
    text: () => new TextDecoder().decode(Buffer.concat(sent.map(({ data }) => data))),
  };
}

/** Numbers in order, without a hole: what the other side's gap check relies on. */
function expectNumbered(frames: readonly Frame[]): void {
  expect(frames.map((frame) => ("n" in frame ? frame.n : -1))).toEqual(frames.map((_frame, at) => at));
}

beforeEach(() => {
  jest.useFakeTimers();
});
afterEach(() => {
  // What waits for a moment waits in the process.
  jest.runAllTimers();
  jest.useRealTimers();
});

describe("a streamed answer", () => {
  test("has one name in all its frames, and no two answers the same", () => {
    const [one, other] = [open(), open()];
    for (const { answer } of [one, other]) {
      answer.write("a", 1);
      answer.end({ text: "b", upstreamMs: 0 }, 1n);
    }
    expect(one.runs.size).toBe(1);
    expect(one.runs.union(other.runs).size).toBe(2);
  });

  test("sends the first piece immediately, with the model and the provider's time", () => {
    const { answer, sent } = open();
    expect(answer.hasBegun).toBe(false);
    answer.write("data: a\n\n", 12.5);
    expect(answer.hasBegun).toBe(true);
    expect(sent).toHaveLength(1);
    expect(sent[0]).toMatchObject({ subject: REPLY, frame: { t: "head", n: 0, model: "m", upstream_ms: 12.5 } });
    expect(new TextDecoder().decode(sent[0]?.data)).toBe("data: a\n\n");
  });

  test("collects later pieces until their flush time, with the cost so far", () => {
    const { answer, sent, cost, text } = open();
    answer.write("a", 1);
    answer.write("b", 2);
    answer.write("c", 3);
    expect(sent).toHaveLength(1);
    jest.advanceTimersByTime(DELTA_BATCH_MS - DELTA_MOMENT_MS - 1);
    expect(sent).toHaveLength(1);
    cost.nano = 7n;
    cost.tokens = 3;
    jest.advanceTimersByTime(DELTA_MOMENT_MS + 1);
    expect(sent[1]?.frame).toEqual({ t: "delta", n: 1, nano: "7", tokens: 3 });
    expect(text()).toBe("abc");
    jest.advanceTimersByTime(DELTA_BATCH_MS * 10);
    expect(sent).toHaveLength(2);
  });

  test("is flushed together with others, none later than its time, and an error of one is its own", () => {
    const answers = [open(), open(), open(), open()];
    const left: number[] = [];
    const faults: unknown[] = [];
    const report = spyOn(globalThis, "reportError").mockImplementation((error) => void faults.push(error));
    const began = [0, 2, 4, 6];
    for (let now = 0; now <= 30; now += 1, jest.advanceTimersByTime(1)) {
      for (const [index, { answer, sent }] of answers.entries()) {
        if (sent.length === 2) left[index] ??= now;
        if (now !== began[index]) continue;
        answer.write("a", 1);
        if (index === 1) {
          answer.progress = () => {
            left[index] ??= performance.now();
            throw new Error("a meter's fault");
          };
        }
        answer.write("b", 1);
      }
    }
    report.mockRestore();
    // Bun's clock of tests begins at 0, as moments do; 4 + 20 and 6 + 20 lie behind 20 and 25.
    expect(left).toEqual([20, 20, 20, 25]);
    expect(faults).toHaveLength(1);
    expect(answers.map(({ text }) => text())).toEqual(["ab", "a", "ab", "ab"]);
  });

  test("sends a batch of the full size without waiting", () => {
    const { answer, sent } = open();
    answer.write("a", 1);
    answer.write("x".repeat(DELTA_BATCH_BYTES - 1), 1);
    expect(sent).toHaveLength(1);
    answer.write("y", 1);
    expect(sent).toHaveLength(2);
    expect(sent[1]?.data).toHaveLength(DELTA_BATCH_BYTES);
  });

  test("ends after all written pieces, in order and without a gap", () => {
    const { answer, frames, text } = open();
    for (const piece of ["a", "b", "c"]) answer.write(piece, 5);
    answer.end({ text: "data: [DONE]\n\n", upstreamMs: 5 }, 42n);
    expect(frames().map(({ t }) => t)).toEqual(["head", "delta", "end"]);
    expectNumbered(frames());
    expect(frames()[2]).toEqual({ t: "end", n: 2, model: "m", nano: "42", upstream_ms: 5 });
    expect(text()).toBe("abcdata: [DONE]\n\n");
    jest.runAllTimers();
    expect(frames()).toHaveLength(3);
  });

  test("fails after all written pieces", () => {
    const { answer, frames, text } = open();
    answer.write("a", 1);
    answer.write("b", 1);
    answer.fail({ code: "upstream_error", message: "No.", param: null, retry: false });
    expect(frames().map(({ t }) => t)).toEqual(["head", "delta", "error"]);
    expectNumbered(frames());
    expect(text()).toBe("ab");
  });

  test("splits pieces larger than a frame, the first and later ones", () => {
    const huge = `data: {"text":"${"é🙂x".repeat(FRAME_BYTES_MAX / 4)}"}\n\n`;
    const { answer, sent, frames, text } = open();
    answer.write(huge, 1);
    expect(frames()[0]).toMatchObject({ t: "head" });
    answer.write("small", 1);
    answer.write(huge, 1);
    answer.end({ text: "", upstreamMs: 0 }, 1n);
    expectNumbered(frames());
    expect(
      new Set(
        frames()
          .slice(1, -1)
          .map(({ t }) => t),
      ),
    ).toEqual(new Set(["delta"]));
    expect(text()).toBe(`${huge}small${huge}`);
    for (const { data } of sent) expect(data.length).toBeLessThanOrEqual(FRAME_BYTES_MAX);
  });
});

describe("a plain answer", () => {
  test("is one frame when it fits", () => {
    const { answer, frames, text } = open();
    answer.end({ text: '{"a":1}', upstreamMs: 33 }, 9n);
    expect(frames()).toEqual([{ t: "end", n: 0, model: "m", nano: "9", upstream_ms: 33 }]);
    expect(text()).toBe('{"a":1}');
  });

  test.each([
    ["just fits", FRAME_BYTES_MAX, 1],
    ["is one byte too long", FRAME_BYTES_MAX + 1, 2],
    ["is exactly two frames", 2 * FRAME_BYTES_MAX, 2],
    ["is five and a bit", 5 * FRAME_BYTES_MAX + 7, 6],
  ])("that %s is sent in parts and ends with the last one", (_name, bytes, count) => {
    const { answer, sent, frames, text } = open();
    const whole = "x".repeat(bytes);
    answer.end({ text: whole, upstreamMs: 0 }, 1n);
    const parts = Array.from({ length: count - 1 }, () => "part" as const);
    expect(frames().map(({ t }) => t)).toEqual([...parts, "end"]);
    expectNumbered(frames());
    expect(text()).toBe(whole);
    for (const { data } of sent) expect(data.length).toBeLessThanOrEqual(FRAME_BYTES_MAX);
  });

  test("is measured in bytes, not in characters", () => {
    const { answer, sent, text } = open();
    const whole = "€".repeat(Math.ceil(FRAME_BYTES_MAX / 3) + 1);
    answer.end({ text: whole, upstreamMs: 0 }, 1n);
    expect(sent).toHaveLength(2);
    expect(text()).toBe(whole);
  });

  test("may be split inside a character: its bytes join again", () => {
    const { answer, text, sent } = open();
    const whole = `x${"🙂".repeat(FRAME_BYTES_MAX / 2)}`;
    answer.end({ text: whole, upstreamMs: 0 }, 1n);
    expect(sent.length).toBeGreaterThan(2);
    expect(text()).toBe(whole);
  });

  test("that failed is one frame with all public facts", () => {
    const { answer, frames } = open();
    answer.fail({ code: "overloaded", message: "Busy.", param: null, retry: true, retryAfterS: 7 });
    expect(frames()).toEqual([
      { t: "error", n: 0, code: "overloaded", message: "Busy.", param: null, retry: true, retry_after_s: 7 },
    ]);
  });

  test("omits a retry time if there is none", () => {
    const { answer, frames } = open();
    answer.fail({ code: "upstream_error", message: "No.", param: "n", retry: false });
    expect(frames()).toEqual([{ t: "error", n: 0, code: "upstream_error", message: "No.", param: "n", retry: false }]);
  });
});

test("an answer is not sent when the message has no valid reply address", () => {
  const sent: string[] = [];
  const sender = {
    publish: (subject: string) => void sent.push(subject),
    isClosed: () => false,
    waitForDrain: () => undefined,
  };
  const answer = new Answer(sender, undefined, "m");
  answer.write("a", 1);
  expect(answer.hasBegun).toBe(true);
  answer.end({ text: "b", upstreamMs: 0 }, 1n);
  expect(sent).toEqual([]);
});
