/** Bodies that are made while they are read: what holds for all of them, and how one that breaks off looks on a socket. */
import { connect } from "node:net";

import { describe, expect, spyOn, test } from "bun:test";

import { streamOf, READER_STUCK_MS } from "#ingress/core/response-body.ts";
import { StreamBody } from "#ingress/wait/stream-body.ts";

import { eventually } from "../../faults/wait.ts";

interface Opened {
  readonly reader: {
    read(): Promise<{ readonly done: boolean; readonly value?: Uint8Array | undefined }>;
    cancel(): Promise<void>;
  };
  readonly left: string[];
  readonly write: (text: string) => void;
  readonly end: () => void;
}

/** Pieces are written into it as they are made. */
function openWritten(): Opened {
  const left: string[] = [];
  const body = new StreamBody({ onDisconnect: () => void left.push("left") });
  const write = (text: string): void => body.write(Buffer.from(text));
  return { reader: body.readable.getReader(), left, write, end: () => body.end() };
}

/** Pieces are asked for by the reader. */
function openGenerated(): Opened {
  const left: string[] = [];
  const made = new TransformStream<Uint8Array, Uint8Array>({}, { highWaterMark: 9 }, { highWaterMark: 9 });
  const writer = made.writable.getWriter();
  const rest = (async function* () {
    for await (const piece of made.readable) yield piece;
  })();
  const onFault = (error: unknown): void => void left.push(`fault: ${String(error)}`);
  const body = streamOf(new Uint8Array(), rest, onFault, () => void left.push("left"));
  const write = (text: string): void => void writer.write(Buffer.from(text));
  return { reader: body.getReader(), left, write, end: () => void writer.close() };
}

describe.each([
  ["written", openWritten],
  ["generated", openGenerated],
])("a body that is %s", (_how, open) => {
  const textOf = async ({ reader }: Opened): Promise<string> =>
    Buffer.from((await reader.read()).value ?? []).toString();

  test("is sent piece by piece and ends after the last, without a disconnect report", async () => {
    const opened = open();
    for (const piece of ["a", "b", "c"]) {
      const read = textOf(opened);
      opened.write(piece);
      expect(await read).toBe(piece);
    }
    const read = opened.reader.read();
    opened.end();
    expect((await read).done).toBe(true);
    expect(opened.left).toEqual([]);
  });

  test.each([true, false])(
    "reports once that its reader has disconnected, while it waits for a piece or not (%p)",
    async (waits) => {
      const opened = open();
      opened.write("a");
      await opened.reader.read();
      const read = waits ? opened.reader.read() : undefined;
      await opened.reader.cancel();
      await opened.reader.cancel();
      if (read) expect((await read).done).toBe(true);
      expect(opened.left).toEqual(["left"]);
    },
  );

  test("is cut off when its reader reads nothing for half a minute of process time, and not while it waits", async () => {
    const real = performance.now.bind(performance);
    let slept = 0;
    const clock = spyOn(performance, "now").mockImplementation(() => real() + slept);
    try {
      const [waiting, stuck] = [open(), open()];
      const read = textOf(waiting);
      stuck.write("a");
      stuck.write("b");
      expect(await textOf(stuck)).toStartWith("a");
      slept = READER_STUCK_MS + 1;
      await eventually("it is cut", () => stuck.left.length > 0);
      expect(stuck.left).toEqual(["left"]);
      expect(stuck.reader.read()).rejects.toBeUndefined();
      waiting.write("late");
      // Or a comment of ours that came before.
      expect(await read).not.toBe("");
      expect(waiting.left).toEqual([]);
      await waiting.reader.cancel();
    } finally {
      clock.mockRestore();
    }
  });
});

/** All that comes until the connection closes. */
function heard(port: number): Promise<string> {
  const { promise, resolve } = Promise.withResolvers<string>();
  let text = "";
  const socket = connect(port, "127.0.0.1", () => socket.write("GET / HTTP/1.1\r\nhost: x\r\n\r\n"));
  socket.on("data", (bytes) => (text += bytes.toString("latin1")));
  socket.on("error", () => undefined);
  socket.on("close", () => resolve(text));
  return promise;
}

test("a body that is interrupted immediately has its headers and the existing part, and no end", async () => {
  const faults: unknown[] = [];
  const broken = new Error("broken off");
  const server = Bun.serve({
    port: 0,
    fetch() {
      // oxlint-disable-next-line require-yield
      const rest = (async function* (): AsyncGenerator<Uint8Array, void, void> {
        await Promise.resolve();
        throw broken;
      })();
      return new Response(streamOf(Buffer.from("its first piece"), rest, (error) => faults.push(error)));
    },
  });
  try {
    const text = await heard(server.port ?? 0);
    expect(text).toMatch(/^HTTP\/1\.1 200 OK\r\n[^]*\r\n\r\nf\r\nits first piece\r\n$/);
    expect(faults).toEqual([broken]);
  } finally {
    await server.stop(true);
  }
});
