import { afterEach, describe, expect, test } from "bun:test";

import type { CallSettlement } from "#shared/ledger/settle.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createMetrics } from "#shared/metrics/metrics.ts";
import { CALLER_GONE, CALLER_LIVES, CALLER_TAKEN, FrameBundler } from "#shared/queue/frames.ts";
import { framesSubject } from "#shared/queue/subjects.ts";
import { chatJob } from "./job-message.ts";
import type { WorkerContext } from "#workers/context.ts";
import { jobAbort, type JobControl } from "#workers/job.ts";
import type { Outcome, Success } from "#workers/outcome.ts";
import { openLiveCalls } from "#workers/runner/live-calls.ts";

import { fakeIngress, type IngressHabits, callOf, replyTo } from "./fake-ingress.ts";

const closing: (() => void)[] = [];
afterEach(() => {
  for (const close of closing.splice(0)) close();
});

const JOB = chatJob();
const WELL: Success = {
  status: "succeeded",
  source: "a/b",
  charge: { nano: 40n, units: { output_tokens: 4 }, tokens: 4, estimated: undefined },
  holdNano: 100n,
  result: { text: "{}", upstreamMs: 7 },
};

interface Ran {
  /** Events, in order: a frame's name, `settled` with what was taken, `kept`. */
  readonly order: readonly string[];
  readonly settlements: readonly CallSettlement[];
  readonly frames: ReturnType<typeof fakeIngress>["frames"];
  readonly settled: readonly string[];
  readonly subjects: readonly string[];
}

/** One call whose handler comes to `outcome`. */
async function run(
  outcome: Outcome | ((control: JobControl) => Outcome | Promise<Outcome>),
  habits: IngressHabits = { word: "taken" },
  { job = JOB, isAddressed = true, controller = new AbortController() } = {},
): Promise<Ran> {
  const order: string[] = [];
  const settlements: CallSettlement[] = [];
  const ingress = fakeIngress(habits);
  const metrics = createMetrics("test");
  const log = createLogger({ level: "silent", role: "test" });
  const answers = {
    ...ingress.answers,
    publish(subject: string, bytes: Uint8Array) {
      ingress.answers.publish(subject, bytes);
      if (subject === replyTo(job)) order.push(ingress.frames.at(-1)?.frame.t ?? "");
    },
  };
  const context = {
    log,
    metrics,
    replies: ingress.replies,
    answers,
    bundler: new FrameBundler(answers, log),
    ledger: {
      async settle(finish: CallSettlement) {
        await Bun.sleep(1);
        settlements.push(finish);
        order.push(`settled ${finish.usedNano}`);
        return { takenNano: finish.usedNano ?? 0n, wasClosed: false };
      },
    },
    failures: { record: () => Promise.resolve() },
  } as unknown as WorkerContext;
  const live = openLiveCalls({
    context,
    handler: {
      async run(_job, control) {
        const made = typeof outcome === "function" ? await outcome(control) : outcome;
        return "result" in made ? { ...made, onSettled: () => order.push("kept") } : made;
      },
    },
    cancels: { onCancel: () => () => undefined, subject: "_INBOX.wk.test.cancel" },
  });
  closing.push(() => (live.close(), metrics.close()));
  await live.run(callOf(job, isAddressed), controller, new AbortController().signal);
  // Words go out at the end of the turn.
  await new Promise((resolve) => setImmediate(resolve));
  return { order, settlements, frames: ingress.frames, settled: ingress.settled, subjects: ingress.subjects };
}

test("frames of one turn are sent in one message to an ingress that supports it, and otherwise separately", async () => {
  const twoFrames = ({ answer }: JobControl): Outcome => {
    answer.write("a", 1);
    return WELL;
  };
  for (const [job, subjects] of [
    [JOB, [replyTo(JOB), replyTo(JOB)]],
    [{ ...JOB, frame_bundles: true }, [framesSubject(replyTo(JOB))]],
  ] as const) {
    const ran = await run(twoFrames, { word: "taken" }, { job });
    expect(ran.subjects).toEqual([...subjects]);
    expect(ran.frames.map(({ frame }) => frame.t)).toEqual(["head", "end"]);
  }
});

describe("an answer within its hold", () => {
  test("is sent first, with the data that its ingress needs to settle it, and is settled after the acknowledgement", async () => {
    const { order, settlements, frames, settled } = await run(WELL);
    expect(order).toEqual(["end", "settled 40", "kept"]);
    expect(frames[0]?.frame).toMatchObject({
      nano: "40",
      settle: { attempt: 1, source: "a/b", units: { output_tokens: 4 }, tokens: 4 },
    });
    expect(settlements).toMatchObject([{ usedNano: 40n, status: "succeeded", isPatient: true }]);
    expect(settled).toEqual([JOB.job_id]);
  });

  test("is released when its ingress reports that it will never receive it", async () => {
    const { order, settlements } = await run(WELL, { word: "gone" });
    expect(order).toEqual(["end", "settled null"]);
    expect(settlements).toMatchObject([{ usedNano: null, status: "cancelled", units: {} }]);
  });

  test("is settled when the acknowledgement was lost and its ingress, queried, has it", async () => {
    expect((await run(WELL, { answer: CALLER_TAKEN })).order).toEqual(["end", "settled 40", "kept"]);
  });

  test("is sent again to an ingress that still waits for it, and settled when it arrives", async () => {
    const { order, settlements } = await run(WELL, { word: "taken", answer: CALLER_LIVES, hearsAt: 3 });
    expect(order).toEqual(["end", "end", "end", "settled 40", "kept"]);
    expect(settlements).toHaveLength(1);
  }, 30_000);

  test("is released after six attempts: no slot waits for the call's deadline", async () => {
    const { order, settled } = await run(WELL, { answer: CALLER_LIVES });
    expect(order).toEqual([...Array.from({ length: 6 }, () => "end"), "settled null"]);
    expect(settled).toEqual([]);
  }, 30_000);

  test("is left to the next delivery when the process must end before an acknowledgement", async () => {
    const controller = new AbortController();
    const ended = run(WELL, { answer: new Error("late") }, { controller });
    setTimeout(() => controller.abort(jobAbort("shutdown")), 20);
    expect(await ended.catch(String)).toContain("shutdown");
  });

  test("is not sent to a dead ingress", async () => {
    const gone = (control: JobControl): Promise<Outcome> =>
      new Promise((resolve) => control.signal.addEventListener("abort", () => resolve(WELL)));
    expect((await run(gone, { answer: CALLER_GONE })).order).toEqual(["settled null"]);
  }, 30_000);

  test.each<[string, IngressHabits]>([
    ["does not know the call", { answer: CALLER_GONE }],
    ["is not there", {}],
    ["is silent", { answer: new Error("late") }],
  ])(
    "is released without an acknowledgement when its ingress, queried, %s",
    async (_what, habits) => {
      expect((await run(WELL, habits)).order).toEqual(["end", "settled null"]);
    },
    30_000,
  );

  test("needs no acknowledgement when its caller has read a stream", async () => {
    const { order, frames } = await run((control) => {
      control.answer.write("a", 1);
      return WELL;
    }, {});
    expect(order).toEqual(["head", "end", "settled 40", "kept"]);
    expect(frames.at(-1)?.frame).not.toHaveProperty("settle.tell");
  });
});

describe("settled before it is sent:", () => {
  test.each<[string, Outcome, Partial<typeof JOB>, string[]]>([
    ["what costs more than was held", { ...WELL, holdNano: 39n }, {}, ["settled 40", "end", "kept"]],
    ["what ends as its hold may expire", WELL, { deadline_ms: Date.now() - 1 }, ["settled 40", "end", "kept"]],
    ["what its caller left", { ...WELL, status: "cancelled" }, {}, ["settled 40", "end", "kept"]],
    ["what costs nothing", { ...WELL, charge: undefined }, {}, ["settled null", "end", "kept"]],
  ])("%s", async (_what, outcome, members, order) => {
    const ran = await run(outcome, { answer: CALLER_LIVES }, { job: { ...JOB, ...members } });
    expect(ran.order).toEqual(order);
    expect(ran.frames[0]?.frame).not.toHaveProperty("settle");
    expect(ran.settled).toEqual([]);
  });

  test("a failure, which invites a retry only if nothing was charged", async () => {
    const failure = { code: "upstream_error", message: "No.", param: null, retry: true } as const;
    const free = await run({ status: "failed", source: null, charge: undefined, failure });
    expect(free.order).toEqual(["settled null", "error"]);
    expect(free.frames[0]?.frame).toMatchObject({ code: "upstream_error", retry: true });
    const paid = await run({ status: "failed", source: "a/b", charge: WELL.charge, failure });
    expect(paid.frames[0]?.frame).toMatchObject({ retry: false });
  });

  test("an answer without a waiting caller", async () => {
    expect((await run(WELL, {}, { isAddressed: false })).order).toEqual(["settled 40", "kept"]);
  });
});
