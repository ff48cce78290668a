/** Bytes on their way between two networks that are looked at as a whole in between: on the disk, not in memory. */
import { createWriteStream, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { finished } from "node:stream/promises";

import { newId } from "#shared/ids.ts";

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

const PREFIX = "sluice-spool-";
let folder: string | undefined;

/** Whoever opens it removes it; what a process that died has left is removed by the next one. */
export function openSpoolFile(): SpoolFile {
  folder ??= makeFolder();
  mkdirSync(folder, { recursive: true });
  const path = join(folder, newId());
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

/** One for this process; those of processes that are gone go with it. */
function makeFolder(): string {
  for (const name of readdirSync(tmpdir())) {
    const pid = name.startsWith(PREFIX) ? Number(name.slice(PREFIX.length).split("-")[0]) : Number.NaN;
    // In a container each life of a process has the same number.
    if (Number.isInteger(pid) && (pid === process.pid || !isAlive(pid)))
      rmSync(join(tmpdir(), name), { recursive: true, force: true });
  }
  const path = mkdtempSync(join(tmpdir(), `${PREFIX}${process.pid}-`));
  process.once("exit", () => rmSync(path, { recursive: true, force: true }));
  return path;
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}
