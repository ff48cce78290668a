/**
 * What keeps the children of capabilities away from the network, from other processes and from the worker's own rights, as far
 * as this system allows it. Each way is tried when the worker starts; the strongest that works is used.
 */
import { chmodSync, lchownSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { processFolder } from "#shared/files/process-folder.ts";
import type { Logger } from "#shared/logger.ts";

export interface Isolation {
  /** Stands before a child's command. */
  readonly launcher: readonly string[];
  /** The same, for a child that reaches one port of this machine. */
  readonly launcherWithNetwork: readonly string[];
  /** A child's folder belongs to this user; undefined where children run as the worker does. */
  readonly user: number | undefined;
  readonly hasNetwork: boolean;
  readonly seesProcesses: boolean;
}

/** Debian's user `nobody`, which owns nothing. */
const NOBODY = 65_534;

interface Way {
  readonly needsRoot: boolean;
  readonly network: readonly string[];
  readonly processes: readonly string[];
  readonly user?: number;
}

/** Its own process space hides `/proc/<worker>/environ`, where the worker's keys stand. */
const PROCESSES = ["--pid", "--fork", "--mount-proc", "--kill-child"];

/** The strongest first. */
const WAYS: readonly Way[] = [
  { needsRoot: true, network: ["--net"], processes: PROCESSES, user: NOBODY },
  { needsRoot: true, network: [], processes: [], user: NOBODY },
  { needsRoot: false, network: ["--net"], processes: ["--user", "--map-current-user", ...PROCESSES] },
];

/** Children share all that the worker has. */
export const NO_ISOLATION: Isolation = {
  launcher: [],
  launcherWithNetwork: [],
  user: undefined,
  hasNetwork: true,
  seesProcesses: true,
};

const TRIAL = fileURLToPath(new URL("../../capabilities/isolation-trial.ts", import.meta.url));
const TRIAL_MS = 10_000;
const folders = processFolder("sluice-trial-");

/** Says in the log what is in force. */
export async function findIsolation(log: Pick<Logger, "info" | "warn">): Promise<Isolation> {
  const isolation = await strongest();
  const facts = {
    network: isolation.hasNetwork ? "shared" : "none",
    processes: isolation.seesProcesses ? "shared" : "own",
    user: isolation.user ?? "the worker's",
  };
  if (isolation.hasNetwork || isolation.seesProcesses) {
    log.warn(facts, "children of capabilities share more with the worker than they should; see the runbook");
  } else log.info(facts, "children of capabilities are isolated");
  return isolation;
}

async function strongest(): Promise<Isolation> {
  const [unshare, setpriv] = [Bun.which("unshare"), Bun.which("setpriv")];
  const isRoot = process.getuid?.() === 0;
  if (unshare === null || setpriv === null) return NO_ISOLATION;
  for (const { needsRoot, network, processes, user } of WAYS) {
    if (needsRoot && !isRoot) continue;
    const rights = [
      setpriv,
      "--no-new-privs",
      ...(user === undefined ? [] : [`--reuid=${user}`, `--regid=${user}`, "--clear-groups"]),
      "--",
    ];
    const launch = (spaces: readonly string[]): string[] => [
      ...(spaces.length === 0 ? [] : [unshare, ...spaces, "--"]),
      ...rights,
    ];
    const launcher = launch([...network, ...processes]);
    if (!(await works(launcher, user))) continue;
    return {
      launcher,
      launcherWithNetwork: launch(processes),
      user,
      hasNetwork: network.length === 0,
      seesProcesses: processes.length === 0,
    };
  }
  return NO_ISOLATION;
}

/** Whether a child that is started this way can load our code and write into a folder of its own. */
async function works(launcher: readonly string[], user: number | undefined): Promise<boolean> {
  const folder = mkdtempSync(join(folders(), "trial-"));
  try {
    giveTo(folder, user);
    const trial = Bun.spawn([...launcher, process.execPath, TRIAL, folder], {
      stdio: ["ignore", "ignore", "ignore"],
      env: {},
      timeout: TRIAL_MS,
      killSignal: "SIGKILL",
    });
    return (await trial.exited) === 0;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

/** Gives a run's folder and the files in it to the user of its child. */
export function giveTo(folder: string, user: number | undefined): void {
  if (user === undefined) return;
  // Passed through, not listed: the folders of other runs in it belong to the same user, but their names are not known.
  chmodSync(dirname(folder), 0o711);
  // Links are not followed: a child may have left one.
  for (const name of readdirSync(folder)) lchownSync(join(folder, name), user, user);
  lchownSync(folder, user, user);
}
