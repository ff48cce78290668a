/** Runs programs from the Debian archive with all of their libraries, including the C library, so that they run on any machine with apt. */
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync } from "node:fs";
import { homedir } from "node:os";
import { basename, dirname, join } from "node:path";

import { unpackFromDebian } from "#deploy/embedded/apt-sources.mjs";

interface DebianProgram {
  readonly release: string;
  /** Debian packages to unpack: the program's package first, then its libraries. */
  readonly packages: readonly string[];
  /** Path of the program in its package. */
  readonly path: string;
}

/**
 * Returns the command that runs the program; the arguments follow it. Downloads the program unless an earlier run did.
 * @throws StartFault without a Debian archive
 */
export async function debianProgram(wanted: DebianProgram): Promise<readonly [program: string, ...loading: string[]]> {
  const folder = await unpackedPackages(wanted);
  const { loader, libraries } = findLoader(folder);
  return [loader, "--library-path", libraries, join(folder, wanted.path)];
}

/** Returns the folder with the unpacked packages. They are unpacked now, or were by an earlier run. */
export async function unpackedPackages({ release, packages, path }: DebianProgram): Promise<string> {
  const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "sluice");
  const folder = join(cache, `${basename(path)}-${release}-${process.arch}`);
  if (existsSync(join(folder, path))) return folder;
  await unpackFromDebian({ release, packages }, (unpacked) => {
    mkdirSync(cache, { recursive: true });
    // Renamed at the end, so that the folder exists only when it is complete.
    const part = `${folder}.${process.pid}`;
    cpSync(unpacked, part, { recursive: true, verbatimSymlinks: true });
    renameSync(part, folder);
    return Promise.resolve();
  });
  return folder;
}

function findLoader(folder: string): { readonly loader: string; readonly libraries: string } {
  const lib = join(folder, "usr/lib");
  for (const name of readdirSync(lib, { recursive: true, encoding: "utf8" })) {
    if (!/-linux-gnu\/ld-linux[^/]*\.so\.\d$/.test(name)) continue;
    const loader = join(lib, name);
    return { loader, libraries: dirname(loader) };
  }
  throw new Error(`${folder} holds no loader of programs`);
}
