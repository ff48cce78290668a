/** Returns rendered pages from a bounded cache. Other pages are rendered in a separate thread, which ends when it is idle. */
import { ApiError } from "#shared/base/errors.ts";

import type { Answered, Asked } from "./site.ts";
import type { FromThread, SourceText, ToThread } from "./thread.ts";

/** Maximum size of the cached text, in UTF-16 units. The least recently read text is removed first. */
const CACHE_CHARS_MAX = 16 * 1_048_576;
/** Maximum number of requests that wait for the thread. */
const WAITING_MAX = 64;
/** Maximum time that a request waits for the thread, in milliseconds. */
const WAIT_MS = 30_000;
/** Idle time after which the thread ends to free its memory, in milliseconds. */
const IDLE_MS = 20_000;

export interface Renderer {
  /**
   * Returns the text of a page, of the index or of search results. Concurrent requests for a page share one rendering.
   * @throws ApiError `overloaded` when too many requests wait
   */
  render(asked: Asked): Promise<Answered>;
}

/**
 * Creates the renderer.
 * @param source returns the OpenAPI document and facts about its operations; called once, when the first request arrives
 */
export function createRenderer(source: () => SourceText): Renderer {
  const cache = createTextCache(CACHE_CHARS_MAX);
  const running = new Map<string, Promise<Answered>>();
  const waiting = new Map<number, PromiseWithResolvers<Answered>>();
  let thread: Worker | undefined;
  let idle: ReturnType<typeof setTimeout> | undefined;
  let lastId = 0;

  const end = (fault?: Error): void => {
    thread?.terminate();
    thread = undefined;
    clearTimeout(idle);
    for (const { reject } of waiting.values()) reject(fault ?? new Error("the thread of the documentation has ended"));
    waiting.clear();
  };

  const open = (): Worker => {
    if (thread) return thread;
    // Before the thread exists: a thread without a source could never respond.
    const api = source();
    const opened = new Worker(new URL("thread.ts", import.meta.url));
    opened.unref();
    // Events of a thread that has been replaced must not end its successor.
    const fail = (reason: string): void => {
      if (thread === opened) end(new Error(reason));
    };
    opened.addEventListener("message", ({ data }: MessageEvent<FromThread>) => {
      const entry = waiting.get(data.id);
      waiting.delete(data.id);
      if ("fault" in data) {
        entry?.reject(new Error(data.fault));
        if (data.isFatal) fail(data.fault);
      } else {
        const { id: _id, ...answered } = data;
        entry?.resolve(answered);
      }
    });
    opened.addEventListener("error", ({ message }) => fail(`the thread of the documentation failed: ${message}`));
    opened.addEventListener("close", () => fail("the thread of the documentation has ended"));
    // A thread has no origin.
    // oxlint-disable-next-line unicorn/require-post-message-target-origin
    opened.postMessage({ api } satisfies ToThread);
    thread = opened;
    return opened;
  };

  const ask = async (asked: Asked): Promise<Answered> => {
    if (waiting.size >= WAITING_MAX)
      throw new ApiError("overloaded", "Too many pages of the documentation are being rendered; retry in a second.");
    clearTimeout(idle);
    const id = ++lastId;
    const entry = Promise.withResolvers<Answered>();
    waiting.set(id, entry);
    const late = setTimeout(() => end(new Error(`a page was not rendered within ${WAIT_MS} ms`)), WAIT_MS);
    try {
      // oxlint-disable-next-line unicorn/require-post-message-target-origin
      open().postMessage({ id, asked } satisfies ToThread);
      return await entry.promise;
    } finally {
      clearTimeout(late);
      waiting.delete(id);
      if (waiting.size === 0) {
        clearTimeout(idle);
        idle = setTimeout(() => end(), IDLE_MS);
        idle.unref();
      }
    }
  };

  return {
    async render(asked) {
      // Queries and paths that do not exist are made up by callers: their responses are not kept.
      const key = asked.kind === "search" ? undefined : JSON.stringify(asked);
      if (key === undefined) return ask(asked);
      const known = cache.get(key);
      if (known !== undefined) return { text: known };
      const pending = running.get(key) ?? ask(asked).finally(() => running.delete(key));
      running.set(key, pending);
      const answered = await pending;
      if (answered.nearest === undefined) cache.set(key, answered.text);
      return answered;
    },
  };
}

interface TextCache {
  get(key: string): string | undefined;
  set(key: string, text: string): void;
}

/** Creates a text cache that holds at most `charsMax` UTF-16 units. It removes the least recently read texts first. */
export function createTextCache(charsMax: number): TextCache {
  const texts = new Map<string, string>();
  let chars = 0;
  const remove = (key: string): string | undefined => {
    const text = texts.get(key);
    if (text !== undefined) {
      texts.delete(key);
      chars -= text.length;
    }
    return text;
  };
  return {
    get(key) {
      const text = remove(key);
      if (text === undefined) return undefined;
      texts.set(key, text);
      chars += text.length;
      return text;
    },
    set(key, text) {
      remove(key);
      if (text.length > charsMax) return;
      texts.set(key, text);
      chars += text.length;
      for (const oldest of texts.keys()) {
        if (chars <= charsMax) break;
        remove(oldest);
      }
    },
  };
}
