// @ts-check
/**
 * `npm run faults` makes every fault of tests/faults/rows.mjs at the size of the suite, `npm run soak` those that are storms at their full one. Both
 * write tests/faults/RESULTS.md: a line for each fault, and one for each file.
 */
import { writeFileSync } from "node:fs";
import { join } from "node:path";

import { filesToRepeat } from "./report.mjs";
import { isAlone } from "./select.mjs";

/**
 * @typedef {import("./report.mjs").Counts} Counts
 * @typedef {import("../faults/rows.mjs").FaultRow} FaultRow
 * @typedef {{ size: "small" | "whole", seed: number, seconds: number | undefined, counts: Counts, isGreen: boolean, isSecondTry?: boolean }} FileResult
 * @typedef {(options: readonly string[], env?: Record<string, string>) => Promise<{ code: number, report: import("./report.mjs").Report }>} RunTests
 */

export const RESULTS = "tests/faults/RESULTS.md";
/** Files that have failed beside others are told by a second try from those that fail. */
const NONE = { passed: 0, failed: 1, skipped: 0 };

/**
 * Runs the files at the size of the suite; what fails once more, alone.
 * @param {{ files: readonly string[], seed: number, parallel: number, test: RunTests }} options
 * @returns {Promise<Map<string, FileResult>>}
 */
export async function runSmall({ files, seed, parallel, test }) {
  /** @type {Map<string, FileResult>} */
  const results = new Map();
  const env = { TEST_SEED: String(seed) };
  const rounds = [
    { files: files.filter((file) => !isAlone(file)), options: [`--parallel=${parallel}`] },
    { files: files.filter(isAlone), options: ["--isolate"] },
  ];
  for (const round of rounds) {
    if (round.files.length === 0) continue;
    const { report } = await test([...round.options, ...round.files.map((file) => `./${file}`)], env);
    for (const file of round.files) {
      const counts = report.files.get(file) ?? NONE;
      results.set(file, { size: "small", seed, seconds: undefined, counts, isGreen: counts.failed === 0 });
    }
    for (const file of filesToRepeat(report, round.files)) {
      const began = Date.now();
      const { code, report: again } = await test(["--isolate", `./${file}`], env);
      const counts = again.files.get(file) ?? NONE;
      const seconds = (Date.now() - began) / 1000;
      results.set(file, { size: "small", seed, seconds, counts, isGreen: code === 0, isSecondTry: true });
    }
  }
  return results;
}

/**
 * Returns the result of a fault, from those of its files.
 * @param {FaultRow} row
 * @param {ReadonlyMap<string, FileResult>} results
 */
export function resultOf({ files, why, needs, left }, results) {
  if (files.length === 0) return `missing: ${why ?? "no reason given"}`;
  const own = files.map((file) => results.get(`tests/${file}`));
  const skipped = own.reduce((sum, one) => sum + (one?.counts.skipped ?? 0), 0);
  const isFailed = own.some((one) => one?.isGreen === false);
  const isUnknown = own.some((one) => one === undefined);
  const word = isFailed ? "**failed**" : isUnknown ? "not run" : skipped > 0 ? "skipped in part" : "passed";
  const notes = [
    ...(skipped > 0 ? [`${skipped} tests skipped: ${needs ?? "they say why"}`] : []),
    ...(left === undefined ? [] : [`not made: ${left}`]),
  ];
  return [word, ...notes].join("; ");
}

/**
 * @param {{ root: string, rows: readonly FaultRow[], results: ReadonlyMap<string, FileResult>, commit: string, command: string }} options
 */
export function writeResults({ root, rows, results, commit, command }) {
  const link = (/** @type {string} */ file) => `[${file}](../${file})`;
  const lines = [
    "# Faults: what the last run said",
    "",
    `Written by \`${command}\` on ${new Date().toISOString().slice(0, 10)}, commit ${commit.slice(0, 12) || "unknown"}. Rows: [rows.mjs](rows.mjs). A seed is given with`,
    "`npm run faults -- <seed>` or `npm run soak -- <seed>`.",
    "",
    "| | Fault | Files | Result |",
    "|---:|---|---|---|",
    ...rows.map(
      (row, at) => `| ${at + 1} | ${row.fault} | ${row.files.map(link).join(", ")} | ${resultOf(row, results)} |`,
    ),
    "",
    "| File | Size | Seed | Seconds | Passed | Failed | Skipped |",
    "|---|---|---:|---:|---:|---:|---:|",
    ...[...results].map(([file, { size, seed, seconds, counts, isSecondTry }]) => {
      const tried = isSecondTry ? " (second try, alone)" : "";
      const took = seconds === undefined ? "" : seconds.toFixed(1);
      return `| ${file}${tried} | ${size} | ${seed} | ${took} | ${counts.passed} | ${counts.failed} | ${counts.skipped} |`;
    }),
    "",
  ];
  writeFileSync(join(root, RESULTS), lines.join("\n"));
}
