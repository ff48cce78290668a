// @ts-check
/**
 * Supervises child processes: restarts a crashed process after a growing pause, and stops all processes in reverse order of their start.
 */
import { setTimeout as delay } from "node:timers/promises";
import { reasonOf } from "../embedded/fault.mjs";
import { describeExit } from "../embedded/process.mjs";

const BACKOFF = { firstMs: 250, lastMs: 10_000 };
/** Uptime after which a crash starts with the shortest restart pause again, in milliseconds. */
const SETTLED_MS = 30_000;

/**
 * Supervised process, with its admin port if it has one.
 * @typedef {import("../embedded/process.mjs").Running & { adminPort?: number }} Child
 */

/**
 * State of a supervised process.
 * @typedef {object} ChildState
 * @property {string} name
 * @property {boolean} up
 * @property {number} restarts
 * @property {number | null} adminPort null when the process has no admin port or is down
 */

/**
 * Set of supervised processes.
 * @typedef {object} Children
 * @property {<T extends Child>(name: string, start: () => Promise<T>, graceMs: number) => Promise<T>} add starts a process, and restarts it
 * whenever it ends; throws the error of the first start
 * @property {() => Promise<void>} stop stops all processes, the newest first, and waits for their exit
 * @property {() => void} kill kills all processes at once
 * @property {() => ChildState[]} states
 * @property {() => boolean} stopping
 */

/**
 * Creates an empty set of supervised processes.
 * @param {import("./log.mjs").Log} log
 * @returns {Children}
 */
export function createChildren(log) {
  /** @type {{ name: string, child: Child | null, restarts: number, graceMs: number }[]} */
  const kept = [];
  const stopping = new AbortController();

  /**
   * Restarts a process whenever it ends, until the set is stopped.
   * @param {typeof kept[number]} entry
   * @param {() => Promise<Child>} start
   */
  async function keepRunning(entry, start) {
    let pauseMs = BACKOFF.firstMs;
    while (!stopping.signal.aborted) {
      let problem;
      try {
        entry.child ??= await start();
        const since = Date.now();
        problem = describeExit(await entry.child.exited);
        if (Date.now() - since > SETTLED_MS) pauseMs = BACKOFF.firstMs;
      } catch (error) {
        problem = reasonOf(error);
      }
      entry.child = null;
      if (stopping.signal.aborted) return;
      entry.restarts += 1;
      log.say("error", `${entry.name} ${problem.split("\n")[0]}; restarting it in ${pauseMs / 1000} s`);
      await delay(pauseMs, undefined, { signal: stopping.signal }).catch(() => {});
      pauseMs = Math.min(pauseMs * 2, BACKOFF.lastMs);
    }
  }

  return {
    async add(name, start, graceMs) {
      const entry = { name, child: /** @type {Child | null} */ (null), restarts: 0, graceMs };
      kept.push(entry);
      const child = await start();
      entry.child = child;
      void keepRunning(entry, start);
      return child;
    },
    async stop() {
      stopping.abort();
      for (const { child, graceMs } of kept.toReversed()) await child?.stop(undefined, graceMs);
    },
    kill() {
      stopping.abort();
      for (const { child } of kept) child?.kill("SIGKILL");
    },
    states: () =>
      kept.map(({ name, child, restarts }) => {
        const up = child?.alive() ?? false;
        return { name, up, restarts, adminPort: (up ? child?.adminPort : null) ?? null };
      }),
    stopping: () => stopping.signal.aborted,
  };
}
