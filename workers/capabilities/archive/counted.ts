/** Limits the size of unpacked data, and checks the names of archive entries. */
import { createWriteStream } from "node:fs";
import { finished } from "node:stream/promises";

import { MediaError } from "#shared/children/media-error.ts";

const ARCHIVE_ENTRIES_MAX = 10_000;
export const ARCHIVE_UNPACKED_BYTES_MAX = 2_048 * 1_048_576;

/** Maximum ratio of unpacked to packed bytes. A higher ratio indicates a decompression bomb. */
const ARCHIVE_RATIO_MAX = 200;

/** Unpacked bytes below which the ratio is not limited, because small archives of repetitive data are harmless. */
const ARCHIVE_RATIO_FREE_BYTES = 10 * 1_048_576;
const ARCHIVE_PATH_BYTES_MAX = 1_024;

/** Counts the entries and bytes of an archive during unpacking, and enforces their limits. */
export interface Counter {
  /**
   * Adds one to the count of entries.
   * @throws MediaError too_large if the limit is exceeded
   */
  entry(): void;
  /**
   * Adds to the count of unpacked bytes.
   * @throws MediaError too_large if the limit is exceeded
   */
  bytes(count: number): void;
}

/** Creates the counter for one archive. @param packedBytes size of the whole archive */
export function openCounter(packedBytes: number): Counter {
  let [entries, unpacked] = [0, 0];
  return {
    entry() {
      entries += 1;
      if (entries > ARCHIVE_ENTRIES_MAX)
        throw new MediaError("too_large", `Expected at most ${ARCHIVE_ENTRIES_MAX} entries, got more.`);
    },
    bytes(count) {
      unpacked += count;
      if (unpacked > ARCHIVE_UNPACKED_BYTES_MAX) {
        throw new MediaError("too_large", `Expected at most ${ARCHIVE_UNPACKED_BYTES_MAX} bytes unpacked, got more.`);
      }
      if (unpacked > Math.max(ARCHIVE_RATIO_FREE_BYTES, packedBytes * ARCHIVE_RATIO_MAX)) {
        throw new MediaError(
          "too_large",
          `Expected no more than ${ARCHIVE_RATIO_MAX} bytes of each packed one, got more.`,
        );
      }
    },
  };
}

/** Returns the reason why an entry's name is rejected; undefined if it is valid. Files are never written under entry names. */
export function badName(name: string): string | undefined {
  if (name === "" || Buffer.byteLength(name) > ARCHIVE_PATH_BYTES_MAX) return "its path is empty or too long";
  if (name.includes("\0") || name.includes("\\")) return "its path has a NUL or a backslash";
  if (name.startsWith("/") || /^[a-zA-Z]:/.test(name)) return "its path is absolute";
  return name.split("/").includes("..") ? "its path leads outside" : undefined;
}

/** Creates an output file. Its bytes are counted as they are written. */
export function openOutput(path: string, counter: Counter) {
  const stream = createWriteStream(path, { flags: "wx" });
  const written = finished(stream);
  written.catch(() => undefined);
  let size = 0;
  return {
    async write(bytes: Uint8Array): Promise<void> {
      counter.bytes(bytes.length);
      size += bytes.length;
      if (stream.write(bytes)) return;
      await Promise.race([new Promise<void>((resolve) => void stream.once("drain", resolve)), written]);
    },
    async end(): Promise<number> {
      stream.end();
      await written;
      return size;
    },
  };
}

/**
 * Returns a function that tests names against a pattern. `*` matches any characters except slashes, `**` any characters, and `?` one
 * character.
 */
export function globOf(pattern: string): (name: string) => boolean {
  const glob = new Bun.Glob(pattern);
  return (name) => glob.match(name);
}

export const ARCHIVE_PRICE = { unit: "per_operation", operation_price: "0.1" } as const;
export const FACT_PRICE = { unit: "per_operation", operation_price: "0.02" } as const;
