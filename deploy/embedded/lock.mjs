// @ts-check
/** Lock files with the process ID of their owner, so that the lock of a dead owner can be replaced. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { commandLine, isAlive } from "./probe.mjs";

/**
 * Result of taking a lock. `owner` is the ID of the running process that holds the lock, or null if this process now holds it.
 * @typedef {{ owner: number } | { owner: null, release(): void }} Taken
 */

/**
 * Takes a lock, unless a running process holds it.
 * @param {string} file
 * @returns {Taken}
 * @throws the system's error if the folder is not writable
 */
export function takeLock(file) {
  mkdirSync(dirname(file), { recursive: true });
  const own = `${process.pid} ${basename(process.argv[1] ?? "")}\n`;
  for (;;) {
    try {
      writeFileSync(file, own, { flag: "wx", mode: 0o600 });
      return { owner: null, release: () => release(file, own) };
    } catch (error) {
      if (!(error instanceof Error && "code" in error && error.code === "EEXIST")) throw error;
    }
    const [pid, program = ""] = read(file).trim().split(" ");
    const owner = Number(pid);
    // Process IDs are reused, so the owner must still run the same script.
    if (owner > 1 && owner !== process.pid && isAlive(owner) && commandLine(owner).includes(program)) return { owner };
    // The old lock is renamed first, so that concurrent starts cannot remove each other's new lock.
    const stale = `${file}.${process.pid}`;
    try {
      renameSync(file, stale);
      rmSync(stale, { force: true });
    } catch {
      // Another start has removed the stale lock.
    }
  }
}

/**
 * Waits until the lock is free, and holds the lock while `work` runs.
 * @template T
 * @param {string} file
 * @param {(owner: number) => void} onWait called once if another process holds the lock
 * @param {() => Promise<T>} work
 * @returns {Promise<T>}
 */
export async function withLock(file, onWait, work) {
  let told = false;
  for (;;) {
    const taken = takeLock(file);
    if (taken.owner === null) {
      try {
        return await work();
      } finally {
        taken.release();
      }
    }
    if (!told) onWait(taken.owner);
    told = true;
    await delay(200);
  }
}

/**
 * Deletes the lock file if it still belongs to this process.
 * @param {string} file
 * @param {string} own content of this process' lock file
 */
function release(file, own) {
  if (read(file) === own) rmSync(file, { force: true });
}

/**
 * Returns the content of a lock file; empty if the file cannot be read.
 * @param {string} file
 * @returns {string}
 */
function read(file) {
  try {
    return readFileSync(file, "utf8");
  } catch {
    return "";
  }
}
