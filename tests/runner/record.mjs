// @ts-check
/** Results of the last whole run of each suite: `.last-run.json` of the gate, `.last-verify.json` of `verify`. Git ignores both. */
import { execFileSync } from "node:child_process";
import { writeFileSync } from "node:fs";
import { join } from "node:path";

/** @param {string} root @returns {{ commit: string, dirty: boolean }} empty where there is no git */
export function stateOf(root) {
  const git = (/** @type {string[]} */ ...args) => {
    try {
      return execFileSync("git", args, { cwd: root, encoding: "utf8", stdio: ["ignore", "pipe", "ignore"] }).trim();
    } catch {
      return "";
    }
  };
  return { commit: git("rev-parse", "HEAD"), dirty: git("status", "--porcelain") !== "" };
}

/**
 * @param {string} root
 * @param {import("./select.mjs").Suite} suite
 * @param {{ commit: string, dirty: boolean, passed: number, failed: number, skipped: number, unsteady: readonly string[], seconds: number }} run
 */
export function recordRun(root, suite, run) {
  const record = { date: new Date().toISOString(), ...run, minutes: Number((run.seconds / 60).toFixed(1)) };
  const file = suite === "verify" ? ".last-verify.json" : ".last-run.json";
  writeFileSync(join(root, file), `${JSON.stringify(record, null, 2)}\n`);
}
