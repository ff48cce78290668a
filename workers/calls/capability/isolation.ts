/**
 * Isolates the child processes of capabilities from the network and from the worker's files, environment and privileges, as far as the
 * system allows. The worker tries each method when it starts, and uses the strongest one that works.
 */
import {
  chmodSync,
  existsSync,
  lchownSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readlinkSync,
  realpathSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import { canLimitMemory } from "#shared/children/child.ts";
import { processFolder } from "#shared/files/process-folder.ts";
import type { Logger } from "#shared/base/logger.ts";

import { NATIVE_ENGINES } from "../../capabilities/engines.ts";
import type { TrialFindings } from "../../capabilities/isolation-trial.ts";
import type { Tools } from "../../capabilities/tools.ts";

/** Kinds of resources from which children are isolated. */
export type ResourceKind = "network" | "environment" | "files";

export interface Isolation {
  /** Resources that children share with the worker despite isolation; empty if they are fully isolated. */
  readonly shared: readonly ResourceKind[];
  /** User id that owns a child's folder. Undefined if children run as the user of the worker. */
  readonly user: number | undefined;
  /** True if a child sees only the writable folders with which it was started, at the paths in `Writable`. */
  readonly hasPrivateRoot: boolean;
  /** True if programs in a child may create user namespaces. The sandbox of a browser depends on them. */
  readonly makesNamespaces: boolean;
  /** Returns the command and arguments to place before a child's command. */
  readonly launcher: (writable: readonly Writable[]) => readonly string[];
}

/** Id of Debian's user without privileges, which owns no files. */
const NOBODY = 65_534;

/**
 * Namespaces of a child. The separate PID namespace hides `/proc/<worker>/environ`, which contains the worker's keys, and blocks signals to
 * the worker.
 */
const SPACES = ["--mount", "--net", "--pid", "--ipc", "--fork", "--kill-child"];

type Way = Pick<Isolation, "user" | "hasPrivateRoot" | "launcher">;

/** Isolation settings of children that are not isolated: they share all resources of the worker. */
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

/** Finds the strongest isolation that works. Logs the isolation and the limits in effect. */
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

/** Returns the engines that must not run without isolation, each with the reason. Returns none if children are isolated. */
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

/** Yields the methods of isolation that the programs on this system permit, strongest first. */
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
    // The second user namespace, in which the child is the worker's user again, takes its privileges over the mounts away.
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

/** Returns the empty folder on which each child mounts its private root. */
function emptyFolder(): string {
  const path = join(folders(), "root");
  mkdirSync(path, { recursive: true });
  return path;
}

/** Tries a method of isolation. Returns the results of the trial; undefined if a child that is started this way cannot work. */
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

function sharedBy({ network, readsEnvironment, seesFiles }: TrialFindings): readonly ResourceKind[] {
  const resources: readonly (readonly [ResourceKind, boolean])[] = [
    ["network", network === readlinkSync("/proc/self/ns/net")],
    ["environment", readsEnvironment],
    ["files", seesFiles],
  ];
  return resources.flatMap(([resource, isShared]) => (isShared ? [resource] : []));
}

/** Changes the owner of a run's folder and its files to the user of the child. */
export function giveTo(folder: string, user: number | undefined): void {
  if (user === undefined) return;
  // Can be traversed but not listed: the folders of other runs in it belong to the same user, but their names are unknown.
  chmodSync(dirname(folder), 0o711);
  // Links are not followed: a child may have created one.
  for (const name of readdirSync(folder)) lchownSync(join(folder, name), user, user);
  lchownSync(folder, user, user);
}

// Private root file system of a child: read-only programs and libraries of the system, our code and fonts, and the child's own folders.

/** Folder that a child process may write: `source` is its path for the worker, `path` its path inside the child's root. */
interface Writable {
  readonly source: string;
  readonly path: string;
}

/** One mount of a child's root, as arguments of private-root.sh. */
type Mount = readonly string[];

const SCRIPT = fileURLToPath(new URL("private-root.sh", import.meta.url));
const PROJECT = fileURLToPath(new URL("../../../", import.meta.url));

/** System folders that are mounted into the child's root. Missing folders are skipped. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"].concat(
  ["alternatives", "fonts", "group", "ld.so.cache", "libreoffice", "localtime", "nsswitch.conf", "passwd"].map((name) =>
    join("/etc", name),
  ),
  "/var/cache/fontconfig",
);
/**
 * Paths of all code that child processes load. The whole project folder is not mounted, because it may contain a data folder and settings.
 */
const CODE = ["node_modules", "package.json", "tsconfig.json", "bunfig.toml", "schemas", "shared", "workers"];

/** Returns the read-only mounts of a child's root; undefined if the system lacks `findmnt`, which reads the flags of existing mounts. */
function readOnlyMounts({ chromium, libreoffice }: Tools): readonly Mount[] | undefined {
  const findmnt = Bun.which("findmnt");
  if (findmnt === null) return undefined;
  const wanted = [
    ...SYSTEM,
    ...CODE.map((name) => join(PROJECT, name)),
    process.execPath,
    ...(chromium ? [dirname(chromium.path), chromium.libraries ?? chromium.path] : []),
    // `program/soffice` is in the folder of its installation, which may be outside of the folders of the system.
    ...(libreoffice ? [dirname(dirname(libreoffice.path))] : []),
  ];
  const mounts: Mount[] = [];
  const held: string[] = [];
  for (let [path] = wanted; path !== undefined; [path] = wanted) {
    wanted.shift();
    if (!existsSync(path) || held.some((one) => `${path}/`.startsWith(`${one}/`))) continue;
    held.push(path);
    if (lstatSync(path).isSymbolicLink()) {
      mounts.push(["link", readlinkSync(path), path]);
      wanted.unshift(realpathSync(path));
    } else {
      mounts.push(["ro", path, path, flagsOf(findmnt, path)]);
      // File systems mounted below the path are included, and would stay writable.
      for (const { target, flags } of under(findmnt, path)) mounts.push(["under", target, target, flags]);
    }
  }
  return mounts;
}

/** Returns the flags of the mount that contains a path, such as `rw,nosuid,relatime`. */
function flagsOf(findmnt: string, path: string): string {
  const found = Bun.spawnSync([findmnt, "-nro", "VFS-OPTIONS", "--target", path], { env: {} });
  return found.stdout.toString().trim().split("\n").at(-1) ?? "";
}

/** Returns the mounts below a folder, outer mounts first. */
function under(findmnt: string, path: string): readonly { readonly target: string; readonly flags: string }[] {
  const found = Bun.spawnSync([findmnt, "-Jlo", "TARGET,VFS-OPTIONS"], { env: {} });
  const { filesystems } = JSON.parse(found.stdout.toString()) as {
    readonly filesystems: readonly { readonly target: string; readonly "vfs-options": string }[];
  };
  const targets = new Map(filesystems.map((one) => [one.target, one["vfs-options"]]));
  const within = [...targets]
    .filter(([target]) => target.startsWith(`${path}/`))
    .toSorted(([a], [b]) => (a < b ? -1 : 1));
  return within.map(([target, flags]) => ({ target, flags }));
}

/**
 * Returns a command prefix: the command that follows it runs inside the private root.
 * @param empty empty folder on which the root is mounted
 */
function enterPrivateRoot(empty: string, mounts: readonly Mount[], writable: readonly Writable[]): readonly string[] {
  // The folder for `/tmp` comes first, since other folders may be mounted below it.
  const own = writable.map(({ source, path }) => ["rw", source, path]);
  const [first, rest] = [own.filter(([, , path]) => path === "/tmp"), own.filter(([, , path]) => path !== "/tmp")];
  return ["sh", SCRIPT, empty, ...first.flat(), ...mounts.flat(), ...rest.flat(), "--"];
}
