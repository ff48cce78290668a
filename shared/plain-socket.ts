/**
 * A plain TCP connection in the form in which the clients of Postgres and NATS expect their socket. The streams of node:net cost a
 * tenth of the CPU time of a call (measured); what these clients use of them is little: bytes out in order, bytes in, an end.
 */
import { EventEmitter } from "node:events";
import type { Socket } from "bun";

type Written = (error?: Error) => void;

const PIECE_BYTES = 65_536;

/** Emits connect, data, drain, end, error and close, as node:net's Socket does. */
export class PlainSocket extends EventEmitter {
  writable = true;
  destroyed = false;
  private socket: Socket | undefined;
  /** Bytes that wait: for the connection, for the end of a cork, or for room in the kernel. */
  private waiting: Uint8Array[] = [];
  private callbacks: Written[] = [];
  private corks = 0;
  private isFull = false;
  private isEnding = false;
  /** Bytes that came before anybody listened. */
  private early: Buffer[] = [];
  private readonly onConnected: ((socket: Socket) => void)[] = [];

  constructor() {
    super();
    this.on("newListener", (name) => {
      if (name === "data" && this.early.length > 0) queueMicrotask(() => this.giveEarly());
    });
  }

  connect(port: number, hostname: string): this {
    Bun.connect({
      port,
      hostname,
      socket: {
        binaryType: "buffer",
        open: (socket) => this.open(socket),
        data: (_socket, bytes) => this.take(bytes),
        drain: () => {
          this.isFull = false;
          this.flush();
          if (!this.isFull) this.emit("drain");
        },
        end: () => void this.emit("end"),
        error: (_socket, error) => void this.destroy(error),
        close: (_socket, error) => this.closed(error),
      },
    }).catch((error: Error) => this.destroy(error));
    return this;
  }

  /** @returns false while the kernel takes no more; the bytes are kept all the same */
  write(bytes: Uint8Array, written?: Written): boolean {
    if (!this.writable) {
      written?.(new Error("the connection is closed"));
      return false;
    }
    this.waiting.push(bytes);
    if (written) this.callbacks.push(written);
    this.flush();
    return !this.isFull;
  }

  /** Keeps what is written until `uncork`; it then goes out in one piece. */
  cork(): void {
    this.corks += 1;
  }

  uncork(): void {
    this.corks -= 1;
    this.flush();
  }

  /** Closes the connection once what was written has gone out. */
  end(): this {
    this.isEnding = true;
    this.flush();
    return this;
  }

  destroy(error?: Error): this {
    if (this.destroyed) return this;
    this.socket?.terminate();
    if (error) queueMicrotask(() => this.emit("error", error));
    this.closed();
    return this;
  }

  setNoDelay(isOn = true): this {
    return this.onceConnected((socket) => socket.setNoDelay(isOn));
  }

  setKeepAlive(isOn = true, delayMs = 0): this {
    return this.onceConnected((socket) => socket.setKeepAlive(isOn, delayMs));
  }

  ref(): this {
    return this.onceConnected((socket) => socket.ref());
  }

  unref(): this {
    return this.onceConnected((socket) => socket.unref());
  }

  private onceConnected(act: (socket: Socket) => void): this {
    if (this.socket) act(this.socket);
    else this.onConnected.push(act);
    return this;
  }

  private open(socket: Socket): void {
    if (this.destroyed) {
      socket.terminate();
      return;
    }
    this.socket = socket;
    for (const act of this.onConnected) act(socket);
    this.emit("connect");
    this.flush();
  }

  private take(bytes: Buffer): void {
    if (this.early.length > 0 || this.listenerCount("data") === 0) this.early.push(bytes);
    else this.emit("data", bytes);
  }

  private giveEarly(): void {
    const early = this.early;
    this.early = [];
    for (const bytes of early) this.emit("data", bytes);
  }

  private flush(): void {
    const { socket } = this;
    if (!socket || this.corks > 0 || this.isFull) return;
    while (this.waiting.length > 0) {
      const bytes = this.takePiece();
      const taken = socket.write(bytes);
      // Of a connection that is gone nothing is taken; its end is reported apart.
      if (taken < bytes.length) {
        this.isFull = true;
        this.waiting.unshift(bytes.subarray(Math.max(0, taken)));
        return;
      }
    }
    const callbacks = this.callbacks;
    this.callbacks = [];
    for (const written of callbacks) written();
    if (this.isEnding) socket.end();
  }

  /** Returns the first of the bytes that wait, small pieces as one: each write is a call of the kernel. */
  private takePiece(): Uint8Array {
    let [count, size] = [0, 0];
    while (count < this.waiting.length && size < PIECE_BYTES) size += this.waiting[count++]?.length ?? 0;
    const pieces = this.waiting.splice(0, count);
    const [first] = pieces;
    return pieces.length === 1 && first ? first : Buffer.concat(pieces);
  }

  private closed(error?: Error): void {
    if (this.destroyed) return;
    this.destroyed = true;
    this.writable = false;
    const callbacks = this.callbacks;
    this.callbacks = [];
    this.waiting = [];
    queueMicrotask(() => {
      if (error) this.emit("error", error);
      for (const written of callbacks) written(error ?? new Error("the connection is closed"));
      this.emit("close");
    });
  }
}
