/**
 * A keep-alive HTTP/1.1 client connection for load: sends bytes encoded once, reads content-length and chunked answers
 * and nothing else. Driver, gateway and upstream share the machine, so what this costs is missing elsewhere.
 */
import type { Socket } from "bun";

/** One answer, measured. */
export interface Exchange {
  readonly status: number;
  readonly sentAt: number;
  /** First byte of the first content chunk; equal to `endedAt` for plain answers. */
  readonly firstTokenAt: number;
  readonly endedAt: number;
  /** False when the answer broke off, or a stream had no `[DONE]`. */
  readonly whole: boolean;
}

const HEAD_END = Buffer.from("\r\n\r\n");
const CONTENT = Buffer.from('"content":"');
const DONE = Buffer.from("data: [DONE]");
const QUOTE = 0x22;
const EMPTY = Buffer.alloc(0);

/** `onEnd` runs once per sent request, with the connection free again unless it was lost. */
export class LoadConnection {
  readonly #port: number;
  readonly #ca: string | undefined;
  #socket: Socket | null = null;
  #onEnd: ((exchange: Exchange) => void) | null = null;
  #pending: Buffer = EMPTY;
  #status = 0;
  #sentAt = 0;
  #firstTokenAt = 0;
  #isStream = false;
  #sawDone = false;
  #chunked = false;
  #closeAfter = false;
  /** Body bytes still to come; within a chunked body, of the current chunk with its line end. */
  #remaining = -1;

  /** @param ca PEM certificate that the server is trusted by; without it the connection is plain */
  constructor(port: number, ca?: string) {
    this.#port = port;
    this.#ca = ca;
  }

  /** Resolves when a request can be sent. @throws when the port refuses connections or the certificate is not trusted */
  async open(): Promise<void> {
    const { promise: handshake, resolve, reject } = Promise.withResolvers<void>();
    this.#socket = await Bun.connect({
      hostname: "127.0.0.1",
      port: this.#port,
      ...(this.#ca !== undefined && { tls: { ca: this.#ca } }),
      socket: {
        handshake: (_, isTrusted, error) => (isTrusted ? resolve() : reject(error ?? new Error("no TLS handshake"))),
        data: (_, bytes) => this.#read(bytes),
        close: () => {
          reject(new Error("the connection was closed before its TLS handshake"));
          this.#lost();
        },
        error: () => this.#lost(),
      },
    });
    if (this.#ca === undefined) resolve();
    await handshake;
  }

  get isOpen(): boolean {
    return this.#socket !== null;
  }

  send(request: Uint8Array, isStream: boolean, onEnd: (exchange: Exchange) => void): void {
    this.#onEnd = onEnd;
    this.#isStream = isStream;
    this.#sawDone = false;
    this.#firstTokenAt = 0;
    this.#remaining = -1;
    this.#status = 0;
    this.#sentAt = performance.now();
    const sent = this.#socket?.write(request) ?? -1;
    if (sent < request.length) this.#lost();
  }

  close(): void {
    this.#socket?.end();
    this.#socket = null;
  }

  #read(bytes: Buffer): void {
    if (this.#onEnd === null) return;
    const data = this.#pending.length === 0 ? bytes : Buffer.concat([this.#pending, bytes]);
    this.#pending = EMPTY;
    let at = 0;
    if (this.#remaining < 0) {
      const headEnd = data.indexOf(HEAD_END);
      if (headEnd < 0) {
        this.#pending = Buffer.from(data);
        return;
      }
      at = headEnd + 4;
      this.#readHead(data.toString("latin1", 0, headEnd).toLowerCase());
    }
    if (this.#isStream) this.#scan(data);
    if (this.#chunked) this.#readChunks(data, at);
    else {
      this.#remaining -= data.length - at;
      if (this.#remaining <= 0) this.#end(true);
    }
  }

  #readHead(head: string): void {
    this.#status = Number(head.slice(9, 12));
    this.#closeAfter = head.includes("\r\nconnection: close");
    this.#chunked = head.includes("\r\ntransfer-encoding: chunked");
    const length = /\r\ncontent-length: *(\d+)/.exec(head)?.[1];
    this.#remaining = this.#chunked || length === undefined ? 0 : Number(length);
  }

  #readChunks(data: Buffer, start: number): void {
    let at = start;
    for (;;) {
      const skipped = Math.min(this.#remaining, data.length - at);
      this.#remaining -= skipped;
      at += skipped;
      if (at >= data.length) return;
      const lineEnd = data.indexOf("\r\n", at);
      if (lineEnd < 0) {
        this.#pending = Buffer.from(data.subarray(at));
        return;
      }
      const size = Number.parseInt(data.toString("latin1", at, lineEnd), 16);
      if (size === 0) return this.#end(true);
      at = lineEnd + 2;
      this.#remaining = size + 2;
    }
  }

  /** Looks for the first content and for the end mark. A mark split between two reads is seen one read later or not at all; servers write events whole. */
  #scan(data: Buffer): void {
    for (let at = data.indexOf(CONTENT); this.#firstTokenAt === 0 && at >= 0; at = data.indexOf(CONTENT, at + 1)) {
      if (data[at + CONTENT.length] !== QUOTE) this.#firstTokenAt = performance.now();
    }
    if (!this.#sawDone) this.#sawDone = data.includes(DONE);
  }

  #lost(): void {
    this.#socket = null;
    this.#pending = EMPTY;
    if (this.#onEnd !== null) this.#end(false);
  }

  #end(arrived: boolean): void {
    const onEnd = this.#onEnd;
    this.#onEnd = null;
    if (this.#closeAfter) this.close();
    const endedAt = performance.now();
    onEnd?.({
      status: this.#status,
      sentAt: this.#sentAt,
      firstTokenAt: this.#firstTokenAt || endedAt,
      endedAt,
      whole: arrived && (!this.#isStream || this.#sawDone),
    });
  }
}
