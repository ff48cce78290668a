/** Loopback servers for tests of what callers' URLs may reach, and what a picture looks like. */
import { createServer, type RequestListener } from "node:http";
import { type AddressInfo, createServer as createTcpServer, type Server } from "node:net";

import { allowOutbound } from "#shared/net/allowance.ts";

/** Whatever listens, what asked it so far, and how to stop it. */
export interface Listening {
  readonly port: number;
  /** `GET /path` of each request; of a bare TCP server one entry per connection. */
  readonly asked: string[];
  url(path: string, host?: string): string;
  close(): void;
}

/** The smallest picture that is one. */
export const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==",
  "base64",
);

/** The process reaches nothing but the public internet and these entries. */
export function allow(...entries: readonly string[]): void {
  allowOutbound(entries, { warn: () => undefined });
}

/** @param port 0 lets the system choose */
export async function listen(handler: RequestListener, host = "127.0.0.1", port = 0): Promise<Listening> {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    handler(request, response);
  });
  await opened(server, host, port);
  return listening(server, asked, host, () => server.closeAllConnections());
}

/** Answers each connection with these bytes as they are, then closes it. */
export async function listenRaw(answer: string, host = "127.0.0.1"): Promise<Listening> {
  const asked: string[] = [];
  const server = createTcpServer((socket) => {
    asked.push("connection");
    socket.on("error", () => undefined);
    socket.once("data", () => socket.end(answer));
  });
  await opened(server, host, 0);
  return listening(server, asked, host, () => undefined);
}

/** Starts a server that must not be reached: it answers like anything else, so that a call that comes through would succeed. */
export function listenAsSink(host = "127.0.0.1"): Promise<Listening> {
  return listen((_request, response) => response.setHeader("content-type", "image/png").end(PNG), host);
}

async function opened(server: Server, host: string, port: number): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, host, resolve);
  });
}

function listening(server: Server, asked: string[], host: string, cut: () => void): Listening {
  const { port } = server.address() as AddressInfo;
  return {
    port,
    asked,
    url: (path, name = host) => `http://${name.includes(":") ? `[${name}]` : name}:${port}${path}`,
    close() {
      server.close();
      cut();
    },
  };
}
