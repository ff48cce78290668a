/**
 * Loaded before every test file (bunfig.toml). `npm test` gives each file a fresh global object, so the hook below runs
 * once per file: servers the file's helpers share are stopped, and whatever then still runs is a leak of that file.
 */
import { afterAll, setDefaultTimeout } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { setTimeout as delay } from "node:timers/promises";

import { commandLine, isAlive, keepPortsTo } from "#deploy/embedded/probe.mjs";
import { closeReaper, reaperPid } from "#deploy/embedded/reaper.mjs";

import { closeShared } from "./support/infrastructure.ts";
import { expectNoFault, installWatch } from "./support/published/watch.ts";

/** A process that was told to stop a moment ago is not a leak yet. */
const PATIENCE_MS = 2_000;

/** Starting processes on a busy machine takes its time; a test that waits for ever still ends. */
setDefaultTimeout(60_000);

/** Ports of each process that runs tests, by its number: none finds a port that another is about to listen on. */
const PORTS_EACH = 1_000;

keepPortsTo(10_000 + PORTS_EACH * (Number(process.env["JEST_WORKER_ID"] ?? 0) % 10), PORTS_EACH);

const before = new Set(children());

installWatch();

afterAll(async () => {
  await closeShared();
  const leaked = await remaining();
  const names = leaked.map((pid) => `${pid} (${commandLine(pid).trim().slice(0, 200)})`);
  for (const pid of leaked) process.kill(pid, "SIGKILL");
  await closeReaper();
  await expectNoFault();
  if (names.length === 0) return;
  throw new Error(`this test file left child processes running: ${names.join(", ")}`);
}, 60_000);

async function remaining(): Promise<number[]> {
  const running = (): number[] => children().filter((pid) => !before.has(pid) && pid !== reaperPid() && isAlive(pid));
  for (let waited = 0; waited < PATIENCE_MS && running().length > 0; waited += 20) await delay(20);
  return running();
}

/** Ids of the direct children of this process; empty where the system does not list them. */
function children(): number[] {
  if (!existsSync("/proc/self/task")) return [];
  return readdirSync("/proc/self/task").flatMap((thread) => {
    try {
      const list = readFileSync(`/proc/self/task/${thread}/children`, "utf8").trim();
      return list === "" ? [] : list.split(" ").map(Number);
    } catch {
      return [];
    }
  });
}
