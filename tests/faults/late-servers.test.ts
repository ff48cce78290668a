/** Fault: a role starts while Postgres or NATS is away. Expected: it says so, waits, and is ready once the server is there. */
import { connect, createServer, type Server } from "node:net";

import { afterAll, beforeAll, expect, test } from "bun:test";

import { launch } from "#deploy/embedded/process.mjs";
import { freePort } from "#deploy/embedded/probe.mjs";
import { ENTRY, PROJECT_ROOT } from "#tests/support/infrastructure.ts";
import { type Stack, startStack } from "#tests/support/stack.ts";

import { eventually } from "./wait.ts";

let stack: Stack;
const closing: (() => unknown)[] = [];
beforeAll(async () => {
  stack = await startStack({ apart: true, workers: 0, ingress: 0, janitor: false });
}, 60_000);
afterAll(async () => {
  for (const close of closing) close();
  await stack?.stop();
});

/** Passes on to a server from now on, at a port where nothing was before. */
async function openPort(port: number, target: URL): Promise<void> {
  const server: Server = createServer((socket) => {
    const there = connect(Number(target.port), target.hostname);
    for (const one of [socket, there]) one.on("error", () => void [socket, there].map((both) => both.destroy()));
    socket.pipe(there).pipe(socket);
  });
  closing.push(() => server.close());
  await new Promise<void>((resolve) => server.listen(port, "127.0.0.1", resolve));
}

test.each([
  ["Postgres", "janitor", "DATABASE_URL", "database"],
  ["NATS", "janitor", "NATS_URL", "queue"],
  ["Postgres", "ingress", "DATABASE_URL", "database"],
  ["NATS", "worker chat", "NATS_URL", "queue"],
])(
  "%s is waited for by %s",
  async (_server, role, variable, name) => {
    const target = new URL(stack.env[variable] ?? "");
    const port = await freePort();
    const late = new URL(target);
    late.port = String(port);
    const running = launch({
      name: role,
      command: ENTRY[0],
      args: [...ENTRY.slice(1), ...role.split(" ")],
      cwd: PROJECT_ROOT,
      env: { ...stack.env, [variable]: late.href },
    });
    closing.push(() => running.kill("SIGKILL"));
    const has = (text: string) => (): boolean => running.lines().some((line) => line.includes(text));
    await eventually("it waits", has(`"server":"${name}"`), 30_000);
    await openPort(port, target);
    await eventually("it is ready", has('"msg":"ready"'), 30_000);
    expect((await running.stop("SIGTERM")).code).toBe(0);
  },
  70_000,
);

test("a server that stays away ends the start with a sentence after the configured time", async () => {
  const running = launch({
    name: "janitor",
    command: ENTRY[0],
    args: [...ENTRY.slice(1), "janitor"],
    cwd: PROJECT_ROOT,
    env: { ...stack.env, NATS_URL: `nats://127.0.0.1:${await freePort()}`, SLUICE_START_WAIT_MS: "300" },
  });
  expect((await running.exited).code).toBe(1);
  expect(running.lines().join("\n")).toMatch(/sluice: NATS at nats:\/\/127\.0\.0\.1:\d+ cannot be reached/);
});
