/** A NATS server that wants TLS, which it says in its greeting only: the connection is dialled again under TLS. */
import { afterAll, beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { freePort } from "#deploy/embedded/probe.mjs";
import { selfSigned } from "#tests/shared/net/certificate.ts";
import { natsServerBinary, PROJECT_ROOT, temporaryDirectory } from "#tests/support/infrastructure.ts";

const place = temporaryDirectory();
const file = (name: string): string => join(place.directory, name);
let server: Bun.Subprocess | undefined;
let port: number;

beforeAll(async () => {
  const { key, cert } = selfSigned("localhost");
  writeFileSync(file("key.pem"), key);
  writeFileSync(file("cert.pem"), cert);
  port = await freePort();
  writeFileSync(
    file("server.conf"),
    `listen: "127.0.0.1:${port}"\ntls { cert_file: "${file("cert.pem")}", key_file: "${file("key.pem")}" }\n`,
  );
  server = Bun.spawn([await natsServerBinary(), "-c", file("server.conf")], { stdout: "ignore", stderr: "ignore" });
});

afterAll(async () => {
  server?.kill();
  await server?.exited;
  place.remove();
});

/** Connects in a process of its own, since trust is read at its start. */
async function exchange(trust: Record<string, string>): Promise<string> {
  const script = `
    import { createLogger } from "#shared/base/logger.ts";
    import { connectNats } from "#shared/queue/connection.ts";
    const log = createLogger({ level: "silent", role: "test" });
    const url = "nats://localhost:${port}";
    const connection = await connectNats({ url, name: "test", role: "worker", waitMs: 10_000, log });
    const heard = Promise.withResolvers();
    connection.subscribe("word", { callback: (_error, message) => heard.resolve(message.string()) });
    connection.publish("word", "sealed");
    process.stdout.write(\`\${connection.protocol.transport.isEncrypted()} \${await heard.promise}\`);
    await connection.close();`;
  const child = Bun.spawn([process.execPath, "--eval", script], {
    cwd: PROJECT_ROOT,
    env: { PATH: process.env["PATH"] ?? "", ...trust },
    stderr: "pipe",
  });
  const [out, err] = await Promise.all([new Response(child.stdout).text(), new Response(child.stderr).text()]);
  return (await child.exited) === 0 ? out.trim() : err;
}

test("a NATS server with a trusted certificate is connected under TLS", async () => {
  expect(await exchange({ NODE_EXTRA_CA_CERTS: file("cert.pem") })).toBe("true sealed");
});

test("a NATS server with an untrusted certificate is not connected", async () => {
  expect(await exchange({ SLUICE_PACE: "0.1" })).toContain("cannot be reached");
});
