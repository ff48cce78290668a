// @ts-check
/** Stores the address of a running `npm start` in a file of its data folder, for other programs of the same user. */
import { readFileSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { commandLine, isAlive } from "../embedded/probe.mjs";

/**
 * Address and credentials of a running stack.
 * @typedef {object} Address
 * @property {string} baseUrl ends in /v1
 * @property {string} key
 * @property {string} [operatorToken] the token that `npm start` created; a token from the environment is not stored
 * @property {string | null} databaseUrl address of the embedded Postgres; null for the operator's own Postgres, whose password is not
 * stored
 */

/**
 * Writes the address file.
 * @param {string} dataDir
 * @param {Address} address
 * @returns {() => void} deletes the file
 */
export function keepAddress(dataDir, address) {
  const file = fileIn(dataDir);
  // Removed first: the mode applies only to a new file.
  rmSync(file, { force: true });
  writeFileSync(file, `${JSON.stringify({ pid: process.pid, ...address })}\n`, { mode: 0o600 });
  return () => rmSync(file, { force: true });
}

/**
 * Returns the address of the stack that runs on this data directory.
 * @param {string} dataDir
 * @returns {Address | null} null when no stack runs on this directory
 */
export function runningStack(dataDir) {
  try {
    const { pid, ...address } = JSON.parse(readFileSync(fileIn(dataDir), "utf8"));
    // A killed stack leaves its file, and process ids are reused.
    return isAlive(pid) && commandLine(pid).includes("start.mjs") ? address : null;
  } catch {
    return null;
  }
}

/**
 * Returns the path of the address file.
 * @param {string} dataDir
 * @returns {string}
 */
function fileIn(dataDir) {
  return join(dataDir, "address.json");
}
