import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import { StreamBody } from "#ingress/wait/stream-body.ts";
import { RELAY_FRAMES_MAX, RELAY_BYTES_MAX } from "#ingress/wait/piece-queue.ts";
import { READER_STUCK_MS } from "#ingress/core/response-body.ts";
import { KEEPALIVE_MS } from "#ingress/core/sse.ts";
import { FRAME_BYTES_MAX } from "#shared/queue/frames.ts";

function open() {
  const left: string[] = [];
  const body = new StreamBody({ onDisconnect: (reason) => void left.push(reason) });
  return { body, left, reader: body.readable.getReader() };
}

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text);
const textOf = (value: Uint8Array | undefined): string => new TextDecoder().decode(value);
const KEEPALIVE = ": keepalive\n\n";

describe("the body of a stream", () => {
  test("joins pieces written without a reader, in order", async () => {
    const { body, reader } = open();
    for (const piece of ["a", "b", "c"]) body.write(bytes(piece));
    expect(textOf((await reader.read()).value)).toBe("abc");
  });

  test("loses and reorders nothing, for every sequence of reads and writes", async () => {
    const step = fc.oneof(fc.constant("read" as const), fc.uint8Array({ maxLength: 5 }));
    await fc.assert(
      fc.asyncProperty(fc.array(step, { maxLength: 600 }), async (steps) => {
        const { body, reader } = open();
        const sent: number[] = [];
        const got: number[] = [];
        let pending = 0;
        for (const one of steps) {
          if (one !== "read") {
            body.write(one);
            sent.push(...one);
            pending += one.length;
          } else if (pending > 0) {
            got.push(...((await reader.read()).value ?? []));
            pending = 0;
          }
        }
        body.end();
        for (let read = await reader.read(); !read.done; read = await reader.read()) got.push(...read.value);
        expect(got).toEqual(sent);
      }),
      { numRuns: 50 },
    );
  });

  test("keeps all of very many small pieces", async () => {
    const { body, reader } = open();
    const count = RELAY_FRAMES_MAX * 5 + 3;
    for (let at = 0; at < count; at++) body.write(bytes(`${at},`));
    const expected = Array.from({ length: count }, (_, at) => `${at},`).join("");
    expect(textOf((await reader.read()).value)).toBe(expected);
  });

  test("ends after its last piece, without a disconnect report", async () => {
    const { body, reader, left } = open();
    body.write(bytes("a"));
    body.end();
    body.write(bytes("late"));
    expect(body.isOpen).toBe(true);
    expect(textOf((await reader.read()).value)).toBe("a");
    expect((await reader.read()).done).toBe(true);
    expect(body.isOpen).toBe(false);
    expect(left).toEqual([]);
  });

  test("ignores empty pieces", async () => {
    const { body, reader } = open();
    const read = reader.read();
    body.write(new Uint8Array());
    body.write(bytes("a"));
    expect(textOf((await read).value)).toBe("a");
  });
});

describe("a client that disconnects", () => {
  test("is reported once, and its buffer is released", async () => {
    const { body, reader, left } = open();
    body.write(bytes("a"));
    await reader.cancel();
    expect(left).toEqual(["client"]);
    body.write(bytes("b"));
    body.tick(performance.now() + 10 * READER_STUCK_MS);
    body.end();
    expect(body.isOpen).toBe(false);
    expect(left).toEqual(["client"]);
  });
});

describe("a silent stream", () => {
  test("sends a comment before ten seconds are over, repeatedly", async () => {
    expect(KEEPALIVE_MS + 1_000).toBeLessThan(10_000);
    const { body, reader } = open();
    const start = performance.now();
    for (let round = 1; round <= 3; round++) {
      const read = reader.read();
      await Bun.sleep(0);
      body.tick(start + round * KEEPALIVE_MS * 10);
      expect(textOf((await read).value)).toBe(KEEPALIVE);
    }
  });

  test("sends no comment before its time", async () => {
    const { body, reader } = open();
    const read = reader.read();
    body.tick(performance.now() + KEEPALIVE_MS - 1_000);
    body.write(bytes("a"));
    expect(textOf((await read).value)).toBe("a");
  });

  test("sends no comment between waiting pieces, nor after its end", async () => {
    const { body, reader } = open();
    body.write(bytes("data: half"));
    body.tick(performance.now() + KEEPALIVE_MS + 1_000);
    body.write(bytes(" and half\n\n"));
    expect(textOf((await reader.read()).value)).toBe("data: half and half\n\n");
    body.end();
    body.tick(performance.now() + KEEPALIVE_MS + 1_000);
    expect((await reader.read()).done).toBe(true);
  });
});

describe("a reader that stops", () => {
  test("is disconnected after half a minute, without a regular end", async () => {
    const { body, reader, left } = open();
    body.write(bytes("a"));
    body.tick(performance.now() + READER_STUCK_MS - 1_000);
    expect(left).toEqual([]);
    body.tick(performance.now() + READER_STUCK_MS + 1_000);
    expect(left).toEqual(["stuck"]);
    expect(body.isOpen).toBe(false);
    expect(reader.read()).rejects.toBeUndefined();
  });

  test("is not assumed while there is nothing to read", async () => {
    const { body, left, reader } = open();
    void reader.read();
    await Bun.sleep(0);
    body.tick(performance.now() + 10 * READER_STUCK_MS);
    expect(left).toEqual([]);
    expect(body.isOpen).toBe(true);
  });

  test("costs two megabytes at most, for any speed of pieces", async () => {
    const { body, left, reader } = open();
    const piece = new Uint8Array(FRAME_BYTES_MAX);
    let written = 0;
    while (body.isOpen && written < 100 * 1_048_576) {
      body.write(piece);
      written += piece.length;
      if (written % 1_048_576 === 0) body.tick(performance.now());
    }
    expect(left).toEqual(["stuck"]);
    expect(written).toBeLessThanOrEqual(2 * RELAY_BYTES_MAX + FRAME_BYTES_MAX);
    expect(reader.read()).rejects.toBeUndefined();
  });

  test("that reads the remainder of an ended stream too late is disconnected as well", () => {
    const { body, left } = open();
    body.write(bytes("a"));
    body.end();
    body.tick(performance.now() + READER_STUCK_MS + 1_000);
    expect(left).toEqual(["stuck"]);
    expect(body.isOpen).toBe(false);
  });

  test("does not delay another's stream", async () => {
    const slow = open();
    const quick = open();
    slow.body.write(new Uint8Array(1_000_000));
    quick.body.write(bytes("a"));
    expect(textOf((await quick.reader.read()).value)).toBe("a");
  });
});
