import { afterEach, describe, expect, test } from "bun:test";

import type { CallSettlement } from "#shared/ledger/settle.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createMetrics, type Metrics } from "#shared/metrics/metrics.ts";
import { CALLER_GONE, CALLER_LIVES, CALLER_TAKEN, type EndFrame, type SettleNote } from "#shared/queue/frames.ts";
import { takenSubject } from "#shared/queue/subjects.ts";
import { openPendingSettlements, type PendingSettlements } from "#ingress/wait/pending-settlements.ts";

const CALL = { jobId: "job", workspaceId: "workspace" };
const NOTE: SettleNote = { attempt: 1, source: "a/b", units: { output_tokens: 4 }, tokens: 4, tell: takenSubject("w") };
const FRAME: EndFrame = { n: 0, t: "end", model: "one", nano: "40", upstream_ms: 1, settle: NOTE };

let answers: PendingSettlements;
let metrics: Metrics;
afterEach(() => {
  answers.close();
  metrics.close();
});

const AWAY = new Error("the database is away");

function open({ wasClosed = false, takenNano = 40n, lateNano = 0n, faults = 0, fault = AWAY } = {}) {
  const settlements: CallSettlement[] = [];
  const words: { subject: string; text: string }[] = [];
  metrics = createMetrics("test");
  let left = faults;
  answers = openPendingSettlements({
    lingerMs: 0,
    ledger: {
      settle(finish) {
        if (left-- > 0) return Promise.reject(fault);
        settlements.push(finish);
        return Promise.resolve({ takenNano, wasClosed, lateNano });
      },
      undo: () => undefined,
      idle: () => Promise.resolve(),
    },
    metrics,
    log: createLogger({ level: "silent", role: "test" }),
    connection: {
      isClosed: () => false,
      publish: (subject, bytes) => void words.push({ subject, text: new TextDecoder().decode(bytes) }),
    },
  });
  return { settlements, words };
}

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const counted = (): Promise<string> =>
  metrics.registry.getSingleMetricAsString("sluice_answers_settled_by_ingress_total");

describe("an answer delivered before its settlement", () => {
  test("is acknowledged, together with others of the same turn in one message", async () => {
    const { words } = open();
    answers.keep(CALL, FRAME, NOTE);
    answers.keep({ ...CALL, jobId: "other" }, FRAME, NOTE);
    await turn();
    expect(words).toEqual([{ subject: "_INBOX.wk.w.taken", text: '{"taken":["job","other"]}' }]);
  });

  test("is not acknowledged if its worker does not need it, or its address is not a worker's", async () => {
    const { words } = open();
    const { tell: _none, ...quiet } = NOTE;
    answers.keep(CALL, FRAME, quiet);
    for (const tell of ["_INBOX.ws.x", "work.chat.live.x", "_INBOX.wk.>"]) answers.keep(CALL, FRAME, { ...NOTE, tell });
    await turn();
    expect(words).toEqual([]);
  });

  test("is dropped when its worker reports its settlement", async () => {
    const { settlements } = open();
    answers.keep(CALL, FRAME, NOTE);
    answers.onSettled("job");
    expect(answers.size()).toBe(0);
    expect(answers.onFrame("job", { t: "lost" })).toBe(CALLER_GONE);
    await answers.drain(new AbortController().signal, 60_000);
    expect(settlements).toEqual([]);
  });

  test("is settled by the ingress when its worker is lost, with the worker's own figures and once", async () => {
    const { settlements } = open();
    answers.keep(CALL, FRAME, NOTE);
    expect(answers.onFrame("job", { t: "beat" })).toBe(CALLER_TAKEN);
    expect(answers.onFrame("job", { t: "lost" })).toBe(CALLER_LIVES);
    expect(answers.onFrame("job", { t: "lost" })).toBe(CALLER_LIVES);
    await turn();
    const figures = { usedNano: 40n, status: "succeeded", source: "a/b", units: { output_tokens: 4 }, tokens: 4 };
    expect(settlements).toMatchObject([{ ...CALL, attempt: 1, ...figures, isEstimated: false }]);
    expect(answers.size()).toBe(0);
    expect(await counted()).toContain("} 1");
  });

  test("is settled when its worker stops reporting, and counted only if that charged it", async () => {
    const { settlements } = open({ wasClosed: true });
    answers.keep(CALL, FRAME, NOTE);
    while (answers.size() > 0) await Bun.sleep(50);
    expect(settlements).toHaveLength(1);
    expect(await counted()).toContain("} 0");
  }, 60_000);

  test("is counted as unbilled when its hold had been released", async () => {
    const { settlements } = open({ wasClosed: true, takenNano: 0n });
    answers.keep(CALL, FRAME, NOTE);
    await answers.settleAll();
    expect(settlements).toHaveLength(1);
    const unbilled = await metrics.registry.getSingleMetricAsString("sluice_credits_unbilled_total");
    expect(unbilled).toContain("} 4e-8");
  });

  test("is counted as charged late when its hold had been released and available credits covered it", async () => {
    const { settlements } = open({ wasClosed: true, takenNano: 40n, lateNano: 40n });
    answers.keep(CALL, FRAME, NOTE);
    await answers.settleAll();
    expect(settlements).toMatchObject([{ isDelivered: true, usedNano: 40n }]);
    const sample = (name: string): Promise<string> => metrics.registry.getSingleMetricAsString(name);
    expect(await sample("sluice_credits_settled_late_total")).toContain("} 4e-8");
    expect(await sample("sluice_credits_unbilled_total")).toContain("} 0");
  });

  test("is dropped immediately if the database rejects its figures, and counted", async () => {
    const refused = Object.assign(new Error("invalid input"), { code: "22P02" });
    const { settlements } = open({ faults: 1, fault: refused });
    answers.keep(CALL, FRAME, NOTE);
    await answers.settleAll();
    expect([settlements.length, answers.size()]).toEqual([0, 0]);
    expect(await metrics.registry.getSingleMetricAsString("sluice_credits_unbilled_total")).toContain("} 4e-8");
  });

  test("is retried after an outage of the database", async () => {
    const { settlements } = open({ faults: 1 });
    answers.keep(CALL, FRAME, NOTE);
    answers.onFrame("job", { t: "lost" });
    await turn();
    expect([settlements.length, answers.size()]).toEqual([0, 1]);
    while (answers.size() > 0) await Bun.sleep(50);
    expect(settlements).toHaveLength(1);
  }, 60_000);

  test("is settled before the process ends", async () => {
    const { settlements } = open();
    answers.keep(CALL, FRAME, NOTE);
    await answers.drain(new AbortController().signal, 60_000);
    expect(settlements).toHaveLength(1);
  });

  test("is settled immediately when little of the grace period remains, or on a forced exit", async () => {
    for (const [hurry, allowedMs] of [
      [new AbortController().signal, 100],
      [AbortSignal.abort(), 60_000],
    ] as const) {
      // prettier-ignore
      const { settlements } = open();
      answers.keep(CALL, FRAME, NOTE);
      const drained = answers.drain(hurry, allowedMs);
      expect(settlements).toHaveLength(1);
      await drained;
      answers.close();
    }
  });
});

test("the answer of an abandoned call is reported as undelivered, or acknowledged when it comes twice", async () => {
  const { words } = open();
  expect(answers.onFrame("job", FRAME)).toBe(CALLER_GONE);
  await turn();
  answers.keep(CALL, FRAME, NOTE);
  answers.onFrame("job", FRAME);
  await turn();
  expect(words.map(({ text }) => text)).toEqual(['{"gone":["job"]}', '{"taken":["job","job"]}']);
});
