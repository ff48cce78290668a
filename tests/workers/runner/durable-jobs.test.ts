import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";

import type { BatchAnswer, DurableMessage, JobMessage } from "#schemas/generated/types.ts";
import { ProviderError } from "#workers/providers/provider.ts";
import type { Provider } from "#shared/calls/model.ts";
import { ApiError, type Code } from "#shared/base/errors.ts";
import { newId } from "#shared/base/ids.ts";
import { StorageError } from "#shared/storage/objects.ts";
import type { Database } from "#shared/database/client.ts";
import { claimJob, type ClaimedJob, findJob, type JobRow, releaseJobs } from "#shared/database/jobs.ts";
import { createJobAdmission } from "#shared/jobs/admission.ts";
import { endJob } from "#shared/jobs/end.ts";
import { auditLedger } from "#shared/ledger/audit.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createMetrics, type Metrics } from "#shared/metrics/metrics.ts";
import { newFileId } from "#shared/files/id.ts";
import { paced } from "#shared/config/pace.ts";
import type { Lane } from "#shared/queue/subjects.ts";
import { createWorkspace } from "#tests/shared/accounts.ts";
import { jobRequest } from "#tests/shared/jobs/jobs.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import type { WorkerContext } from "#workers/context.ts";
import { type DurableJobs, type DurableVerdict, openDurableJobs } from "#workers/runner/durable-jobs.ts";
import { freeFailure, type Outcome } from "#workers/outcome.ts";
import { jobAbort, type JobControl, type RunContinuation, type StepContinuation } from "#workers/job.ts";
import type { Cancels } from "#workers/runner/cancels.ts";

let db: TestDatabase;
let metrics: Metrics;
let workspaceId: string;
const opened: DurableJobs[] = [];
const log = createLogger({ level: "silent", role: "test" });

beforeAll(async () => {
  db = await createTestDatabase();
  metrics = createMetrics("test");
  workspaceId = await createWorkspace(db.database);
}, 120_000);
afterAll(async () => {
  await Promise.all(opened.map((jobs) => jobs.close()));
  metrics.close();
  await db.drop();
});
afterEach(async () => {
  expect(await auditLedger(db.database)).toEqual([]);
});

type Run = (context: WorkerContext, job: JobMessage, control: JobControl) => Promise<Outcome>;

interface Bench {
  readonly run: (message: DurableMessage, controller?: AbortController) => Promise<DurableVerdict>;
  readonly told: { subject: string; data: string }[];
}

/** Durable jobs over a real database and a handler of the test's own. */
interface Around {
  readonly database?: Database;
  readonly storage?: unknown;
  readonly lane?: Lane;
  /** Error that the provider's request ends with; it ends well unless given. */
  readonly fault?: ProviderError;
  readonly continuation?: RunContinuation;
  readonly cancels?: Cancels;
  /** Told of each job that has ended before the last one. */
  readonly onContinued?: (outcome: string) => void;
  readonly storageBytesMax?: number;
}

function bench(run: Run, around: Around = {}): Bench {
  const told: Bench["told"] = [];
  const connection = {
    isClosed: () => false,
    status: async function* status() {},
    publish: (subject: string, data = "") => void told.push({ subject, data }),
  };
  const context = {
    config: { calls: { totalMs: 60_000 }, unknownOutcomeHours: 24, storageBytesMax: around.storageBytesMax ?? 1e9 },
    log,
    metrics,
    database: around.database ?? db.database,
    ledger: {},
    storage: around.storage ?? {},
    providers: {
      chat: () => ({ complete: () => (around.fault ? Promise.reject(around.fault) : Promise.resolve("chat")), stream: async function* stream() { yield "piece"; } }), // prettier-ignore
      embeddings: () => ({ embed: () => Promise.resolve("vector") }),
    },
    work: connection,
    replies: connection,
    failures: { record: () => Promise.resolve() },
  } as unknown as WorkerContext;
  const jobs = openDurableJobs({
    context,
    pool: "chat",
    lane: around.lane ?? "batch",
    slots: 4,
    runMs: 60_000,
    createHandler: (own) => ({
      run: (job, control) => run(own, job, control),
    }),
    cancels: around.cancels ?? { subject: "_INBOX.wk.test.cancel", onCancel: () => () => undefined, wasCancelled: () => false, close: () => Promise.resolve() }, // prettier-ignore
    continuation: around.continuation,
  });
  opened.push(jobs);
  return {
    told,
    run: (message, controller = new AbortController()) =>
      jobs.run(
        message,
        { deliveries: 1, hasFreeSlots: () => true, onContinued: around.onContinued ?? (() => undefined) },
        controller,
      ),
  };
}

/** An admitted job on the queue, and the message that stands for it. */
async function queued(members: object = {}): Promise<DurableMessage> {
  const job = jobRequest({ workspaceId, amount: 100n, publisherKey: "mine", ...members });
  await createJobAdmission({ database: db.database }).admit(job);
  await db.query("update job set dispatch = 1, dispatched_at = now() where id = $1", [job.id]);
  return { durable: true, job_id: job.id, attempt: 1, dispatch: 1, workspace_id: workspaceId };
}

const rowOf = async (message: DurableMessage): Promise<JobRow> =>
  (await findJob(db.database, workspaceId, message.job_id)) as JobRow;
const usageOf = (message: DurableMessage) => db.query("select status, settled from usage_record where job_id = $1", [message.job_id]); // prettier-ignore

/** Nothing came of it. */
const failed = (code: Code): Outcome => freeFailure({ code, message: "No.", param: null, retry: true });
const ask = (context: WorkerContext): Promise<unknown> => context.providers.chat({} as Provider)?.complete({} as never) ?? Promise.resolve(); // prettier-ignore

/** Makes the run of a pool when all is well. */
const serve =
  (text: string): Run =>
  async (context) => {
    await ask(context);
    return {
      status: "succeeded",
      source: "a/b",
      charge: { nano: 40n, units: {}, tokens: 1, estimated: undefined },
      holdNano: 100n,
      result: { text, upstreamMs: 1 },
    };
  };

/** A database that fails its first statements of a kind, as when it is restarted. */
function failing(database: Database, pattern: RegExp, times: number) {
  let failed = 0;
  const query: Database["query"] = (text, ...rest) => {
    if (pattern.test(text) && failed < times) {
      failed += 1;
      return Promise.reject(Object.assign(new Error("terminating connection"), { code: "57P01" }));
    }
    return database.query(text, ...rest);
  };
  return { database: { ...database, query }, failed: () => failed };
}

describe("a durable job", () => {
  test("gets its work message from the row, and ends with money and answer in one write", async () => {
    let seen: { job: JobMessage; heldMeanwhile: number } | undefined;
    const reply = `_INBOX.ws.${workspaceId}.${newId()}.x`;
    const { run, told } = bench(async (context, job, control) => {
      const outcome = await serve('{"é":1}')(context, job, control);
      seen = { job, heldMeanwhile: (await db.query("select 1 from hold where job_id = $1", [job.job_id])).length };
      return outcome;
    });
    const message = await queued({ reply });
    expect(await run(message)).toEqual({ outcome: "completed" });
    expect(seen?.job).toMatchObject({ job_id: message.job_id, attempt: 1, dispatch: 1, request: { a: "\u0000" } });
    expect(seen?.heldMeanwhile).toBe(1);
    expect(await rowOf(message)).toMatchObject({ state: "completed", result: '{"é":1}', credits: 40n });
    expect(await usageOf(message)).toEqual([{ status: "succeeded", settled: 40n }]);
    const [answer, room] = told;
    expect(answer?.subject).toBe(reply);
    expect(JSON.parse(answer?.data ?? "") as BatchAnswer).toEqual({
      key: "mine",
      job_id: message.job_id,
      status: "completed",
      credits_used: 4e-8,
      result: { é: 1 },
    });
    expect(room?.subject).toBe("freed.chat.batch");
    expect(await run(message)).toEqual({ outcome: "repeat" });
  });

  test("that fails keeps the error and releases its hold", async () => {
    const { run } = bench(async (context) => {
      await ask(context);
      return failed("upstream_error");
    });
    const message = await queued();
    expect(await run(message)).toEqual({ outcome: "failed" });
    expect(await rowOf(message)).toMatchObject({
      state: "failed",
      error: { code: "upstream_error", message: "No." },
      credits: 0n,
    });
  });

  test("that fails by an internal error is retried once, and then ends", async () => {
    let tries = 0;
    const { run } = bench(() => {
      tries += 1;
      throw new TypeError("not what it should be");
    });
    const message = await queued();
    expect((await run(message)).outcome).toBe("handed_back");
    expect(await run(message)).toEqual({ outcome: "failed" });
    expect(await rowOf(message)).toMatchObject({ state: "failed", error: { code: "internal_error" } });
    expect(await usageOf(message)).toEqual([{ status: "failed", settled: 0n }]);
    expect(await run(message)).toEqual({ outcome: "repeat" });
    expect(tries).toBe(2);
  });

  test.each<[string, Error]>([
    ["the object store is silent", new StorageError("silent", "the object store fell silent")],
    ["the object store has lost a connection", Object.assign(new Error("reset"), { $metadata: { attempts: 3 } })],
    ["the object store is late", new DOMException("late", "TimeoutError")],
    ["the file store takes nothing", new ApiError("service_unavailable", "Not now.")],
    ["the database is away", Object.assign(new Error("ended"), { code: "57P01" })],
  ])("waits while %s, for any number of claims meanwhile", async (_what, outage) => {
    let tries = 0;
    const { run } = bench(async (...given) => {
      if (++tries <= 10) throw outage;
      return serve("{}")(...given);
    });
    const message = await queued();
    for (let at = 0; at < 10; at++) expect((await run(message)).outcome).toBe("handed_back");
    expect(await run(message)).toEqual({ outcome: "completed" });
  });

  test("whose handler throws before a provider was called returns to the queue and runs again", async () => {
    let tries = 0;
    const { run } = bench(async (...given) => {
      if (tries++ === 0) throw new Error("the store is away");
      return serve("{}")(...given);
    });
    const message = await queued();
    const verdict = await run(message);
    expect(verdict.outcome).toBe("handed_back");
    expect(verdict.againMs).toBeGreaterThan(0);
    expect(await run(message)).toEqual({ outcome: "completed" });
  });

  test("whose handler throws after a provider was called is not run again, and nothing is charged", async () => {
    const { run } = bench(async (context) => {
      await ask(context);
      throw new Error("a bug of ours");
    });
    const message = await queued();
    expect(await run(message)).toEqual({ outcome: "failed" });
    expect(await rowOf(message)).toMatchObject({ state: "failed", error: { code: "internal_error" } });
    expect(await usageOf(message)).toEqual([{ status: "lost", settled: 0n }]);
  });

  test.each<[string, (context: WorkerContext) => Promise<unknown>]>([
    ["chat, plain", ask],
    ["chat, streamed", async (context) => { for await (const _ of context.providers.chat({} as Provider)?.stream({} as never) ?? []); }], // prettier-ignore
    ["embeddings", async (context) => void (await context.providers.embeddings({} as Provider)?.embed({} as never))],
  ])("records the call of a provider before it: %s", async (_kind, call) => {
    const noted: unknown[] = [];
    const { run } = bench(async (context, job, control) => {
      const intent = () => db.query("select intent_at is not null as noted from job where id = $1", [job.job_id]);
      noted.push(...(await intent()));
      await call(context);
      noted.push(...(await intent()));
      return serve("{}")(context, job, control);
    });
    await run(await queued());
    expect(noted).toEqual([{ noted: false }, { noted: true }]);
  });

  test("is recorded at its provider again after a short outage of the database", async () => {
    const fails = failing(db.database, /set provider_job/, 2);
    const { run } = bench(
      async (context, job, control) => {
        await ask(context);
        await control.providerJob?.keep({ id: "7" });
        return serve("{}")(context, job, control);
      },
      { database: fails.database },
    );
    const message = await queued();
    expect(await run(message)).toEqual({ outcome: "completed" });
    expect(fails.failed()).toBe(2);
    const rows = await db.query("select provider_job from job where id = $1", [message.job_id]);
    expect(rows).toEqual([{ provider_job: { id: "7" } }]);
  });

  test("of unknown outcome keeps its hold; one that cannot be found again ends immediately, free", async () => {
    const lost: Run = async (context) => {
      await ask(context);
      throw new ProviderError("unknown", "nobody told");
    };
    const held = (id: string) => db.query("select 1 from hold where job_id = $1", [id]);
    const open = await queued();
    expect(await bench(lost).run(open)).toEqual({ outcome: "unknown" });
    expect([(await rowOf(open)).state, (await held(open.job_id)).length]).toEqual(["running", 1]);
    // The same of a line of a batch, of whose price a share is held.
    const line = { hold_nano: "200", batch_line: { price_millionths: 500_000 } };
    const writtenOff = async (): Promise<number> =>
      Number(/^sluice_credits_written_off_total\{.*\} (\S+)$/m.exec(await metrics.registry.metrics())?.[1]);
    const before = await writtenOff();
    const hidden = await queued({ isHidden: true, work: line });
    expect(await bench(lost).run(hidden)).toEqual({ outcome: "failed" });
    expect(await rowOf(hidden)).toMatchObject({ state: "failed", error: { code: "upstream_timeout" }, credits: 0n });
    expect(await held(hidden.job_id)).toEqual([]);
    expect(Math.round(((await writtenOff()) - before) * 1e9)).toBe(100);
  });

  test("cancelled before a provider was called ends as cancelled, and no provider is called", async () => {
    let asked = false;
    const { run } = bench(async (context, job) => {
      await db.query("update job set cancel_requested = true where id = $1", [job.job_id]);
      await ask(context);
      asked = true;
      return failed("internal_error");
    });
    const message = await queued();
    expect(await run(message)).toEqual({ outcome: "cancelled" });
    expect(asked).toBe(false);
    expect(await usageOf(message)).toEqual([{ status: "cancelled", settled: 0n }]);
  });

  test("taken over meanwhile is not written by the former owner", async () => {
    const { run, told } = bench(async (context, job, control) => {
      await db.query("update job set epoch = epoch + 1 where id = $1", [job.job_id]);
      return serve('{"by":"old"}')(context, job, control);
    });
    const message = await queued();
    expect(await run(message)).toEqual({ outcome: "superseded" });
    expect(await rowOf(message)).toMatchObject({ state: "running", result: null });
    expect(told).toEqual([]);
  });

  test("of another live owner is left for later; one that cannot be finished is ended", async () => {
    const { run } = bench(serve("{}"));
    const message = await queued();
    await db.query("update job set state = 'running', epoch = 3, intent_at = now(), lease_until = now() + interval '9 s' where id = $1", [message.job_id]); // prettier-ignore
    const verdict = await run(message);
    expect(verdict.outcome).toBe("owned");
    expect(verdict.againMs).toBeGreaterThan(8_000);
    await db.query("update job set lease_until = now() - interval '1 s' where id = $1", [message.job_id]);
    expect(await run(message)).toEqual({ outcome: "lost" });
    expect(await rowOf(message)).toMatchObject({ state: "failed", error: { code: "worker_lost" } });
  });

  test("that crashed all its workers becomes a dead letter", async () => {
    const { run } = bench(serve("{}"));
    const message = await queued();
    await db.query("update job set claims = 6 where id = $1", [message.job_id]);
    expect(await run(message)).toEqual({ outcome: "failed" });
    expect(await rowOf(message)).toMatchObject({ state: "failed", error: { code: "worker_lost" } });
    expect(await db.query("select reason, deliveries from dead_letter where job_id = $1", [message.job_id])).toEqual([
      { reason: "claims used up", deliveries: 6 },
    ]);
  });

  test("returns to the queue when the service stops before a provider was called", async () => {
    const { run } = bench(() => Promise.resolve(failed("service_unavailable")));
    const message = await queued();
    const controller = new AbortController();
    controller.abort(jobAbort("shutdown"));
    expect(await run(message, controller)).toEqual({ outcome: "handed_back", againMs: paced(1_000) });
    expect((await rowOf(message)).state).toBe("queued");
  });

  test("ends when the service stops after its result was generated, instead of a repeat elsewhere", async () => {
    const controller = new AbortController();
    const { run } = bench(() => {
      controller.abort(jobAbort("shutdown"));
      return Promise.resolve({ status: "succeeded", source: "a/b", charge: undefined, holdNano: 100n, result: { text: "{}", upstreamMs: 1 } }); // prettier-ignore
    });
    const message = await queued();
    expect(await run(message, controller)).toEqual({ outcome: "completed" });
    expect(await rowOf(message)).toMatchObject({ state: "completed", result: "{}" });
  });

  test("fails if its workspace has no storage for its files: nothing is charged, and its run is notified", async () => {
    const refused: string[] = [];
    const digested = { bytes: 11, sha256: Buffer.alloc(32), blockSha256: Buffer.alloc(32) };
    const file = { id: newFileId(), filename: "a.txt", purpose: "user_data", mediaType: "text/plain", digested };
    const { run, told } = bench(
      async (context, job, control) => ({
        ...(await serve("{}")(context, job, control)),
        files: [file],
        async onRefused() {
          refused.push(job.job_id, (await rowOf(message)).state);
        },
      }),
      { storageBytesMax: 10 },
    );
    const message = await queued({ reply: `_INBOX.ws.${workspaceId}.${newId()}.x` });
    expect(await run(message)).toEqual({ outcome: "failed" });
    // Its run takes back what it made before its caller hears of it.
    expect(refused).toEqual([message.job_id, "running"]);
    expect(await rowOf(message)).toMatchObject({ state: "failed", error: { code: "storage_limit_exceeded" }, credits: 0n }); // prettier-ignore
    expect(await usageOf(message)).toEqual([{ status: "failed", settled: 0n }]);
    expect(JSON.parse(told[0]?.data ?? "")).toMatchObject({ status: "failed", error: { code: "storage_limit_exceeded" } }); // prettier-ignore
    expect(await db.query("select 1 from file where id = $1", [file.id])).toEqual([]);
  });

  test("is claimed when the database is back; its message is not dropped", async () => {
    let failures = 2;
    const flaky: Database = {
      ...db.database,
      query: (text, values, name) =>
        name === "claim_job" && failures-- > 0
          ? Promise.reject(new Error("connection lost"))
          : db.database.query(text, values, name),
    };
    const { run } = bench(serve("{}"), { database: flaky });
    expect(await run(await queued())).toEqual({ outcome: "completed" });
  });

  test("keeps a large result in its row when the object store is unavailable", async () => {
    const text = JSON.stringify({ text: "x".repeat(70_000) });
    const { run } = bench(serve(text), {
      storage: { client: { send: () => Promise.reject(new Error("away")) }, bucket: "" },
    });
    const message = await queued();
    expect(await run(message)).toEqual({ outcome: "completed" });
    expect((await rowOf(message)).result).toBe(text);
  });
});

describe("a durable job without an available source", () => {
  const code = { noRoute: "service_unavailable", busy: "overloaded" } as const;
  /** Says so until `times` are over, then serves. */
  const refusing = (kind: keyof typeof code, times: number): Run => {
    let runs = 0;
    return async (context, job, control) => {
      if (runs++ >= times) return serve("{}")(context, job, control);
      if (kind === "busy") await ask(context).catch(() => undefined);
      return freeFailure({ code: code[kind], message: "None free.", param: null, retry: true, retryAfterS: 20 });
    };
  };
  const deferralOf = async (message: DurableMessage) =>
    (
      await db.query<{ deferrals: number; claims: number; ms: number | null }>(
        "select deferrals, claims, (extract(epoch from not_before - clock_timestamp()) * 1000)::float8 as ms from job where id = $1",
        [message.job_id],
      )
    )[0];
  const due = (message: DurableMessage) => db.query("update job set not_before = now() - interval '1 s' where id = $1", [message.job_id]); // prettier-ignore

  test.each(["noRoute", "busy"] as const)(
    "(%s) waits with its hold, without slot, message or notice, and is served later",
    async (kind) => {
      const { run, told } = bench(refusing(kind, 8));
      const message = await queued({ reply: `_INBOX.ws.${workspaceId}.${newId()}.x`, lifeMs: 86_400_000 });
      expect(await run(message)).toEqual({ outcome: "deferred" });
      expect(told.map(({ subject }) => subject)).toEqual(["freed.chat.batch"]);
      expect(await rowOf(message)).toMatchObject({ state: "queued", started_at: null, error: null });
      expect(await usageOf(message)).toEqual([]);
      expect(await deferralOf(message)).toMatchObject({ deferrals: 1, claims: 0 });
      expect((await deferralOf(message))?.ms).toBeWithin(15_000, 25_000);
      // The message that it came with is void, and nothing lets it out early.
      expect(await run(message)).toEqual({ outcome: "repeat" });
      expect((await releaseJobs(db.database, "chat", "batch", 500)).map(({ id }) => id)).not.toContain(message.job_id);
      // More often than a job may be claimed: waiting is no lost worker.
      for (let round = 2; ; round++) {
        await due(message);
        const out = (await releaseJobs(db.database, "chat", "batch", 500)).find(({ id }) => id === message.job_id);
        const { outcome } = await run({ ...message, dispatch: out?.dispatch ?? 0 });
        if (outcome === "completed") break;
        expect({ outcome, deferrals: (await deferralOf(message))?.deferrals }).toEqual({
          outcome: "deferred",
          deferrals: round,
        });
        expect((await deferralOf(message))?.ms).toBeLessThan(145_000);
      }
      expect((await deferralOf(message))?.deferrals).toBe(8);
      expect(await usageOf(message)).toEqual([{ status: "succeeded", settled: 40n }]);
    },
  );

  test("fails when its deadline is before the next attempt, and immediately on the live lane", async () => {
    const late = await queued({ lifeMs: 10_000 });
    expect(await bench(refusing("noRoute", 1)).run(late)).toEqual({ outcome: "failed" });
    expect(await rowOf(late)).toMatchObject({ state: "failed", error: { code: "service_unavailable" } });
    const live = await queued({ lane: "live", lifeMs: 86_400_000 });
    expect(await bench(refusing("noRoute", 1), { lane: "live" }).run(live)).toEqual({ outcome: "failed" });
  });

  test.each<[string, ProviderError, string]>([
    ["was silent", new ProviderError("timeout", "silent"), "failed"],
    ["sent what cannot be read", new ProviderError("failed", "html", { status: 200 }), "failed"],
    ["said that it failed", new ProviderError("failed", "its fault", { status: 503 }), "deferred"],
    ["was busy too", new ProviderError("busy", "full", { status: 429 }), "deferred"],
  ])("after one that %s is not run again if that one may have done the work", async (_what, fault, outcome) => {
    const message = await queued({ lifeMs: 86_400_000 });
    expect(await bench(refusing("busy", 1), { fault }).run(message)).toEqual({ outcome } as never);
  });

  test("fails when its hold has a fallback's price: it could not be run again at its own", async () => {
    const message = await queued({ lifeMs: 86_400_000 });
    await db.query("update hold set model = 'other' where job_id = $1", [message.job_id]);
    expect(await bench(refusing("busy", 1)).run(message)).toEqual({ outcome: "failed" });
  });

  test("blocks no other job of its workspace from an immediate dispatch", async () => {
    const message = await queued({ lifeMs: 86_400_000 });
    await bench(refusing("noRoute", 1)).run(message);
    const next = await createJobAdmission({ database: db.database }).admit(jobRequest({ workspaceId }));
    expect(next).toEqual({ kind: "admitted", attempt: 1, dispatch: 1 });
  });
});

describe("a job that its worker continues with after another", () => {
  /** Goes from the job on the queue to another one. @param onEnd run while the end of the first is written */
  async function continued(onEnd: (first: string, next: string) => Promise<unknown>) {
    const message = await queued();
    const { job_id: id, ...rest } = await queued();
    const listeners = new Map<string, () => void>();
    const remembered = new Set<string>();
    const cancel = (jobId: string): void => void (listeners.get(jobId)?.() ?? remembered.add(jobId));
    const step: StepContinuation = {
      async end(end, { worker, leaseMs }, retryMs) {
        const takenNano = await endJob({ database: db.database, log }, end, retryMs);
        if (takenNano === undefined) return undefined;
        const claim = { ...rest, id, workspaceId, worker, leaseMs, claimsMax: 5 };
        const job = (await claimJob(db.database, claim)) as ClaimedJob;
        await onEnd(message.job_id, id);
        return { takenNano, next: { job, step: { end: () => Promise.resolve(undefined) } } };
      },
    };
    const asked: string[] = [];
    const ended: string[] = [];
    const { run } = bench(
      async (context, job, control) => {
        if (control.signal.aborted) return failed("internal_error");
        asked.push(job.job_id);
        return serve("{}")(context, job, control);
      },
      {
        lane: "live",
        continuation: { open: (job) => (job.id === message.job_id ? step : undefined) },
        cancels: {
          subject: "_INBOX.wk.test.cancel",
          onCancel(jobId, listener) {
            listeners.set(jobId, listener);
            return () => listeners.delete(jobId);
          },
          wasCancelled: (jobId) => remembered.has(jobId),
          close: () => Promise.resolve(),
        },
        onContinued: (outcome) => ended.push(outcome),
      },
    );
    return { verdict: () => run(message), cancel, asked, ended, ids: [message.job_id, id] };
  }

  test("is separate: a cancel that arrives too late for the first does not end it", async () => {
    const bed = await continued((first) => Promise.resolve(bed.cancel(first)));
    expect(await bed.verdict()).toEqual({ outcome: "completed" });
    expect(bed.asked).toEqual(bed.ids);
    expect(bed.ended).toEqual(["completed"]);
  });

  test("is not requested when its own cancel arrived during its creation", async () => {
    const bed = await continued((_first, next) => Promise.resolve(bed.cancel(next)));
    expect(await bed.verdict()).toEqual({ outcome: "failed" });
    expect(bed.asked).toEqual(bed.ids.slice(0, 1));
  });
});
