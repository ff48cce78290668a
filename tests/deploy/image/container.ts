/** The image's folder as a root file system of its own, in which nothing but /tmp can be written: bubblewrap in place of a container. */
import { copyFileSync, existsSync, linkSync, mkdirSync, readFileSync } from "node:fs";
import { join } from "node:path";

import { type Exit, launch, launchUntil, run, type Running } from "#deploy/embedded/process.mjs";
import { debianProgram, unpackedPackages } from "#tests/support/debian-program.ts";
import { BUN } from "#tests/support/infrastructure.ts";

import { readStages, settingsOf } from "./dockerfile.ts";

const BUBBLEWRAP = {
  release: "trixie",
  // tini comes along: the image takes it from the same archive.
  packages: ["bubblewrap", "libc6", "libcap2", "libselinux1", "libpcre2-8-0", "tini"],
  path: "usr/bin/bwrap",
} as const;

/** Time for a role to be ready on a busy machine. */
const READY_WITHIN_MS = 60_000;

/** Returns why this machine runs no bubblewrap, in a sentence; undefined where it does. */
export async function whyNot(): Promise<string | undefined> {
  try {
    const [command, ...loading] = await debianProgram(BUBBLEWRAP);
    const args = [...loading, "--unshare-user", "--unshare-pid", "--ro-bind", "/", "/", "true"];
    const { code, stderr } = await run({ name: "bwrap", command, args, cwd: "/" });
    return code === 0 ? undefined : `this machine lets nobody make user namespaces: ${stderr.trim()}`;
  } catch (error) {
    return `there is no bubblewrap here: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Puts the programs into `folder` that the image has of its base and of the Debian archive. */
export async function collectPrograms(folder: string): Promise<void> {
  mkdirSync(folder, { recursive: true });
  const unpacked = await unpackedPackages(BUBBLEWRAP);
  copyFileSync(join(unpacked, "usr/bin/tini-static"), join(folder, "tini"));
  try {
    linkSync(BUN, join(folder, "bun"));
  } catch {
    // On another file system.
    copyFileSync(BUN, join(folder, "bun"));
  }
}

export interface Container {
  readonly lines: () => string[];
  /** Address of the port that it named in its `ready` line. */
  readonly adminUrl: string;
  /** Asks the entry point to end, as an orchestrator does. */
  readonly stop: () => Promise<Exit>;
}

interface Started {
  readonly image: string;
  readonly programs: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
}

/** Starts a role and waits until it is ready. @throws LaunchError with its last lines when it ends before */
export async function startContainer(started: Started): Promise<Container> {
  const { command, args } = await commandOf(started);
  const { running, value } = await launchUntil(
    (onLine) => launch({ name: started.args.join(" "), command, args, cwd: "/", env: {}, onLine }),
    adminPortOf,
    READY_WITHIN_MS,
  );
  return {
    lines: running.lines,
    adminUrl: `http://127.0.0.1:${value}`,
    async stop() {
      process.kill(firstProcessIn(running), "SIGTERM");
      return await running.exited;
    },
  };
}

/** Runs a command of the image to its end. */
export async function runContainer(started: Started): Promise<{ code: number | null; stdout: string; stderr: string }> {
  const { command, args } = await commandOf(started);
  return run({ name: started.args.join(" "), command, args, cwd: "/", env: {} });
}

async function commandOf({
  image,
  programs,
  args,
  env,
}: Started): Promise<{ readonly command: string; readonly args: readonly string[] }> {
  const [command, ...loading] = await debianProgram(BUBBLEWRAP);
  const stage = readStages().at(-1);
  if (stage === undefined) throw new Error("the Dockerfile has no stage");
  const { environment, user, workdir, entrypoint } = settingsOf(stage);
  const [uid = "", gid = ""] = user.split(":");
  const system = [
    "/usr",
    "/bin",
    "/sbin",
    "/lib",
    "/lib64",
    "/etc/passwd",
    "/etc/group",
    "/etc/ssl",
    "/etc/nsswitch.conf",
  ];
  const own = [[programs, "/opt/programs"] as const, [join(image, workdir), workdir] as const];
  const shown = [...system.filter((path) => existsSync(path)).map((path) => [path, path] as const), ...own];
  const spaces = "--unshare-user --unshare-pid --unshare-ipc --unshare-uts --as-pid-1 --die-with-parent".split(" ");
  const files = shown.flatMap(([path, target]) => ["--ro-bind", path, target]);
  files.push("--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--remount-ro", "/", "--chdir", workdir);
  const all = { ...environment, ...env, PATH: "/opt/programs:/usr/local/bin:/usr/bin:/bin:/usr/sbin:/sbin" };
  const settings = Object.entries(all).flatMap(([name, value]) => ["--setenv", name, value]);
  settings.unshift("--uid", uid, "--gid", gid, "--clearenv");
  return {
    command,
    args: [...loading, ...spaces, ...files, ...settings, "--", ...entrypoint, ...args],
  };
}

/** Returns the child that a program such as bubblewrap or unshare waits for: the first process of its namespace. */
export function firstProcessIn({ pid }: Pick<Running, "pid">): number {
  const [child = ""] = readFileSync(`/proc/${pid}/task/${pid}/children`, "utf8").trim().split(" ");
  if (child === "") throw new Error("the container holds no process");
  return Number(child);
}

function adminPortOf(line: string): number | null {
  if (!line.startsWith("{") || !line.includes('"ready"')) return null;
  const entry = JSON.parse(line) as { readonly msg?: string; readonly admin_port?: number };
  return entry.msg === "ready" ? (entry.admin_port ?? null) : null;
}
