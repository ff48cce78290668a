// @ts-check
/** Keeps processes running: restarts a crashed process after a growing pause, and stops all of them in reverse order. */
import { setTimeout as delay } from "node:timers/promises";
import { reasonOf } from "../embedded/fault.mjs";
import { describeExit } from "../embedded/process.mjs";

const BACKOFF = { firstMs: 250, lastMs: 10_000 };
/** Time after which a crash counts as a new one, so that the next pause is short again, in milliseconds. */
const SETTLED_MS = 30_000;

/** @typedef {import("../embedded/process.mjs").Running & { adminPort?: number }} Child */

/**
 * @typedef {object} ChildState
 * @property {string} name
 * @property {boolean} up
 * @property {number} restarts
 * @property {number | null} adminPort null when the process has none or is down
 */

/**
 * @typedef {object} Children
 * @property {<T extends Child>(name: string, start: () => Promise<T>, graceMs: number) => Promise<T>} add
 *   starts a process, and again whenever it ends; throws what the first start throws
 * @property {() => Promise<void>} stop stops all of them, the newest first, and waits
 * @property {() => void} kill kills all of them at once
 * @property {() => ChildState[]} states
 * @property {() => boolean} stopping
 */

/**
 * @param {import("./log.mjs").Log} log
 * @returns {Children}
 */
export function createChildren(log) {
  /** @type {{ name: string, child: Child | null, restarts: number, graceMs: number }[]} */
  const kept = [];
  const stopping = new AbortController();

  /**
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
