/** Writes Ogg pages (RFC 3533) of one Opus stream (RFC 7845). */
import { bytesOf, le } from "./file-parts.ts";

const PAGE_SEGMENTS_MAX = 255;
const BEGIN = 2;
const END = 4;
/** Serial number of the stream; the value is arbitrary. */
const SERIAL = 0x534c5543;

const CRC_TABLE = Uint32Array.from({ length: 256 }, (_, index) => {
  let value = index << 24;
  for (let bit = 0; bit < 8; bit += 1) value = (value << 1) ^ (value < 0 ? 0x04c11db7 : 0);
  return value >>> 0;
});

export interface OggWriter {
  /** Writes a packet. @param granule position after the packet, in the codec's unit */
  packet(
    bytes: Uint8Array,
    granule: bigint,
    options?: { readonly isLast?: boolean; readonly endsPage?: boolean },
  ): void;
  finish(): Uint8Array;
}

export function createOggWriter(): OggWriter {
  const pages: Uint8Array[] = [];
  let lacing: number[] = [];
  let body: Uint8Array[] = [];
  let pageGranule = -1n;
  let isContinued = false;

  function flush(isLast: boolean): void {
    const head = new Uint8Array(27 + lacing.length);
    const view = new DataView(head.buffer);
    head.set(new TextEncoder().encode("OggS"));
    head[5] = (isContinued ? 1 : 0) | (pages.length === 0 ? BEGIN : 0) | (isLast ? END : 0);
    view.setBigInt64(6, pageGranule, true);
    view.setUint32(14, SERIAL, true);
    view.setUint32(18, pages.length, true);
    head[26] = lacing.length;
    head.set(lacing, 27);
    const page = new Uint8Array(Buffer.concat([head, ...body]));
    new DataView(page.buffer).setUint32(22, oggChecksum(page), true);
    pages.push(page);
    lacing = [];
    body = [];
    pageGranule = -1n;
    isContinued = false;
  }

  return {
    packet: (bytes, granule, { isLast = false, endsPage = false } = {}) => {
      const pieces = Math.floor(bytes.length / 255) + 1;
      for (let index = 0; index < pieces; index += 1) {
        if (lacing.length === PAGE_SEGMENTS_MAX) {
          flush(false);
          isContinued = index > 0;
        }
        const piece = bytes.subarray(255 * index, 255 * index + 255);
        lacing.push(piece.length);
        body.push(piece);
      }
      pageGranule = granule;
      if (isLast || endsPage) flush(isLast);
    },
    finish: () => new Uint8Array(Buffer.concat(pages)),
  };
}

/** Returns the CRC-32 with the polynomial 04c11db7, highest bit first (RFC 3533). */
export function oggChecksum(page: Uint8Array): number {
  let crc = 0;
  for (const byte of page) crc = ((crc << 8) ^ (CRC_TABLE[((crc >>> 24) ^ byte) & 0xff] ?? 0)) >>> 0;
  return crc;
}

/** Returns the comment packet of Opus. @param comments in the form NAME=value */
export function opusTags(comments: readonly string[]): Uint8Array {
  const [vendor = "", ...rest] = ["Sluice sandbox", ...comments].map((text) =>
    bytesOf(le(Buffer.byteLength(text), 4), Buffer.from(text)),
  );
  return new Uint8Array(bytesOf("OpusTags", vendor, le(comments.length, 4), ...rest));
}
