// @ts-check
/** Lock files with the process ID of their owner, so that the lock of a dead owner can be replaced. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { commandLine, isAlive } from "./probe.mjs";

/** @typedef {{ owner: number } | { owner: null, release(): void }} Taken `owner`: the running process that holds the lock */

/**
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
 * Waits until the lock is free, and runs `work` while holding it.
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
 * @param {string} file
 * @param {string} own
 */
function release(file, own) {
  if (read(file) === own) rmSync(file, { force: true });
}

/**
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
