/** The container image, built without an engine: the Dockerfile's steps done in folders, and its roles started there, read-only. */
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "bun:test";

import { temporaryDirectory } from "#tests/support/infrastructure.ts";
import { startNats, type TestNats } from "#tests/support/nats.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { createTestBucket } from "#tests/support/storage.ts";

import { collectPrograms, type Container, runContainer, startContainer, whyNot } from "./container.ts";
import { replay } from "./dockerfile.ts";

const reason = await whyNot();
if (reason !== undefined) process.stderr.write(`the image is not tried: ${reason}\n`);

const { directory: root, remove } = temporaryDirectory();
let image: string;
let programs: string;
let db: TestDatabase;
let nats: TestNats;
let env: Readonly<Record<string, string>>;

beforeAll(async () => {
  if (reason !== undefined) return;
  programs = join(root, "programs");
  await collectPrograms(programs);
  image = await replay(root, programs);
  [db, nats] = await Promise.all([createTestDatabase(), startNats()]);
  env = {
    DATABASE_URL: db.url,
    NATS_URL: nats.url,
    ...(await createTestBucket()).env,
    PORT: "0",
    SLUICE_HOST: "127.0.0.1",
    SLUICE_ADMIN_PORT: "0",
    // The Postgres of tests may lose what it confirms, which production refuses.
    SLUICE_PRODUCTION: "off",
    SLUICE_SANDBOX: "off",
    SLUICE_CAPABILITY_ISOLATION: "on",
    SLUICE_PYTHON: "on",
    // One process has nearly all pools here.
    BUN_CONFIG_MAX_HTTP_REQUESTS: "1024",
  };
  const { code, stderr } = await runContainer({ image, programs, env, args: ["migrate"] });
  expect([code, stderr]).toEqual([0, ""]);
  const usage = await runContainer({ image, programs, env, args: [] });
  expect([usage.code, usage.stderr]).toEqual([2, expect.stringMatching(/^usage: bun deploy\/sluice\.ts <role>/)]);
});

afterAll(async () => {
  await Promise.all([db?.drop(), nats?.close()]);
  remove();
});

/** Like Promise.all, and ends those that started where one does not. */
async function allOf(starts: readonly Promise<Container>[]): Promise<readonly Container[]> {
  const results = await Promise.allSettled(starts);
  const failed = results.find((result) => result.status === "rejected");
  const started = results.flatMap((result) => (result.status === "fulfilled" ? [result.value] : []));
  if (failed === undefined) return started;
  await Promise.all(started.map(({ stop }) => stop()));
  throw failed.reason;
}

const ROLES = [["ingress"], ["worker", "chat", "image", "audio", "video", "3d", "workflow", "webhook"], ["janitor"]];

test.skipIf(reason !== undefined)(
  "every role starts on a read-only root, answers, and exits after SIGTERM",
  async () => {
    const started = await allOf(ROLES.map((args) => startContainer({ image, programs, env, args })));
    for (const [index, { adminUrl, stop }] of started.entries()) {
      const [healthy, ready] = await Promise.all([fetch(`${adminUrl}/healthz`), fetch(`${adminUrl}/readyz`)]);
      expect([ROLES[index]?.[0], healthy.status, ready.status]).toEqual([ROLES[index]?.[0], 200, 200]);
      // Through tini, which passes the signal on and the exit code back.
      expect(await stop()).toMatchObject({ code: 0, signal: null });
    }
  },
);

test.skipIf(reason !== undefined)(
  "a worker of the capability pool finds every engine except the optional ones, and isolates them",
  async () => {
    const { adminUrl, lines, stop } = await startContainer({ image, programs, env, args: ["worker", "capability"] });
    const { engines } = (await (await fetch(`${adminUrl}/readyz`)).json()) as {
      engines: Readonly<Record<string, string>>;
    };
    const missing = Object.keys(engines).filter((name) => engines[name] !== "ok");
    expect({ missing, engines }).toMatchObject({ missing: ["ffmpeg", "libreoffice"] });
    expect(lines().join("\n")).toContain("capability sandbox active");
    expect(await stop()).toMatchObject({ code: 0 });
  },
);
