import { afterEach, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { createServer } from "node:https";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { selfSigned } from "#tests/shared/net/certificate.ts";

import { postbox, type Postbox } from "./smtp.ts";

const open: { close(): unknown }[] = [];
afterEach(async () => {
  for (const each of open.splice(0)) await each.close();
});

type Certificate = ReturnType<typeof selfSigned>;

/** Environment of a process that trusts this certificate. */
function trusting({ cert }: Certificate): Record<string, string> {
  const folder = mkdtempSync(join(tmpdir(), "webhook-tls-"));
  open.push({ close: () => rmSync(folder, { recursive: true }) });
  const authority = join(folder, "authority.pem");
  writeFileSync(authority, cert);
  return { NODE_EXTRA_CA_CERTS: authority };
}

async function attempt(url: string, environment: Record<string, string>): Promise<unknown> {
  const child = Bun.spawn([process.execPath, join(import.meta.dir, "attempt-in-child.ts"), url], {
    env: { ...process.env, ...environment },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "ignore",
  });
  return JSON.parse(await child.stdout.text());
}

const UNREACHABLE = { ok: false, verdict: "again", error: "unreachable" };
const NO_CHECKS = { NODE_TLS_REJECT_UNAUTHORIZED: "0" };

describe("a webhook's certificate", () => {
  async function receiver(certificate: Certificate): Promise<{ readonly port: number; readonly asked: unknown[] }> {
    const asked: unknown[] = [];
    const server = createServer(certificate, (request, response) => {
      asked.push(request.url);
      response.end("ok");
    });
    await new Promise<void>((resolve) => {
      server.listen(0, "127.0.0.1", resolve);
    });
    open.push(server);
    return { port: (server.address() as AddressInfo).port, asked };
  }

  test("is checked for the name of the URL and by an authority that we trust", async () => {
    const certificate = selfSigned("hooks.example.com");
    const { port, asked } = await receiver(certificate);
    const url = `https://hooks.example.com:${port}/`;
    const environment = trusting(certificate);
    const results = await Promise.all([
      attempt(url, environment),
      attempt(url, NO_CHECKS),
      attempt(`https://other.example.com:${port}/`, environment),
    ]);
    expect(results).toMatchObject([{ ok: true, status: 200 }, UNREACHABLE, UNREACHABLE]);
    expect(asked).toHaveLength(1);
  });

  test("that expired is rejected", async () => {
    const certificate = selfSigned("hooks.example.com", "250101000000Z");
    const { port, asked } = await receiver(certificate);
    const result = await attempt(`https://hooks.example.com:${port}/`, trusting(certificate));
    expect(result).toMatchObject(UNREACHABLE);
    expect(asked).toEqual([]);
  });
});

describe("a mail server's certificate", () => {
  /** localhost is the one name that leads here. */
  async function server(options: Parameters<typeof postbox>[0]): Promise<Postbox> {
    const box = await postbox({ disabledCommands: [], ...options });
    open.push(box);
    return box;
  }

  test("is checked when the server offers STARTTLS, which mail then uses", async () => {
    const certificate = selfSigned("localhost");
    const box = await server({ ...certificate });
    const url = `smtp://localhost:${box.port}`;
    expect(await attempt(url, trusting(certificate))).toMatchObject({ ok: true, status: 250 });
    expect(box.letters.map(({ secure }) => secure)).toEqual([true]);
    expect(await attempt(url, NO_CHECKS)).toMatchObject(UNREACHABLE);
    expect(box.letters).toHaveLength(1);
  });

  test("is checked from the first byte of smtps, for the name of the URL", async () => {
    const certificate = selfSigned("localhost");
    const box = await server({ ...certificate, secure: true });
    const environment = trusting(certificate);
    const results = await Promise.all([
      attempt(`smtps://localhost:${box.port}`, environment),
      attempt(`smtps://localhost:${box.port}`, {}),
      attempt(`smtps://127.0.0.1:${box.port}`, environment),
      attempt(`smtps://localhost:${box.port}?tls.rejectUnauthorized=false`, {}),
    ]);
    expect(results).toMatchObject([{ ok: true }, UNREACHABLE, UNREACHABLE, UNREACHABLE]);
    expect(box.letters).toHaveLength(1);
  });

  test("that expired is rejected", async () => {
    const certificate = selfSigned("localhost", "250101000000Z");
    const box = await server({ ...certificate });
    expect(await attempt(`smtp://localhost:${box.port}`, trusting(certificate))).toMatchObject(UNREACHABLE);
    expect(box.letters).toEqual([]);
  });
});
