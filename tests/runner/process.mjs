// @ts-check
/** One step of a run as a process group of its own, which ends with the run whatever ends that. */
import { spawn } from "node:child_process";
import { writeFileSync } from "node:fs";

import { forget, watch } from "#deploy/embedded/reaper.mjs";

/** A step of the scheduler's niceness is worth a quarter more time. */
const NICE_STEP = 1.25;

/**
 * @param {readonly string[]} command the program and its arguments
 * @param {{ cwd: string, env: Record<string, string | undefined>, sessions?: number }} options `sessions`: the step is to have the
 *   processor time of so many sessions, where this user may give it that
 * @returns {Promise<number>} exit code; 1 when it was killed or could not be started
 */
export function runStep([program = "", ...args], { cwd, env, sessions = 1 }) {
  return new Promise((resolve) => {
    const child = spawn(program, args, { cwd, env, stdio: ["ignore", "inherit", "inherit"], detached: true });
    const { pid } = child;
    if (pid !== undefined) {
      watch(pid, "TERM");
      if (sessions > 1) takeSessions(pid, sessions);
    }
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

/**
 * Linux may share its cores among sessions, whatever is in them (`kernel.sched_autogroup_enabled`). All files that run side by side are one
 * session, but each role and each connection of Postgres that they start is one too: a test had a second of CPU time in twenty.
 * @param {number} pid leader of the session @param {number} sessions
 */
function takeSessions(pid, sessions) {
  try {
    writeFileSync(`/proc/${pid}/autogroup`, String(-Math.round(Math.log(sessions) / Math.log(NICE_STEP))));
  } catch (error) {
    // Another system, or a user who may not: the tests run as they can.
    const { code } = /** @type {NodeJS.ErrnoException} */ (error);
    if (!["ENOENT", "EPERM", "EACCES", "ESRCH"].includes(code ?? "")) throw error;
  }
}
