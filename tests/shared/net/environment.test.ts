import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { selfSigned } from "./certificate.ts";
import { listen } from "./servers.ts";

const open: { close(): void }[] = [];
afterEach(() => {
  for (const server of open.splice(0)) server.close();
});

/** Runs ask.ts in this environment; returns its output. */
async function ask(way: "guarded" | "fetch", url: string, environment: Record<string, string> = {}): Promise<string> {
  const { host } = new URL(url);
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "ask.ts"), way, url, host], {
    env: { ...process.env, ...environment },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  return child.stdout.text();
}

describe("proxy variables", () => {
  test("redirect fetch, and no guarded call", async () => {
    const proxy = await listen((_request, response) => response.end("proxy"));
    const server = await listen((_request, response) => response.end("server"));
    open.push(proxy, server);
    const at = proxy.url("/");
    const names = ["HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"].flatMap((name) => [name, name.toLowerCase()]);
    const environment = {
      ...Object.fromEntries(names.map((name) => [name, at])),
      NO_PROXY: "",
      no_proxy: "",
      NODE_USE_ENV_PROXY: "1",
    };
    const url = server.url("/", "media.example.com");
    expect(await ask("guarded", url, environment)).toBe("server");
    expect(proxy.asked).toEqual([]);
    // The same environment does lead elsewhere those who obey it.
    expect(await ask("fetch", url, environment)).toBe("proxy");
  });
});

describe("TLS", () => {
  test("is verified for the name of the URL, though the connection uses a chosen address", async () => {
    const certificate = selfSigned("media.example.com");
    const server = createServer(certificate, (_request, response) => response.end("server"));
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    const { port } = server.address() as AddressInfo;
    const folder = mkdtempSync(join(tmpdir(), "outbound-"));
    open.push(server, { close: () => rmSync(folder, { recursive: true }) });
    const authority = join(folder, "authority.pem");
    writeFileSync(authority, certificate.cert);

    const trusting = { NODE_EXTRA_CA_CERTS: authority };
    const right = `https://media.example.com:${port}/`;
    expect(await ask("guarded", right, trusting)).toBe("server");
    expect(await ask("guarded", `https://media.example.com.:${port}/`, trusting)).toBe("server");
    for (const [url, environment] of [
      [right, {}],
      [`https://other.example.com:${port}/`, trusting],
      // Operators' debugging aids do not reach callers' addresses.
      [right, { NODE_TLS_REJECT_UNAUTHORIZED: "0" }],
    ] as const) {
      expect(await ask("guarded", url, environment)).toStartWith("OutboundError: outbound unreachable: ");
    }
  });
});
