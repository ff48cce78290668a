import { afterEach, expect, test } from "bun:test";

import type { CallFacts } from "#ingress/wait/call.ts";
import { createLiveShares } from "#ingress/wait/live-shares.ts";
import { createRelay, type Relay } from "#ingress/wait/relay.ts";
import type { Database } from "#shared/database/client.ts";
import { newId } from "#shared/ids.ts";
import type { CallSettlement } from "#shared/ledger/settle.ts";
import { LIMITS } from "#shared/limits.ts";
import { createLogger } from "#shared/logger.ts";
import { createMetrics } from "#shared/metrics.ts";
import type { ReplyListener } from "#shared/queue/reply.ts";

let relay: Relay | undefined;
afterEach(() => relay?.close());

/** A relay whose frames the test brings; `closed` are the holds that it closed, each at `takenNano`. */
function open(takenNano = 0n) {
  const listeners = new Map<string, ReplyListener>();
  const closed: CallSettlement[] = [];
  relay = createRelay({
    cancel: () => undefined,
    inbox: {
      address: (jobId) => `_INBOX.gw.test.${jobId}`,
      listen: (jobId, listener) => void listeners.set(jobId, listener),
      forget: (jobId) => void listeners.delete(jobId),
      size: () => listeners.size,
      close: () => Promise.resolve(),
    },
    unsettled: { keep: () => undefined },
    database: {} as Database,
    ledger: {
      settle(item) {
        closed.push(item);
        return Promise.resolve({ takenNano, wasClosed: takenNano > 0n });
      },
      undo: () => undefined,
      idle: () => Promise.resolve(),
    },
    log: createLogger({ role: "test", level: "silent" }),
    metrics: createMetrics("test"),
    publisher: { handedOut: () => Promise.resolve({ upTo: 0, sinceMs: 0 }) },
    shares: createLiveShares(),
  });
  return { relay, listeners, closed };
}

function facts(more: Partial<CallFacts> = {}): CallFacts {
  return {
    pool: "chat",
    jobId: newId(),
    workspaceId: newId(),
    requestId: newId(),
    startedAt: performance.now(),
    waitMs: 600_000,
    queueMs: 60_000,
    requestBytes: 100,
    api: "openai",
    ...more,
  };
}

const END = { t: "end", n: 0, model: "m", nano: "7", upstream_ms: 1 } as const;

test("an answer that came while the process stood still is read before its call counts as silent", async () => {
  const { relay: own, listeners } = open();
  const call = facts();
  const response = own.run(call, new AbortController().signal, () => Promise.resolve(1));
  const listener = listeners.get(call.jobId);
  listener?.onFrame({ t: "beat" }, new Uint8Array());
  // Due behind the relay's clock, as sockets are read behind the timers of a process that wakes.
  setTimeout(() => listener?.onFrame(END, new TextEncoder().encode("{}")), LIMITS.frameSilenceMs / 2);
  Bun.sleepSync(LIMITS.frameSilenceMs * 1.2);
  expect((await response).status).toBe(200);
});

test("a call that no worker took is not to be sent again when its hold turns out settled", async () => {
  for (const [takenNano, shouldRetry] of [
    [0n, undefined],
    [7n, false],
  ] as const) {
    const { relay: own, closed } = open(takenNano);
    const response = own.run(facts(), new AbortController().signal, () => Promise.reject(new Error("no word")));
    const error = await response.catch((fault: unknown) => fault);
    expect({ takenNano, shouldRetry: (error as { shouldRetry?: boolean }).shouldRetry }).toEqual({
      takenNano,
      shouldRetry,
    });
    expect(closed).toMatchObject([{ usedNano: null, status: "failed" }]);
    own.close();
  }
});
