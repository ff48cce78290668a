/** Private root file system of a child: read-only programs and libraries of the system, our code and fonts, and the child's own folders. */
import { existsSync, lstatSync, readlinkSync, realpathSync } from "node:fs";
import { dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import type { Tools } from "../../capabilities/tools.ts";

/** Folder of the worker that a child may write, and its path for the child. */
export interface Writable {
  readonly source: string;
  readonly path: string;
}

/** Mount as arguments of private-root.sh. */
export type Mount = readonly string[];

const SCRIPT = fileURLToPath(new URL("private-root.sh", import.meta.url));
const PROJECT = fileURLToPath(new URL("../../../", import.meta.url));

/** Folders of the system; missing ones are skipped. */
const SYSTEM = ["/usr", "/bin", "/sbin", "/lib", "/lib32", "/lib64", "/libx32"].concat(
  ["alternatives", "fonts", "group", "ld.so.cache", "libreoffice", "localtime", "nsswitch.conf", "passwd"].map((name) =>
    join("/etc", name),
  ),
  "/var/cache/fontconfig",
);
/** All code that children load. The whole project folder is not mounted, because it may contain a data folder and settings. */
const CODE = ["node_modules", "package.json", "tsconfig.json", "bunfig.toml", "schemas", "shared", "workers"];

/** Returns the read-only mounts; undefined if the system has no `findmnt` to read their flags. */
export function readOnlyMounts({ chromium, libreoffice }: Tools): readonly Mount[] | undefined {
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
 * Returns the command and arguments that precede a command to run in the private root.
 * @param empty folder on which the root is mounted
 */
export function enterPrivateRoot(
  empty: string,
  mounts: readonly Mount[],
  writable: readonly Writable[],
): readonly string[] {
  // The folder for `/tmp` comes first, since other folders may be mounted below it.
  const own = writable.map(({ source, path }) => ["rw", source, path]);
  const [first, rest] = [own.filter(([, , path]) => path === "/tmp"), own.filter(([, , path]) => path !== "/tmp")];
  return ["sh", SCRIPT, empty, ...first.flat(), ...mounts.flat(), ...rest.flat(), "--"];
}
