// @ts-check
/** `npm run soak`: every storm of the suite at its full size and at the pace of production, one after the other. */
import { randomInt } from "node:crypto";
import { readFileSync } from "node:fs";
import { join } from "node:path";

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
 * @returns {Promise<Map<string, import("./faults.mjs").FileResult>>}
 */
export async function soak({ root, files, seed, test, say }) {
  const storms = files.filter((file) => readFileSync(join(root, file), "utf8").includes("support/storm.ts"));
  /** @type {Map<string, import("./faults.mjs").FileResult>} */
  const results = new Map();
  for (const file of storms) {
    const own = seed === undefined ? randomInt(2 ** 31) : Number(seed);
    const began = Date.now();
    const options = ["--isolate", `--timeout=${STORM_TIMEOUT_MS}`, `./${file}`];
    const { code, report } = await test(options, { ...SOAK_ENV, TEST_SEED: String(own) });
    const seconds = (Date.now() - began) / 1000;
    results.set(file, { size: "whole", seed: own, seconds, counts: report, isGreen: code === 0 });
  }
  say("");
  say("storm | seed | seconds | passed | failed");
  say("--- | ---: | ---: | ---: | ---:");
  for (const [file, { seed: own, seconds = 0, counts }] of results) {
    say(`${file} | ${own} | ${seconds.toFixed(1)} | ${counts.passed} | ${counts.failed}`);
  }
  return results;
}
