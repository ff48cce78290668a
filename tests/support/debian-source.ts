/** Downloads upstream sources from the Debian archive for test data of other projects, which no binary package contains. */
import { cpSync, existsSync, mkdirSync, readdirSync, renameSync, rmSync } from "node:fs";
import { homedir } from "node:os";
import { join } from "node:path";

import { debianArchive, openAptFolder } from "#deploy/embedded/apt-sources.mjs";
import { reasonOf } from "#deploy/embedded/fault.mjs";
import { run } from "#deploy/embedded/process.mjs";

export interface DebianSource {
  /** Name of the source package. */
  readonly name: string;
  /** Upstream version, without Debian's revision. The files, and therefore the counts in tests, differ between versions. */
  readonly version: string;
  /** Debian release that contains this version. */
  readonly release: string;
  /** Path of the folder to keep, such as `tests/wellformed`, below the tarball's first folder. */
  readonly folder: string;
}

/** Folder with the source, or the reason why the download failed. */
export type SourceFolder = { readonly folder: string } | { readonly missing: string };

/**
 * Returns the folder of a source, which is unpacked now or was by an earlier run. apt checks the archive's signature and the source's
 * digest.
 */
export async function sourceFolder(source: DebianSource): Promise<SourceFolder> {
  const { name, version, folder } = source;
  const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "sluice");
  const kept = join(cache, `${name}-${version}-${folder.replaceAll("/", "-")}`.replaceAll(/[^\w.+-]/g, "_"));
  if (existsSync(kept)) return { folder: kept };
  const archive = await debianArchive();
  if (archive === null) return { missing: "this system has no Debian archive" };
  const apt = openAptFolder(archive, "deb-src", source.release);
  try {
    const unpacked = await unpackedSource(source, apt);
    mkdirSync(cache, { recursive: true });
    // Renamed at the end, so that the folder is complete. A concurrent test may have created it first.
    const part = `${kept}.${process.pid}`;
    cpSync(unpacked, part, { recursive: true, verbatimSymlinks: true });
    if (existsSync(kept)) rmSync(part, { recursive: true });
    else renameSync(part, kept);
    return { folder: kept };
  } catch (error) {
    if (!(error instanceof MissingSource)) throw error;
    return { missing: `${name} ${version} cannot be had from the Debian archive: ${reasonOf(error).slice(0, 200)}` };
  } finally {
    apt.remove();
  }
}

class MissingSource extends Error {
  override readonly name = "MissingSource";
}

/** Downloads and unpacks a source. @throws MissingSource if the archive does not respond or lacks the version */
async function unpackedSource(
  source: DebianSource,
  { folder: work, runApt }: Pick<ReturnType<typeof openAptFolder>, "folder" | "runApt">,
): Promise<string> {
  // An update succeeds with warnings when one of several archives fails.
  await runApt(["update"]);
  const wantedSource = `${source.name}/${source.release}`;
  const { code, stderr } = await runApt(["source", "--download-only", "--tar-only", wantedSource]);
  if (code !== 0)
    throw new MissingSource(stderr.split("\n").find((line) => line.startsWith("E: ")) ?? "apt-get failed");
  const tarball = readdirSync(work).find((name) => name.startsWith(`${source.name}_${source.version}.orig.tar.`));
  if (tarball === undefined) throw new MissingSource(`${source.release} has another version`);
  const wanted = ["--wildcards", "--strip-components=1", "-C", join(work, "out"), `*/${source.folder}`];
  const tar = await run({ name: "tar", command: "tar", args: ["-xf", join(work, tarball), ...wanted], cwd: work });
  if (tar.code !== 0) throw new Error(`${tarball} cannot be unpacked: ${tar.stderr.slice(0, 300)}`);
  return join(work, "out", source.folder);
}
