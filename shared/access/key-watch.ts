/**
 * Ends streams and sockets whose key is no longer active, because they can last longer than the authentication of their call. Keys are
 * checked as often as their cache entries expire.
 */
import type { Logger } from "#shared/base/logger.ts";

import type { ActiveKeys } from "./active-keys.ts";
import { KEY_CACHE_MS } from "./questions.ts";

export interface KeyWatch {
  /** Watches a key and calls `onEnded` once when the key is no longer active. @returns a function that ends the watch */
  watch(keyId: string, onEnded: () => void): () => void;
  close(): void;
}

export function openKeyWatch(options: {
  readonly activeKeys: ActiveKeys;
  readonly log: Logger;
  /** Interval of checking the keys, in milliseconds. Default: KEY_CACHE_MS. */
  readonly everyMs?: number;
}): KeyWatch {
  const { activeKeys, log, everyMs = KEY_CACHE_MS } = options;
  const watched = new Map<string, Set<() => void>>();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const checkKeys = async (): Promise<void> => {
    const keyIds = [...watched.keys()];
    // During an outage of the database, every key counts as active.
    const active = await activeKeys(keyIds).catch((error: unknown) => {
      log.warn({ err: error }, "the keys of open streams could not be looked up");
      return undefined;
    });
    const ended = active ? keyIds.filter((keyId) => !active.has(keyId)) : [];
    for (const onEnded of ended.flatMap((keyId) => [...(watched.get(keyId) ?? [])])) onEnded();
    for (const keyId of ended) watched.delete(keyId);
    timer = undefined;
    schedule();
  };
  const schedule = (): void => {
    if (watched.size > 0) timer ??= setTimeout(() => void checkKeys(), everyMs);
  };

  return {
    watch(keyId, onEnded) {
      const own = watched.get(keyId) ?? new Set();
      watched.set(keyId, own.add(onEnded));
      schedule();
      return () => {
        own.delete(onEnded);
        if (own.size === 0 && watched.get(keyId) === own) watched.delete(keyId);
      };
    },
    close() {
      clearTimeout(timer);
      watched.clear();
    },
  };
}
