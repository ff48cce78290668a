// @ts-check
/** Runs child processes: passes on their output line by line, waits for their exit, and stops them reliably. */
import { spawn } from "node:child_process";
import { accessSync, constants } from "node:fs";
import { delimiter, join } from "node:path";
import { StringDecoder } from "node:string_decoder";
import { forget, watch } from "./reaper.mjs";

/** Maximum length of an output line, in characters. A longer line is split, so that output without line breaks cannot fill the memory. */
const LINE_CHARACTERS = 65_536;
/** Number of recent output lines that are kept for error messages and tests. */
const LINES_KEPT = 5_000;

/**
 * Result of a process that has ended.
 * @typedef {object} Exit
 * @property {number | null} code
 * @property {NodeJS.Signals | null} signal
 * @property {Error | null} error set if the program could not be started
 */

/**
 * Child process, and the functions that control it.
 * @typedef {object} Running
 * @property {string} name
 * @property {number} pid 0 if the program could not be started
 * @property {Promise<Exit>} exited
 * @property {() => boolean} alive
 * @property {() => string[]} lines returns the latest output of both streams, oldest line first
 * @property {(signal: NodeJS.Signals) => void} kill
 * @property {(signal?: NodeJS.Signals, graceMs?: number) => Promise<Exit>} stop
 */

/**
 * Options of a child process.
 * @typedef {object} Launch
 * @property {string} name
 * @property {string} command
 * @property {readonly string[]} args
 * @property {string} cwd
 * @property {Record<string, string | undefined>} [env] replaces the environment
 * @property {number} [uid]
 * @property {number} [gid]
 * @property {"TERM" | "INT"} [stopSignal] signal for a clean stop
 * @property {string} [stdin] text that is written to stdin, which is then closed. Default: stdin stays open
 * @property {(line: string, stream: "stdout" | "stderr") => void} [onLine]
 */

/**
 * Starts a child process in its own process group, so that Ctrl-C reaches only this process, which stops its children in order. The child's
 * stdin is a pipe that closes when this process dies.
 * @param {Launch} options
 * @returns {Running}
 */
export function launch(options) {
  const stopSignal = options.stopSignal ?? "TERM";
  const child = spawn(options.command, [...options.args], {
    cwd: options.cwd,
    env: options.env ?? process.env,
    detached: true,
    stdio: ["pipe", "pipe", "pipe"],
    ...(options.uid === undefined ? {} : { uid: options.uid }),
    ...(options.gid === undefined ? {} : { gid: options.gid }),
  });
  const pid = child.pid ?? 0;
  if (pid !== 0) watch(pid, stopSignal);

  /** @type {string[]} */
  const kept = [];
  const take = (/** @type {string} */ line, /** @type {"stdout" | "stderr"} */ stream) => {
    kept.push(line);
    if (kept.length > LINES_KEPT) kept.splice(0, kept.length - LINES_KEPT);
    options.onLine?.(line, stream);
  };
  splitLines(child.stdout, (line) => take(line, "stdout"));
  splitLines(child.stderr, (line) => take(line, "stderr"));
  child.stdin.on("error", () => {});
  if (options.stdin !== undefined) child.stdin.end(options.stdin);

  let ended = false;
  const exited = new Promise((/** @type {(exit: Exit) => void} */ resolve) => {
    child.once("error", (error) => {
      ended = true;
      resolve({ code: null, signal: null, error });
    });
    child.once("exit", (code, signal) => {
      ended = true;
      forget(pid);
      const finish = () => resolve({ code, signal, error: null });
      // The last lines may still be in the pipes, but a grandchild can keep the pipes open, so the wait is limited.
      const timer = setTimeout(finish, 500);
      child.once("close", () => {
        clearTimeout(timer);
        finish();
      });
    });
  });

  const kill = (/** @type {NodeJS.Signals} */ signal) => {
    if (!ended) child.kill(signal);
  };
  return {
    name: options.name,
    pid,
    exited,
    alive: () => !ended && pid !== 0,
    lines: () => [...kept],
    kill,
    stop: async (signal = `SIG${stopSignal}`, graceMs = 10_000) => {
      kill(signal);
      const timer = setTimeout(() => kill("SIGKILL"), graceMs);
      const exit = await exited;
      clearTimeout(timer);
      return exit;
    },
  };
}

/**
 * Splits a stream of text into lines.
 * @param {import("node:stream").Readable} stream
 * @param {(line: string) => void} take called for each line
 */
function splitLines(stream, take) {
  const decoder = new StringDecoder("utf8");
  let rest = "";
  stream.on("data", (/** @type {Buffer} */ chunk) => {
    rest += decoder.write(chunk);
    for (let end = rest.indexOf("\n"); end !== -1; end = rest.indexOf("\n")) {
      take(rest.slice(0, end));
      rest = rest.slice(end + 1);
    }
    if (rest.length > LINE_CHARACTERS) {
      take(rest);
      rest = "";
    }
  });
  stream.on("error", () => {});
  stream.on("end", () => {
    if (rest !== "") take(rest);
    rest = "";
  });
}

/**
 * Starts a child process and waits for the first output line that `match` accepts.
 * @template T
 * @param {(onLine: (line: string) => void) => Running} start starts the child and calls back with every line
 * @param {(line: string) => T | null} match
 * @param {number} timeoutMs
 * @returns {Promise<{ running: Running, value: T }>}
 * @throws {Error} with the child's last lines if the child exits, or prints no such line before the timeout
 */
export async function launchUntil(start, match, timeoutMs) {
  /** @type {(value: { value: T }) => void} */
  let found = () => {};
  const matched = new Promise((/** @type {(value: { value: T }) => void} */ resolve) => (found = resolve));
  const running = start((line) => {
    const value = match(line);
    if (value !== null) found({ value });
  });
  /** @type {NodeJS.Timeout | undefined} */
  let timer;
  const late = new Promise((/** @type {(value: null) => void} */ resolve) => {
    timer = setTimeout(() => resolve(null), timeoutMs);
  });
  const result = await Promise.race([matched, running.exited, late]);
  clearTimeout(timer);
  if (result !== null && "value" in result) return { running, value: result.value };
  const why = result === null ? `was not ready after ${timeoutMs / 1000} s` : describeExit(result);
  if (result === null) await running.stop("SIGKILL");
  throw new LaunchError(running.name, why, running.lines());
}

/** Error of a child process that exited, or timed out, before it was ready. `lines` is the child's output. */
export class LaunchError extends Error {
  /** @override */
  name = "LaunchError";

  /**
   * Creates the error. Its message ends with the last lines of output.
   * @param {string} program
   * @param {string} why
   * @param {string[]} lines
   */
  constructor(program, why, lines) {
    const tail = lines.slice(-8).join("\n").slice(-2_000);
    super(`${program} ${why}${tail === "" ? "" : `:\n${tail}`}`);
    this.lines = lines;
  }
}

/**
 * Describes the exit of a process for an error message.
 * @param {Exit} exit
 * @returns {string} such as `ended with code 1`
 */
export function describeExit(exit) {
  if (exit.error !== null) return `could not be started (${exit.error.message})`;
  return exit.signal === null ? `ended with code ${exit.code}` : `was ended by ${exit.signal}`;
}

/**
 * Runs a program to its end and returns its output.
 * @param {Launch & { timeoutMs?: number }} options `timeoutMs`: time after which the program is killed. Default: no limit
 * @returns {Promise<{ code: number | null, stdout: string, stderr: string }>} `code` is null if the program was killed or could not be
 * started; stderr then contains the reason
 */
export async function run(options) {
  /** @type {{ stdout: string[], stderr: string[] }} */
  const lines = { stdout: [], stderr: [] };
  const running = launch({
    stdin: "",
    ...options,
    onLine: (line, stream) => {
      lines[stream].push(line);
      options.onLine?.(line, stream);
    },
  });
  const timer =
    options.timeoutMs === undefined ? undefined : setTimeout(() => running.kill("SIGKILL"), options.timeoutMs);
  const exit = await running.exited;
  clearTimeout(timer);
  if (exit.error !== null) lines.stderr.push(exit.error.message);
  return { code: exit.code, stdout: lines.stdout.join("\n"), stderr: lines.stderr.join("\n") };
}

/**
 * Returns the first path of a program on PATH; null if there is none.
 * @param {string} program
 * @returns {string | null}
 */
export function findOnPath(program) {
  return findAllOnPath(program)[0] ?? null;
}

/**
 * Returns every path of a program on PATH.
 * @param {string} program
 * @returns {string[]} paths in the order of PATH
 */
export function findAllOnPath(program) {
  return (process.env["PATH"] ?? "").split(delimiter).flatMap((folder) => {
    if (folder === "") return [];
    try {
      accessSync(join(folder, program), constants.X_OK);
      return [join(folder, program)];
    } catch {
      return [];
    }
  });
}
