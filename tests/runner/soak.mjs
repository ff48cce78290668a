// @ts-check
/** `npm run soak`: every storm of the suite at its full size and at the pace of production, one after the other. */
import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

/** @typedef {{ file: string, seed: number, seconds: number, counts: import("./report.mjs").Counts, isGreen: boolean }} Storm */

/** Environment of a storm: its whole size, and waits as long as in production. */
export const SOAK_ENV = { SOAK: "on", SLUICE_PACE: "1" };

/** A whole storm and the audits after it. */
const STORM_TIMEOUT_MS = 900_000;

/**
 * Runs each of the files that is a storm, with a seed of its own, and prints a table.
 * @param {object} options
 * @param {string} options.root
 * @param {readonly string[]} options.files
 * @param {string | undefined} options.seed for all of them; any when undefined
 * @param {(options: readonly string[], env: Record<string, string>) => Promise<{ code: number, report: import("./report.mjs").Report }>} options.test
 * @param {(line: string) => void} options.say
 * @returns {Promise<boolean>} whether all were green
 */
export async function soak({ root, files, seed, test, say }) {
  const storms = files.filter((file) => readFileSync(join(root, file), "utf8").includes("support/storm.ts"));
  /** @type {Storm[]} */
  const rows = [];
  for (const file of storms) {
    const own = seed === undefined ? randomInt(2 ** 31) : Number(seed);
    const began = Date.now();
    const options = ["--isolate", `--timeout=${STORM_TIMEOUT_MS}`, `./${file}`];
    const { code, report } = await test(options, { ...SOAK_ENV, TEST_SEED: String(own) });
    rows.push({ file, seed: own, seconds: (Date.now() - began) / 1000, counts: report, isGreen: code === 0 });
  }
  say("");
  say("storm | seed | seconds | passed | failed");
  say("--- | ---: | ---: | ---: | ---:");
  for (const { file, seed: own, seconds, counts } of rows) {
    say(`${file} | ${own} | ${seconds.toFixed(1)} | ${counts.passed} | ${counts.failed}`);
  }
  return rows.length > 0 && rows.every(({ isGreen }) => isGreen);
}
