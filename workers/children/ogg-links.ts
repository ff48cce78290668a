/**
 * Splits a chained Ogg file, which consists of several recordings called links (RFC 3533, section 4). An example is a recording of a radio
 * stream. For child processes only.
 */
import { createReadStream, createWriteStream } from "node:fs";
import { open } from "node:fs/promises";
import { pipeline } from "node:stream/promises";

import { MediaError } from "#shared/children/media-error.ts";

/** Maximum number of links in one file. FFmpeg opens a decoder for each link. A day of radio has about 400 songs. */
const LINKS_MAX = 256;

const PAGE_HEAD_BYTES = 27;
const FIRST_PAGE_FLAG = 2;
/** Number of bytes that are read at a time. It exceeds the largest Ogg page, which has 65,307 bytes. */
const READ_BYTES = 1_048_576;

/**
 * Writes each link of a chained file to a separate file in the same folder. FFmpeg would decode all links with the sample rate, channels
 * and end of the first link.
 * @returns paths in playback order; empty for a file that is not chained
 * @throws MediaError too_large, for too many links
 */
export async function splitChain(path: string): Promise<readonly string[]> {
  const starts = await linkStarts(path);
  if (starts.length < 2) return [];
  const paths: string[] = [];
  for (const [at, start] of starts.entries()) {
    const link = `${path}.link-${at}`;
    const next = starts[at + 1];
    // Streamed, because writing a slice of a file copies the whole file (Bun 1.4).
    await pipeline(createReadStream(path, { start, ...(next && { end: next - 1 }) }), createWriteStream(link));
    paths.push(link);
  }
  return paths;
}

/**
 * Returns the byte offsets of the chained recordings. A recording begins with a page that starts a stream and that does not follow another
 * such page.
 */
async function linkStarts(path: string): Promise<readonly number[]> {
  const file = await open(path);
  try {
    const starts: number[] = [];
    const buffer = Buffer.alloc(READ_BYTES);
    let wasFirst = false;
    for (let from = 0; ;) {
      const { bytesRead } = await file.read(buffer, 0, READ_BYTES, from);
      const bytes = buffer.subarray(0, bytesRead);
      const isLast = bytesRead < READ_BYTES;
      let at = 0;
      for (;;) {
        // Damaged pages are skipped, as by a demuxer.
        const page = bytes.indexOf("OggS", at);
        at = page < 0 ? Math.max(at, bytesRead - 3) : page;
        const length = page < 0 ? undefined : pageLength(bytes, page);
        if (length === undefined) break;
        const isFirst = ((bytes[page + 5] ?? 0) & FIRST_PAGE_FLAG) !== 0;
        if (isFirst && !wasFirst) starts.push(from + page);
        if (starts.length > LINKS_MAX) {
          throw new MediaError(
            "too_large",
            `Expected an Ogg file of at most ${LINKS_MAX} chained recordings, got more.`,
          );
        }
        wasFirst = isFirst;
        at = page + length;
        if (at >= bytesRead) break;
      }
      if (isLast) return starts;
      from += Math.max(1, at);
    }
  } finally {
    await file.close();
  }
}

/** Returns the length of an Ogg page; undefined if its header is incomplete in the given bytes. */
function pageLength(bytes: Buffer, at: number): number | undefined {
  const segments = bytes[at + PAGE_HEAD_BYTES - 1];
  if (segments === undefined || at + PAGE_HEAD_BYTES + segments > bytes.length) return undefined;
  const table = bytes.subarray(at + PAGE_HEAD_BYTES, at + PAGE_HEAD_BYTES + segments);
  return PAGE_HEAD_BYTES + segments + table.reduce((sum, size) => sum + size, 0);
}
