import { edenGC, fullGC, heapStats } from "bun:jsc";
import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import { ERROR_CODES, type Code } from "#shared/base/errors.ts";
import {
  decodeFrame,
  encodeFrame,
  type Frame,
  FRAME_BYTES_MAX,
  FrameBundler,
  readBundle,
} from "#shared/queue/frames.ts";

const n = fc.nat();
const nano = fc.bigInt({ min: 0n, max: 10n ** 19n }).map(String);
const text = fc.string({ unit: "binary", maxLength: 40 });
const milliseconds = fc.double({ min: 0, max: 1e9, noNaN: true }).map(Math.abs);

const frame: fc.Arbitrary<Frame> = fc.oneof(
  fc.record({ t: fc.constant("head" as const), n, model: text, upstream_ms: milliseconds, nano, tokens: fc.nat() }),
  fc.record({ t: fc.constant("delta" as const), n, nano, tokens: fc.nat() }),
  fc.record({ t: fc.constant("part" as const), n }),
  fc.record({ t: fc.constant("end" as const), n, model: text, nano, upstream_ms: milliseconds }),
  fc.record({
    t: fc.constant("error" as const),
    n,
    code: fc.constantFrom(...(Object.keys(ERROR_CODES) as Code[])),
    message: text,
    param: fc.option(text),
    retry: fc.boolean(),
  }),
  fc.record({
    t: fc.constant("error" as const),
    n,
    code: fc.constant("overloaded" as const),
    message: text,
    param: fc.constant(null),
    retry: fc.boolean(),
    retry_after_s: fc.nat(),
  }),
  fc.constantFrom<Frame>({ t: "beat" }, { t: "lost" }),
);

/** Bytes with many line ends, since a line end divides a frame. */
const bytes = fc.oneof(
  fc.uint8Array({ maxLength: 200 }),
  fc.array(fc.constantFrom(10, 13, 0, 123, 255), { maxLength: 20 }).map((list) => Uint8Array.from(list)),
);

describe("a frame", () => {
  test("is decoded as encoded, with any bytes after it", () => {
    fc.assert(
      fc.property(frame, bytes, (sent, data) => {
        const got = decodeFrame(encodeFrame(sent, data));
        expect(got.frame).toEqual(sent);
        expect(Buffer.from(got.data).equals(data)).toBe(true);
      }),
    );
  });

  test("contains a text as its UTF-8", () => {
    fc.assert(
      fc.property(frame, fc.string({ unit: "grapheme", maxLength: 100 }), (sent, data) => {
        const got = decodeFrame(encodeFrame(sent, data));
        expect(got.frame).toEqual(sent);
        expect(new TextDecoder().decode(got.data)).toBe(data);
      }),
    );
  });

  test("without data has none", () => {
    expect(decodeFrame(encodeFrame({ t: "beat" })).data).toHaveLength(0);
  });

  test.each<[string, string | Uint8Array]>([
    ["nothing", ""],
    ["no line end", '{"t":"beat"}'],
    ["no JSON", "beat\n"],
    ["cut JSON", '{"t":"be\n'],
    ["a number", "7\n"],
    ["null", "null\n"],
    ["an array", "[]\n"],
    ["a text", '"beat"\n'],
    ["an object without a kind", "{}\n"],
    ["a kind that is no text", '{"t":7}\n'],
    ["bytes that are no text", Uint8Array.of(0xff, 0xfe, 0x0a)],
  ])("cannot be read from %s", (_name, sent) => {
    expect(() => decodeFrame(typeof sent === "string" ? new TextEncoder().encode(sent) : sent)).toThrow(SyntaxError);
  });

  test("cannot be read from noise, without other errors", () => {
    fc.assert(
      fc.property(bytes, (noise) => {
        try {
          decodeFrame(noise);
        } catch (error) {
          expect(error).toBeInstanceOf(SyntaxError);
        }
      }),
    );
  });
});

/** A bundler, and what it has sent. */
function openBundler() {
  const sent: { readonly subject: string; readonly bytes: Uint8Array }[] = [];
  const logged: unknown[] = [];
  let isClosed = false;
  let refuses: string | undefined;
  const bundler = new FrameBundler(
    {
      publish(subject, sentBytes) {
        if (refuses !== undefined && subject.startsWith(refuses)) throw new Error("draining");
        sent.push({ subject, bytes: sentBytes });
      },
      isClosed: () => isClosed,
      waitForDrain: () => undefined,
    },
    { error: (facts: unknown) => void logged.push(facts) },
  );
  const received = (): (readonly [reply: string, bytes: string])[] =>
    sent.flatMap(({ subject, bytes: message }) => {
      const [, prefix = "", name] = /^(.*)\.([^.]+)$/.exec(subject) ?? [];
      const frames = name === "frames" ? [...readBundle(message)] : [[name ?? "", message] as const];
      return frames.map(([id, each]) => [`${prefix}.${id}`, Buffer.from(each).toString("latin1")] as const);
    });
  const refuse = (prefix: string | undefined): void => {
    refuses = prefix;
  };
  return { bundler, sent, logged, received, close: () => (isClosed = true), refuse };
}
const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));
const latin1 = (of: Uint8Array): string => Buffer.from(of).toString("latin1");

describe("frames of one event loop turn", () => {
  const replies = fc.constantFrom("_INBOX.gw.a.one", "_INBOX.gw.a.two", "_INBOX.gw.b-b.one", "_INBOX.gw.b-b.thr_ee");

  test("are decoded as encoded, those of an ingress in one message and in order", async () => {
    await fc.assert(
      fc.asyncProperty(fc.array(fc.tuple(replies, bytes), { maxLength: 20 }), async (frames) => {
        const { bundler, sent, received } = openBundler();
        for (const [reply, each] of frames) bundler.publish(reply, each);
        expect(sent).toEqual([]);
        await turn();
        const prefixes = new Set(frames.map(([reply]) => reply.slice(0, reply.lastIndexOf("."))));
        expect(sent).toHaveLength(prefixes.size);
        const of = (all: readonly (readonly [string, string])[], prefix: string) =>
          all.filter(([reply]) => reply.startsWith(prefix));
        const expected = frames.map(([reply, each]) => [reply, latin1(each)] as const);
        for (const prefix of prefixes) expect(of(received(), prefix)).toEqual(of(expected, prefix));
      }),
    );
  });

  test("with a single one use its own address unchanged", async () => {
    const { bundler, sent } = openBundler();
    const frame = encodeFrame({ t: "part", n: 0 }, "text");
    bundler.publish("_INBOX.gw.a.one", frame);
    await turn();
    expect(sent).toEqual([{ subject: "_INBOX.gw.a.one", bytes: frame }]);
    bundler.publish("_INBOX.gw.a.one", frame);
    await turn();
    expect(sent).toHaveLength(2);
  });

  test("are released once they are sent", async () => {
    const { bundler, sent } = openBundler();
    const count = (): number => heapStats().objectTypeCounts["Uint8Array"] ?? 0;
    const runTurns = async (): Promise<void> => {
      for (let n = 0; n < 2_000; n += 1) {
        bundler.publish("_INBOX.gw.a.one", new Uint8Array(20));
        bundler.publish("_INBOX.gw.a.two", new Uint8Array(20));
        await turn();
        sent.length = 0;
      }
    };
    await runTurns();
    fullGC();
    const before = count();
    await runTurns();
    edenGC();
    expect(count() - before).toBeLessThan(200);
  });

  test("that cannot be sent stop no others, of this turn or the next", async () => {
    const { bundler, received, logged, refuse } = openBundler();
    refuse("_INBOX.gw.a.");
    for (const reply of ["_INBOX.gw.a.one", "_INBOX.gw.b.one"]) bundler.publish(reply, Buffer.from("1"));
    await turn();
    refuse(undefined);
    bundler.publish("_INBOX.gw.a.one", Buffer.from("2"));
    await turn();
    expect(received()).toEqual([["_INBOX.gw.b.one", "1"], ["_INBOX.gw.a.one", "2"]]); // prettier-ignore
    expect(logged).toMatchObject([{ err: expect.any(Error), frames: 1 }]);
  });

  test("are sent immediately on request", async () => {
    const { bundler, sent } = openBundler();
    bundler.publish("_INBOX.gw.a.one", new Uint8Array(1));
    bundler.flush();
    expect(sent).toHaveLength(1);
    await turn();
    expect(sent).toHaveLength(1);
  });

  test("are split into messages of at most a frame's size", async () => {
    const { bundler, sent, received } = openBundler();
    const sizes = [FRAME_BYTES_MAX / 2 - 6, FRAME_BYTES_MAX / 2 - 100, 100, FRAME_BYTES_MAX, 3, 4];
    for (const [n, size] of sizes.entries()) bundler.publish("_INBOX.gw.a.one", new Uint8Array(size).fill(97 + n));
    await turn();
    expect(received().map(([, each]) => [each[0], each.length])).toEqual(sizes.map((size, n) => ["abcdef"[n], size]));
    expect(sent).toHaveLength(4);
    for (const { bytes: message } of sent) expect(message.length).toBeLessThanOrEqual(FRAME_BYTES_MAX);
    // Small ones too, whose heads are as long as they are.
    sent.length = 0;
    for (let n = 0; n < 10_000; n += 1) bundler.publish(`_INBOX.gw.a.${"x".repeat(36)}`, new Uint8Array(40));
    await turn();
    expect(received()).toHaveLength(10_000);
    expect(sent).toHaveLength(Math.ceil((10_000 * 80) / FRAME_BYTES_MAX));
    for (const { bytes: message } of sent) expect(message.length).toBeLessThanOrEqual(FRAME_BYTES_MAX);
  });

  test("are dropped once the connection is closed", async () => {
    const { bundler, sent, close } = openBundler();
    bundler.publish("_INBOX.gw.a.one", new Uint8Array(1));
    close();
    await turn();
    expect(sent).toEqual([]);
  });

  test.each([
    ["no head", "x"],
    ["a head without a length", "one \nabc"],
    ["a length that is no number", "one 1e1\n0123456789"],
    ["more than has come", "one 4\nabc"],
    ["a name that is no id", "o.ne 3\nabc"],
    ["an empty name", " 3\nabc"],
  ])("cannot be read from %s; earlier ones can", (_name, rest) => {
    const read: string[] = [];
    const readAll = (): void => {
      for (const [id, each] of readBundle(Buffer.from(`first 2\nok${rest}`))) read.push(`${id} ${latin1(each)}`);
    };
    expect(readAll).toThrow(SyntaxError);
    expect(read).toEqual(["first ok"]);
  });

  test("cannot be read from noise, without other errors", () => {
    fc.assert(
      fc.property(bytes, (noise) => {
        try {
          for (const [id, each] of readBundle(noise)) expect(id.length + each.length).toBeLessThan(noise.length);
        } catch (error) {
          expect(error).toBeInstanceOf(SyntaxError);
        }
      }),
    );
  });
});
