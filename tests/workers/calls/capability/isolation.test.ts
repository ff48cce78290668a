import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, expect, test } from "bun:test";

import { MediaError } from "#shared/media/media-error.ts";
import { watchFolder } from "#workers/calls/capability/disk.ts";
import { findIsolation, giveTo, type Isolation } from "#workers/calls/capability/isolation.ts";

let isolation: Isolation;
const told: object[] = [];
const parent = mkdtempSync(join(tmpdir(), "sluice-isolation-"));
afterAll(() => rmSync(parent, { recursive: true, force: true }));
beforeAll(async () => {
  const tell = (facts: object): void => void told.push(facts);
  isolation = await findIsolation({ info: tell, warn: tell } as never);
});

/** What a script prints that is started as a child of capabilities is. */
async function printed(script: string, launcher: readonly string[]): Promise<unknown> {
  const folder = mkdtempSync(join(parent, "run-"));
  writeFileSync(join(folder, "in-text"), "tea");
  giveTo(folder, isolation.user);
  const child = Bun.spawn([...launcher, process.execPath, "-e", script], {
    cwd: folder,
    env: {},
    stdin: "ignore",
    stdout: "pipe",
    stderr: "inherit",
    timeout: 20_000,
  });
  return JSON.parse(await new Response(child.stdout).text());
}

test("what is in force is told, and a child does its work in it", async () => {
  expect(told).toHaveLength(1);
  const script = `const text = require("fs").readFileSync("in-text", "utf8");
    require("fs").writeFileSync("made", text);
    process.stdout.write(JSON.stringify({ text, user: process.getuid() }))`;
  const { text, user } = (await printed(script, isolation.launcher)) as { text: string; user: number };
  expect(text).toBe("tea");
  expect(user).toBe(isolation.user ?? process.getuid?.() ?? -1);
});

/** Some containers allow no more, which the log has said. */
const isWeak = (): boolean => isolation.hasNetwork || isolation.seesProcesses;

test("a child reaches no server of this machine, unless it is started to", async () => {
  if (isWeak()) return;
  const server = Bun.serve({ port: 0, hostname: "127.0.0.1", fetch: () => new Response("tea") });
  const script = `process.stdout.write(JSON.stringify(await fetch("${server.url.href}").then(() => "reached", () => "not reached")))`;
  expect(await printed(script, isolation.launcher)).toBe("not reached");
  expect(await printed(script, isolation.launcherWithNetwork)).toBe("reached");
  await server.stop(true);
});

test("a child sees no process but its own, and so no environment of ours", async () => {
  if (isWeak()) return;
  const script = `const pids = require("fs").readdirSync("/proc").filter((name) => Number(name) > 0);
    process.stdout.write(JSON.stringify({ pids: pids.length, own: process.pid }))`;
  for (const launcher of [isolation.launcher, isolation.launcherWithNetwork]) {
    expect(await printed(script, launcher)).toEqual({ pids: 1, own: 1 });
  }
});

test("a run that writes more than it may is ended while it writes", async () => {
  const folder = mkdtempSync(join(parent, "run-"));
  writeFileSync(join(folder, "in-video"), Buffer.alloc(3_000_000));
  const disk = watchFolder(folder, 1_000_000);
  const ended = new Promise((resolve) => disk.full.addEventListener("abort", () => resolve(disk.full.reason)));
  writeFileSync(join(folder, "small"), Buffer.alloc(500_000, 1));
  writeFileSync(join(folder, "large"), Buffer.alloc(2_000_000, 1));
  expect(await ended).toEqual(new MediaError("too_large", "Expected a run to write at most 1000000 bytes, got more."));
  disk.close();
});
