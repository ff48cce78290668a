/** The catalogue in force, and how it is replaced while the service runs. */
import type { Logger } from "#shared/logger.ts";

import type { Catalogue, Surroundings } from "#shared/calls/model.ts";
import { CatalogueError } from "./faults.ts";
import { catalogueOf, type CatalogueText, loadCatalogue, loadOurLayers } from "./load.ts";
import { type Watch, watchFiles } from "./watch.ts";

export interface CatalogueOptions extends Surroundings {
  /** Operators' files and folders, laid over ours in this order. */
  readonly files: readonly string[];
  readonly log: Logger;
  /** Reload when a file changes; on unless said otherwise. */
  readonly watch?: boolean;
  /** Told after each reload, whoever asked for it: for the metric. */
  readonly onReload?: (result: "accepted" | "refused") => void;
  /** Time between two looks at files that report no changes. */
  readonly pollMs?: number;
}

export interface CatalogueStore {
  /** The catalogue in force. A caller that needs two looks to agree keeps the first answer. */
  current(): Catalogue;
  /** Reads the operators' files again. @throws CatalogueError when they are refused; the old catalogue stays */
  reload(): Promise<void>;
  /** Builds the catalogue of these texts over our files alone, without putting it in force. @throws CatalogueError */
  check(texts: readonly CatalogueText[]): Catalogue;
  /** Ends watching; `current` keeps answering. */
  close(): void;
}

/** Loads the catalogue and keeps it up to date. @throws CatalogueError when the files are refused */
export async function openCatalogue(options: CatalogueOptions): Promise<CatalogueStore> {
  const { files, log } = options;
  // ours change with a deploy only: read once, so that a half-replaced installation is never mixed in
  const ours = await loadOurLayers();
  // watched before they are read, so that no change falls between
  const start = Promise.withResolvers<void>();
  /** One reload at a time, in the order asked for: an older state of the files never replaces a newer one. */
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
    // one save is often several events: the same refusal is told once
    if (reason === lastRefusal) return;
    lastRefusal = reason;
    const fault = error instanceof CatalogueError ? error.faults[0] : undefined;
    const where = fault && { file: fault.file, line: fault.line, place: fault.place };
    log.error({ ...where, catalogue: catalogue.version }, `catalogue refused, the old one stays in force: ${reason}`);
  }

  return {
    current: () => catalogue,
    reload,
    check: (texts) => catalogueOf(ours, texts, options),
    close: () => watch?.close(),
  };
}
