/**
 * Streams as clients live with them: silence, broken upstreams, clients that leave, readers that stop. Two
 * beds: one with the real limits, one with small ones for upstreams that stall.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { paced } from "#shared/config/pace.ts";
import type { AnswerBehaviour } from "../providers/engine/behaviour.ts";
import { VENDOR_MARK } from "../providers/engine/behaviour.ts";
import type { RecordedCall } from "../providers/engine/recorder.ts";
import { audit } from "../faults/audit.ts";
import { ask, type Bed, startBed } from "../faults/bed.ts";
import { type Answer, DONE, errorCode, type Live, requestId, streamedText } from "../faults/client.ts";
import { isServed } from "../faults/load.ts";
import { metric } from "../faults/metric.ts";
import { pour } from "../faults/pour.ts";
import { callRaw } from "../faults/raw-caller.ts";
import { eventually } from "../faults/wait.ts";
import { storm } from "../support/storm.ts";

const UPSTREAM_CLOSED_WITHIN_MS = storm(60_000, 1_000);
const SILENCE_MS = paced(40_000);

/** Paced, so that the first frames are on their way before the break. */
const BROKEN: Readonly<Record<string, AnswerBehaviour>> = {
  "a FIN between two frames": { cut: { frame: 2, inside: "border", how: "fin" } },
  "a RST between two frames": { cut: { frame: 2, inside: "border", how: "rst" } },
  "a FIN inside a frame": { cut: { frame: 2, inside: "json", how: "fin" } },
  "a tidy end inside a frame": { cut: { frame: 2, inside: "json", how: "end" } },
  "a RST inside a character": { text: "Où crème café été", cut: { frame: 2, inside: "utf8", how: "rst" } },
  "a tidy end inside a character": { text: "Où crème café été", cut: { frame: 2, inside: "utf8", how: "end" } },
  "an end without a finish reason": { finishReason: null, omitEnd: true },
  "an error event": { errorFrame: 2 },
};
const REFUSED = ["error-first", "cut-first", "empty-stream", "server-error", "reset", "html"];
const REPAIRED = [
  "no-end",
  "repeat",
  "malformed",
  "comments",
  "foreign",
  "event-name",
  "crlf",
  "cr",
  "bom",
  "multi-line",
  "no-last-newline",
  "long-line",
  "split-1",
];

let bed: Bed;
let strict: Bed;
let silent: Promise<Answer>;

beforeAll(async () => {
  [bed, strict] = await Promise.all([
    startBed({
      apart: false,
      behaviours: [
        ...REFUSED,
        ...REPAIRED,
        `silent-${SILENCE_MS}`,
        "silent",
        "silent-after-head",
        "tokens-400-every-20",
      ],
    }),
    startBed({
      apart: false,
      behaviours: ["stall", "silent", "silent-after-head"],
      env: { SLUICE_CALL_STALL_MS: "1500", SLUICE_CALL_FIRST_BYTE_MS: "1500" },
    }),
  ]);
  // Runs beside everything else in this file; looked at in the end.
  silent = bed.client.chat(bed.target(), ask(`mock-silent-${SILENCE_MS}`, { stream: true }));
});
afterAll(() => Promise.all([bed?.stop(), strict?.stop()]));

const stream = (model: string): Record<string, unknown> => ask(model, { stream: true });

interface Usage {
  readonly status: string;
  readonly settled: bigint;
  readonly output: number | null;
}

/** The usage record of a call, as soon as it is there. */
function usageOf(jobId: string, of: Bed = bed): Promise<Usage> {
  return eventually(`the usage record of ${jobId}`, async () => {
    const [row] = await of.stack.query<Usage>(
      "select status, settled, (units->>'output_tokens')::int as output from usage_record where job_id = $1",
      [jobId],
    );
    return row;
  });
}

/** Runs `act` and returns the call that it made the upstream receive. */
async function upstreamCallOf<T>(of: Bed, act: () => Promise<T>): Promise<[T, RecordedCall]> {
  const before = of.upstream.requests.length;
  const result = await act();
  return [result, await of.upstream.received(before + 1)];
}

describe("an interrupted upstream", () => {
  test.each(Object.keys(BROKEN))(
    "by %s ends in an error frame without [DONE], charged for the delivered part",
    async (name) => {
      bed.upstream.next({ intervalMs: 200, ...BROKEN[name] });
      const answer = await bed.client.chat(bed.target(), stream("metered"));
      expect([answer.status, errorCode(answer)]).toEqual([200, "upstream_error"]);
      expect(answer.frames).not.toContain(DONE);
      expect(answer.body).not.toContain(VENDOR_MARK);
      const usage = await usageOf(requestId(answer));
      expect(usage.status).toBe("failed");
      expect(usage.settled).toBeGreaterThan(0n);
    },
  );

  test.each(REFUSED)("before its first frame, as `%s`, is an error with its actual status, and free", async (name) => {
    const answer = await bed.client.chat(bed.target(), stream(`mock-${name}`));
    expect([answer.status, errorCode(answer)]).toEqual([502, "upstream_error"]);
    expect(answer.body).not.toContain(VENDOR_MARK);
    expect(await usageOf(requestId(answer))).toMatchObject({ status: "failed", settled: 0n });
  });

  test.each(REPAIRED)("only in its form, as `%s`, is complete for the client", async (name) => {
    const answer = await bed.client.chat(bed.target(), stream(`mock-${name}`));
    expect(isServed(answer)).toBe(true);
    expect(streamedText(answer).length).toBeGreaterThan(0);
    expect(await usageOf(requestId(answer))).toMatchObject({ status: "succeeded" });
  });
});

describe("an upstream that stalls", () => {
  test("in mid-stream ends with an error frame, and its socket is closed", async () => {
    const [answer, call] = await upstreamCallOf(strict, () =>
      strict.client.chat(strict.target(), stream("mock-stall")),
    );
    expect([answer.status, errorCode(answer)]).toEqual([200, "upstream_timeout"]);
    await call.finished;
    expect(call.closedByClientAt).not.toBeNull();
    const usage = await usageOf(requestId(answer), strict);
    expect(usage.settled).toBeGreaterThan(0n);
  });

  test.each(["silent", "silent-after-head"])("before its first frame (%s) is 504, and free", async (name) => {
    const [answer, call] = await upstreamCallOf(strict, () =>
      strict.client.chat(strict.target(), stream(`mock-${name}`)),
    );
    expect([answer.status, errorCode(answer)]).toEqual([504, "upstream_timeout"]);
    await call.finished;
    expect(call.closedByClientAt).not.toBeNull();
    expect(await usageOf(requestId(answer), strict)).toMatchObject({ settled: 0n });
  });

  test("no socket stays open", () => audit(strict));
});

describe("a client that disconnects", () => {
  const gone = async (call: RecordedCall, leftAt: number): Promise<void> => {
    await call.finished;
    expect(call.answeredAt).toBeNull();
    expect((call.closedByClientAt ?? Infinity) - leftAt).toBeLessThan(UPSTREAM_CLOSED_WITHIN_MS);
  };

  test.each(["fin", "rst"] as const)(
    "as soon as it is admitted (%s) closes the upstream and is not charged",
    async (how) => {
      const before = bed.upstream.requests.length;
      const caller = await callRaw(bed.target(), stream("mock-silent"));
      const jobId = await eventually("its hold is placed", async () => {
        const [row] = await bed.stack.query<{ job_id: string }>("select job_id from hold where model = 'mock-silent'");
        return row?.job_id;
      });
      const leftAt = performance.now();
      caller.leave(how);
      expect(await usageOf(jobId)).toMatchObject({ status: "cancelled", settled: 0n });
      for (const call of bed.upstream.requests.slice(before)) await gone(call, leftAt);
    },
  );

  for (const isStream of [true, false]) {
    for (const name of ["silent", "silent-after-head"]) {
      const kind = isStream ? "streamed" : "plain";
      test(`before the first token of a ${kind} call (${name}) closes the upstream and is not charged`, async () => {
        const [begun, call] = await upstreamCallOf(bed, () =>
          Promise.resolve(bed.client.begin(bed.target(), ask(`mock-${name}`, isStream ? { stream: true } : {}))),
        );
        const leftAt = performance.now();
        begun.leave();
        await gone(call, leftAt);
      });
    }
  }

  test("in mid-stream closes the upstream and pays for the generated part", async () => {
    const [live, call] = await upstreamCallOf<Live>(bed, async () => {
      const opened = await bed.client.open(bed.target(), stream("mock-tokens-400-every-20"));
      await opened.frames(20);
      return opened;
    });
    const leftAt = performance.now();
    live.leave();
    await gone(call, leftAt);
    const usage = await usageOf(requestId(live.answer));
    expect(usage).toMatchObject({ status: "cancelled" });
    expect(usage.output).toBeGreaterThanOrEqual(10);
    expect(usage.output).toBeLessThan(200);
  });

  test("after the last byte has a successful call", async () => {
    const answer = await bed.client.chat(bed.target(), stream("mock-no-end"));
    expect(await usageOf(requestId(answer))).toMatchObject({ status: "succeeded" });
  });

  test("leaves no socket and no slot in use", async () => {
    expect(isServed(await bed.client.chat(bed.target(), ask("flat")))).toBe(true);
    await eventually("no stream is active but the silent one, if that has not ended", async () => {
      const [row] = await bed.stack.query<{ count: bigint }>("select count(*) as count from hold");
      return (row?.count ?? 2n) <= 1n;
    });
  });
});

describe("an upstream without end", () => {
  test("is cut off at the maximum length of its model, settled, and its socket closed", async () => {
    bed.upstream.next(pour());
    const [answer, call] = await upstreamCallOf(bed, () => bed.client.chat(bed.target(), stream("metered")));
    expect([answer.status, errorCode(answer)]).toEqual([200, "upstream_error"]);
    await call.finished;
    expect(call.closedByClientAt).not.toBeNull();
    const usage = await usageOf(requestId(answer));
    expect(usage.settled).toBeGreaterThan(0n);
  });
});

describe("a reader that stops", () => {
  test("is disconnected, charged for the delivered part, and slows no other", async () => {
    const { stack, upstream } = bed;
    const [all] = stack.processes;
    upstream.next(pour());
    const [caller, call] = await upstreamCallOf(bed, () => callRaw(bed.target(), stream("wide")));
    await eventually("its stream has begun", () => caller.received() > 0);
    caller.stopReading();
    const neighbour = bed.client.chat(bed.target(), stream("mock-tokens-400-every-20"));
    await eventually("the upstream is let go", () => call.closedByClientAt !== null, 40_000);
    await eventually("it is counted", async () => {
      return (await metric(all?.adminUrl ?? "", "sluice_stream_aborts_total", 'reason="stuck"')) === 1;
    });
    expect(isServed(await neighbour)).toBe(true);
    const jobId = /x-request-id: (\S+)/i.exec(caller.text())?.[1] ?? "";
    const usage = await usageOf(jobId);
    expect(usage.status).toBe("cancelled");
    expect(usage.settled).toBeGreaterThan(0n);
    caller.leave("rst");
  });
});

test("a long silence of an upstream is bridged by comments, and the stream ends regularly", async () => {
  const answer = await silent;
  expect(isServed(answer)).toBe(true);
  expect(answer.comments).toBeGreaterThanOrEqual(Math.floor(SILENCE_MS / paced(10_000)));
  await audit(bed);
});
