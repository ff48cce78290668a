import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { connect, type NatsConnection } from "nats";

import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { paced } from "#shared/config/pace.ts";
import { CALLER_GONE, CALLER_LIVES, CALLER_TAKEN, encodeFrame, type Frame } from "#shared/queue/frames.ts";
import { type EndedCalls, openReplyInbox, type ReplyInbox } from "#shared/queue/reply.ts";
import { framesSubject, replyPrefix, settledSubject } from "#shared/queue/subjects.ts";
import { startNats, type TestNats } from "#tests/support/nats.ts";

const INGRESS_ID = newId();

let nats: TestNats;
let ingress: NatsConnection;
let worker: NatsConnection;
let inbox: ReplyInbox;
const logged: string[] = [];
/** Frames of calls that are not listened for, and what is said to them. */
const late: { readonly jobId: string; readonly frame: Frame }[] = [];
const settled: string[] = [];
const ended: EndedCalls = {
  onFrame(jobId, frame) {
    late.push({ jobId, frame });
    return frame.t === "lost" ? CALLER_TAKEN : CALLER_GONE;
  },
  onSettled: (jobId) => void settled.push(jobId),
};

beforeAll(async () => {
  nats = await startNats();
  ingress = await connect({ servers: nats.url });
  worker = await connect({ servers: nats.url });
  const log = createLogger({ level: "warn", role: "test", write: (line) => logged.push(line) });
  inbox = openReplyInbox(ingress, INGRESS_ID, log, ended);
  await ingress.flush();
}, 60_000);

afterAll(async () => {
  await inbox.close();
  await Promise.all([ingress.close(), worker.close()]);
  await nats.close();
});

interface Heard {
  readonly jobId: string;
  readonly frames: Frame[];
  readonly texts: string[];
  gaps: number;
  /** Sends a frame, with data. */
  send(frame: Frame, data?: string): void;
  /** Asks as a worker does. */
  ask(frame: Frame): Promise<string>;
  /** Resolves when everything sent so far has been delivered. */
  settled(): Promise<void>;
}

const addressOf = (jobId: string): string => `${replyPrefix(INGRESS_ID)}.${jobId}`;

function listen(onFrame?: (frame: Frame) => void): Heard {
  const jobId = newId();
  const ask = async (frame: Frame): Promise<string> =>
    (await worker.request(addressOf(jobId), encodeFrame(frame), { timeout: 5_000 })).string();
  const heard: Heard = {
    jobId,
    frames: [],
    texts: [],
    gaps: 0,
    send: (frame, data) => worker.publish(addressOf(jobId), encodeFrame(frame, data)),
    ask,
    // One publisher and one subscriber: an answer to a later question means that earlier frames have come.
    settled: async () => void (await ask({ t: "beat" })),
  };
  inbox.listen(jobId, {
    onFrame(frame, data) {
      onFrame?.(frame);
      if (frame.t === "beat") return;
      heard.frames.push(frame);
      heard.texts.push(new TextDecoder().decode(data));
    },
    onGap() {
      heard.gaps += 1;
    },
  });
  return heard;
}

const part = (n: number): Frame => ({ t: "part", n });

describe("the reply inbox", () => {
  test("delivers frames with their bytes to their call, in order", async () => {
    const [one, other] = [listen(), listen()];
    one.send(part(0), "a");
    other.send(part(0), "x");
    one.send(part(1), "b");
    await Promise.all([one.settled(), other.settled()]);
    expect(one.texts).toEqual(["a", "b"]);
    expect(other.texts).toEqual(["x"]);
    expect(one.gaps + other.gaps).toBe(0);
  });

  test("accepts frames of several calls in one message, and a broken one stops no others", async () => {
    const [one, other] = [listen(), listen()];
    const logs = logged.length;
    const frames: (readonly [string, Uint8Array])[] = [
      [one.jobId, encodeFrame(part(0), "a")],
      [other.jobId, encodeFrame(part(0), "x\n")],
      [one.jobId, new TextEncoder().encode("no frame")],
      [one.jobId, encodeFrame(part(1), "b")],
      ["nobody", encodeFrame(part(7))],
      [other.jobId, encodeFrame(part(1))],
    ];
    const heads = frames.map(([id, bytes]) => Buffer.concat([Buffer.from(`${id} ${bytes.length}\n`), bytes]));
    worker.publish(framesSubject(addressOf(one.jobId)), Buffer.concat([...heads, Buffer.from("rest")]));
    await Promise.all([one.settled(), other.settled()]);
    expect(one.texts).toEqual(["a", "b"]);
    expect(other.texts).toEqual(["x\n", ""]);
    expect(one.gaps + other.gaps).toBe(0);
    expect(late.at(-1)).toEqual({ jobId: "nobody", frame: part(7) });
    expect(logged.slice(logs).map((line) => (JSON.parse(line) as { msg: string }).msg)).toEqual(
      Array.from({ length: 2 }, () => "dropped an unreadable frame"),
    );
  });

  test("reads disconnects before frames that arrived during a pause of its process, and keeps their order", async () => {
    const order: string[] = [];
    const call = listen((frame) => void ("n" in frame && order.push(`frame ${frame.n}`)));
    call.send(part(0));
    Bun.sleepSync(paced(2_000) + 100);
    // A socket whose other end has closed is read in the next turns of the event loop.
    setTimeout(() => order.push("a caller has left"), 5);
    call.send(part(1));
    await call.settled();
    expect(order).toEqual(["a caller has left", "frame 0", "frame 1"]);
  });

  test("reports a gap, and delivers nothing after it", async () => {
    const call = listen();
    call.send(part(0), "a");
    call.send(part(2), "c");
    call.send(part(3), "d");
    await call.settled();
    expect(call.texts).toEqual(["a"]);
    expect(call.gaps).toBeGreaterThan(0);
  });

  test("reports a gap at the start", async () => {
    const call = listen();
    call.send(part(1), "b");
    await call.settled();
    expect(call.texts).toEqual([]);
    expect(call.gaps).toBe(1);
  });

  test("receives the first of two runs of the same call, and nothing of the other", async () => {
    const call = listen();
    call.send({ t: "part", n: 0, run: "a" }, "a0");
    call.send({ t: "part", n: 0, run: "b" }, "b0");
    call.send({ t: "part", n: 1, run: "b" }, "b1");
    call.send({ t: "part", n: 2, run: "b" }, "b2");
    call.send({ t: "part", n: 1, run: "a" }, "a1");
    await call.settled();
    expect(call.texts).toEqual(["a0", "a1"]);
    expect(call.gaps).toBe(0);
  });

  test("drops duplicates", async () => {
    const call = listen();
    for (const n of [0, 0, 1, 0, 1, 2]) call.send(part(n), String(n));
    await call.settled();
    expect(call.texts).toEqual(["0", "1", "2"]);
    expect(call.gaps).toBe(0);
  });

  test("delivers frames without a number at any time", async () => {
    const call = listen();
    call.send({ t: "lost" });
    call.send(part(0), "a");
    call.send({ t: "lost" });
    await call.settled();
    expect(call.frames.map(({ t }) => t)).toEqual(["lost", "part", "lost"]);
  });

  test("answers a question about an awaited call, and delivers it", async () => {
    const beats: string[] = [];
    const call = listen((frame) => beats.push(frame.t));
    expect(await call.ask({ t: "beat" })).toBe(CALLER_LIVES);
    expect(beats).toEqual(["beat"]);
    expect(await call.ask({ t: "lost" })).toBe(CALLER_LIVES);
    expect(call.frames).toEqual([{ t: "lost" }]);
  });

  test("passes frames of an ended call to a handler, and answers with its result", async () => {
    const jobId = newId();
    const end: Frame = { n: 0, t: "end", model: "one", nano: "1", upstream_ms: 1 };
    const ask = async (frame: Frame) =>
      (await worker.request(addressOf(jobId), encodeFrame(frame), { timeout: 5_000 })).string();
    worker.publish(addressOf(jobId), encodeFrame(end, "text"));
    expect(await ask({ t: "lost" })).toBe(CALLER_TAKEN);
    expect(late.filter((one) => one.jobId === jobId).map(({ frame }) => frame)).toEqual([end, { t: "lost" }]);
  });

  test("receives settled answers, many in one message", async () => {
    worker.publish(settledSubject(addressOf("any")), '{"settled":["a","b"],"other":["c"]}');
    worker.publish(settledSubject(addressOf("any")), "no JSON");
    await listen().settled();
    expect(settled).toEqual(["a", "b"]);
  });

  test("answers `gone` about an unknown or ended call", async () => {
    const ask = async (jobId: string) =>
      (await worker.request(addressOf(jobId), encodeFrame({ t: "beat" }), { timeout: 5_000 })).string();
    expect(await ask(newId())).toBe(CALLER_GONE);
    const call = listen();
    const before = inbox.size();
    inbox.forget(call.jobId);
    expect(inbox.size()).toBe(before - 1);
    expect(await ask(call.jobId)).toBe(CALLER_GONE);
    call.send(part(0), "late");
    await ask(call.jobId);
    expect(call.texts).toEqual([]);
  });

  test.each<[string, Uint8Array]>([
    ["is no frame", new TextEncoder().encode("hello")],
    ["is null", new TextEncoder().encode("null\n")],
    ["is empty", new Uint8Array()],
    ["is noise", Uint8Array.of(0xff, 0x00, 0x0a, 0xfe)],
  ])("survives a message that %s, and logs it", async (_name, bytes) => {
    const call = listen();
    logged.length = 0;
    worker.publish(addressOf(call.jobId), bytes);
    call.send(part(0), "a");
    await call.settled();
    expect(call.texts).toEqual(["a"]);
    expect(logged).toHaveLength(1);
  });

  test("survives a listener that throws: to its call the frame is a gap, others are unaffected", async () => {
    const bad = listen((frame) => {
      if (frame.t === "part") throw new Error("bug");
    });
    const good = listen();
    logged.length = 0;
    bad.send(part(0), "a");
    bad.send(part(1), "b");
    good.send(part(0), "c");
    await Promise.all([good.settled(), bad.settled()]);
    expect(good.texts).toEqual(["c"]);
    expect(bad.gaps).toBe(1);
    expect(logged).toHaveLength(1);
  });

  test("ignores unknown subjects below its own", async () => {
    const call = listen();
    worker.publish(`${addressOf(call.jobId)}.more`, encodeFrame(part(0), "a"));
    await call.settled();
    expect(call.texts).toEqual([]);
  });
});
