/** Clients that no HTTP library would be: they leave in the middle of a sentence, or stop reading. */
import type { Socket } from "bun";

import { CHAT_PATH, type Target } from "./client.ts";

export interface RawCaller {
  /** Bytes received so far. */
  received(): number;
  /** Returns the first bytes received, as text. */
  text(): string;
  /** From now on nothing is taken from the socket. */
  stopReading(): void;
  /** Resolves when the other side has closed the connection. */
  readonly closed: Promise<void>;
  /** FIN, or RST. */
  leave(how: "fin" | "rst"): void;
}

const TEXT_KEPT = 65_536;

/** Connects, sends the call, or this share of its body, and leaves the rest to the test. */
export async function callRaw(target: Target, body: Record<string, unknown>, share = 1): Promise<RawCaller> {
  const { hostname, port, host } = new URL(target.url);
  const { promise: closed, resolve } = Promise.withResolvers<void>();
  let received = 0;
  let text = "";
  const socket: Socket = await Bun.connect({
    hostname,
    port: Number(port),
    socket: {
      data(_socket, bytes) {
        received += bytes.length;
        if (text.length < TEXT_KEPT) text += bytes.toString("latin1");
      },
      close: () => resolve(),
      error: () => resolve(),
    },
  });
  const payload = JSON.stringify(body);
  socket.write(
    `POST ${target.path ?? CHAT_PATH} HTTP/1.1\r\nhost: ${host}\r\nauthorization: Bearer ${target.key}\r\n` +
      `content-type: application/json\r\ncontent-length: ${Buffer.byteLength(payload)}\r\n\r\n${payload.slice(0, payload.length * share)}`,
  );
  return {
    received: () => received,
    text: () => text,
    stopReading: () => socket.pause(),
    closed,
    leave(how) {
      if (how === "rst") socket.terminate();
      else socket.end();
    },
  };
}
