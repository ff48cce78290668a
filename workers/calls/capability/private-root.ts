/** The root file system of a child: the system's programs and libraries, our code and fonts, to be read, and what is its own. */
import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import type { Tools } from "../../capabilities/tools.ts";

/** A folder of the worker's that a child may write, and where the child finds it. */
export interface Writable {
  readonly source: string;
  readonly path: string;
}

/** A mount as arguments of private-root.sh. */
export type Mount = readonly string[];

const SCRIPT = fileURLToPath(new URL("private-root.sh", import.meta.url));
const PROJECT = fileURLToPath(new URL("../../../", import.meta.url));

/** Whatever of it there is. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"].concat(
  ["alternatives", "fonts", "group", "ld.so.cache", "libreoffice", "localtime", "nsswitch.conf", "passwd"].map((name) =>
    join("/etc", name),
  ),
  "/var/cache/fontconfig",
);
/** All that children load; the project's folder may hold a data folder, and settings. */
const CODE = ["node_modules", "package.json", "tsconfig.json", "bunfig.toml", "schemas", "shared", "workers"];

/** Undefined where the system does not tell what they lie on. */
export function readOnlyMounts({ chromium, libreoffice }: Tools): readonly Mount[] | undefined {
  const findmnt = Bun.which("findmnt");
  if (findmnt === null) return undefined;
  const wanted = [
    ...SYSTEM,
    ...CODE.map((name) => join(PROJECT, name)),
    process.execPath,
    ...(chromium ? [dirname(chromium.path), chromium.libraries ?? chromium.path] : []),
    // `program/soffice` is in the folder of its installation, which may be outside of the system's.
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
      // What is mounted beneath it comes with it, and keeps the right to be written.
      for (const { target, flags } of under(findmnt, path)) mounts.push(["under", target, target, flags]);
    }
  }
  return mounts;
}

/** Flags of the mount that a path lies on, such as `rw,nosuid,relatime`. */
function flagsOf(findmnt: string, path: string): string {
  const found = Bun.spawnSync([findmnt, "-nro", "VFS-OPTIONS", "--target", path], { env: {} });
  return found.stdout.toString().trim().split("\n").at(-1) ?? "";
}

/** Mounts in a folder, those that others lie in first. */
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
 * Stands before what is to run there.
 * @param empty a folder to mount it on
 */
export function enterPrivateRoot(
  empty: string,
  mounts: readonly Mount[],
  writable: readonly Writable[],
): readonly string[] {
  // Those of the system's folder of temporary files first: others may lie in it.
  const own = writable.map(({ source, path }) => ["rw", source, path]);
  const [first, rest] = [own.filter(([, , path]) => path === "/tmp"), own.filter(([, , path]) => path !== "/tmp")];
  return ["sh", SCRIPT, empty, ...first.flat(), ...mounts.flat(), ...rest.flat(), "--"];
}
