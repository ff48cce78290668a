/** Keeps the current catalogue and replaces it while the service runs. */
import { type FSWatcher, watch } from "node:fs";
import { stat } from "node:fs/promises";
import { basename, dirname, resolve } from "node:path";

import type { Catalogue, Surroundings } from "#shared/calls/model.ts";
import type { Logger } from "#shared/base/logger.ts";

import { CatalogueError } from "./faults.ts";
import { catalogueOf, type CatalogueText, listCatalogueFiles, loadCatalogue, loadOurLayers } from "./load.ts";

export interface CatalogueOptions extends Surroundings {
  /** Operators' files and folders, merged in this order over the files that ship with the service. */
  readonly files: readonly string[];
  readonly log: Logger;
  /** True to reload the catalogue when a file changes. Default: true. */
  readonly watch?: boolean;
  /** Called after each reload, to count it in a metric. */
  readonly onReload?: (result: "accepted" | "refused") => void;
  /** Interval at which files are polled, in milliseconds. It applies to changes that the operating system does not report. */
  readonly pollMs?: number;
}

export interface CatalogueStore {
  /** Returns the current catalogue. A caller that needs consistent results must keep the returned object. */
  current(): Catalogue;
  /** Reads the operators' files again. @throws CatalogueError if they are invalid; the old catalogue then stays active */
  reload(): Promise<void>;
  /** Builds a catalogue from these texts and the files that ship with the service, without activating it. @throws CatalogueError */
  check(texts: readonly CatalogueText[]): Catalogue;
  /** Stops watching the files. `current` can still be called. */
  close(): void;
}

/** Loads the catalogue and keeps it up to date. @throws CatalogueError if the files are invalid */
export async function openCatalogue(options: CatalogueOptions): Promise<CatalogueStore> {
  const { files, log } = options;
  // Our files change only with a deployment: read once, so that a partly replaced installation is never used.
  const ours = await loadOurLayers();
  // Watched before reading, so that no change is missed.
  const start = Promise.withResolvers<void>();
  /** Runs the reloads one after another, in order, so that an older state of the files never replaces a newer one. */
  let queue = start.promise;
  const watch = files.length > 0 && options.watch !== false ? await startWatch() : undefined;
  let lastRefusal: string | undefined;
  let catalogue: Catalogue;
  try {
    catalogue = await loadCatalogue(ours, files, options);
  } catch (error) {
    watch?.close();
    throw error;
  }
  start.resolve();

  async function replace(): Promise<void> {
    let next: Catalogue;
    try {
      next = await loadCatalogue(ours, files, options);
    } catch (error) {
      options.onReload?.("refused");
      throw error;
    }
    lastRefusal = undefined;
    if (next.version !== catalogue.version) {
      catalogue = next;
      log.info(
        { catalogue: next.version, models: next.models.size, unroutable: next.unroutable.size },
        "catalogue replaced",
      );
    }
    options.onReload?.("accepted");
  }

  function reload(): Promise<void> {
    const mine = queue.then(replace);
    queue = mine.catch(() => undefined);
    return mine;
  }

  function startWatch(): Promise<Watch> {
    const pollMs = options.pollMs === undefined ? {} : { pollMs: options.pollMs };
    return watchFiles({ paths: files, onChange: () => reload().catch(report), ...pollMs });
  }

  function report(error: unknown): void {
    const reason = error instanceof Error ? error.message : String(error);
    // One save often causes several events: the same fault is logged once.
    if (reason === lastRefusal) return;
    lastRefusal = reason;
    const fault = error instanceof CatalogueError ? error.faults[0] : undefined;
    const where = fault && { file: fault.file, line: fault.line, place: fault.place };
    log.error(
      { ...where, catalogue: catalogue.version },
      `catalogue rejected; the previous one remains active: ${reason}`,
    );
  }

  return {
    current: () => catalogue,
    reload,
    check: (texts) => catalogueOf(ours, texts, options),
    close: () => watch?.close(),
  };
}

// Detects possible changes of operators' files. Editors replace files by renaming, Kubernetes replaces a symbolic link beside them, and
// some mounts report nothing. So the folder is watched as well, watches are renewed after each change, and slow polling of sizes and times
// detects the rest.

interface WatchOptions {
  /** Paths of the watched files and folders. */
  readonly paths: readonly string[];
  /** Called after a burst of changes has ended. Calls never overlap; a change during a call leads to another call. */
  readonly onChange: () => Promise<void>;
  /** Interval of polling file sizes and modification times, in milliseconds. */
  readonly pollMs?: number;
}

interface Watch {
  /** Releases all watches and timers; `onChange` is not called afterwards. */
  close(): void;
}

/** Delay from the last change to the call of `onChange`, in milliseconds. An editor writes, renames and changes the mode in this time. */
const SETTLE_MS = 100;
/** Maximum delay of `onChange` while a folder keeps changing, in milliseconds. */
const SETTLE_MAX_MS = 1_000;
const POLL_MS = 5_000;

/** Watches files until the watch is closed, without keeping the process alive. Detects every change after the promise has resolved. */
async function watchFiles(options: WatchOptions): Promise<Watch> {
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
      // Missing at the moment, or no watches left: polling detects the change.
    }
  };
  const arm = (): void => {
    disarm();
    for (const path of options.paths) {
      const name = basename(resolve(path));
      add(path, () => true);
      // `..data` is the link that Kubernetes replaces.
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
    // `settle` takes the final fingerprint before the files are read.
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

/** Returns the names, sizes, modification times and inodes of all files behind the paths, with links followed. */
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
