/** A local server in the place of the release page of nats-server, and a proxy in front of it. */
import { createHash } from "node:crypto";
import { readFileSync, writeFileSync } from "node:fs";
import { createServer as createSecureServer } from "node:https";
import type { IncomingMessage, ServerResponse } from "node:http";
import { type AddressInfo, connect, createServer, type Socket } from "node:net";
import { join } from "node:path";
import { gzipSync } from "node:zlib";

import { pack } from "tar-stream";

import { selfSigned } from "#tests/shared/net/certificate.ts";

export const VERSION = "2.14.5";
const SYSTEMS = ["linux-amd64", "linux-arm64", "darwin-amd64", "darwin-arm64"];

export interface ReleasePage {
  /** Address of the releases; `kind` chooses what the server does with a request for an archive. */
  address(kind: keyof typeof ANSWERS | "unlisted"): string;
  /** File with the certificate that clients have to trust. */
  readonly certificate: string;
  /** SHA-256 of an archive, for every system. */
  digestsOf(kind: keyof Archives): Readonly<Record<string, string>>;
  /** Paths requested since the last call. */
  requests(): string[];
  /** User and password of each request since the last call of `requests`; empty without them. */
  credentials(): string[];
  close(): void;
}

interface Archives {
  /** Contains the program that the page was opened with. */
  readonly good: Buffer;
  /** Contains a server that is too old. */
  readonly old: Buffer;
  /** Contains no server. */
  readonly empty: Buffer;
}

type Answer = (response: ServerResponse, archives: Archives) => void;

/** Answers to the request for an archive that a release page redirects to. */
const ANSWERS = {
  good: (response, { good }) => void response.end(good),
  old: (response, { old }) => void response.end(old),
  empty: (response, { empty }) => void response.end(empty),
  cut(response, { good }) {
    response.writeHead(200, { "content-length": good.length });
    response.write(good.subarray(0, 1_000), () => response.socket?.destroy());
  },
  silent: () => undefined,
  endless: (response) => repeat(response, Buffer.alloc(4 * 1024 ** 2)),
  slow: (response) => repeat(response, Buffer.from(".")),
  missing: (response) => void response.writeHead(404).end(),
  busy: (response) => void response.writeHead(503).end(),
  plain: (response) => void response.writeHead(302, { location: "http://127.0.0.1:9/archive" }).end(),
} satisfies Readonly<Record<string, Answer>>;

function repeat(response: ServerResponse, piece: Buffer): void {
  const timer = setInterval(() => response.write(piece), 5);
  response.on("close", () => clearInterval(timer));
}

/** @param program path of the program that the archives contain */
export async function openReleasePage(program: string, directory: string): Promise<ReleasePage> {
  const archives = {
    good: await archiveOf("nats-server", readFileSync(program)),
    old: await archiveOf("nats-server", "#!/bin/sh\necho nats-server: v2.10.0\n"),
    empty: await archiveOf("another-server", "#!/bin/sh\n"),
  };
  const digestOf = (kind: keyof Archives): string => createHash("sha256").update(archives[kind]).digest("hex");
  const { key, cert } = selfSigned("localhost");
  const certificate = join(directory, "certificate.pem");
  writeFileSync(certificate, cert);
  let seen: { readonly url: string; readonly credentials: string }[] = [];
  const server = createSecureServer({ key, cert }, (request: IncomingMessage, response: ServerResponse) => {
    const { url = "", headers } = request;
    const [, encoded = ""] = /^Basic (\S+)$/.exec(headers.authorization ?? "") ?? [];
    seen.push({ url, credentials: Buffer.from(encoded, "base64").toString() });
    const [, kind = "", ...rest] = url.split("/");
    const name = rest.at(-1) ?? "";
    if (name === "SHA256SUMS") {
      const listed = kind === "unlisted" ? [] : SYSTEMS;
      const lines = listed.map((system) => `${digestOf("good")}  nats-server-v${VERSION}-${system}.tar.gz\n`);
      response.end(lines.join(""));
    } else if (rest[0] === `v${VERSION}`) response.writeHead(302, { location: `/${kind}/asset/${name}` }).end();
    else if (kind in ANSWERS) ANSWERS[kind as keyof typeof ANSWERS](response, archives);
    else response.writeHead(404).end();
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    address: (kind) => `https://localhost:${port}/${kind}`,
    certificate,
    digestsOf: (kind) => Object.fromEntries(SYSTEMS.map((system) => [system, digestOf(kind)])),
    requests() {
      const all = seen.map(({ url }) => url);
      seen = [];
      return all;
    },
    credentials: () => seen.map(({ credentials }) => credentials),
    close() {
      server.close();
      server.closeAllConnections();
    },
  };
}

async function archiveOf(name: string, program: Buffer | string): Promise<Buffer> {
  const archive = pack();
  const folder = `nats-server-v${VERSION}-system`;
  archive.entry({ name: `${folder}/`, type: "directory" });
  archive.entry({ name: `${folder}/README.md` }, "nats-server is in the next file");
  archive.entry({ name: `${folder}/${name}`, mode: 0o755 }, program);
  archive.finalize();
  const pieces = await Array.fromAsync(archive as AsyncIterable<Buffer>);
  return gzipSync(Buffer.concat(pieces), { level: 1 });
}

export interface Proxy {
  readonly port: number;
  /** First lines and credentials of the requests. */
  readonly seen: readonly string[];
  close(): void;
}

/** A proxy that connects clients to any port of this machine, whatever host they name; it refuses clients without a name. */
export async function openProxy(): Promise<Proxy> {
  const seen: string[] = [];
  const open = new Set<Socket>();
  const server = createServer((client) => {
    open.add(client);
    client.on("error", () => undefined);
    client.once("data", (head) => {
      const [line = ""] = head.toString("latin1").split("\r\n");
      const [, credentials = ""] = /proxy-authorization: Basic (\S+)/i.exec(head.toString("latin1")) ?? [];
      seen.push(`${line} ${Buffer.from(credentials, "base64").toString()}`);
      if (credentials === "") {
        client.end("HTTP/1.1 407 Proxy Authentication Required\r\n\r\n");
        return;
      }
      const port = /:(\d+)/.exec(line)?.[1];
      const upstream = connect(Number(port), "127.0.0.1", () => {
        if (line.startsWith("CONNECT")) client.write("HTTP/1.1 200 Connection established\r\n\r\n");
        else upstream.write(head);
        client.pipe(upstream).pipe(client);
      });
      client.on("close", () => {
        open.delete(client);
        upstream.destroy();
      });
      upstream.on("error", () => client.destroy());
    });
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    port,
    seen,
    close() {
      server.close();
      for (const socket of open) socket.destroy();
    },
  };
}
