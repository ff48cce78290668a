/**
 * A TCP server that answers HTTP byte by byte, for tests of what polite servers never do: cuts, resets, silence, drips.
 * It also sees what they hide: the moment at which a client closes its socket.
 */
import type { Socket } from "bun";

import type { RawRequest } from "./raw-request.ts";
import { RequestParser } from "./raw-request.ts";

/** One answer being written. Every method is a no-op once the connection is gone. */
export interface Wire {
  /** Resolves true when the bytes left our buffer, false when the connection is gone. One write at a time. */
  write(bytes: string | Uint8Array): Promise<boolean>;
  /** Waits; resolves false at once when the connection goes first. `Infinity` waits for that alone. */
  wait(ms: number): Promise<boolean>;
  /** Ends the connection with FIN after what was written. */
  end(): void;
  /** Ends the connection with RST. */
  reset(): void;
  readonly isOpen: boolean;
  /** Resolves when the connection is gone, with performance.now() of that moment and who ended it. */
  readonly closed: Promise<{ at: number; by: "client" | "server" }>;
}

/** Plays one answer; the next request of the connection starts when it resolves. */
export type RawHandler = (request: RawRequest, wire: Wire) => Promise<void>;

export interface RawServerOptions {
  /** The system chooses a port when this is 0 or absent. */
  readonly port?: number | undefined;
  /** PEM key and certificate of a server that speaks TLS. */
  readonly tls?: { readonly key: string; readonly cert: string } | undefined;
}

export interface RawServer {
  readonly port: number;
  openSockets(): number;
  /** Resets every connection and stops to listen. */
  close(): void;
}

interface State {
  readonly parser: RequestParser;
  readonly wire: SocketWire;
  /** The answers of one connection, one after the other. */
  tail: Promise<void>;
}

/** Listens on 127.0.0.1. `onFault` receives errors that the handler throws, and errors of bytes that are not HTTP. */
export function startRawServer(
  handle: RawHandler,
  onFault: (error: unknown) => void,
  { port = 0, tls }: RawServerOptions = {},
): RawServer {
  const open = new Set<Socket<State>>();
  const answer = async (before: Promise<void>, request: RawRequest, wire: Wire): Promise<void> => {
    await before;
    try {
      await handle(request, wire);
    } catch (error) {
      onFault(error);
      wire.reset();
    }
  };
  const server = Bun.listen<State>({
    hostname: "127.0.0.1",
    port,
    ...(tls && { tls }),
    socket: {
      open(socket) {
        open.add(socket);
        socket.data = { parser: new RequestParser(), wire: new SocketWire(socket), tail: Promise.resolve() };
      },
      data(socket, bytes) {
        const { parser, wire } = socket.data;
        try {
          for (const request of parser.push(bytes)) {
            socket.data.tail = answer(socket.data.tail, request, wire);
          }
        } catch (error) {
          onFault(error);
          wire.reset();
        }
      },
      drain(socket) {
        socket.data.wire.drained();
      },
      close(socket) {
        open.delete(socket);
        socket.data.wire.gone();
      },
      // Bun calls close after error; without this listener a client's reset would be reported as unhandled.
      error() {},
    },
  });
  return {
    port: server.port,
    openSockets: () => open.size,
    close() {
      for (const socket of open) socket.data.wire.reset();
      server.stop(true);
    },
  };
}

class SocketWire implements Wire {
  readonly closed: Promise<{ at: number; by: "client" | "server" }>;
  readonly #socket: Socket<State>;
  #resolveClosed!: (end: { at: number; by: "client" | "server" }) => void;
  #open = true;
  #endedByUs = false;
  #pending: Buffer | null = null;
  #wake: ((sent: boolean) => void) | null = null;

  constructor(socket: Socket<State>) {
    this.#socket = socket;
    this.closed = new Promise((resolve) => {
      this.#resolveClosed = resolve;
    });
  }

  get isOpen(): boolean {
    return this.#open && !this.#endedByUs;
  }

  async write(bytes: string | Uint8Array): Promise<boolean> {
    if (!this.isOpen) return false;
    const buffer =
      typeof bytes === "string" ? Buffer.from(bytes) : Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    this.#pending = buffer;
    if (this.#flush()) return true;
    return new Promise((resolve) => {
      this.#wake = resolve;
    });
  }

  async wait(ms: number): Promise<boolean> {
    if (!this.isOpen) return false;
    if (ms <= 0) return true;
    if (ms === Infinity) return this.closed.then(() => false);
    let timer: Timer | undefined;
    const waited = await Promise.race([
      new Promise<boolean>((resolve) => {
        timer = setTimeout(() => resolve(true), ms);
      }),
      this.closed.then(() => false),
    ]);
    clearTimeout(timer);
    return waited;
  }

  end(): void {
    if (!this.isOpen) return;
    this.#endedByUs = true;
    this.#socket.end();
  }

  reset(): void {
    if (!this.#open) return;
    this.#endedByUs = true;
    this.#socket.terminate();
  }

  drained(): void {
    if (this.#pending !== null && this.#flush()) this.#settle(true);
  }

  gone(): void {
    this.#open = false;
    this.#pending = null;
    this.#settle(false);
    this.#resolveClosed({ at: performance.now(), by: this.#endedByUs ? "server" : "client" });
  }

  /** True when nothing is left to send. The system takes part of a large buffer only; `drain` asks for the rest. */
  #flush(): boolean {
    const buffer = this.#pending;
    if (buffer === null) return true;
    const sent = this.#socket.write(buffer);
    this.#pending = sent >= buffer.length ? null : buffer.subarray(Math.max(0, sent));
    return this.#pending === null;
  }

  #settle(sent: boolean): void {
    const wake = this.#wake;
    this.#wake = null;
    wake?.(sent);
  }
}
