/**
 * Home folder of each child, for its temporary files and its current run. The child can write no other files of this machine. With a
 * private root, it also sees no files of other runs.
 */
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, renameSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";

import type { Launch } from "#shared/children/pool.ts";
import { processFolder } from "#shared/files/process-folder.ts";
import { MediaError } from "#shared/children/media-error.ts";

import { giveTo, type Isolation } from "./isolation.ts";

const homes = processFolder("sluice-engines-");
/** Returns the parent folder of all run folders. With a private root, a child sees the folder of its run at the same path. */
export const runFolders = processFolder("sluice-runs-");

/** Current paths of run folders, by their original path. Contains only folders that were moved into the home folder of a child. */
const moved = new Map<string, string>();

/** Returns the path at which the worker currently finds the folder of a run. */
export function placeOf(folder: string): string {
  return moved.get(folder) ?? folder;
}

export function openHome({ hasPrivateRoot, user, launcher }: Isolation): Launch {
  const home = mkdtempSync(join(homes(), "child-"));
  const [temporary, runs] = [join(home, "temporary"), join(home, "runs")];
  for (const folder of [temporary, runs]) mkdirSync(folder);
  giveTo(temporary, user);
  // A child of another user can traverse the folder, but not list it.
  chmodSync(runs, 0o711);
  // Files that a program writes after the end of its child are deleted when the worker ends.
  const close = (): Promise<void> => rm(home, { recursive: true, force: true }).catch(() => undefined);
  if (!hasPrivateRoot) {
    // The parent folder of the home can be traversed by other children, but not listed.
    giveTo(home, user);
    return { launcher: launcher([]), environment: { TMPDIR: temporary }, enter: () => () => undefined, close };
  }
  return {
    launcher: launcher([
      { source: temporary, path: "/tmp" },
      { source: runs, path: runFolders() },
    ]),
    environment: { TMPDIR: "/tmp" },
    enter(folder) {
      const within = join(runs, basename(folder));
      renameSync(folder, within);
      moved.set(folder, within);
      return () => {
        moved.delete(folder);
        renameSync(within, folder);
        // The child can write the parent folder, so it may have replaced the folder.
        if (!lstatSync(folder).isDirectory())
          throw new MediaError("failed", "a run has put another thing in its folder's place");
      };
    },
    close,
  };
}
