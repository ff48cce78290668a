// @ts-check
/** `.last-run.json`: what the last full run said of which commit. Git ignores it. */
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
 * @param {{ commit: string, dirty: boolean, passed: number, failed: number, unsteady: readonly string[], seconds: number }} run
 */
export function recordRun(root, run) {
  writeFileSync(join(root, ".last-run.json"), `${JSON.stringify(run, null, 2)}\n`);
}
