/**
 * fetch without TLS and by few of its steps: JSON that is posted to a provider on one's own network, for an answer that is read whole.
 * Bun's fetch hands every request to a thread of its own and back; here the connection is the loop's, which spares a lone call 6 % of
 * its time.
 * The answer's syntax is judged by llhttp, Node's parser, which Bun brings along.
 */
import type { Socket } from "node:net";

import { HTTPParser } from "node:_http_common";

import { paced } from "#shared/pace.ts";
import { PlainSocket } from "#shared/plain-socket.ts";

export interface PlainRequest {
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string;
  readonly signal: AbortSignal;
}

/** A connection that has rested for longer is looked at before it is used: its server may have closed it meanwhile. */
const SURELY_OPEN_MS = 20;
/** An idle connection is not used again after this: many servers close theirs after five seconds, and a request may then be lost. */
export const PLAIN_IDLE_MS = paced(4_000);
const IDLE_CONNECTIONS_MAX = 1_024;
const HEAD_BYTES_MAX = 65_536;
/** Silence after which the kernel looks if the other side is still there: a model may think for long. */
const KEEP_ALIVE_MS = 60_000;
/** Unread bytes of a body; beyond them the connection is paused. */
const UNREAD_BYTES_MAX = 65_536;

/** Scheme, authority without a user, and a path that fetch would send as it stands. */
const ADDRESS = /^http:\/\/((?:[a-z\d.-]+|\[[\da-f:.]+\])(?::\d{1,5})?)(\/[\w.~!$&()*+,;=:@/%?-]*)$/;
/** Segments that fetch takes away. */
const DOTS = /\/(?:\.|%2e)/i;
/** Names that are ours to write are left to fetch, which knows what to do about them. */
const NAME = /^(?!host$|connection$|content-length$|transfer-encoding$)[a-z\d-]+$/;
const SENDABLE = /^[\t\x20-\x7e]*$/;
/** Headers that fetch sends of itself. */
const USUAL_HEADERS = { connection: "keep-alive", accept: "*/*", "user-agent": navigator.userAgent };
const EMPTY = new Uint8Array();
const NO_BODY: ReadonlySet<number> = new Set([204, 205, 304]);

/** Idle connections by authority, those that rested last at the end. */
const idle = new Map<string, Connection[]>();

/** True where `fetchPlain` does what fetch would: the rest (TLS, odd addresses and headers) is fetch's. */
export function canFetchPlain(url: string, headers: Readonly<Record<string, string>>): boolean {
  const authority = ADDRESS.exec(url)?.[1];
  if (authority === undefined || DOTS.test(url) || !standsAsItIs(authority)) return false;
  return Object.entries(headers).every(([name, value]) => NAME.test(name) && SENDABLE.test(value));
}

const asItIs = new Map<string, boolean>();
/** Authorities come from the catalogue, so there are few. */
const AUTHORITIES_MAX = 1_000;

/** False for one that fetch writes otherwise, such as one with the port 80 or with a number for its address. */
function standsAsItIs(authority: string): boolean {
  let is = asItIs.get(authority);
  if (is === undefined) {
    is = URL.canParse(`http://${authority}`) && new URL(`http://${authority}`).host === authority;
    if (asItIs.size >= AUTHORITIES_MAX) asItIs.clear();
    asItIs.set(authority, is);
  }
  return is;
}

/**
 * Returns the answer as soon as its head is there, redirects and compressed bodies as they came. Nothing is ever sent twice.
 * @param url one that `canFetchPlain` says yes to
 * @throws the signal's reason; an Error whose code says as fetch's whether the connection was ever made
 */
export function fetchPlain(url: string, request: PlainRequest): Promise<Response> {
  const [, authority = "", path = ""] = ADDRESS.exec(url) ?? [];
  const { headers, body, signal } = request;
  if (signal.aborted) return Promise.reject(signal.reason as Error);
  let head = `POST ${path} HTTP/1.1\r\nhost: ${authority}\r\ncontent-length: ${Buffer.byteLength(body)}\r\n`;
  const all: Readonly<Record<string, string>> = { ...USUAL_HEADERS, ...headers };
  for (const name of Object.keys(all)) head += `${name}: ${all[name]}\r\n`;
  const bytes = Buffer.from(`${head}\r\n${body}`);
  const connection = idle.get(authority)?.pop();
  const restedMs = performance.now() - (connection?.idleSince ?? 0);
  if (!connection || restedMs >= PLAIN_IDLE_MS) {
    connection?.end();
    return new Connection(authority).send(bytes, signal);
  }
  return restedMs < SURELY_OPEN_MS ? connection.send(bytes, signal) : sendIfOpen(connection, bytes, signal);
}

/** Sends over a connection that has rested, once what its server has done meanwhile is known, else over a new one. */
async function sendIfOpen(connection: Connection, bytes: Uint8Array, signal: AbortSignal): Promise<Response> {
  await twoTurns();
  if (signal.aborted) {
    connection.end();
    throw signal.reason;
  }
  return (connection.isOver ? new Connection(connection.authority) : connection).send(bytes, signal);
}

/** Waits until the loop has read what the kernel has: the first immediate comes before that. */
function twoTurns(): Promise<void> {
  return new Promise((resolve) => {
    setImmediate(() => setImmediate(resolve));
  });
}

let sweep: ReturnType<typeof setInterval> | undefined;

/** Ends the connections that have been idle for too long; runs only while there are any. */
function sweepIdle(): void {
  const before = performance.now() - PLAIN_IDLE_MS;
  for (const [authority, connections] of idle) {
    while (connections[0] && connections[0].idleSince < before) connections.shift()?.end();
    if (connections.length === 0) idle.delete(authority);
  }
  if (idle.size > 0) return;
  clearInterval(sweep);
  sweep = undefined;
}

/** Keeps a connection for the next request: one that its server closed behind the answer is over once the loop has been round. */
function keepIdle(connection: Connection): void {
  if (connection.isOver) return;
  const connections = idle.get(connection.authority) ?? [];
  if (connections.length >= IDLE_CONNECTIONS_MAX) return connection.end();
  connection.idleSince = performance.now();
  connections.push(connection);
  idle.set(connection.authority, connections);
  sweep ??= setInterval(sweepIdle, PLAIN_IDLE_MS / 4).unref();
}

/** One request and its answer so far. */
interface Exchange {
  readonly signal: AbortSignal;
  readonly onAbort: () => void;
  readonly resolve: (response: Response) => void;
  readonly reject: (error: unknown) => void;
  isSent: boolean;
  status: number;
  headers: Headers;
  isHeadWhole: boolean;
  isWhole: boolean;
  /** The body's bytes in one piece of the connection. */
  pieces: Uint8Array<ArrayBuffer>[];
  /** The body, where it did not come in one piece with its head. */
  stream: ReadableStreamDefaultController<Uint8Array> | undefined;
}

class Connection {
  readonly authority: string;
  idleSince = 0;
  private readonly socket: Socket | PlainSocket = PlainSocket.open();
  private readonly parser = new HTTPParser();
  private exchange: Exchange | undefined;
  isOver = false;
  private isConnected = false;
  private isPaused = false;
  /** True while the last answer's head lets it be used again. */
  private isKept = false;
  /** Something came that is no part of an answer that was asked for. */
  private hasExcess = false;
  private fault: NodeJS.ErrnoException | undefined;

  constructor(authority: string) {
    this.authority = authority;
    const { parser, socket } = this;
    parser.initialize(HTTPParser.RESPONSE, {}, HEAD_BYTES_MAX);
    parser[HTTPParser.kOnMessageBegin] = () => {
      if (!this.exchange || this.exchange.isWhole) this.hasExcess = true;
    };
    parser[HTTPParser.kOnHeaders] = (pairs) => this.takeHeaders(pairs);
    parser[HTTPParser.kOnHeadersComplete] = (...head) => {
      this.takeHead(head[2], head[5], head[8]);
      return 0;
    };
    parser[HTTPParser.kOnBody] = (piece) => {
      if (this.exchange && !this.exchange.isWhole) this.exchange.pieces.push(piece);
    };
    parser[HTTPParser.kOnMessageComplete] = () => {
      // A head of 1xx has no body, and says nothing yet.
      if (this.exchange?.isHeadWhole) this.exchange.isWhole = true;
    };
    socket.on("connect", () => {
      this.isConnected = true;
      socket.setNoDelay(true);
      socket.setKeepAlive(true, KEEP_ALIVE_MS);
    });
    socket.on("data", (bytes: Buffer) => this.read(bytes));
    socket.on("error", (error: Error) => {
      this.fault = error;
    });
    socket.on("end", () => {
      if (!this.exchange) this.end();
    });
    socket.on("close", () => this.closed());
    const { hostname, port } = new URL(`http://${authority}`);
    socket.connect(Number(port || 80), hostname.replaceAll(/^\[|\]$/g, ""));
  }

  send(bytes: Uint8Array, signal: AbortSignal): Promise<Response> {
    this.socket.ref();
    return new Promise((resolve, reject) => {
      const onAbort = (): void => this.fail(signal.reason);
      const exchange: Exchange = {
        signal,
        onAbort,
        resolve,
        reject,
        isSent: false,
        status: 100,
        headers: new Headers(),
        isHeadWhole: false,
        isWhole: false,
        pieces: [],
        stream: undefined,
      };
      this.exchange = exchange;
      signal.addEventListener("abort", onAbort, { once: true });
      this.socket.write(bytes, () => {
        exchange.isSent = true;
      });
    });
  }

  /** Closes it, in both directions: a provider that still speaks must notice. */
  end(): void {
    this.isOver = true;
    this.leaveIdle();
    this.socket.destroy();
  }

  private leaveIdle(): void {
    const connections = idle.get(this.authority);
    const at = connections?.lastIndexOf(this) ?? -1;
    if (at >= 0) connections?.splice(at, 1);
  }

  private takeHeaders(pairs: readonly string[]): void {
    const { exchange } = this;
    // Behind the head these are trailers.
    if (!exchange || exchange.isHeadWhole) return;
    for (let at = 0; at + 1 < pairs.length; at += 2) exchange.headers.append(pairs[at] ?? "", pairs[at + 1] ?? "");
  }

  private takeHead(pairs: readonly string[] | undefined, status: number, isKept: boolean): void {
    const { exchange } = this;
    if (!exchange || exchange.isWhole) return;
    if (pairs) this.takeHeaders(pairs);
    exchange.status = status;
    if (isInterim(status)) {
      exchange.headers = new Headers();
      return;
    }
    exchange.isHeadWhole = true;
    this.isKept = isKept;
  }

  private read(bytes: Buffer): void {
    if (this.isOver) return;
    const { exchange } = this;
    // No request is under way.
    if (!exchange) return this.end();
    let read: number | Error;
    try {
      read = this.parser.execute(bytes);
    } catch (error) {
      // A header that Headers does not take.
      return this.fail(error);
    }
    const { status } = exchange;
    if (!isInterim(status) && (status < 200 || status > 599)) {
      return this.fail(new Error(`the answer has the status ${status}`));
    }
    if (exchange.isWhole) return this.finish(exchange, read === bytes.length);
    if (read instanceof Error) return this.fail(read);
    if (exchange.isHeadWhole) this.giveBody(exchange);
  }

  /** The answer is whole. */
  private finish(exchange: Exchange, isClean: boolean): void {
    this.settle(exchange);
    if (exchange.stream) {
      this.giveBody(exchange);
      exchange.stream.close();
    } else this.answer(exchange, joined(exchange.pieces));
    if (this.isOver) return;
    if (!isClean || !this.isKept || !exchange.isSent || this.hasExcess) return this.end();
    this.rest(false);
    this.socket.unref();
    void twoTurns().then(() => keepIdle(this));
  }

  private answer(exchange: Exchange, body: Uint8Array<ArrayBuffer> | ReadableStream<Uint8Array>): void {
    const { status, headers } = exchange;
    exchange.resolve(new Response(NO_BODY.has(status) ? null : body, { status, headers }));
  }

  private giveBody(exchange: Exchange): void {
    if (NO_BODY.has(exchange.status)) {
      // The server sends one all the same, and a Response cannot hold it.
      this.settle(exchange);
      this.end();
      return this.answer(exchange, EMPTY);
    }
    if (!exchange.stream) {
      const body = new ReadableStream<Uint8Array>(
        {
          start: (stream) => {
            exchange.stream = stream;
          },
          pull: () => this.rest(false),
          cancel: () => {
            if (this.exchange !== exchange) return;
            this.settle(exchange);
            this.end();
          },
        },
        { highWaterMark: UNREAD_BYTES_MAX, size: (piece) => piece?.byteLength ?? 0 },
      );
      this.answer(exchange, body);
    }
    if (exchange.pieces.length === 0) return;
    exchange.stream?.enqueue(joined(exchange.pieces));
    exchange.pieces = [];
    this.rest((exchange.stream?.desiredSize ?? 0) <= 0);
  }

  /** Makes the other side wait while the body is not read. */
  private rest(isPaused: boolean): void {
    if (this.isPaused === isPaused) return;
    this.isPaused = isPaused;
    if (isPaused) this.socket.pause();
    else this.socket.resume();
  }

  private closed(): void {
    const { exchange } = this;
    if (!exchange) return this.end();
    this.isOver = true;
    // The end of the connection may be the body's.
    const isEnd = !this.fault && exchange.isHeadWhole && !(this.parser.finish() instanceof Error);
    if (isEnd && exchange.isWhole) return this.finish(exchange, false);
    // One that was made and reset at once may be reported as one that was not.
    const isMade = this.isConnected || this.fault?.code === "ECONNRESET";
    const code = isMade ? "ECONNRESET" : "FailedToOpenSocket";
    const said = isMade ? "the connection was closed before the answer was whole" : "no connection could be made";
    this.fail(Object.assign(new Error(said, { cause: this.fault }), { code }));
  }

  /** Ends the request and its connection. The answer that is waited for, or read, fails with the error. */
  private fail(error: unknown): void {
    const { exchange } = this;
    if (!exchange) return;
    this.settle(exchange);
    this.end();
    if (exchange.stream) exchange.stream.error(error);
    else exchange.reject(error);
  }

  private settle(exchange: Exchange): void {
    this.exchange = undefined;
    exchange.signal.removeEventListener("abort", exchange.onAbort);
  }
}

/** Words ahead of an answer: neither its head nor another protocol. */
function isInterim(status: number): boolean {
  return status >= 100 && status < 200 && status !== 101;
}

function joined(pieces: readonly Uint8Array<ArrayBuffer>[]): Uint8Array<ArrayBuffer> {
  const [first] = pieces;
  return pieces.length === 1 && first ? first : Buffer.concat(pieces);
}
