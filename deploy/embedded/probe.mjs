// @ts-check
/** Questions to the operating system: is this port free, is this process alive, what is it running. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** Below the range from which systems hand out ports for outgoing connections, so a remembered port stays ours. */
let ports = { first: 20_000, count: 10_000 };
/** Processes begin this far from each other by their ids, so that two that look at once seldom find the same port. */
const PART = 40;

let next = 0;

/**
 * Gives this process ports that it shares with no other: between finding a port and listening on it, another could take it.
 * @param {number} first
 * @param {number} count
 */
export function keepPortsTo(first, count) {
  ports = { first, count };
}

/**
 * The code of a listening error (`EADDRINUSE`, `EACCES`…), or null when the port could be taken.
 * @param {number} port
 * @param {string} host
 * @returns {Promise<string | null>}
 */
export function portFault(port, host) {
  return new Promise((resolve) => {
    const server = createServer();
    server.once("error", (error) => resolve("code" in error ? String(error.code) : error.message));
    server.listen({ port, host, exclusive: true }, () => server.close(() => resolve(null)));
  });
}

/**
 * A free port on 127.0.0.1; the preferred one if that is free.
 * @param {number} [preferred]
 * @returns {Promise<number>}
 */
export async function freePort(preferred) {
  if (preferred !== undefined && (await portFault(preferred, "127.0.0.1")) === null) return preferred;
  for (;;) {
    const port = ports.first + ((process.pid * PART + next++) % ports.count);
    if ((await portFault(port, "127.0.0.1")) === null) return port;
  }
}

/**
 * True if a process with this id runs. A finished one that its parent has not collected counts as gone.
 * @param {number} pid
 * @returns {boolean}
 */
export function isAlive(pid) {
  try {
    process.kill(pid, 0);
  } catch (error) {
    return error instanceof Error && "code" in error && error.code === "EPERM";
  }
  if (!existsSync("/proc/self/stat")) return true;
  try {
    const stat = readFileSync(`/proc/${pid}/stat`, "utf8");
    return !stat
      .slice(stat.lastIndexOf(")") + 1)
      .trimStart()
      .startsWith("Z");
  } catch {
    return false;
  }
}

/**
 * The command line of a process, its arguments separated by blanks; empty when it is gone or hidden from us.
 * @param {number} pid
 * @returns {string}
 */
export function commandLine(pid) {
  try {
    if (existsSync("/proc/self/cmdline")) return readFileSync(`/proc/${pid}/cmdline`, "utf8").replaceAll("\0", " ");
    return execFileSync("ps", ["-p", String(pid), "-o", "args="], { encoding: "utf8" });
  } catch {
    return "";
  }
}

/**
 * Stops a process that an earlier run left behind: asks with `signal`, insists after ten seconds.
 * Does nothing unless its command line contains `marker`, since process ids are used again.
 * @param {number} pid
 * @param {string} marker
 * @param {NodeJS.Signals} signal
 * @returns {Promise<boolean>} whether there was one
 */
export async function stopOrphan(pid, marker, signal) {
  if (!Number.isInteger(pid) || pid <= 1 || pid === process.pid) return false;
  if (!isAlive(pid) || !commandLine(pid).includes(marker)) return false;
  process.kill(pid, signal);
  for (let waited = 0; isAlive(pid); waited += 20) {
    if (waited === 10_000) process.kill(pid, "SIGKILL");
    await delay(20);
  }
  return true;
}
