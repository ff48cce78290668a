/** Times of the last use of keys: gathered here and written once a minute, so that no call pays for it. */
import type { Authenticator } from "#shared/access/authenticate.ts";
import { noteKeysUsed } from "#shared/database/api-keys.ts";
import type { Queryable } from "#shared/database/client.ts";
import type { Logger } from "#shared/logger.ts";
import { paced } from "#shared/pace.ts";

const NOTE_MS = paced(60_000);

/** @returns a function that writes the rest and ends it */
export function startKeyUse(options: {
  authenticator: Pick<Authenticator, "takeUsed">;
  database: Queryable;
  log: Logger;
}): () => Promise<void> {
  const note = async (): Promise<void> => {
    const used = options.authenticator.takeUsed();
    if (used.length === 0) return;
    await noteKeysUsed(options.database, used).catch((error: unknown) =>
      options.log.warn({ err: error, keys: used.length }, "the last use of keys was not written"),
    );
  };
  const timer = setInterval(() => void note(), NOTE_MS);
  return async () => {
    clearInterval(timer);
    await note();
  };
}
