/**
 * Tells when operators' files may have changed. Editors replace files by renaming, Kubernetes swaps a symbolic link
 * beside them, some mounts report nothing at all: so the folder is watched beside the file, watches are set anew after
 * each change, and a slow look at sizes and times catches the rest.
 */
import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";

import { listCatalogueFiles } from "./load.ts";

export interface WatchOptions {
  /** Files and folders. */
  readonly paths: readonly string[];
  /** Called after a burst of events has settled, never twice at once, and again when more came meanwhile. */
  readonly onChange: () => Promise<void>;
  /** Time between two looks at sizes and times. */
  readonly pollMs?: number;
}

export interface Watch {
  /** Releases every watch and timer; no call of `onChange` begins afterwards. */
  close(): void;
}

/** An editor writes, renames and sets modes within this. */
const SETTLE_MS = 100;
/** A folder that never rests is read at least this often. */
const SETTLE_MAX_MS = 1_000;
const POLL_MS = 5_000;

/**
 * Watches until closed; none of its timers or watches keeps the process alive. Files read after this has resolved are
 * never changed unseen.
 */
export async function watchFiles(options: WatchOptions): Promise<Watch> {
  let watchers: FSWatcher[] = [];
  let settling: ReturnType<typeof setTimeout> | undefined;
  let firstEventAt: number | undefined;
  let isRunning = false;
  let isPending = false;
  let isClosed = false;
  let isReading = false;
  let seen = await fingerprint(options.paths);

  const disarm = (): void => {
    for (const watcher of watchers) watcher.close();
    watchers = [];
  };
  const add = (path: string, concerns: (name: string | null) => boolean): void => {
    try {
      const watcher = watch(path, { persistent: false }, (_event, name) => {
        if (concerns(name)) changed();
      });
      watcher.on("error", () => watcher.close());
      watchers.push(watcher);
    } catch {
      // not there at the moment, or no watches left: the poll sees to it
    }
  };
  const arm = (): void => {
    disarm();
    for (const path of options.paths) {
      const name = basename(resolve(path));
      add(path, () => true);
      // `..data` is the link that Kubernetes swaps
      add(dirname(resolve(path)), (entry) => entry === null || entry === name || entry.startsWith(".."));
    }
  };
  const changed = (): void => {
    if (isClosed) return;
    const now = performance.now();
    firstEventAt ??= now;
    clearTimeout(settling);
    const waitMs = Math.max(0, Math.min(SETTLE_MS, firstEventAt + SETTLE_MAX_MS - now));
    settling = setTimeout(() => void settle(), waitMs);
    settling.unref();
  };
  const settle = async (): Promise<void> => {
    firstEventAt = undefined;
    isPending = isRunning;
    if (isRunning) return;
    isRunning = true;
    arm();
    try {
      seen = await fingerprint(options.paths);
      if (!isClosed) await options.onChange();
    } finally {
      isRunning = false;
      if (isPending) changed();
    }
  };
  const readAgain = async (): Promise<void> => {
    if (isReading || isRunning) return;
    isReading = true;
    const now = await fingerprint(options.paths);
    isReading = false;
    // `settle` takes the fingerprint that counts, before it lets the files be read
    if (now !== seen) changed();
  };
  const poll = setInterval(() => void readAgain(), options.pollMs ?? POLL_MS);
  poll.unref();
  arm();

  return {
    close() {
      isClosed = true;
      clearTimeout(settling);
      clearInterval(poll);
      disarm();
    },
  };
}

/** Names, sizes, times and inodes of all files behind the paths; links are followed. */
async function fingerprint(paths: readonly string[]): Promise<string> {
  const parts = await Promise.all(
    paths.map(async (path) => {
      try {
        const files = await listCatalogueFiles([path]);
        const states = await Promise.all(files.map((file) => stat(file, { bigint: true })));
        return states.map((state, index) => `${files[index]} ${state.ino} ${state.size} ${state.mtimeNs}`).join("\n");
      } catch {
        return `${path} cannot be read`;
      }
    }),
  );
  return parts.join("\n");
}
