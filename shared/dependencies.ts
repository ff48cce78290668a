/**
 * The servers a process depends on, and whether each can be used right now. Each is asked at most once a second, however often
 * readiness is, and every few seconds for the metric.
 */
import { beforeAbort } from "./abortable.ts";
import type { Logger } from "./logger.ts";
import { paced } from "./pace.ts";

/** Each server that a process depends on is asked whether it is there this often, and not twice within this time. */
const DEPENDENCY_CHECK_MS = 5_000;
const DEPENDENCY_FRESH_MS = 1_000;

/** Why a check fails, as a category; an error's own words may hold addresses or credentials. */
export type CheckDetail = "ok" | "timeout" | "unreachable" | "starting" | "stopping" | "failed";

export interface CheckResult {
  readonly name: string;
  readonly ok: boolean;
  readonly detail: CheckDetail;
}

export interface Readiness {
  readonly ok: boolean;
  /** Results of every dependency. */
  readonly checks: readonly CheckResult[];
  /** Results that keep the process from being ready. */
  readonly failing: readonly CheckResult[];
}

/** Resolves when the dependency can be used; throws or stays silent when not. The signal aborts at the deadline. */
export type Check = (signal: AbortSignal) => Promise<unknown>;

export interface Dependency {
  readonly name: DependencyName;
  readonly check: Check;
  /** Without it the process cannot do its work, so it is not ready. What a probe asks for is so too, for that probe. */
  readonly isVital: boolean;
}

export const DEPENDENCY_NAMES = ["database", "queue", "storage"] as const;
export type DependencyName = (typeof DEPENDENCY_NAMES)[number];

export interface Dependencies {
  /** Waits for vital ones and those asked for, each for two seconds at most; of others it tells what was known last. */
  readiness(required?: readonly DependencyName[]): Promise<Readiness>;
  close(): void;
}

export interface DependencyOptions {
  /** Once aborted, the process is not ready, whatever the checks say. */
  readonly stopping?: AbortSignal;
  readonly onResult?: (result: CheckResult) => void;
}

/** An orchestrator asks every few seconds; a check that takes longer is a failing one. */
const CHECK_DEADLINE_MS = 2_000;

interface RunningCheck {
  readonly at: number;
  readonly result: Promise<CheckResult>;
}

/** Asks each every few seconds, and whenever readiness is wanted. */
export function watchDependencies(
  dependencies: readonly Dependency[],
  { stopping, onResult }: DependencyOptions = {},
): Dependencies {
  const asked = new Map<DependencyName, RunningCheck>();
  const known = new Map<DependencyName, CheckResult>();

  /** Runs a check, unless the last one began less than a second ago: then that one's result stands. */
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

const LOOK_MS = paced(200);
const LOOK_MS_MAX = paced(2_000);

/**
 * Returns what `attempt` gives, which is tried again for as long as its server is away: a process may be started together with
 * its servers, or while one of them restarts.
 * @throws the fault of the last attempt after `waitMs`, and at once what is no server's absence
 */
export async function awaitServer<T>(
  name: string,
  attempt: () => Promise<T>,
  options: { readonly waitMs: number; readonly log: Logger; readonly isAway?: (error: unknown) => boolean },
): Promise<T> {
  const { waitMs, log, isAway = (error) => categoryOf(error) === "unreachable" } = options;
  const giveUpAt = performance.now() + waitMs;
  for (let pauseMs = LOOK_MS; ; pauseMs = Math.min(2 * pauseMs, LOOK_MS_MAX)) {
    try {
      return await attempt();
    } catch (error) {
      const leftMs = giveUpAt - performance.now();
      if (leftMs <= 0 || !isAway(error)) throw error;
      if (pauseMs === LOOK_MS || pauseMs === LOOK_MS_MAX) {
        log.warn({ server: name, err: error, left_s: Math.round(leftMs / 1_000) }, "a server is away, waiting for it");
      }
      await Bun.sleep(Math.min(pauseMs, leftMs));
    }
  }
}

/**
 * The dependencies that a probe asks for beside the vital ones, from the parameter `require` of its address.
 * @returns undefined where it names one that there is not
 */
export function requiredBy({ searchParams }: URL): readonly DependencyName[] | undefined {
  const names = searchParams.getAll("require").flatMap((list) => list.split(",").map((name) => name.trim()));
  const known = names.filter((name) => DEPENDENCY_NAMES.some((one) => one === name)) as DependencyName[];
  return known.length === names.length ? known : undefined;
}
