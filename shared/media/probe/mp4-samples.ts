/** Positions of the samples of an MP4 track, by its tables (ISO 14496-12, 8.6 and 8.7). */
import type { Cursor } from "./facts.ts";

/** Offset of a table's entries, and their number. */
interface Table {
  readonly at: number;
  readonly count: number;
}

export interface SampleTables {
  /** Size of all samples; 0 if each has its own. */
  uniformBytes: number;
  /** 32 in `stsz`; 4, 8 or 16 in `stz2`. */
  sizeBits: number;
  sizes: Table | undefined;
  chunks: (Table & { readonly isLong: boolean }) | undefined;
  spans: Table | undefined;
}

export type OnSample = (at: number, end: number) => void;

export function newTables(): SampleTables {
  return { uniformBytes: 0, sizeBits: 32, sizes: undefined, chunks: undefined, spans: undefined };
}

/** @returns number of samples in the box, 0 for any other box */
export function readTable(cursor: Cursor, kind: string, at: number, end: number, tables: SampleTables): number {
  const { view } = cursor;
  const table = (head: number, entryBits: number): Table => {
    const told = view.getUint32(at + head - 4);
    return { at: at + head, count: Math.min(told, Math.floor(((end - at - head) * 8) / entryBits)) };
  };
  switch (kind) {
    case "stsz":
      if (at + 12 > end) return 0;
      tables.uniformBytes = view.getUint32(at + 4);
      // Each sample has its own bytes, so there cannot be more samples than bytes.
      tables.sizes =
        tables.uniformBytes > 0
          ? { at, count: Math.min(view.getUint32(at + 8), cursor.length) }
          : table(12, tables.sizeBits);
      return Math.min(view.getUint32(at + 8), cursor.length);
    case "stz2":
      if (at + 12 > end || ![4, 8, 16].includes(view.getUint8(at + 7))) return 0;
      tables.sizeBits = view.getUint8(at + 7);
      tables.sizes = table(12, tables.sizeBits);
      return tables.sizes.count;
    case "stco":
    case "co64":
      if (at + 8 <= end) tables.chunks = { ...table(8, kind === "stco" ? 32 : 64), isLong: kind === "co64" };
      return 0;
    case "stsc":
      if (at + 8 <= end) tables.spans = table(8, 96);
      return 0;
    default:
      return 0;
  }
}

/** In order, as far as the tables are consistent. */
export function forEachSample(cursor: Cursor, tables: SampleTables, onSample: OnSample): void {
  const { view } = cursor;
  const { sizes, chunks, spans } = tables;
  if (!sizes || !chunks || !spans || spans.count === 0) return;
  let span = 0;
  let sample = 0;
  for (let chunk = 0; chunk < chunks.count && sample < sizes.count; chunk += 1) {
    cursor.step();
    while (span + 1 < spans.count && view.getUint32(spans.at + 12 * (span + 1)) <= chunk + 1) {
      cursor.step();
      span += 1;
    }
    const place = chunks.at + chunk * (chunks.isLong ? 8 : 4);
    let at = chunks.isLong ? Number(view.getBigUint64(place)) : view.getUint32(place);
    const last = Math.min(sizes.count, sample + view.getUint32(spans.at + 12 * span + 4));
    for (; sample < last; sample += 1) {
      cursor.step();
      const end = at + sizeOf(cursor, tables, sizes, sample);
      onSample(at, end);
      at = end;
    }
  }
}

function sizeOf({ view }: Cursor, { uniformBytes, sizeBits }: SampleTables, { at }: Table, index: number): number {
  if (uniformBytes > 0) return uniformBytes;
  if (sizeBits === 32) return view.getUint32(at + 4 * index);
  if (sizeBits === 16) return view.getUint16(at + 2 * index);
  if (sizeBits === 8) return view.getUint8(at + index);
  return (view.getUint8(at + (index >> 1)) >> ((index & 1) === 0 ? 4 : 0)) & 15;
}
