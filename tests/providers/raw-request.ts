/**
 * Incremental HTTP/1.1 request parser for test servers: bytes in, whole requests out. Knows content-length and chunked
 * bodies, keep-alive and pipelining; nothing else is needed of a client we wrote ourselves.
 */

export interface RawRequest {
  readonly method: string;
  /** Path with query, as sent. */
  readonly target: string;
  /** Lower-case names; a repeated header is joined with ", ". */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
}

const HEAD_END = Buffer.from("\r\n\r\n");
const EMPTY = Buffer.alloc(0);

/** Holds what has not formed a whole request yet; one per connection. */
export class RequestParser {
  #pending: Buffer = EMPTY;

  /**
   * Adds received bytes and returns the requests they complete, in order.
   * @throws Error when the bytes are no HTTP/1.1
   */
  push(bytes: Uint8Array): RawRequest[] {
    this.#pending = this.#pending.length === 0 ? Buffer.from(bytes) : Buffer.concat([this.#pending, bytes]);
    const requests: RawRequest[] = [];
    for (let next = this.#take(); next !== null; next = this.#take()) requests.push(next);
    return requests;
  }

  #take(): RawRequest | null {
    const headEnd = this.#pending.indexOf(HEAD_END);
    if (headEnd < 0) return null;
    const [first = "", ...lines] = this.#pending.toString("latin1", 0, headEnd).split("\r\n");
    const [method, target, version] = first.split(" ");
    if (!method || !target || version !== "HTTP/1.1")
      throw new Error(`no HTTP/1.1 request line: ${first.slice(0, 80)}`);
    const headers = parseHeaders(lines);
    const rest = this.#pending.subarray(headEnd + HEAD_END.length);
    const body =
      headers["transfer-encoding"]?.toLowerCase() === "chunked"
        ? takeChunked(rest)
        : takeLength(rest, Number(headers["content-length"] ?? 0));
    if (body === null) return null;
    this.#pending = rest.subarray(body.used);
    return { method, target, headers, body: body.bytes };
  }
}

function parseHeaders(lines: readonly string[]): Record<string, string> {
  const headers: Record<string, string> = {};
  for (const line of lines) {
    const colon = line.indexOf(":");
    const name = line.slice(0, colon).trim().toLowerCase();
    const value = line.slice(colon + 1).trim();
    headers[name] = headers[name] === undefined ? value : `${headers[name]}, ${value}`;
  }
  return headers;
}

interface Body {
  readonly bytes: Buffer;
  /** Bytes of the connection it took, framing included. */
  readonly used: number;
}

function takeLength(rest: Buffer, length: number): Body | null {
  return rest.length < length ? null : { bytes: Buffer.from(rest.subarray(0, length)), used: length };
}

function takeChunked(rest: Buffer): Body | null {
  const parts: Buffer[] = [];
  let at = 0;
  for (;;) {
    const lineEnd = rest.indexOf("\r\n", at);
    if (lineEnd < 0) return null;
    const size = Number.parseInt(rest.toString("latin1", at, lineEnd), 16);
    if (Number.isNaN(size)) throw new Error("a chunk without a size");
    const start = lineEnd + 2;
    if (rest.length < start + size + 2) return null;
    at = start + size + 2;
    if (size === 0) return { bytes: Buffer.concat(parts), used: at };
    parts.push(rest.subarray(start, start + size));
  }
}
