/**
 * Proxy that simulates faults of networks and busy servers: it refuses, drops, answers, alters and cuts connections. HTTP/1.1 requests are
 * recognised by their heads; any other data is forwarded.
 */
import type { Socket } from "bun";

/**
 * Action for one request. `refuse`: resets the connection. `silence`: accepts the request without a response. `mute`: forwards the request
 * and drops the response. `answer`: sends a complete response. `flip`: alters one byte of the response body. `cut`: ends the response body
 * at this byte.
 */
export type Fate =
  | "pass"
  | "refuse"
  | "silence"
  | "mute"
  | { readonly answer: string }
  | { readonly flip: number }
  | { readonly cut: number };

export interface TcpProxy {
  /** Address of the proxy, as `127.0.0.1:<port>`. */
  readonly host: string;
  /** All requests so far: method and target as `<method> <target>`, and the action of each. */
  readonly requests: readonly { readonly line: string; readonly fate: Fate }[];
  /** Returns the number of connections to the proxy, including refused ones. */
  connections(): number;
  /** Sets a function that returns the action by method and target. Undefined forwards everything. */
  decide(fateOf: ((line: string) => Fate) | undefined): void;
  /** Delays data in both directions, in milliseconds. */
  delay(ms: number): void;
  /** Sets a function that replaces data from clients, given with one character per byte. Undefined forwards the data unchanged. */
  alter(change: ((bytes: string) => string) | undefined): void;
  /** Drops all data from clients after this call. */
  freeze(): void;
  /** Drops all data from the server, until `cut` is called. */
  mute(): void;
  /** Closes all connections. New connections are also closed until the promise `until` settles. */
  cut(until?: Promise<unknown>): void;
  close(): void;
}

interface Link {
  client: Outlet | undefined;
  server: Outlet | undefined;
  fate: Fate;
  /** Number of bytes of the current response body so far; undefined before the end of the response's head. */
  body: number | undefined;
}

const HEAD = /^((?:GET|HEAD|PUT|POST|DELETE) \S+) HTTP\/1\.1\r\n/;
const HEAD_BYTES_MAX = 4_096;

/** Starts a proxy on a free port of 127.0.0.1. @param target server as `host:port` */
export function startTcpProxy(target: string): TcpProxy {
  const [hostname = "", port = ""] = target.split(":");
  const requests: { line: string; fate: Fate }[] = [];
  const links = new Set<Link>();
  let fateOf: ((line: string) => Fate) | undefined;
  let isFrozen = false;
  let isMute = false;
  let isApart = false;
  let delayMs = 0;
  let connections = 0;
  let change: ((bytes: string) => string) | undefined;

  const later = (deliver: (link: Link, bytes: Buffer) => void) => (link: Link, bytes: Buffer) => {
    if (delayMs === 0) return deliver(link, bytes);
    // The socket reuses its buffer.
    const copy = Buffer.from(bytes);
    setTimeout(() => deliver(link, copy), delayMs);
  };

  const ask = later((link, sent) => {
    const bytes = change === undefined ? sent : Buffer.from(change(sent.toString("latin1")), "latin1");
    const line = HEAD.exec(bytes.toString("latin1", 0, HEAD_BYTES_MAX))?.[1];
    if (line !== undefined) {
      link.fate = fateOf?.(line) ?? "pass";
      link.body = undefined;
      requests.push({ line, fate: link.fate });
    }
    const { fate } = link;
    if (isFrozen || fate === "silence") return;
    if (fate === "refuse") link.client?.reset();
    else if (typeof fate !== "object" || !("answer" in fate)) link.server?.write(bytes);
    else if (line !== undefined) link.client?.write(Buffer.from(fate.answer, "latin1"));
  });

  const forwardResponse = later((link, bytes) => {
    const { fate } = link;
    if (isMute) return;
    if (fate === "pass") link.client?.write(bytes);
    if (typeof fate !== "object" || "answer" in fate) return;
    const head = link.body === undefined ? bytes.indexOf("\r\n\r\n") + 4 : 0;
    // Heads usually arrive in one piece. Otherwise data is forwarded until the end of the head.
    if (link.body === undefined && head < 4) {
      link.client?.write(bytes);
      return;
    }
    const from = link.body ?? 0;
    const at = head + ("flip" in fate ? fate.flip : fate.cut) - from;
    link.body = from + bytes.length - head;
    const isHere = at >= head && at < bytes.length;
    if ("cut" in fate) {
      link.client?.write(isHere ? bytes.subarray(0, at) : bytes);
      if (isHere) link.client?.end();
      return;
    }
    const altered = Buffer.from(bytes);
    if (isHere) altered[at] = (altered[at] ?? 0) ^ 0xff;
    link.client?.write(altered);
  });

  const over = (link: Link): void => {
    links.delete(link);
    link.client?.end();
    link.server?.end();
  };

  /**
   * Closes the client's connection after the server has closed its own. With `silence` or `mute`, the client's connection stays open, so
   * that the client does not notice the loss.
   */
  const deserted = (link: Link): void => {
    if (link.fate !== "mute" && link.fate !== "silence") over(link);
  };

  const listener = Bun.listen<Link>({
    hostname: "127.0.0.1",
    port: 0,
    socket: {
      open(socket) {
        const link: Link = { client: new Outlet(), server: new Outlet(), fate: "pass", body: undefined };
        link.client?.open(socket);
        socket.data = link;
        connections += 1;
        if (isApart) return over(link);
        links.add(link);
        Bun.connect<Link>({
          hostname,
          port: Number(port),
          data: link,
          socket: {
            open: (upstream) => link.server?.open(upstream),
            data: (_upstream, bytes) => forwardResponse(link, bytes),
            drain: () => link.server?.flush(),
            close: () => deserted(link),
            error: () => deserted(link),
          },
        }).catch(() => {
          link.client?.reset();
          over(link);
        });
      },
      data: (socket, bytes) => ask(socket.data, bytes),
      drain: (socket) => socket.data.client?.flush(),
      close: (socket) => over(socket.data),
      error: () => undefined,
    },
  });

  return {
    host: `127.0.0.1:${listener.port}`,
    requests,
    connections: () => connections,
    decide: (next) => {
      fateOf = next;
    },
    delay: (ms) => {
      delayMs = ms;
    },
    alter: (next) => {
      change = next;
    },
    freeze: () => {
      isFrozen = true;
    },
    mute: () => {
      isMute = true;
    },
    cut(until) {
      isMute = false;
      isApart = until !== undefined;
      const rejoin = (): void => {
        isApart = false;
      };
      until?.then(rejoin, rejoin);
      for (const link of links) over(link);
    },
    close() {
      listener.stop(true);
      for (const link of links) over(link);
    },
  };
}

/** Writes data to a socket in order, including data that arrived before the connection was open. */
class Outlet {
  private socket: Socket<Link> | undefined;
  private waiting: Buffer[] = [];
  private isEnding = false;

  open(socket: Socket<Link>): void {
    this.socket = socket;
    this.flush();
  }

  write(bytes: Buffer): void {
    // The socket reuses its buffer.
    this.waiting.push(Buffer.from(bytes));
    this.flush();
  }

  flush(): void {
    const { socket } = this;
    if (!socket) return;
    for (let bytes = this.waiting.shift(); bytes; bytes = this.waiting.shift()) {
      const sent = Math.max(0, socket.write(bytes));
      if (sent < bytes.length) return void this.waiting.unshift(bytes.subarray(sent));
    }
    if (this.isEnding) socket.end();
  }

  end(): void {
    this.isEnding = true;
    this.flush();
  }

  reset(): void {
    this.waiting = [];
    this.socket?.terminate();
  }
}
