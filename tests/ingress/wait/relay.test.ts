import { afterEach, expect, test } from "bun:test";

import type { JobMessage } from "#schemas/generated/types.ts";
import { type CallFacts, FRAME_SILENCE_MS } from "#ingress/wait/call.ts";
import { createLiveShares } from "#ingress/wait/live-shares.ts";
import { createRelay, type Relay } from "#ingress/wait/relay.ts";
import type { Database } from "#shared/database/client.ts";
import { newId } from "#shared/base/ids.ts";
import type { CallSettlement } from "#shared/ledger/settle.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createMetrics } from "#shared/metrics/metrics.ts";
import type { Dispatch, Publisher } from "#shared/queue/publish.ts";
import type { ReplyListener } from "#shared/queue/reply.ts";
import type { Storage } from "#shared/storage/client.ts";
import { UNMETERED } from "#ingress/core/call.ts";
import { NO_SPAN } from "#shared/tracing/tracing.ts";

let relay: Relay | undefined;
afterEach(() => relay?.close());

/** A relay whose frames the test brings; `closed` are the holds that it closed, each at `takenNano`. */
function open(takenNano = 0n, dispatch: Publisher["dispatch"] = () => Promise.resolve(1)) {
  const listeners = new Map<string, ReplyListener>();
  const closed: CallSettlement[] = [];
  const cancelled: [jobId: string, at: string | undefined][] = [];
  relay = createRelay({
    cancel: (jobId, at) => void cancelled.push([jobId, at]),
    inbox: {
      listen(jobId, listener) {
        listeners.set(jobId, listener);
        return `_INBOX.gw.test.${jobId}`;
      },
      forget: (jobId) => void listeners.delete(jobId),
      size: () => listeners.size,
      close: () => Promise.resolve(),
    },
    pendingSettlements: { keep: () => undefined, has: () => false },
    database: {} as Database,
    failures: { record: () => Promise.resolve() },
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
    publisher: { dispatch, handedOut: () => Promise.resolve({ upTo: 0, sinceMs: 0 }) },
    storage: {} as Storage,
    shares: createLiveShares(),
  });
  return { relay, listeners, closed, cancelled };
}

function facts(more: Partial<CallFacts> = {}): CallFacts {
  return {
    pool: "chat",
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
    ...more,
  };
}

const messageOf = ({ jobId }: CallFacts) => ({ head: { job_id: jobId } as JobMessage, text: "{}" });

const HEAD = { t: "head", n: 0, model: "m", upstream_ms: 1, nano: "0", tokens: 0 } as const;
const END = { t: "end", n: 0, model: "m", nano: "7", upstream_ms: 1 } as const;

test("an answer that arrived during a pause of the process is read before its call counts as silent", async () => {
  const { relay: own, listeners } = open();
  const call = facts();
  const response = own.run(call, messageOf(call), new AbortController().signal);
  const listener = listeners.get(call.jobId);
  listener?.onFrame({ t: "beat" }, new Uint8Array());
  // Due behind the relay's clock, as sockets are read behind the timers of a process that wakes.
  setTimeout(() => listener?.onFrame(END, new TextEncoder().encode("{}")), FRAME_SILENCE_MS / 2);
  Bun.sleepSync(FRAME_SILENCE_MS * 1.2);
  expect((await response).status).toBe(200);
});

test.each([
  ["a beat", { t: "beat", cancel: "there" } as const, "there"],
  ["the head of a stream", { ...HEAD, cancel: "there" }, "there"],
  ["a beat of a worker that does not say where", { t: "beat" } as const, undefined],
])("a call whose client disconnects is cancelled at its worker's address, in %s", async (_what, frame, at) => {
  const { relay: own, listeners, cancelled } = open();
  const call = facts();
  const client = new AbortController();
  const response = own.run(call, messageOf(call), client.signal);
  listeners.get(call.jobId)?.onFrame(frame, new Uint8Array());
  client.abort();
  await response.catch(() => undefined);
  expect(cancelled).toEqual([[call.jobId, at]]);
});

test("a call that no worker received must not be retried when its hold turns out settled", async () => {
  for (const [takenNano, shouldRetry] of [
    [0n, undefined],
    [7n, false],
  ] as const) {
    const { relay: own, closed } = open(takenNano, () => Promise.reject(new Error("no word")));
    const call = facts();
    const response = own.run(call, messageOf(call), new AbortController().signal);
    const error = await response.catch((fault: unknown) => fault);
    expect({ takenNano, shouldRetry: (error as { shouldRetry?: boolean }).shouldRetry }).toEqual({
      takenNano,
      shouldRetry,
    });
    expect(closed).toMatchObject([{ usedNano: null, status: "failed" }]);
    own.close();
  }
});

test("a call is put on the queue with its unchanged request and its reply address", async () => {
  const sent: Dispatch[] = [];
  const dispatched = Promise.withResolvers<void>();
  const { relay: own, listeners } = open(0n, (one) => {
    sent.push(one);
    dispatched.resolve();
    return Promise.resolve(1);
  });
  const call = facts();
  let isOffloaded = false;
  const text = '{"seed":12345678901234567890}';
  const response = own.run(call, { ...messageOf(call), text }, new AbortController().signal, () => {
    isOffloaded = true;
  });
  await dispatched.promise;
  const body = `{"job_id":"${call.jobId}","reply":"_INBOX.gw.test.${call.jobId}","frame_bundles":true,"request":${text}}`;
  const { pool, jobId, workspaceId } = call;
  expect(sent).toEqual([{ pool, jobId, workspaceId, lane: "live", attempt: 1, dispatch: 1, body }]);
  expect(isOffloaded).toBe(true);
  listeners.get(jobId)?.onFrame(END, new TextEncoder().encode("{}"));
  await response;
});
