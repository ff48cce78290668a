import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { connect, type NatsConnection } from "nats";

import { newId } from "#shared/ids.ts";
import { CALLER_GONE, CALLER_LIVES, CALLER_SERVED, decodeFrame } from "#shared/queue/frames.ts";
import { replyPrefix } from "#shared/queue/subjects.ts";
import { startNats, type TestNats } from "#tests/support/nats.ts";
import { type CallerWatch, openCallerWatch } from "#workers/caller-watch.ts";

let nats: TestNats;
let worker: NatsConnection;
let ingress: NatsConnection;
let watch: CallerWatch;

beforeAll(async () => {
  nats = await startNats();
  worker = await connect({ servers: nats.url });
  ingress = await connect({ servers: nats.url });
  watch = openCallerWatch(worker);
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
  ] as const)("answered %j says %s", async (words, expected) => {
    const { reply } = await answering(() => words);
    expect(await watch.ask(reply)).toBe(expected);
  });

  test("that is heard and not answered says nothing", async () => {
    const reply = `${replyPrefix("mute")}.${newId()}`;
    ingress.subscribe(reply, { callback: () => undefined });
    await ingress.flush();
    expect(await watch.ask(reply)).toBe("silent");
  });

  test("that nobody hears, twice, says gone", async () => {
    expect(await watch.ask(`${replyPrefix("dead")}.${newId()}`)).toBe("gone");
  });
});

describe("a watched call", () => {
  test("ends once when its caller is gone, and is asked about no more", async () => {
    const { reply, asked } = await answering(() => CALLER_GONE);
    let ends = 0;
    await new Promise<void>((resolve) => {
      watch.watch(reply, () => {
        ends += 1;
        resolve();
      });
    });
    const before = asked.length;
    // Another call that is asked about for longer than this one would have been.
    const other = await answering(() => CALLER_LIVES);
    const forget = watch.watch(other.reply, () => undefined);
    while (other.asked.length < 2) await Bun.sleep(50);
    forget();
    expect(ends).toBe(1);
    expect(asked.length).toBe(before);
    expect(new Set(asked)).toEqual(new Set(["beat"]));
  });

  test("that ended is asked about no more", async () => {
    const { reply, asked } = await answering(() => CALLER_GONE);
    let ends = 0;
    watch.watch(reply, () => (ends += 1))();
    const other = await answering(() => CALLER_LIVES);
    const forget = watch.watch(other.reply, () => undefined);
    while (other.asked.length < 1) await Bun.sleep(50);
    forget();
    expect([ends, asked.length]).toEqual([0, 0]);
  });
});
