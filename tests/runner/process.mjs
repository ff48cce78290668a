// @ts-check
/** One step of a run as a process group of its own. The whole group ends with the run, whatever ends the run. */
import { spawn } from "node:child_process";
import { setTimeout as sleep } from "node:timers/promises";

import { forget, watch } from "#deploy/embedded/reaper.mjs";

/** Maximum time that a process group has to end by itself after SIGTERM, in milliseconds. */
const END_MS = 5_000;
const END_POLL_MS = 50;

/** Process groups of the steps that run now. @type {Set<number>} */
const groups = new Set();

/**
 * Starts a program after a line on stdin. A run that dies before it has registered the process group closes stdin, and the program
 * never starts. Otherwise the reaper would not know the group, and its processes would outlive the run.
 */
const START = 'read -r _ && exec "$@" < /dev/null';

/**
 * @param {readonly string[]} command the program and its arguments
 * @param {{ cwd: string, env: Record<string, string | undefined> }} options
 * @returns {Promise<number>} exit code: 1 when the program was killed, 127 when it does not exist
 */
export function runStep(command, { cwd, env }) {
  return new Promise((resolve) => {
    const args = ["-c", START, "sh", ...command];
    const child = spawn("/bin/sh", args, { cwd, env, stdio: ["pipe", "inherit", "inherit"], detached: true });
    const { pid, stdin } = child;
    stdin.on("error", () => {});
    if (pid !== undefined) {
      groups.add(pid);
      watch(-pid, "TERM");
      stdin.end("\n");
    }
    const finish = async (/** @type {number | null} */ code) => {
      if (pid !== undefined) {
        // A coordinator that was killed leaves its workers.
        if (code === null) await endGroup(pid);
        groups.delete(pid);
        forget(-pid);
      }
      resolve(code ?? 1);
    };
    child.once("error", (error) => {
      process.stderr.write(`${error.message}\n`);
      void finish(1);
    });
    child.once("exit", (code) => void finish(code));
  });
}

/**
 * SIGINT, SIGTERM and SIGHUP end the steps, then what `cleanUp` ends, and then this process.
 * @param {() => void} onInterrupt @param {() => Promise<void>} cleanUp
 */
export function endOnSignals(onInterrupt, cleanUp) {
  let isInterrupted = false;
  for (const signal of /** @type {const} */ (["SIGINT", "SIGTERM", "SIGHUP"])) {
    process.on(signal, () => {
      if (isInterrupted) return;
      isInterrupted = true;
      onInterrupt();
      void Promise.all([...groups].map(endGroup))
        .then(cleanUp)
        .finally(() => process.exit(130));
    });
  }
}

/** @param {number} pid of the group's leader */
async function endGroup(pid) {
  let isThere = signalGroup(pid, "SIGTERM");
  for (let waited = 0; isThere && waited < END_MS; waited += END_POLL_MS) {
    await sleep(END_POLL_MS);
    isThere = signalGroup(pid, 0);
  }
  if (isThere) signalGroup(pid, "SIGKILL");
}

/** @param {number} pid @param {NodeJS.Signals | 0} signal @returns {boolean} whether the group has a process */
function signalGroup(pid, signal) {
  try {
    return process.kill(-pid, signal);
  } catch (error) {
    if (/** @type {NodeJS.ErrnoException} */ (error).code === "ESRCH") return false;
    throw error;
  }
}
