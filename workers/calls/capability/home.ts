/**
 * A folder for each child, with its temporary files and the run that it works on: of the files of this machine it may write no
 * others, and where it has a root of its own it sees no other run's.
 */
import { chmodSync, lstatSync, mkdirSync, mkdtempSync, renameSync } from "node:fs";
import { rm } from "node:fs/promises";
import { basename, join } from "node:path";

import type { Launch } from "#shared/children/pool.ts";
import { processFolder } from "#shared/files/process-folder.ts";
import { MediaError } from "#shared/children/media-error.ts";

import { giveTo, type Isolation } from "./isolation.ts";

const homes = processFolder("sluice-engines-");
/** Parent of the runs' folders: their path for the worker, and for a child while it works on one. */
export const runFolders = processFolder("sluice-runs-");

/** A run's folder that its child has in its home; elsewhere it is at its own path. */
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
  // Passed through by a child that is another user.
  chmodSync(runs, 0o711);
  // What a program that outlives its child still writes there goes with the worker.
  const close = (): Promise<void> => rm(home, { recursive: true, force: true }).catch(() => undefined);
  if (!hasPrivateRoot) {
    // Its home is in a folder that other children pass through and cannot list.
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
        // The child may write the folder that it lay in.
        if (!lstatSync(folder).isDirectory())
          throw new MediaError("failed", "a run has put another thing in its folder's place");
      };
    },
    close,
  };
}
