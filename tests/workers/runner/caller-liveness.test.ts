import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { connect, type Msg, type NatsConnection } from "nats";

import { newId } from "#shared/base/ids.ts";
import { CALLER_GONE, CALLER_LIVES, CALLER_SERVED, decodeFrame } from "#shared/queue/frames.ts";
import { presenceSubject, replyPrefix } from "#shared/queue/subjects.ts";
import { startNats, type TestNats } from "#tests/support/nats.ts";
import { type CallerLiveness, openCallerLiveness } from "#workers/runner/caller-liveness.ts";

let nats: TestNats;
let worker: NatsConnection;
let ingress: NatsConnection;
let watch: CallerLiveness;

beforeAll(async () => {
  nats = await startNats();
  worker = await connect({ servers: nats.url });
  ingress = await connect({ servers: nats.url });
  watch = openCallerLiveness(worker);
}, 60_000);

afterAll(async () => {
  watch.close();
  await Promise.all([worker.close(), ingress.close()]);
  await nats.close();
});

/** An ingress that answers like this; `asked` holds the frames it was asked with. */
async function answering(words: () => string): Promise<{ reply: string; asked: string[] }> {
  const reply = `${replyPrefix("test")}.${newId()}`;
  const asked: string[] = [];
  ingress.subscribe(reply, {
    callback: (_error, message) => {
      asked.push(decodeFrame(message.data).frame.t);
      message.respond(words());
    },
  });
  await ingress.flush();
  return { reply, asked };
}

describe("a question about a caller", () => {
  test.each([
    [CALLER_LIVES, "waiting"],
    [CALLER_SERVED, "served"],
    [CALLER_GONE, "gone"],
  ] as const)("answered %j returns %s", async (words, expected) => {
    const { reply } = await answering(() => words);
    // An answer that a busy machine brings too late counts as none, and the worker asks again.
    let answer = await watch.ask(reply);
    for (let tries = 0; answer === "silent" && tries < 10; tries++) answer = await watch.ask(reply);
    expect(answer).toBe(expected);
  });

  test("received and not answered returns nothing", async () => {
    const reply = `${replyPrefix("mute")}.${newId()}`;
    ingress.subscribe(reply, { callback: () => undefined });
    await ingress.flush();
    expect(await watch.ask(reply)).toBe("silent");
  });

  test("without a receiver, twice, returns gone", async () => {
    expect(await watch.ask(`${replyPrefix("dead")}.${newId()}`)).toBe("gone");
  });
});

describe("a watched call", () => {
  test("ends once when its caller is gone, and is not queried again", async () => {
    const { reply, asked } = await answering(() => CALLER_GONE);
    let ends = 0;
    await new Promise<void>((resolve) => {
      watch.watch(reply, {
        gone() {
          ends += 1;
          resolve();
        },
      });
    });
    const before = asked.length;
    // Another call that is asked about for longer than this one would have been.
    const other = await answering(() => CALLER_LIVES);
    const watched = watch.watch(other.reply, { gone: () => undefined });
    while (other.asked.length < 2) await Bun.sleep(50);
    watched.end();
    expect(ends).toBe(1);
    expect(asked.length).toBe(before);
    expect(new Set(asked)).toEqual(new Set(["beat"]));
  });

  test("that ended is not queried again", async () => {
    const { reply, asked } = await answering(() => CALLER_GONE);
    let ends = 0;
    watch.watch(reply, { gone: () => (ends += 1) }).end();
    const other = await answering(() => CALLER_LIVES);
    const watched = watch.watch(other.reply, { gone: () => undefined });
    while (other.asked.length < 1) await Bun.sleep(50);
    watched.end();
    expect([ends, asked.length]).toEqual([0, 0]);
  });
});

describe("a finished call", () => {
  /** An ingress that says that it is there when told to. */
  async function presence(): Promise<{ reply: string; asked: readonly Msg[]; answer: () => void }> {
    const reply = `${replyPrefix(newId())}.${newId()}`;
    const asked: Msg[] = [];
    ingress.subscribe(presenceSubject(reply), { callback: (_error, message) => void asked.push(message) });
    await ingress.flush();
    return { reply, asked, answer: () => void asked.at(-1)?.respond(CALLER_LIVES) };
  }

  test("is confirmed by an ingress that responds after its end; many share a question", async () => {
    const { reply, asked, answer } = await presence();
    const { signal } = new AbortController();
    const first = watch.confirm(reply, signal);
    while (asked.length < 1) await Bun.sleep(1);
    const later = Array.from({ length: 50 }, () => watch.confirm(reply, signal));
    answer();
    await first;
    const all = Promise.all(later).then(() => true);
    // The question comes again where its answer is late.
    while (!(await Promise.race([all, Bun.sleep(5).then(() => false)]))) answer();
    expect(asked.length).toBeLessThan(later.length / 2);
  });

  test("is confirmed by an ingress of another version, which has no such call", async () => {
    const reply = `${replyPrefix(newId())}.${newId()}`;
    ingress.subscribe(presenceSubject(reply), { callback: (_error, message) => void message.respond(CALLER_GONE) });
    await ingress.flush();
    await watch.confirm(reply, new AbortController().signal);
  });

  test("of a dead ingress waits until the call is ended", async () => {
    const controller = new AbortController();
    const confirmed = watch.confirm(`${replyPrefix("dead")}.${newId()}`, controller.signal);
    controller.abort(new Error("its caller is gone"));
    const error = await confirmed.then(
      () => undefined,
      (fault: unknown) => fault,
    );
    expect(String(error)).toContain("its caller is gone");
  });
});
