// @ts-check
/** The address of a running `npm start`, told to other programs of the same user through a file in its data directory. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandLine, isAlive } from "../embedded/probe.mjs";

/**
 * @typedef {object} Address
 * @property {string} baseUrl ends in /v1
 * @property {string} key
 * @property {string} [operatorToken] one that `npm start` made; a given one is not ours to write down
 * @property {string | null} databaseUrl of the embedded Postgres; null for an operator's own, whose password is not ours to write down
 */

/**
 * @param {string} dataDir
 * @param {Address} address
 * @returns {() => void} takes it back
 */
export function keepAddress(dataDir, address) {
  const file = fileIn(dataDir);
  // Removed first: the mode counts only for a file that is made anew.
  rmSync(file, { force: true });
  writeFileSync(file, `${JSON.stringify({ pid: process.pid, ...address })}\n`, { mode: 0o600 });
  return () => rmSync(file, { force: true });
}

/**
 * @param {string} dataDir
 * @returns {Address | null} null when no stack runs on this directory
 */
export function runningStack(dataDir) {
  try {
    const { pid, ...address } = JSON.parse(readFileSync(fileIn(dataDir), "utf8"));
    // A stack that was killed leaves its file, and process ids are used again.
    return isAlive(pid) && commandLine(pid).includes("start.mjs") ? address : null;
  } catch {
    return null;
  }
}

/**
 * @param {string} dataDir
 * @returns {string}
 */
function fileIn(dataDir) {
  return join(dataDir, "address.json");
}
