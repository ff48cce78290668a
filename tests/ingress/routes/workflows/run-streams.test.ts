/** Streams of one run that many read: what they cost together, how many there may be, and what is left of them. */
import { afterAll, afterEach, beforeAll, describe, expect, test } from "bun:test";

import { connect, type NatsConnection } from "nats";

import {
  createRunFollower,
  type RunFollower,
  RUN_STREAMS_PER_KEY_MAX,
  RUN_STREAMS_PER_WORKSPACE_MAX,
} from "#ingress/routes/workflows/run-follower.ts";
import { streamRun } from "#ingress/routes/workflows/run-stream.ts";
import type { Database } from "#shared/database/client.ts";
import { insertRun } from "#shared/database/runs.ts";
import { ApiError } from "#shared/base/errors.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { runSubject } from "#shared/queue/subjects.ts";
import { eventually } from "#tests/faults/wait.ts";
import { createWorkspace } from "#tests/shared/accounts.ts";
import { startNats, type TestNats } from "#tests/support/nats.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { KEEPALIVE_MS } from "#ingress/core/sse.ts";
import { JOB_POLL_INTERVAL_MS } from "#ingress/wait/job-waiter.ts";

const log = createLogger({ level: "silent", role: "test" });
let nats: TestNats;
let ingress: NatsConnection;
let worker: NatsConnection;
let database: TestDatabase;
let workspaceId: string;
const memberId = newId();
let runs: RunFollower;
let subscribed = 0;
let queries = 0;

beforeAll(async () => {
  [nats, database] = await Promise.all([startNats(), createTestDatabase()]);
  [ingress, worker] = await Promise.all([connect({ servers: nats.url }), connect({ servers: nats.url })]);
  workspaceId = await createWorkspace(database.database);
  await database.query("insert into member (id, workspace_id, name, role) values ($1, $2, 'reader', 'developer')", [
    memberId,
    workspaceId,
  ]);
  const subscribe: NatsConnection["subscribe"] = (subject, options) => {
    subscribed += 1;
    return ingress.subscribe(subject, options);
  };
  runs = createRunFollower({ subscribe, flush: () => ingress.flush() }, log);
}, 60_000);
afterAll(async () => {
  await Promise.all([ingress?.close(), worker?.close()]);
  await nats?.close();
  await database?.drop();
});

/** One that nothing carries on. */
async function hangingRun(): Promise<string> {
  const id = newId();
  const { verdict } = await insertRun(
    database.database,
    {
      id,
      workspaceId,
      keyId: newId(),
      memberId,
      workflow: null,
      definition: "{}",
      mode: "stream",
      lane: "live",
      maxAttempts: 1,
      input: null,
      inputBytes: 0,
      depth: 0,
    },
    1_000_000,
  );
  expect(verdict).toBe("begun");
  return id;
}

type Frame = readonly [type: "step.started" | "step.finished" | "run.finished", stepId?: string];

async function writeFrames(runId: string, from: number, ...frames: readonly Frame[]): Promise<void> {
  for (const [at, [type, stepId]] of frames.entries()) {
    const values = [runId, from + at, type, stepId ?? null, stepId === undefined ? null : 1];
    await database.query(
      "insert into run_frame (run_id, seq, type, step_id, attempt) values ($1, $2, $3, $4, $5)",
      values,
    );
  }
}

function publishDelta(runId: string, stepId: string, content: string): void {
  worker.publish(runSubject(runId), JSON.stringify({ delta: { stepId, attempt: 1, content } }));
}

const counted = {
  log,
  closing: new AbortController().signal,
  database: {
    query: (...args: Parameters<Database["query"]>) => {
      queries += 1;
      return database.database.query(...args);
    },
  } as unknown as Database,
};

interface Reader {
  read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
  cancel(): Promise<void>;
}
const readers: Reader[] = [];
afterEach(async () => {
  for (const reader of readers.splice(0)) await reader.cancel();
});

function open(runId: string, caller = { workspaceId, keyId: newId() }): Reader {
  const { body } = streamRun(counted, runId, runs.follow(runId, caller), 0);
  const reader = (body as ReadableStream<Uint8Array>).getReader();
  readers.push(reader);
  return reader;
}

/** Reads until the stream says what is sought. */
async function until(reader: Reader, sought: string): Promise<string> {
  let text = "";
  while (!text.includes(sought)) {
    const { done, value } = await reader.read();
    if (done || value === undefined) throw new Error(`the stream ended: ${text}`);
    text += Buffer.from(value).toString();
  }
  return text;
}

test("a waiter for many notices leaves no state of each", async () => {
  const followed = runs.follow(newId());
  let listeners = 0;
  const over = {
    aborted: false,
    addEventListener: () => (listeners += 1),
    removeEventListener: () => (listeners -= 1),
  } as unknown as AbortSignal;
  for (let words = 0; words < 10; words++) await followed.wait(1, over);
  followed.close();
  expect(listeners).toBe(0);
});

test("a waiter for the end of a run is resumed by that only, and by workers that do not specify", async () => {
  const runId = newId();
  const [waiting, reading] = [runs.awaitEnd(runId), runs.follow(runId)];
  await waiting.catchUp();
  const { signal } = new AbortController();
  let isWoken = false;
  const waited = waiting.wait(60_000, signal).then(() => (isWoken = true));
  for (const word of [{ frames: 1, is_over: false }, { delta: { stepId: "a", attempt: 1, content: "b" } }]) {
    worker.publish(runSubject(runId), JSON.stringify(word));
    await worker.flush();
    await reading.wait(60_000, signal);
    expect(isWoken).toBe(false);
  }
  worker.publish(runSubject(runId), JSON.stringify({ frames: 2, is_over: true }));
  await waited;
  const again = waiting.wait(60_000, signal);
  worker.publish(runSubject(runId), JSON.stringify({ frames: 3 }));
  await again;
  expect(waiting.takeDeltas()).toEqual([]);
  waiting.close();
  reading.close();
});

describe("readers of one run", () => {
  test("share one subscription, and its reads", async () => {
    const runId = await hangingRun();
    subscribed = 0;
    const streams = Array.from({ length: 40 }, () => open(runId));
    expect(subscribed).toBe(1);
    queries = 0;
    // As long as several looks at the rows take.
    await Promise.all(streams.map((reader) => until(reader, ": keepalive")));
    const looks = KEEPALIVE_MS / JOB_POLL_INTERVAL_MS;
    // Two statements a look, and twice as many looks as a lone reader needs: each of 40 by itself would need 40 times as many.
    expect(queries).toBeLessThan(40 * 2 * looks * 0.5);
    expect(queries).toBeGreaterThan(0);
  });

  test("all receive a notice, and read once for it", async () => {
    const runId = await hangingRun();
    const streams = Array.from({ length: 10 }, () => open(runId));
    await Promise.all(streams.map((reader) => until(reader, ": run")));
    const heard = Promise.all(streams.map((reader) => until(reader, "hello")));
    await writeFrames(runId, 2, ["step.started", "a"]);
    await ingress.flush();
    publishDelta(runId, "a", "hello");
    for (const text of await heard) expect(text).toContain('"step.delta"');
  });

  test("read again after a new notice", async () => {
    const runId = await hangingRun();
    const [one, other] = [runs.follow(runId), runs.follow(runId)];
    let reads = 0;
    const read = () => Promise.resolve((reads += 1));
    expect(await Promise.all([one.share(0, read), other.share(0, read), one.share(1, read)])).toEqual([1, 1, 2]);
    await ingress.flush();
    worker.publish(runSubject(runId), "{}");
    await one.wait(60_000, new AbortController().signal);
    expect(await Promise.all([one.share(0, read), other.share(0, read)])).toEqual([3, 3]);
    one.close();
    other.close();
  });

  test("do not share an error with later ones", async () => {
    const followed = runs.follow(newId());
    const away = new Error("away");
    expect(await followed.share(0, () => Promise.reject(away)).catch((error: unknown) => error)).toBe(away);
    expect(await followed.share(0, () => Promise.resolve("there"))).toBe("there");
    followed.close();
  });
});

test("late pieces of an answer come after the start frame of their step and before its end frame", async () => {
  const runId = await hangingRun();
  let isOver = false;
  const late = {
    ...counted,
    database: {
      async query(...args: Parameters<Database["query"]>) {
        if (args[0].includes("run_frame") && !isOver) {
          isOver = true;
          // All that a run of two steps comes to while its reader looks at the rows.
          publishDelta(runId, "a", "one ");
          publishDelta(runId, "b", "two");
          await worker.flush();
          const step =
            "insert into step_run values ($1, $2, 1, $3, 1, 'model', 'succeeded', null, null, null, 2, null, 1, now(), now())";
          for (const [at, id] of ["a", "b"].entries()) await database.query(step, [runId, id, at]);
          const steps = ["a", "b"].flatMap((id): Frame[] => [
            ["step.started", id],
            ["step.finished", id],
          ]);
          await writeFrames(runId, 1, ...steps, ["run.finished"]);
        }
        return database.database.query(...args);
      },
    } as unknown as Database,
  };
  const followed = runs.follow(runId);
  await followed.catchUp();
  const body = await streamRun(late, runId, followed, 0).text();
  const events = body.split("\n").filter((line) => line.startsWith("data: {"));
  const told = events.map(
    (line) => JSON.parse(line.slice(6)) as { type: string; stepId?: string; stepRun?: { id: string } },
  );
  expect(told.map(({ type, stepId, stepRun }) => `${type} ${stepId ?? stepRun?.id ?? ""}`.trim())).toEqual([
    "step.started a",
    "step.delta a",
    "step.finished a",
    "step.started b",
    "step.delta b",
    "step.finished b",
    "run.finished",
  ]);
});

describe("run streams of a process", () => {
  const refusal = (caller: { workspaceId: string; keyId: string }): ApiError => {
    try {
      runs.follow(newId(), caller).close();
    } catch (error) {
      if (error instanceof ApiError) return error;
      throw error;
    }
    throw new Error("it was let in");
  };

  test("are limited per workspace, and per key", () => {
    const workspace = newId();
    const [greedy, modest] = [newId(), newId()];
    const follow = (keyId: string) => runs.follow(newId(), { workspaceId: workspace, keyId });
    const ofKey = RUN_STREAMS_PER_KEY_MAX;
    const ofWorkspace = RUN_STREAMS_PER_WORKSPACE_MAX;
    const held = Array.from({ length: ofKey }, () => follow(greedy));
    expect(refusal({ workspaceId: workspace, keyId: greedy })).toMatchObject({ code: "overloaded", status: 503 });
    while (held.length < ofWorkspace) held.push(follow(modest));
    expect(refusal({ workspaceId: workspace, keyId: newId() }).message).toContain(
      `The workspace has ${ofWorkspace} open streams`,
    );
    // Another workspace has its own.
    runs.follow(newId(), { workspaceId: newId(), keyId: newId() }).close();
    held.pop()?.close();
    held.push(follow(newId()));
    for (const one of held) one.close();
    for (const one of held) one.close();
    follow(greedy).close();
  });

  test("leave no state, although their readers disconnect before the first byte", async () => {
    const runId = await hangingRun();
    const caller = { workspaceId: newId(), keyId: newId() };
    for (let at = 0; at < RUN_STREAMS_PER_KEY_MAX + 1; at += 1) await open(runId, caller).cancel();
    await eventually("its subscription is gone", () => {
      subscribed = 0;
      runs.follow(runId).close();
      return subscribed === 1;
    });
  });
});
