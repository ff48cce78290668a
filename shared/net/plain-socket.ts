/**
 * A plain TCP connection with the socket interface that the clients of Postgres and NATS expect. The streams of node:net cost 6 % of the
 * CPU time of a call (measured). These clients need little of them: send bytes in order, receive bytes, close.
 */
import { EventEmitter } from "node:events";
import { Socket } from "node:net";

import type { Socket as Connection } from "bun";

type Written = (error?: Error) => void;

const PIECE_BYTES = 65_536;

/**
 * A TCP socket that emits connect, data, drain, end, error and close, like node:net's Socket. An error without a listener is dropped,
 * because the clients remove their listeners between two steps of connecting. The event close follows in any case.
 */
export class PlainSocket extends EventEmitter {
  /**
   * Number of connection attempts that were abandoned but are still open. Bun cannot cancel an attempt, so that each stays open until the
   * system's timeout.
   */
  private static hanging = 0;

  writable = true;
  destroyed = false;
  private socket: Connection | undefined;
  /** Bytes that wait for the connection, for the last `uncork`, or for space in the kernel's buffer. */
  private waiting: Uint8Array[] = [];
  private callbacks: Written[] = [];
  private corks = 0;
  /** Number of bytes written since the first `cork` that is still in effect. */
  private corkedBytes = 0;
  private isFull = false;
  private isEnding = false;
  private isDialled = false;
  /** Bytes received before the first listener was added. */
  private early: Buffer[] = [];
  private readonly onConnected: ((socket: Connection) => void)[] = [];

  /**
   * Returns a new socket: usually a PlainSocket. While abandoned connection attempts are open, returns a Socket of node:net, whose attempt
   * can be cancelled. Otherwise an unresponsive server could exhaust the file descriptors.
   */
  static open(): Socket | PlainSocket {
    return PlainSocket.hanging > 0 ? new Socket() : new PlainSocket();
  }

  override on(name: string, listener: (...args: never[]) => void): this {
    super.on(name, listener as (...args: unknown[]) => void);
    if (name === "data" && this.early.length > 0) queueMicrotask(() => this.giveEarly());
    return this;
  }

  connect(port: number, hostname: string): this {
    this.isDialled = true;
    Bun.connect({
      port,
      hostname,
      socket: {
        binaryType: "buffer",
        open: (socket) => this.opened(socket),
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
    }).catch((error: Error) => {
      this.isDialled = false;
      if (this.destroyed) PlainSocket.hanging -= 1;
      else this.destroy(error);
    });
    return this;
  }

  /** Writes bytes. @returns false while the kernel's buffer is full; the bytes are buffered anyway */
  write(bytes: Uint8Array, written?: Written): boolean {
    if (!this.writable) {
      written?.(new Error("the connection is closed"));
      return false;
    }
    this.waiting.push(bytes);
    if (written) this.callbacks.push(written);
    if (this.corks > 0) this.corkedBytes += bytes.length;
    this.flush();
    return !this.isFull;
  }

  /** Number of `cork` calls without `uncork`. */
  get writableCorked(): number {
    return this.corks;
  }

  /** Buffers writes until `uncork` or `end`, and then sends them together. Buffered data above 64 KiB is sent earlier. */
  cork(): void {
    this.corks += 1;
  }

  uncork(): void {
    this.corks = Math.max(0, this.corks - 1);
    this.corkedBytes = 0;
    this.flush();
  }

  /** Closes the connection in both directions after the buffered bytes have been sent. */
  end(): this {
    this.isEnding = true;
    this.writable = false;
    this.flush();
    return this;
  }

  destroy(error?: Error): this {
    if (this.destroyed) return this;
    if (this.isDialled) PlainSocket.hanging += 1;
    // Bytes in the kernel's buffer are still sent.
    this.socket?.end();
    this.closed(error);
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

  private onceConnected(act: (socket: Connection) => void): this {
    if (this.socket) act(this.socket);
    else this.onConnected.push(act);
    return this;
  }

  private opened(socket: Connection): void {
    if (this.destroyed) {
      PlainSocket.hanging -= 1;
      this.isDialled = false;
      socket.terminate();
      return;
    }
    this.isDialled = false;
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
    if (!socket || this.isFull || (this.corks > 0 && this.corkedBytes < PIECE_BYTES)) return;
    this.corkedBytes = 0;
    while (this.waiting.length > 0) {
      const bytes = this.takePiece();
      const taken = socket.write(bytes);
      // A closed connection accepts no bytes; its end is reported separately.
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

  /** Returns the first waiting bytes. Joins small chunks, because each write is a system call. */
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
      if (error && this.listenerCount("error") > 0) this.emit("error", error);
      for (const written of callbacks) written(error ?? new Error("the connection is closed"));
      this.emit("close");
    });
  }
}
