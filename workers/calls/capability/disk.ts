/** Limits the bytes that a run writes to the disk, while it runs. */
import { lstatSync, readdirSync } from "node:fs";
import { join } from "node:path";

import { MediaError } from "#shared/children/media-error.ts";

const LOOK_MS = 250;

/**
 * Looks at a folder four times a second.
 * @param folder where it is now
 * @returns a signal that is aborted with a MediaError once there are more than `bytesMax` on the disk beyond those at the start
 */
export function watchFolder(folder: () => string, bytesMax: number): { readonly full: AbortSignal; close(): void } {
  const full = new AbortController();
  const before = bytesIn(folder());
  const timer = setInterval(() => {
    if (bytesIn(folder()) - before <= bytesMax) return;
    clearInterval(timer);
    full.abort(new MediaError("too_large", `Expected a run to write at most ${bytesMax} bytes, got more.`));
  }, LOOK_MS);
  return { full: full.signal, close: () => clearInterval(timer) };
}

/** Returns the bytes that a folder takes on the disk; a hole in a file takes none. */
function bytesIn(folder: string): number {
  let bytes = 0;
  for (const entry of readNames(folder)) {
    const path = join(folder, entry.name);
    bytes += entry.isDirectory() ? bytesIn(path) : blocksOf(path) * 512;
  }
  return bytes;
}

/** Returns 0 for a file that cannot be read: its path is too long, or its folder was closed or removed meanwhile. */
function blocksOf(path: string): number {
  try {
    return lstatSync(path).blocks;
  } catch {
    return 0;
  }
}

/** Returns nothing for a folder that a child has just removed, or replaced by a link, which may lead to all files of the worker. */
function readNames(folder: string) {
  try {
    return lstatSync(folder).isDirectory() ? readdirSync(folder, { withFileTypes: true }) : [];
  } catch {
    return [];
  }
}
