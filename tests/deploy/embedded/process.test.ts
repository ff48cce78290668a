import { afterEach, describe, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { takeLock } from "#deploy/embedded/lock.mjs";
import { atLeast } from "#deploy/embedded/nats.mjs";
import { freePort, stopOrphan } from "#deploy/embedded/probe.mjs";
import { launch, launchUntil, run } from "#deploy/embedded/process.mjs";

import { temporaryDirectory } from "../../support/infrastructure.ts";

const shell = (script: string) => ({ name: "shell", command: "/bin/sh", args: ["-c", script], cwd: "/" });

describe("a child process", () => {
  test("returns its output in lines, including a last line without a line break", async () => {
    expect(await run(shell("echo one; printf two; echo oops >&2; exit 3"))).toEqual({
      code: 3,
      stdout: "one\ntwo",
      stderr: "oops",
    });
  });

  test("that cannot be started fails with the reason", async () => {
    const { code, stderr } = await run({ name: "none", command: "/no/such/program", args: [], cwd: "/" });
    expect(code).toBeNull();
    expect(stderr).toContain("ENOENT");
  });

  test("that ignores the stop request is killed", async () => {
    const { running } = await launchUntil(
      (onLine) => launch({ ...shell("trap '' TERM; echo up; while :; do sleep 0.1; done"), onLine }),
      (line) => (line === "up" ? true : null),
      10_000,
    );
    expect(await running.stop("SIGTERM", 50)).toMatchObject({ code: null, signal: "SIGKILL" });
  });

  test("that exits before it is ready is reported with its last output", async () => {
    const started = launchUntil(
      (onLine) => launch({ ...shell("echo no disk; exit 7"), onLine }),
      () => null,
      10_000,
    );
    const fault: unknown = await started.catch((error: unknown) => error);
    expect(fault).toMatchObject({ name: "LaunchError", message: "shell ended with code 7:\nno disk" });
  });

  test("is not stopped if its id now belongs to another program", async () => {
    const running = launch(shell("while :; do sleep 0.1; done"));
    expect(await stopOrphan(running.pid, "/another/data/directory", "SIGTERM")).toBe(false);
    expect(running.alive()).toBe(true);
    await running.stop("SIGKILL");
  });
});

describe("a lock file", () => {
  const { directory, remove } = temporaryDirectory();
  const file = join(directory, "lock");
  afterEach(() => remove());

  test("of a living process is respected, of a dead process is replaced", async () => {
    // Until it has said something it may still bear its starter's command line.
    const { running: owner } = await launchUntil(
      (onLine) => launch({ ...shell("echo up; while :; do sleep 0.1; done"), onLine }),
      (line) => (line === "up" ? true : null),
      30_000,
    );
    writeFileSync(file, `${owner.pid} sh\n`);
    expect(takeLock(file).owner).toBe(owner.pid);
    // The same id, but running something else: the owner died and its id was given away.
    writeFileSync(file, `${owner.pid} start.mjs\n`);
    const first = takeLock(file);
    expect(first.owner).toBeNull();
    if (first.owner === null) first.release();
    writeFileSync(file, `${owner.pid} sh\n`);
    await owner.stop("SIGKILL");
    expect(takeLock(file).owner).toBeNull();
  });
});

test.each([
  ["2.15.1", true],
  ["2.11.0", true],
  ["2.11.0-beta.1", true],
  ["3.0", true],
  ["2.10.27", false],
  ["2.9.10", false],
  ["", false],
])("version %p is at least 2.11: %p", (version, expected) => {
  expect(atLeast(version, "2.11")).toBe(expected);
});

test("a preferred port is used if it is free and replaced otherwise", async () => {
  const port = await freePort();
  expect(await freePort(port)).toBe(port);
  const server = Bun.serve({ port, hostname: "127.0.0.1", fetch: () => new Response() });
  expect(await freePort(port)).not.toBe(port);
  await server.stop(true);
});
