/**
 * A Docker engine with Compose and buildx, unpacked from Debian packages and started in namespaces of its own. When its first process
 * ends, the kernel ends every container and removes every mount and network of the engine.
 */
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, symlinkSync } from "node:fs";
import { join } from "node:path";

import { launch, launchUntil, run } from "#deploy/embedded/process.mjs";
import { eventually } from "#tests/faults/wait.ts";
import { unpackedPackages } from "#tests/support/debian-program.ts";
import { PROJECT_ROOT } from "#tests/support/infrastructure.ts";

import { firstProcessIn } from "../image/container.ts";

const LIBRARIES =
  "libc6 libcap2 libgcc-s1 libmnl0 libnftnl11 libnsl2 libseccomp2 libssl3t64 libsystemd0 libtirpc3t64 libwrap0 libxtables12 libzstd1 zlib1g";
const PROGRAMS =
  "docker.io docker-cli docker-compose docker-buildx containerd runc iptables busybox-static socat tini debootstrap";
const PACKAGES = { release: "trixie", packages: `${PROGRAMS} ${LIBRARIES}`.split(" "), path: "usr/sbin/dockerd" };

/** Commands of the machine that the engine needs, in addition to the unpacked packages. */
const APPLETS = ["env", "ip", "mount", "rmdir", "sh", "umount"];
const FIREWALL = ["iptables", "iptables-restore", "iptables-save", "ip6tables", "ip6tables-restore", "ip6tables-save"];

const READY_WITHIN_MS = 60_000;
const CGROUPS = "/sys/fs/cgroup";

/** Returns why this machine cannot run the engine, in a sentence; undefined if it can. */
export async function whyNot(): Promise<string | undefined> {
  if (process.platform !== "linux" || process.getuid?.() !== 0) return "a container engine needs root on Linux";
  if (!/\toverlay$/m.test(readFileSync("/proc/filesystems", "utf8"))) return "this kernel has no overlay file system";
  if (!["memory", "cgroup.controllers"].some((name) => existsSync(join(CGROUPS, name))))
    return "no control groups are mounted here";
  const args = ["--mount", "--pid", "--net", "--fork", "true"];
  const { code, stderr } = await run({ name: "unshare", command: "unshare", args, cwd: "/" });
  if (code !== 0) return `this machine creates no namespaces: ${stderr.trim()}`;
  try {
    await enginePackages();
    return undefined;
  } catch (error) {
    return `the engine cannot be fetched: ${error instanceof Error ? error.message : String(error)}`;
  }
}

/** Returns the folder of the unpacked packages. */
export function enginePackages(): Promise<string> {
  return unpackedPackages(PACKAGES);
}

export interface Engine {
  /** Runs a shell command beside the engine, in `folder` unless `cwd` says otherwise. @throws Error with its last lines if it fails */
  readonly sh: (command: string, options?: CommandOptions) => Promise<string>;
  /** Opens a Unix socket to a TCP port of the engine's network, and returns its path. */
  readonly openPort: (port: number) => Promise<string>;
  /** Ends the engine and everything that it started. */
  readonly stop: () => Promise<void>;
}

interface CommandOptions {
  readonly cwd?: string;
  readonly timeoutMs?: number;
}

/**
 * Starts the engine. Images and volumes stay in `folder` for the next start.
 * @param folder on a disk; containers may mount what is below it
 * @param network `host` for builds, which fetch packages; `own` for containers, whose ports and rules then stay off this machine
 */
export async function startEngine(folder: string, network: "host" | "own"): Promise<Engine> {
  const packages = await enginePackages();
  prepare(folder);
  const group = `sluice-${process.pid}`;
  const address = `unix://${folder}/docker.sock`;
  const environment = ["env", "-i", `HOME=${folder}`, `DOCKER_HOST=${address}`, "PATH=/usr/sbin:/usr/bin:/bin"];
  const view = [
    ["rw", join(packages, "usr"), "/usr", "link", "usr/lib", "/lib", "link", "usr/lib64", "/lib64"],
    ...["bin", "etc", "run", "tmp"].map((name) => ["rw", join(folder, name), `/${name}`]),
    ["rw", "/sys", "/sys", "rw", folder, folder],
  ].flat();
  const daemon = [
    ["dockerd", "--data-root", join(folder, "data"), "--exec-root", "/run/docker", "--pidfile", "/run/docker.pid"],
    ["-H", address, "--cgroup-parent", `/${group}`],
    network === "host" ? ["--bridge=none", "--iptables=false", "--ip-forward=false"] : [],
  ].flat();
  const { running } = await launchUntil(
    (onLine) =>
      launch({
        name: "dockerd",
        command: "unshare",
        args: [
          ["--mount", "--pid", "--fork", "--kill-child", ...(network === "own" ? ["--net"] : []), ...environment],
          ["sh", join(PROJECT_ROOT, "workers/calls/capability/private-root.sh"), join(folder, "root"), ...view],
          ["--", "tini", "--", "sh", "-c", 'ip link set lo up && exec "$@"', "sh", ...daemon],
        ].flat(),
        cwd: "/",
        onLine,
      }),
    (line) => (line.includes("API listen on") ? true : null),
    READY_WITHIN_MS,
  );
  const first = firstProcessIn(running);
  const inside = ["-t", String(first), "--mount", "--net", "--pid", "--root", "--wd=/", ...environment];
  return {
    async sh(command, { cwd = folder, timeoutMs = 120_000 } = {}) {
      const args = [...inside, "sh", "-c", 'cd "$1" && eval "$2"', "sh", cwd, command];
      const result = await run({ name: command, command: "nsenter", args, cwd: "/", timeoutMs });
      if (result.code === 0) return result.stdout;
      const said = `${result.stdout}\n${result.stderr}`.trim().slice(-4_000);
      throw new Error(
        `${command}: ${result.code === null ? `no end in ${timeoutMs} ms` : `code ${result.code}`}\n${said}`,
      );
    },
    async openPort(port) {
      const path = join(folder, `${port}.sock`);
      const args = [...inside, "socat", `UNIX-LISTEN:${path},fork`, `TCP:127.0.0.1:${port}`];
      // It ends with the engine, in whose namespace it is.
      launch({ name: `port ${port}`, command: "nsenter", args, cwd: "/" });
      await eventually(`the socket of port ${port}`, () => existsSync(path));
      return path;
    },
    async stop() {
      if (running.alive()) process.kill(first, "SIGTERM");
      const timer = setTimeout(() => running.kill("SIGKILL"), 60_000);
      await running.exited;
      clearTimeout(timer);
      for (const controller of readdirSync(CGROUPS)) await removeGroups(join(CGROUPS, controller, group));
      await removeGroups(join(CGROUPS, group));
    },
  };
}

/** Makes the folders that the engine sees as its own. A second engine in the same folder finds them there. */
function prepare(folder: string): void {
  for (const name of ["bin", "etc", "run", "tmp", "root"]) mkdirSync(join(folder, name), { recursive: true });
  const links = [
    ...APPLETS.map((name) => [name, "/usr/bin/busybox"] as const),
    ...FIREWALL.map((name) => [name, "/usr/sbin/xtables-nft-multi"] as const),
  ];
  for (const [name, target] of links) {
    const path = join(folder, "bin", name);
    rmSync(path, { force: true });
    symlinkSync(target, path);
  }
  for (const name of ["hosts", "resolv.conf"])
    cpSync(join("/etc", name), join(folder, "etc", name), { dereference: true });
}

/** Removes a control group and those below it; their processes have ended. */
async function removeGroups(path: string): Promise<void> {
  if (!existsSync(path)) return;
  for (const entry of readdirSync(path, { withFileTypes: true }))
    if (entry.isDirectory()) await removeGroups(join(path, entry.name));
  // The kernel reports a group as busy for a moment after its last process.
  await eventually(`the control group ${path} is empty`, () => (rmdirSync(path), true));
}
