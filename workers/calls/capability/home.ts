/**
 * A home folder per child, for its temporary files and its present run. The child can write no other files of this machine; in a private
 * root, it sees no other run's files either.
 */
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, renameSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";

import type { Launch } from "#shared/children/pool.ts";
import { processFolder } from "#shared/files/process-folder.ts";
import { MediaError } from "#shared/children/media-error.ts";

import { giveTo, type Isolation } from "./isolation.ts";

const homes = processFolder("sluice-engines-");
/** Parent of the folders of runs: their path for the worker, and for a child during the run. */
export const runFolders = processFolder("sluice-runs-");

/** Present paths of folders that were moved into the home of their child; other folders are at their own paths. */
const moved = new Map<string, string>();

/** Returns the present path of a run's folder for the worker. */
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
