// @ts-check
/** One run of a suite: files side by side, then files that run alone, then one more try of each file that failed. */
import { filesToRepeat, sum } from "./report.mjs";
import { isAlone } from "./select.mjs";

/**
 * @typedef {import("./report.mjs").Counts} Counts
 * @typedef {import("./report.mjs").Report} Report
 * @typedef {(options: readonly string[]) => Promise<{ code: number, report: Report }>} RunTests
 * @typedef {(name: string, run: () => Promise<{ isGreen: boolean, detail: string }>) => Promise<boolean>} Step
 */

/** @param {Counts} counts */
export function formatCounts({ passed, failed, skipped }) {
  return `${passed} passed, ${failed} failed${skipped === 0 ? "" : `, ${skipped} skipped`}`;
}

/**
 * A file that fails beside the others and passes alone is unsteady: the run is green and lists the file.
 * @param {object} options
 * @param {readonly string[]} options.files
 * @param {number} options.parallel files side by side
 * @param {readonly string[]} options.sideBySide further options of `bun test` for files side by side
 * @param {RunTests} options.test
 * @param {Step} options.step
 * @param {() => boolean} options.isInterrupted
 * @returns {Promise<{ isGreen: boolean, unsteady: string[], counts: Counts }>}
 */
export async function runSuite({ files, parallel, sideBySide, test, step, isInterrupted }) {
  const rounds = [
    {
      name: "tests",
      files: files.filter((file) => !isAlone(file)),
      options: [`--parallel=${parallel}`, ...sideBySide],
    },
    { name: "tests that measure memory", files: files.filter(isAlone), options: ["--isolate"] },
  ].filter((round) => round.files.length > 0);
  /** @type {Counts[]} */
  const results = [];
  /** @type {string[]} */
  const failed = [];
  let isGreen = rounds.length > 0;
  for (const round of rounds) {
    if (isInterrupted()) break;
    await step(round.name, async () => {
      const { code, report } = await test([...round.options, ...round.files.map((file) => `./${file}`)]);
      // A run without a report, or a red run without a red file, failed for a reason that a second try would hide.
      const failing = report.files.size === 0 ? [] : filesToRepeat(report, round.files);
      isGreen &&= report.files.size > 0 && (code === 0 || failing.length > 0);
      for (const file of failing) report.files.delete(file);
      results.push(...report.files.values());
      failed.push(...failing);
      return { isGreen: code === 0, detail: `: ${formatCounts(report)}` };
    });
  }
  /** @type {string[]} */
  const unsteady = [];
  for (const file of failed) {
    if (isInterrupted()) break;
    const hasPassed = await step(`${file} once more, alone`, async () => {
      const { code, report } = await test(["--isolate", `./${file}`]);
      results.push({ ...report, failed: code === 0 ? 0 : Math.max(1, report.failed) });
      return { isGreen: code === 0, detail: `: ${formatCounts(report)}` };
    });
    if (hasPassed) unsteady.push(file);
    isGreen &&= hasPassed;
  }
  return { isGreen, unsteady, counts: sum(results) };
}
