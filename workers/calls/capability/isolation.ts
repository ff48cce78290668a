/**
 * Keeps the children of capabilities away from the network and from the worker's files, environment and rights, as far as this
 * system allows. Each way is tried when the worker starts; the strongest that works is used.
 */
import {
  chmodSync,
  lchownSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { canLimitMemory } from "#shared/children/child.ts";
import { processFolder } from "#shared/files/process-folder.ts";
import type { Logger } from "#shared/logger.ts";

import type { TrialFindings } from "../../capabilities/isolation-trial.ts";
import { NATIVE_ENGINES } from "../../capabilities/engines.ts";
import type { Tools } from "../../capabilities/tools.ts";

import { enterPrivateRoot, readOnlyMounts, type Writable } from "./private-root.ts";

/** Resources that children are to have of their own. */
export type Wall = "network" | "environment" | "files";

export interface Isolation {
  /** Resources that children share with the worker nevertheless; empty where they are isolated. */
  readonly shared: readonly Wall[];
  /** A child's folder belongs to this user; undefined where children run as the worker does. */
  readonly user: number | undefined;
  /** Children see the writable folders that they are started with, at the paths that are named for them, and no others. */
  readonly hasPrivateRoot: boolean;
  /** Programs in a child may make user namespaces: the sandbox of a browser stands on them. */
  readonly makesNamespaces: boolean;
  /** Stands before a child's command. */
  readonly launcher: (writable: readonly Writable[]) => readonly string[];
}

/** Debian's user `nobody`, which owns nothing. */
const NOBODY = 65_534;

/** Its own process space hides `/proc/<worker>/environ`, where the worker's keys stand, and lets no signal out. */
const SPACES = ["--mount", "--net", "--pid", "--ipc", "--fork", "--kill-child"];

type Way = Pick<Isolation, "user" | "hasPrivateRoot" | "launcher">;

/** Children share all that the worker has. */
export const NO_ISOLATION: Isolation = {
  shared: ["network", "environment", "files"],
  user: undefined,
  hasPrivateRoot: false,
  makesNamespaces: false,
  launcher: () => [],
};

const TRIAL = fileURLToPath(new URL("../../capabilities/isolation-trial.ts", import.meta.url));
const TRIAL_MS = 10_000;
const folders = processFolder("sluice-trial-");

/** Logs which isolation and limits are in force. */
export async function findIsolation(tools: Tools, log: Pick<Logger, "info" | "warn">): Promise<Isolation> {
  const isolation = await strongest(tools);
  const { shared, user = "the worker's", makesNamespaces } = isolation;
  if (shared.length > 0) {
    log.warn(
      { shared, user },
      `no capability sandbox on this system: a file that exploits an engine can reach the worker's ${shared.join(", ")}; see /docs/operate/capabilities#isolation`,
    );
  } else log.info({ user, namespaces: makesNamespaces }, "capability sandbox active");
  if (!canLimitMemory()) {
    log.warn(
      {},
      "no memory limit for runs of capabilities on this system: one run can use up the memory of this machine",
    );
  }
  return isolation;
}

/** The engines that do not run without isolation, each with the reason; none where children are isolated. */
export function refuseEngines({ shared }: Isolation, log: Pick<Logger, "error">): Readonly<Record<string, string>> {
  if (shared.length === 0) return {};
  log.error(
    { shared, engines: NATIVE_ENGINES },
    "children of capabilities cannot be isolated: engines of native code are not offered. Allow user namespaces and mounts (see /docs/operate/capabilities#isolation), or set SLUICE_CAPABILITY_ISOLATION=off",
  );
  const reason = `It runs native code, and this worker cannot isolate it: its children would share ${shared.join(", ")} with it.`;
  return Object.fromEntries(NATIVE_ENGINES.map((engine) => [engine, reason]));
}

async function strongest(tools: Tools): Promise<Isolation> {
  for (const way of waysOf(tools)) {
    const findings = await tryWay(way);
    if (findings) return { ...way, shared: sharedBy(findings), makesNamespaces: findings.makesNamespaces };
  }
  return NO_ISOLATION;
}

/** The strongest first. */
function* waysOf(tools: Tools): Generator<Way> {
  const [unshare, setpriv] = [Bun.which("unshare"), Bun.which("setpriv")];
  const isRoot = process.getuid?.() === 0;
  if (unshare === null || setpriv === null) return;
  const asNobody = [setpriv, "--no-new-privs", `--reuid=${NOBODY}`, `--regid=${NOBODY}`, "--clear-groups", "--"];
  const mounts = readOnlyMounts(tools);
  if (mounts && isRoot) {
    yield {
      user: NOBODY,
      hasPrivateRoot: true,
      launcher: (writable) => [
        unshare,
        ...SPACES,
        "--",
        ...enterPrivateRoot(emptyFolder(), mounts, writable),
        ...asNobody,
      ],
    };
  } else if (mounts) {
    // The rights over the mounts end with the second user namespace, in which the child is the worker's user again.
    const ids = [`--map-user=${process.getuid?.()}`, `--map-group=${process.getgid?.()}`];
    yield {
      user: undefined,
      hasPrivateRoot: true,
      launcher: (writable) => [
        unshare,
        "--user",
        "--map-root-user",
        ...SPACES,
        "--",
        ...enterPrivateRoot(emptyFolder(), mounts, writable),
        unshare,
        "--user",
        ...ids,
        "--",
        setpriv,
        "--no-new-privs",
        "--",
      ],
    };
  }
  if (isRoot) yield { user: NOBODY, hasPrivateRoot: false, launcher: () => asNobody };
}

/** Each child's root is mounted on it, for that child alone. */
function emptyFolder(): string {
  const path = join(folders(), "root");
  mkdirSync(path, { recursive: true });
  return path;
}

/** Undefined where a child that is started this way cannot do its work. */
async function tryWay({ user, launcher }: Way): Promise<TrialFindings | undefined> {
  const folder = mkdtempSync(join(folders(), "trial-"));
  const workersFile = join(folders(), "workers");
  try {
    writeFileSync(workersFile, "");
    giveTo(folder, user);
    const command = [...launcher([{ source: folder, path: folder }]), process.execPath, TRIAL];
    const trial = Bun.spawn([...command, folder, workersFile, String(process.pid)], {
      stdio: ["ignore", "pipe", "ignore"],
      env: {},
      timeout: TRIAL_MS,
      killSignal: "SIGKILL",
    });
    const findings = await new Response(trial.stdout).text();
    return (await trial.exited) === 0 ? (JSON.parse(findings) as TrialFindings) : undefined;
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

function sharedBy({ network, readsEnvironment, seesFiles }: TrialFindings): readonly Wall[] {
  const walls: readonly (readonly [Wall, boolean])[] = [
    ["network", network === readlinkSync("/proc/self/ns/net")],
    ["environment", readsEnvironment],
    ["files", seesFiles],
  ];
  return walls.flatMap(([wall, isShared]) => (isShared ? [wall] : []));
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
