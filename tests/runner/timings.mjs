// @ts-check
/** Durations of test files, so that the longest begin first: what begins late and takes long ends the run alone. */
import { existsSync, readFileSync, writeFileSync } from "node:fs";

/** @typedef {{ version: number, files: Record<string, number> }} Timings */

/** A file that has never run, in milliseconds: neither first nor last. */
const UNKNOWN_MS = 3_000;

/**
 * Names every test file in `own`, which the run then rewrites: as the folder's last run measured it, else as the committed file
 * says. Bun begins with files it does not know.
 * @param {string} own
 * @param {string} committed
 * @param {readonly string[]} files
 */
export function completeTimings(own, committed, files) {
  const known = { ...filesOf(committed), ...filesOf(own) };
  const timed = Object.fromEntries(files.map((file) => [file, known[file] ?? UNKNOWN_MS]));
  writeFileSync(own, JSON.stringify({ version: 1, files: timed }));
}

/**
 * @param {string} path
 * @param {readonly string[]} files those that ran
 * @param {number} count
 * @returns {{ file: string, ms: number }[]} the slowest first
 */
export function slowestFiles(path, files, count) {
  const known = filesOf(path);
  return files
    .map((file) => ({ file, ms: known[file] ?? 0 }))
    .toSorted((a, b) => b.ms - a.ms)
    .slice(0, count);
}

/** @param {string} path @returns {Record<string, number>} empty when the file does not exist */
function filesOf(path) {
  if (!existsSync(path)) return {};
  /** @type {Partial<Timings>} */
  const { files = {} } = JSON.parse(readFileSync(path, "utf8"));
  return files;
}
