/**
 * Checks the servers that a process depends on, such as Postgres and NATS. A readiness request checks each server at most once a second.
 * For the metric, each server is checked every few seconds.
 */
import { beforeAbort } from "../base/abortable.ts";
import type { Logger } from "../base/logger.ts";
import { paced } from "../config/pace.ts";

/**
 * Interval between regular checks of each server (DEPENDENCY_CHECK_MS), and minimum time between two checks (DEPENDENCY_FRESH_MS), in
 * milliseconds.
 */
const DEPENDENCY_CHECK_MS = 5_000;
const DEPENDENCY_FRESH_MS = 1_000;

/** Category of a check's result. The message of an error is not included, because it may contain addresses or credentials. */
export type CheckDetail = "ok" | "timeout" | "unreachable" | "starting" | "stopping" | "failed";

export interface CheckResult {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: CheckDetail;
}

export interface Readiness {
  readonly ok: boolean;
  /** Latest check results of all dependencies. */
  readonly checks: readonly CheckResult[];
  /** Failed checks because of which the process is not ready. */
  readonly failing: readonly CheckResult[];
}

/** Checks a dependency. Resolves when the dependency is usable; otherwise rejects or stays pending. The signal aborts at the deadline. */
export type Check = (signal: AbortSignal) => Promise<unknown>;

export interface Dependency {
  readonly name: DependencyName;
  readonly check: Check;
  /**
   * True if the process is not ready without this dependency. A probe can require further dependencies, which then count as vital for that
   * probe.
   */
  readonly isVital: boolean;
}

export const DEPENDENCY_NAMES = ["database", "queue", "storage"] as const;
export type DependencyName = (typeof DEPENDENCY_NAMES)[number];

export interface Dependencies {
  /** Checks vital and required dependencies, each for at most 2 s. Returns the last known result of all other dependencies. */
  readiness(required?: readonly DependencyName[]): Promise<Readiness>;
  close(): void;
}

export interface DependencyOptions {
  /** The process is not ready after this signal is aborted, regardless of the checks. */
  readonly stopping?: AbortSignal;
  readonly onResult?: (result: CheckResult) => void;
}

/** Timeout of one check, in milliseconds. Orchestrators check every few seconds, so a slower check counts as failed. */
const CHECK_DEADLINE_MS = 2_000;

interface RunningCheck {
  readonly at: number;
  readonly result: Promise<CheckResult>;
}

/** Checks each dependency every few seconds, and on each readiness request. */
export function watchDependencies(
  dependencies: readonly Dependency[],
  { stopping, onResult }: DependencyOptions = {},
): Dependencies {
  const asked = new Map<DependencyName, RunningCheck>();
  const known = new Map<DependencyName, CheckResult>();

  /** Checks a dependency. If the previous check began less than a second ago, returns the result of that check. */
  const ask = ({ name, check }: Dependency): Promise<CheckResult> => {
    const last = asked.get(name);
    if (last && performance.now() - last.at < DEPENDENCY_FRESH_MS) return last.result;
    const result = runCheck(name, check).then((one) => {
      known.set(name, one);
      onResult?.(one);
      return one;
    });
    asked.set(name, { at: performance.now(), result });
    return result;
  };
  const askAll = (): void => dependencies.forEach((one) => void ask(one));

  const timer = setInterval(askAll, DEPENDENCY_CHECK_MS);
  timer.unref();
  return {
    async readiness(required = []) {
      const isRequired = ({ name, isVital }: Dependency): boolean => isVital || required.includes(name);
      const checks = await Promise.all(
        dependencies.map(async (one) => {
          const fresh = ask(one);
          return isRequired(one) ? fresh : (known.get(one.name) ?? STARTING(one.name));
        }),
      );
      const failing = checks.filter((one, index) => {
        const dependency = dependencies[index];
        return !one.ok && dependency !== undefined && isRequired(dependency);
      });
      if (stopping?.aborted === true) failing.unshift({ name: "process", ok: false, detail: "stopping" });
      return { ok: failing.length === 0, checks, failing };
    },
    close: () => clearInterval(timer),
  };
}

const STARTING = (name: string): CheckResult => ({ name, ok: false, detail: "starting" });

async function runCheck(name: string, check: Check): Promise<CheckResult> {
  const deadline = AbortSignal.timeout(CHECK_DEADLINE_MS);
  try {
    await beforeAbort(check(deadline), deadline);
    return { name, ok: true, detail: "ok" };
  } catch (error) {
    return { name, ok: false, detail: deadline.aborted ? "timeout" : categoryOf(error) };
  }
}

const UNREACHABLE = /ECONN|ENOTFOUND|EHOSTUNREACH|ENETUNREACH|ETIMEDOUT|EPIPE|CONNECTION|DISCONNECT|timeout/i;

export function categoryOf(error: unknown): CheckDetail {
  if (!(error instanceof Error)) return "failed";
  const code: unknown = Reflect.get(error, "code");
  return UNREACHABLE.test(`${typeof code === "string" ? code : ""} ${error.name} ${error.message}`)
    ? "unreachable"
    : "failed";
}

const RETRY_DELAY_MS = paced(200);
const RETRY_DELAY_MAX_MS = paced(2_000);

/**
 * Calls `attempt` until its server is available, and returns the result. A process may start together with its servers, or while one of
 * them restarts.
 * @throws the error of the last attempt after `waitMs` milliseconds; other errors immediately
 */
export async function awaitServer<T>(
  name: string,
  attempt: () => Promise<T>,
  options: { readonly waitMs: number; readonly log: Logger; readonly isAway?: (error: unknown) => boolean },
): Promise<T> {
  const { waitMs, log, isAway = (error) => categoryOf(error) === "unreachable" } = options;
  const giveUpAt = performance.now() + waitMs;
  for (let pauseMs = RETRY_DELAY_MS; ; pauseMs = Math.min(2 * pauseMs, RETRY_DELAY_MAX_MS)) {
    try {
      return await attempt();
    } catch (error) {
      const remainingMs = giveUpAt - performance.now();
      if (remainingMs <= 0 || !isAway(error)) throw error;
      if (pauseMs === RETRY_DELAY_MS || pauseMs === RETRY_DELAY_MAX_MS) {
        log.warn(
          { server: name, err: error, remaining_s: Math.round(remainingMs / 1_000) },
          "a server is unavailable; waiting for it",
        );
      }
      await Bun.sleep(Math.min(pauseMs, remainingMs));
    }
  }
}

/**
 * Returns the dependencies that a probe requires in addition to the vital ones, from the query parameter `require`.
 * @returns undefined if the parameter names an unknown dependency
 */
export function requiredBy({ searchParams }: URL): readonly DependencyName[] | undefined {
  const names = searchParams.getAll("require").flatMap((list) => list.split(",").map((name) => name.trim()));
  const known = names.filter((name) => DEPENDENCY_NAMES.some((one) => one === name)) as DependencyName[];
  return known.length === names.length ? known : undefined;
}
