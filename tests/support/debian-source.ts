/** Upstream sources from the Debian archive: test data of other projects, which no binary package contains. */
import { cpSync, existsSync, mkdirSync, mkdtempSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { homedir, tmpdir } from "node:os";
import { join } from "node:path";

import { debianArchive } from "#deploy/embedded/apt-sources.mjs";
import { reasonOf } from "#deploy/embedded/fault.mjs";
import { run } from "#deploy/embedded/process.mjs";

export interface DebianSource {
  /** Name of the source package. */
  readonly name: string;
  /** Upstream version, without Debian's revision. Another version has other files, which change the counts. */
  readonly version: string;
  /** Debian release with this version. */
  readonly release: string;
  /** Folder of the source to keep, such as `tests/wellformed`, without the tarball's first folder. */
  readonly folder: string;
}

/** Folder of the source, or the reason for a failed download. */
export type SourceFolder = { readonly folder: string } | { readonly missing: string };

/** Returns a source's folder, unpacked now or by an earlier run. apt checks the archive's signature and the source's digest. */
export async function sourceFolder(source: DebianSource): Promise<SourceFolder> {
  const { name, version, folder } = source;
  const cache = join(process.env["XDG_CACHE_HOME"] ?? join(homedir(), ".cache"), "sluice");
  const kept = join(cache, `${name}-${version}-${folder.replaceAll("/", "-")}`.replaceAll(/[^\w.+-]/g, "_"));
  if (existsSync(kept)) return { folder: kept };
  const archive = await debianArchive();
  if (archive === null) return { missing: "this system has no Debian archive" };
  const work = mkdtempSync(join(tmpdir(), "sluice-source-"));
  try {
    const unpacked = await unpackedSource(source, archive, work);
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
    rmSync(work, { recursive: true, force: true });
  }
}

class MissingSource extends Error {
  override readonly name = "MissingSource";
}

type Archive = NonNullable<Awaited<ReturnType<typeof debianArchive>>>;

/** @throws MissingSource if the archive does not respond or lacks the version */
async function unpackedSource(source: DebianSource, archive: Archive, work: string): Promise<string> {
  for (const folder of ["lists/partial", "cache/archives/partial", "out"]) mkdirSync(join(work, folder), { recursive: true }); // prettier-ignore
  const lines = archive.uris.map((uri) => `deb-src [signed-by=${archive.keyring}] ${uri} ${source.release} main\n`);
  writeFileSync(join(work, "sources.list"), lines.join(""));
  const settings = {
    "Dir::Etc::sourcelist": join(work, "sources.list"),
    "Dir::Etc::sourceparts": "/dev/null",
    "Dir::State::lists": join(work, "lists"),
    "Dir::Cache": join(work, "cache"),
    "Acquire::Languages": "none",
    "Acquire::Retries": "2",
    "Acquire::http::Timeout": "20",
    // apt's unprivileged download account cannot enter the private folder.
    ...(process.getuid?.() === 0 ? { "APT::Sandbox::User": "root" } : {}),
  };
  const options = Object.entries(settings).flatMap(([key, value]) => ["-o", `${key}=${value}`]);
  const aptGet = (args: readonly string[]) =>
    run({ name: "apt-get", command: "apt-get", args: ["-qq", ...options, ...args], cwd: work, env: { ...process.env, LC_ALL: "C" } }); // prettier-ignore
  // An update succeeds with warnings when one of several archives fails.
  await aptGet(["update"]);
  const asked = `${source.name}/${source.release}`;
  const { code, stderr } = await aptGet(["source", "--download-only", "--tar-only", asked]);
  if (code !== 0)
    throw new MissingSource(stderr.split("\n").find((line) => line.startsWith("E: ")) ?? "apt-get failed");
  const tarball = readdirSync(work).find((name) => name.startsWith(`${source.name}_${source.version}.orig.tar.`));
  if (tarball === undefined) throw new MissingSource(`${source.release} has another version`);
  const wanted = ["--wildcards", "--strip-components=1", "-C", join(work, "out"), `*/${source.folder}`];
  const tar = await run({ name: "tar", command: "tar", args: ["-xf", join(work, tarball), ...wanted], cwd: work });
  if (tar.code !== 0) throw new Error(`${tarball} cannot be unpacked: ${tar.stderr.slice(0, 300)}`);
  return join(work, "out", source.folder);
}
