// @ts-check
/** Folder for what a run's servers and tests write: hundreds of databases of a thousand small files each. */
import { accessSync, chmodSync, constants, mkdtempSync, rmSync, statfsSync } from "node:fs";
import { join } from "node:path";

import { watchFolder } from "#deploy/embedded/reaper.mjs";

const MEMORY = "/dev/shm";
/** Twice what a whole run was seen to hold at once, of which the packages of the image are the most. */
const ROOM_BYTES_MIN = 3 * 1024 ** 3;

/**
 * A copy of a database takes 20 ms in memory and 400 ms on a disk.
 * @param {Record<string, string | undefined>} env
 * @returns {{ env: Record<string, string>, remove: () => void } | undefined} `TMPDIR` as a new folder in memory, where there is
 *   room and the caller has not set it
 */
export function scratchEnvironment(env) {
  if ((env["TMPDIR"] ?? "") !== "") return undefined;
  try {
    accessSync(MEMORY, constants.W_OK);
    const { bavail, bsize } = statfsSync(MEMORY);
    if (bavail * bsize < ROOM_BYTES_MIN) return undefined;
  } catch {
    return undefined;
  }
  const folder = mkdtempSync(join(MEMORY, "sluice-"));
  watchFolder(folder);
  // Children of capabilities run as another user, and reach their own folders below.
  chmodSync(folder, 0o711);
  return { env: { TMPDIR: folder }, remove: () => rmSync(folder, { recursive: true, force: true }) };
}
