/** Bytes on their way between two networks that are looked at as a whole in between: on the disk, not in memory. */
import { createWriteStream, rmSync } from "node:fs";
import { join } from "node:path";
import { finished } from "node:stream/promises";

import { newId } from "#shared/ids.ts";

import { processFolder } from "./process-folder.ts";

export interface SpoolFile {
  readonly path: string;
  /** Resolves when more may come. @throws Error of the disk */
  write(bytes: Uint8Array): Promise<void>;
  /** No more bytes. @throws Error of the disk */
  end(): Promise<void>;
  /** All of it, mapped: costs no memory of its own. After `end`, and not after `remove`. */
  view(): Uint8Array;
  remove(): void;
}

const folder = processFolder("sluice-spool-");

/** Whoever opens it removes it; what a process that died has left is removed by the next one. */
export function openSpoolFile(): SpoolFile {
  const path = join(folder(), newId());
  const stream = createWriteStream(path, { flags: "wx", mode: 0o600 });
  const written = finished(stream);
  // Told by the write that hears of it, or by `end`.
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
