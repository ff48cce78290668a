// @ts-check
/** One step of a run as a process group of its own, which ends with the run whatever ends that. */
import { spawn } from "node:child_process";

import { forget, watch } from "#deploy/embedded/reaper.mjs";

/**
 * @param {readonly string[]} command the program and its arguments
 * @param {{ cwd: string, env: Record<string, string | undefined> }} options
 * @returns {Promise<number>} exit code; 1 when it was killed or could not be started
 */
export function runStep([program = "", ...args], { cwd, env }) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env, stdio: ["ignore", "inherit", "inherit"], detached: true });
    const { pid } = child;
    if (pid !== undefined) watch(pid, "TERM");
    const finish = (/** @type {number | null} */ code) => {
      if (pid !== undefined) forget(pid);
      resolve(code ?? 1);
    };
    child.once("error", (error) => {
      process.stderr.write(`${error.message}\n`);
      finish(1);
    });
    child.once("exit", finish);
  });
}
