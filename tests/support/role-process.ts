/** Runs one role of Sluice as a separate process, as an operator does. */
import { launch, launchUntil, type Exit, type Running } from "#deploy/embedded/process.mjs";

import { ENTRY, PROJECT_ROOT } from "./infrastructure.ts";

/** Timeout of a role's start, in milliseconds. Includes connections, topology check and compilation on a busy machine. */
const READY_WITHIN_MS = 60_000;

export interface ManagedProcess {
  readonly name: string;
  readonly pid: number;
  /** Address of the admin server. It changes with each start. */
  readonly adminUrl: string;
  /** Public address of an ingress, which stays the same after a restart. Empty for other roles. */
  readonly baseUrl: string;
  alive(): boolean;
  /** Sends the signal and returns immediately. */
  kill(signal: NodeJS.Signals): void;
  /** Resolves with the exit status when the process ends. */
  exited(): Promise<Exit>;
  /** Stops the process cleanly and waits until it ends. Kills it after ten seconds. */
  stop(): Promise<Exit>;
  /** Stops the process if it runs, starts it with the same settings, and waits until it is ready. */
  restart(): Promise<void>;
  /** Returns every line printed since the first start. */
  logs(): string[];
}

interface ReadyLine {
  readonly msg: "ready";
  readonly role: string;
  readonly port?: number;
  readonly admin_port: number;
}

/** A version of the project from which roles can be started. */
export interface Version {
  readonly entry: readonly [command: string, ...args: string[]];
  readonly folder: string;
}

const THIS_VERSION: Version = { entry: ENTRY, folder: PROJECT_ROOT };

export interface RoleOptions {
  /** Version of the project to start. Default: this one. */
  readonly version?: Version;
  /** Command that executes the entry, placed before it. */
  readonly wrapper?: readonly string[];
}

/**
 * Starts a role with these arguments and waits for its `ready` line.
 * @throws LaunchError with the last lines if the role exits, or is not ready in time
 */
export async function startRole(
  args: readonly string[],
  env: Record<string, string>,
  { version = THIS_VERSION, wrapper = [] }: RoleOptions = {},
): Promise<ManagedProcess> {
  const name = args.join(" ");
  const earlier: string[] = [];
  const command = [...wrapper, ...version.entry, ...args];
  const launching = (): ReturnType<typeof launchRole> => launchRole(name, command, env, version.folder);
  let current = await launching();
  const stop = (): Promise<Exit> => current.running.stop("SIGTERM");
  return {
    name,
    get pid() {
      return current.running.pid;
    },
    get adminUrl() {
      return `http://127.0.0.1:${current.ready.admin_port}`;
    },
    get baseUrl() {
      return current.ready.port === undefined ? "" : `http://127.0.0.1:${current.ready.port}`;
    },
    alive: () => current.running.alive(),
    kill: (signal) => current.running.kill(signal),
    exited: () => current.running.exited,
    stop,
    async restart() {
      if (current.running.alive()) await stop();
      earlier.push(...current.running.lines());
      current = await launching();
    },
    logs: () => [...earlier, ...current.running.lines()],
  };
}

async function launchRole(
  name: string,
  [command = "", ...args]: readonly string[],
  env: Record<string, string>,
  folder: string,
): Promise<{ running: Running; ready: ReadyLine }> {
  const { running, value } = await launchUntil(
    (onLine) => launch({ name, command, args, cwd: folder, env, onLine }),
    readyLine,
    READY_WITHIN_MS,
  );
  return { running, ready: value };
}

function readyLine(line: string): ReadyLine | null {
  if (!line.startsWith("{") || !line.includes('"ready"')) return null;
  try {
    const entry = JSON.parse(line) as { msg?: unknown };
    return entry.msg === "ready" ? (entry as ReadyLine) : null;
  } catch {
    return null;
  }
}
