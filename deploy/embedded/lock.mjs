// @ts-check
/** Lock files that name their owner, so that one whose owner is dead can be taken over. */
import { mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { basename, dirname } from "node:path";
import { setTimeout as delay } from "node:timers/promises";
import { commandLine, isAlive } from "./probe.mjs";

/** @typedef {{ owner: number } | { owner: null, release(): void }} Taken `owner`: the living process that has it */

/**
 * @param {string} file
 * @returns {Taken}
 * @throws the system's error when the folder cannot be written
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
    // Process ids are used again: the owner must still be running the same script.
    if (owner > 1 && owner !== process.pid && isAlive(owner) && commandLine(owner).includes(program)) return { owner };
    // Renamed first: of two starts that find it stale, one removes it and neither removes the other's new one.
    const stale = `${file}.${process.pid}`;
    try {
      renameSync(file, stale);
      rmSync(stale, { force: true });
    } catch {
      // Another start was quicker.
    }
  }
}

/**
 * Runs `work` while holding the lock, waiting for a living owner to finish.
 * @template T
 * @param {string} file
 * @param {(owner: number) => void} onWait called once when there is an owner
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
