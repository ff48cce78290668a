// @ts-check
/** Results that a run of `bun test` wrote into its JUnit file. */
import { existsSync, readFileSync } from "node:fs";

/**
 * @typedef {{ passed: number, failed: number, skipped: number }} Counts
 * @typedef {Counts & { files: Map<string, Counts> }} Report
 */

/**
 * @param {string} path
 * @returns {Report} without any test where bun wrote no file
 */
export function readReport(path) {
  const text = existsSync(path) ? readFileSync(path, "utf8") : "";
  /** @type {Map<string, Counts>} */
  const files = new Map();
  for (const [tag] of text.matchAll(/<testsuite\b[^>]*>/g)) {
    const file = attribute(tag, "file");
    // Suites within a file follow it and are counted in it.
    if (file === attribute(tag, "name")) files.set(file, countsOf(tag));
  }
  return { ...sum(files.values()), files };
}

/**
 * The files of a red run that are to be run once more: those with a failed test, and those that never came to their tests.
 * @param {Report} report
 * @param {readonly string[]} expected every file the run was to take
 * @returns {string[]}
 */
export function filesToRepeat({ files }, expected) {
  return expected.filter((file) => (files.get(file)?.failed ?? 1) > 0);
}

/**
 * @param {Iterable<Counts>} all
 * @returns {Counts}
 */
export function sum(all) {
  const total = { passed: 0, failed: 0, skipped: 0 };
  for (const { passed, failed, skipped } of all) {
    total.passed += passed;
    total.failed += failed;
    total.skipped += skipped;
  }
  return total;
}

/** @param {string} tag @returns {Counts} */
function countsOf(tag) {
  const [tests, failures, skipped] = ["tests", "failures", "skipped"].map((name) => Number(attribute(tag, name)));
  const failed = failures ?? 0;
  return { passed: (tests ?? 0) - failed - (skipped ?? 0), failed, skipped: skipped ?? 0 };
}

/** @param {string} tag @param {string} name */
function attribute(tag, name) {
  return new RegExp(` ${name}="([^"]*)"`).exec(tag)?.[1] ?? "";
}
