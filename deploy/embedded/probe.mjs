// @ts-check
/** Queries about the operating system: free ports, running processes, and their command lines. */
import { execFileSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { setTimeout as delay } from "node:timers/promises";

/** Range of ports to search. The system uses higher ports for outgoing connections, so that no such connection occupies a saved port. */
let ports = { first: 20_000, count: 10_000 };
/**
 * Distance between the ports at which two processes start their search. With this distance, concurrent searches rarely find the same port.
 */
const PART = 40;

let next = 0;

/**
 * Limits the search for free ports to a range reserved for this process. Otherwise another process could bind a port after it was found.
 * @param {number} first
 * @param {number} count
 */
export function keepPortsTo(first, count) {
  ports = { first, count };
}

/**
 * Returns the error code of listening on a port, such as `EADDRINUSE` or `EACCES`; null if the port is free.
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
 * Returns a free port on 127.0.0.1: the preferred port if it is free, otherwise another.
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
 * Returns true if a process with this ID runs. A zombie counts as ended.
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
 * Returns the command line of a process, with arguments separated by spaces; empty if the process has ended or is not visible.
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
 * Stops a process of an earlier run with `signal`, and kills it after ten seconds. Process IDs are reused, so a process is stopped only if
 * its command line contains `marker`.
 * @param {number} pid
 * @param {string} marker
 * @param {NodeJS.Signals} signal
 * @returns {Promise<boolean>} true if the process existed
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
