import type { Keys } from "#shared/access/authenticate.ts";
import { noteKeysUsed } from "#shared/database/api-keys.ts";
import type { Queryable } from "#shared/database/client.ts";
import type { Logger } from "#shared/base/logger.ts";
import { paced } from "#shared/config/pace.ts";

const NOTE_MS = paced(60_000);

/**
 * Writes the last-use times of API keys to the database once a minute, so that calls need no write. @returns a function that writes the
 * remaining times and stops
 */
export function startKeyUse(options: {
  keys: Pick<Keys, "takeUsed">;
  database: Queryable;
  log: Logger;
}): () => Promise<void> {
  const note = async (): Promise<void> => {
    const used = options.keys.takeUsed();
    if (used.length === 0) return;
    await noteKeysUsed(options.database, used).catch((error: unknown) =>
      options.log.warn({ err: error, keys: used.length }, "the last-used time of keys was not saved"),
    );
  };
  const timer = setInterval(() => void note(), NOTE_MS);
  return async () => {
    clearInterval(timer);
    await note();
  };
}
