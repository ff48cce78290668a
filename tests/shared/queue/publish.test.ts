import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { jetstream, jetstreamManager, type JetStreamManager } from "@nats-io/jetstream";
import { connect, type NatsConnection } from "nats";

import type { ApiError } from "#shared/base/errors.ts";
import { newId } from "#shared/base/ids.ts";
import { createPublisher, type Dispatch, type Publisher } from "#shared/queue/publish.ts";
import { durableName, HEADERS, streamName, workSubject } from "#shared/queue/subjects.ts";
import { ensureTopology } from "#shared/queue/topology.ts";
import { startNats, type TestNats } from "#tests/support/nats.ts";

let nats: TestNats;
let connection: NatsConnection;
let manager: JetStreamManager;
let publisher: Publisher;
const STREAM = streamName("chat");

beforeAll(async () => {
  nats = await startNats();
  connection = await connect({ servers: nats.url });
  manager = await jetstreamManager(connection);
  await ensureTopology(connection, 1);
  publisher = createPublisher(connection, "ingress");
}, 60_000);

afterAll(async () => {
  await connection.close();
  await nats.close();
});

function job(members: Partial<Dispatch> = {}): Dispatch {
  const jobId = newId();
  return {
    pool: "chat",
    lane: "live",
    workspaceId: newId(),
    jobId,
    attempt: 1,
    dispatch: 1,
    body: '{"é":1}',
    ...members,
  };
}

const dispatch = (members?: Partial<Dispatch>): Promise<number> => publisher.dispatch(job(members), () => true);

async function errorOf(work: Promise<unknown>): Promise<ApiError> {
  const error = await work.then(
    () => undefined,
    (fault: unknown) => fault as ApiError,
  );
  if (!error) throw new Error("it succeeded");
  return error;
}

describe("a dispatched job", () => {
  test("is in its lane under its workspace, unchanged, with our own id and no other header", async () => {
    const sent = job();
    const seq = await publisher.dispatch(sent, () => true);
    const stored = await manager.streams.getMessage(STREAM, { seq });
    expect(stored?.subject).toBe(workSubject("chat", "live", sent.workspaceId));
    expect(stored?.header.get(HEADERS.messageId)).toBe(`${sent.jobId}:1:1`);
    expect(stored?.header.keys()).toEqual([HEADERS.messageId]);
    expect(new TextDecoder().decode(stored?.data)).toBe(sent.body);
  });

  test("sent twice is stored once, dispatched again it is stored again", async () => {
    const sent = job();
    const first = await publisher.dispatch(sent, () => true);
    expect(await publisher.dispatch(sent, () => true)).toBe(first);
    expect(await publisher.dispatch({ ...sent, dispatch: 2 }, () => true)).toBeGreaterThan(first);
    expect(await publisher.dispatch({ ...sent, attempt: 2 }, () => true)).toBeGreaterThan(first);
  });

  test("waits above the delivered ones, until a worker receives it", async () => {
    const seq = await dispatch({ lane: "batch" });
    expect((await publisher.handedOut("chat", "batch")).upTo).toBeLessThan(seq);
    const consumer = await jetstream(connection).consumers.get(STREAM, durableName("chat", "batch"));
    expect((await consumer.next({ expires: 5_000 }))?.seq).toBe(seq);
    expect((await publisher.handedOut("chat", "batch")).upTo).toBe(seq);
  });
});

describe("a job that cannot be queued", () => {
  test("because its workspace fills its share is `overloaded`, and other workspaces are not", async () => {
    const workspaceId = newId();
    await Promise.all(Array.from({ length: 2_000 }, () => dispatch({ workspaceId })));
    expect(await errorOf(dispatch({ workspaceId }))).toMatchObject({ code: "overloaded", status: 503 });
    expect(await dispatch()).toBeGreaterThan(0);
    expect(await dispatch({ workspaceId, lane: "batch" })).toBeGreaterThan(0);
  });

  test("because the stream is full is `overloaded`", async () => {
    const { state } = await manager.streams.info(STREAM);
    await manager.streams.update(STREAM, { max_msgs: state.messages });
    expect(await errorOf(dispatch())).toMatchObject({ code: "overloaded" });
    await ensureTopology(connection, 1);
    expect(await dispatch()).toBeGreaterThan(0);
  });

  test("because it is too large for the stream is our error, not the caller's", async () => {
    const body = JSON.stringify("x".repeat(600 * 1_024));
    expect(await errorOf(dispatch({ body }))).toMatchObject({ code: "service_unavailable", status: 503 });
  });

  test("because the stream is missing is `service_unavailable`, without the broker's text", async () => {
    await manager.streams.delete(STREAM);
    const error = await errorOf(dispatch());
    expect(error).toMatchObject({ code: "service_unavailable" });
    expect(error.message).not.toMatch(/nats|stream|jetstream|10\d{3}/i);
    await ensureTopology(connection, 1);
    expect(await dispatch()).toBeGreaterThan(0);
  });
});
