/** The current catalogue, and its replacement while the service runs. */
import type { Logger } from "#shared/logger.ts";

import type { Catalogue, Surroundings } from "#shared/calls/model.ts";
import { CatalogueError } from "./faults.ts";
import { catalogueOf, type CatalogueText, loadCatalogue, loadOurLayers } from "./load.ts";
import { type Watch, watchFiles } from "./watch.ts";

export interface CatalogueOptions extends Surroundings {
  /** Operators' files and folders, merged over ours in this order. */
  readonly files: readonly string[];
  readonly log: Logger;
  /** True: reload when a file changes. Default: true. */
  readonly watch?: boolean;
  /** Called after each reload, for the metric. */
  readonly onReload?: (result: "accepted" | "refused") => void;
  /** Interval of polling files whose changes are not reported, in milliseconds. */
  readonly pollMs?: number;
}

export interface CatalogueStore {
  /** Returns the current catalogue. A caller that needs consistent results keeps the returned object. */
  current(): Catalogue;
  /** Reads the operators' files again. @throws CatalogueError if they are invalid; the old catalogue stays */
  reload(): Promise<void>;
  /** Builds the catalogue of these texts over our files alone, without activating it. @throws CatalogueError */
  check(texts: readonly CatalogueText[]): Catalogue;
  /** Stops watching; `current` still works. */
  close(): void;
}

/** Loads the catalogue and keeps it up to date. @throws CatalogueError if the files are invalid */
export async function openCatalogue(options: CatalogueOptions): Promise<CatalogueStore> {
  const { files, log } = options;
  // Our files change only with a deployment: read once, so that a partly replaced installation is never used.
  const ours = await loadOurLayers();
  // Watched before reading, so that no change is missed.
  const start = Promise.withResolvers<void>();
  /** One reload at a time, in order: an older state of the files never replaces a newer one. */
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
