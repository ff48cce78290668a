/** Temporary file for received data that must be complete before it is processed. The data is kept on disk, not in memory. */
import { createWriteStream, rmSync } from "node:fs";
import { join } from "node:path";
import { finished } from "node:stream/promises";

import { newId } from "#shared/base/ids.ts";

import { processFolder } from "./process-folder.ts";

export interface SpoolFile {
  readonly path: string;
  /** Writes bytes. Resolves when the next write is allowed. @throws Error of the disk */
  write(bytes: Uint8Array): Promise<void>;
  /** Finishes the file after the last write. @throws Error of the disk */
  end(): Promise<void>;
  /** Returns all bytes, mapped from disk without using memory. Call this after `end` and before `remove`. */
  view(): Uint8Array;
  remove(): void;
}

const folder = processFolder("sluice-spool-");

/** Creates a spool file. The caller must remove it; after a crash, the next process removes it. */
export function openSpoolFile(): SpoolFile {
  const path = join(folder(), newId());
  const stream = createWriteStream(path, { flags: "wx", mode: 0o600 });
  const written = finished(stream);
  // The error is thrown by the next write, or by `end`.
  written.catch(() => undefined);
  return {
    path,
    async write(bytes) {
      if (stream.write(bytes)) return;
      await Promise.race([new Promise<void>((resolve) => void stream.once("drain", resolve)), written]);
    },
    async end() {
      stream.end();
      await written;
    },
    view: () => Bun.mmap(path),
    remove() {
      stream.destroy();
      rmSync(path, { force: true });
    },
  };
}
