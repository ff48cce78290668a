/** Clients of a mixed load: over raw sockets, so that they can leave by FIN or RST or read as slowly as they like. */
import type { Socket } from "bun";

import { CHAT_PATH, type Answer, type Target } from "./client.ts";

/** Conduct of a client once its request is out. */
export type Conduct =
  | { readonly does: "stays" }
  | { readonly does: "reads slowly"; readonly restMs: number }
  | {
      readonly does: "leaves";
      readonly how: "fin" | "rst";
      /** After so long, or as soon as so many events have come, whichever is first. */
      readonly afterMs: number;
      readonly afterEvents: number;
    };

/** A call that takes longer than this was forgotten by the service. */
const FORGOTTEN_MS = 60_000;

/** Makes one call on a connection of its own. @throws Error when the address refuses connections, or nothing ever ends */
export async function callAs(conduct: Conduct, target: Target, body: Record<string, unknown>): Promise<Answer> {
  const { hostname, port, host } = new URL(target.url);
  const { promise, resolve, reject } = Promise.withResolvers<Answer>();
  const received = new Received();
  let isOver = false;
  const timers: Timer[] = [];
  const finish = (hasLeft: boolean): void => {
    if (isOver) return;
    isOver = true;
    for (const timer of timers) clearTimeout(timer);
    resolve(received.answer(hasLeft));
  };
  const leave = (socket: Socket): void => {
    if (isOver || conduct.does !== "leaves") return;
    finish(!received.isWhole());
    if (conduct.how === "rst") socket.terminate();
    else socket.end();
  };
  const socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(socket, bytes) {
        if (isOver) return;
        received.push(bytes);
        if (received.isWhole()) {
          finish(false);
          socket.end();
        } else if (conduct.does === "leaves" && received.events >= conduct.afterEvents) {
          leave(socket);
        } else if (conduct.does === "reads slowly") {
          socket.pause();
          timers.push(setTimeout(() => socket.resume(), conduct.restMs));
        }
      },
      close: () => finish(false),
      error: () => finish(false),
    },
  });
  const payload = JSON.stringify(body);
  socket.write(
    `POST ${target.path ?? CHAT_PATH} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${target.key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(payload)}\r\n\r\n${payload}`,
  );
  timers.push(setTimeout(() => reject(new Error(`no end after ${FORGOTTEN_MS} ms: ${payload}`)), FORGOTTEN_MS));
  if (conduct.does === "leaves") timers.push(setTimeout(() => leave(socket), conduct.afterMs));
  return promise;
}

/** One HTTP answer as it comes in. */
class Received {
  private pieces: Buffer[] = [];
  private bytes = 0;
  private head: { readonly status: number; readonly headers: Headers; readonly length: number } | undefined;
  events = 0;

  push(bytes: Buffer): void {
    // Bun uses the buffer again.
    this.pieces.push(Buffer.from(bytes));
    this.bytes += bytes.length;
    this.events += bytes.toString("latin1").split("data: ").length - 1;
    this.head ??= readHead(this.whole());
  }

  isWhole(): boolean {
    if (!this.head) return false;
    const { headers, length } = this.head;
    const declared = headers.get("content-length");
    if (declared !== null) return this.bytes - length >= Number(declared);
    return this.whole().subarray(-5).toString("latin1") === "0\r\n\r\n";
  }

  answer(hasLeft: boolean): Answer {
    const isWhole = this.isWhole();
    const { status = 0, headers = new Headers(), length = 0 } = this.head ?? {};
    const raw = this.whole().subarray(length);
    const body = (headers.has("content-length") ? raw : joinChunks(raw)).toString("utf8");
    const isStream = headers.get("content-type")?.startsWith("text/event-stream") === true;
    const lines = isStream ? wholeEvents(body).split("\n") : [];
    return {
      status,
      headers,
      body,
      frames: lines.filter((line) => line.startsWith("data: ")).map((line) => line.slice("data: ".length)),
      comments: lines.filter((line) => line.startsWith(":")).length,
      isStream,
      isCut: !isWhole,
      hasLeft,
      endedAt: performance.now(),
    };
  }

  private whole(): Buffer {
    if (this.pieces.length > 1) this.pieces = [Buffer.concat(this.pieces)];
    return this.pieces[0] ?? Buffer.alloc(0);
  }
}

function readHead(bytes: Buffer) {
  const end = bytes.indexOf("\r\n\r\n");
  if (end < 0) return undefined;
  const [first = "", ...lines] = bytes.subarray(0, end).toString("latin1").split("\r\n");
  const headers = new Headers();
  for (const line of lines) headers.append(line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim());
  return { status: Number(first.split(" ")[1]), headers, length: end + 4 };
}

/** The body of a chunked answer, as far as it came. */
function joinChunks(bytes: Buffer): Buffer {
  const pieces: Buffer[] = [];
  for (let at = 0; ;) {
    const end = bytes.indexOf("\r\n", at);
    const size = end < 0 ? 0 : Number.parseInt(bytes.subarray(at, end).toString("latin1"), 16);
    if (!(size > 0)) return Buffer.concat(pieces);
    pieces.push(bytes.subarray(end + 2, end + 2 + size));
    at = end + 2 + size + 2;
  }
}

/** An event that was cut is none. */
function wholeEvents(body: string): string {
  return body.slice(0, body.lastIndexOf("\n\n") + 2);
}
