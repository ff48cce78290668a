// @ts-check
/** Runs a command in the project's Bun with this process' streams and signals, and exits with the command's exit code. */
import { spawn } from "node:child_process";
import { constants } from "node:os";
import { cachesOf, dataDirOf } from "./settings.mjs";
import { BUN_MEMORY, prepareBun } from "./bun.mjs";
import { StartFault } from "./fault.mjs";
import { closeReaper, forget, watch } from "./reaper.mjs";

/**
 * Runs a command and sets the exit code: that of the command, 128 plus the number of the signal that ended it, or 1 if Bun cannot be
 * installed.
 * @param {string} root the project's folder
 * @param {readonly string[]} args
 * @returns {Promise<void>}
 */
export async function runBun(root, args) {
  try {
    // Commands print their results to stdout, so progress goes to stderr.
    const progress = (/** @type {string} */ text) => void process.stderr.write(`${text}\n`);
    const bun = await prepareBun({ root, caches: cachesOf(process.env, dataDirOf(process.env)), progress });
    process.exitCode = await end(bun, root, args);
  } catch (error) {
    if (!(error instanceof StartFault)) throw error;
    process.stderr.write(`sluice: ${error.message}\n`);
    process.exitCode = 1;
  }
}

/**
 * Runs Bun until it exits and returns the exit code.
 * @param {string} bun
 * @param {string} root
 * @param {readonly string[]} args
 * @returns {Promise<number>}
 */
function end(bun, root, args) {
  // npm runs scripts in the project's folder; INIT_CWD is the user's working directory.
  const env = { ...BUN_MEMORY, ...process.env, INIT_CWD: process.env["INIT_CWD"] ?? process.cwd() };
  const child = spawn(bun, args, { cwd: root, env, stdio: "inherit" });
  const { pid } = child;
  if (pid !== undefined) watch(pid, "TERM");
  // A terminal also sends these to the command. A forwarded second signal would end it at once.
  for (const signal of ["SIGINT", "SIGHUP"]) process.on(signal, () => {});
  process.on("SIGTERM", () => void child.kill("SIGTERM"));
  return new Promise((resolve, reject) => {
    child.once("error", reject);
    child.once("exit", (code, signal) => {
      if (pid !== undefined) forget(pid);
      void closeReaper().then(() => resolve(code ?? 128 + (signal === null ? 0 : constants.signals[signal])));
    });
  });
}
