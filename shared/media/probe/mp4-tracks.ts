/** Reads the tracks of MP4, M4A and MOV (ISO 14496-12), complete and fragmented. */
import { PROBE_LIMITS } from "../limits.ts";
import type { Cursor } from "./facts.ts";

export interface Mp4Track {
  id: number;
  /** Kind of the track, from its handler box: `soun`, `vide` or another code. */
  handler: string;
  /** Ticks per second (`timescale`), and total ticks of all samples (`ticks`). */
  timescale: number;
  ticks: number;
  samples: number;
  codec: string;
  /** Number of sample descriptions, and byte range of the boxes within the first description. */
  descriptions: number;
  descriptionAt: number;
  descriptionEnd: number;
  /** Properties of an audio track: hertz, channels, bits per sample. */
  sampleRate: number;
  channels: number;
  bits: number;
  /** Properties of a video track: width and height in pixels before rotation, and the rotation in degrees clockwise. */
  width: number;
  height: number;
  rotation: 0 | 90 | 180 | 270;
  defaultTicks: number;
  defaultBytes: number;
  readonly tables: SampleTables;
  /** Called for each sample; undefined if samples are not visited. */
  onSample: OnSample | undefined;
}

const DEPTH_MAX = 8;
const CONTAINERS = new Set(["moov", "trak", "mdia", "minf", "stbl", "mvex", "moof", "traf"]);

interface State {
  readonly tracks: Mp4Track[];
  /** Tracks by id. If several tracks have the same id, the first one. */
  readonly byId: Map<number, Mp4Track>;
  track: Mp4Track | undefined;
  /** Offsets in the file: start of the fragment, base of its runs, and next sample. */
  fragmentAt: number;
  baseAt: number;
  runAt: number;
  /** Default duration in ticks and default size in bytes of a fragment's samples. */
  fragmentTicks: number;
  fragmentBytes: number;
  readonly onTrack: OnTrack | undefined;
}

/** Called after a track's tables are read and before its samples are visited. Returns the function that is called for each sample; undefined to skip the samples. */
type OnTrack = (track: Mp4Track) => OnSample | undefined;

/** Reads the tracks in file order. @throws MediaError corrupt, for impossible boxes; RangeError, if the file ends within a box */
export function readMp4Tracks(cursor: Cursor, onTrack?: OnTrack): readonly Mp4Track[] {
  const state: State = {
    tracks: [],
    byId: new Map(),
    track: undefined,
    fragmentAt: 0,
    baseAt: 0,
    runAt: 0,
    fragmentTicks: 0,
    fragmentBytes: 0,
    onTrack,
  };
  walk(cursor, 0, cursor.length, 0, state);
  return state.tracks;
}

function walk(cursor: Cursor, from: number, to: number, depth: number, state: State): void {
  const { view } = cursor;
  for (let at = from; at + 8 <= to;) {
    cursor.step();
    const kind = cursor.ascii(at + 4, 4);
    let size = view.getUint32(at);
    let head = 8;
    if (size === 1) {
      if (at + 16 > to) return;
      size = Number(view.getBigUint64(at + 8));
      head = 16;
    } else if (size === 0) {
      size = to - at;
    }
    if (size < head) throw cursor.corrupt("has a box that is smaller than its header");
    const end = Math.min(to, at + size);
    if (CONTAINERS.has(kind) && depth < DEPTH_MAX) {
      if (kind === "trak") {
        if (state.tracks.length >= PROBE_LIMITS.tracksMax) throw cursor.corrupt("has too many tracks");
        state.track = newTrack();
        state.tracks.push(state.track);
      }
      if (kind === "moof") state.fragmentAt = at;
      walk(cursor, at + head, end, depth + 1, state);
      if (kind === "trak" && state.track !== undefined) {
        state.track.onSample = state.onTrack?.(state.track);
        if (state.track.onSample) forEachSample(cursor, state.track.tables, state.track.onSample);
      }
    } else {
      readBox(cursor, kind, at + head, end, state);
    }
    at += size;
  }
}

function newTrack(): Mp4Track {
  return {
    id: 0,
    handler: "",
    timescale: 0,
    ticks: 0,
    samples: 0,
    codec: "",
    descriptions: 0,
    descriptionAt: 0,
    descriptionEnd: 0,
    sampleRate: 0,
    channels: 0,
    bits: 0,
    width: 0,
    height: 0,
    rotation: 0,
    defaultTicks: 0,
    defaultBytes: 0,
    tables: newTables(),
    onSample: undefined,
  };
}

function readBox(cursor: Cursor, kind: string, at: number, end: number, state: State): void {
  const { view } = cursor;
  const { track } = state;
  const has = (bytes: number): boolean => at + bytes <= end;
  switch (kind) {
    case "tkhd":
      if (track !== undefined && has(24)) {
        const isLong = view.getUint8(at) === 1;
        track.id = view.getUint32(at + (isLong ? 20 : 12));
        if (!state.byId.has(track.id)) state.byId.set(track.id, track);
        if (has(isLong ? 88 : 76)) track.rotation = readRotation(cursor, at + (isLong ? 52 : 40));
      }
      break;
    case "mdhd":
      if (track !== undefined && has(24)) track.timescale = view.getUint32(at + (view.getUint8(at) === 1 ? 20 : 12));
      break;
    case "hdlr":
      // QuickTime writes a second handler box, for the location of the data.
      if (track?.handler === "" && has(12)) track.handler = cursor.ascii(at + 8, 4);
      break;
    case "stsd":
      if (track !== undefined && has(44)) readDescription(cursor, at, end, track);
      break;
    case "stsz":
    case "stz2":
    case "stco":
    case "co64":
    case "stsc":
      if (track !== undefined) track.samples += readTable(cursor, kind, at, end, track.tables);
      break;
    case "stts":
      if (track !== undefined && has(8)) {
        const count = Math.min(view.getUint32(at + 4), Math.floor((end - at - 8) / 8));
        for (let index = 0; index < count; index += 1) {
          cursor.step();
          const samples = Math.min(view.getUint32(at + 8 + 8 * index), cursor.length);
          track.ticks += samples * view.getUint32(at + 12 + 8 * index);
        }
      }
      break;
    case "trex":
      if (has(24)) {
        const found = state.byId.get(view.getUint32(at + 4));
        if (found === undefined) break;
        found.defaultTicks = view.getUint32(at + 12);
        found.defaultBytes = view.getUint32(at + 16);
      }
      break;
    case "tfhd":
      if (has(8)) readFragmentHead(cursor, at, end, state);
      break;
    case "trun":
      if (has(8)) readRun(cursor, at, end, state);
      break;
    default:
      break;
  }
}

/** Reads the rotation of a track from its matrix of two rows and an offset. Cameras write quarter turns only. */
function readRotation({ view }: Cursor, at: number): Mp4Track["rotation"] {
  const [a, b] = [view.getInt32(at), view.getInt32(at + 4)];
  if (Math.abs(b) > Math.abs(a)) return b > 0 ? 90 : 270;
  return a < 0 ? 180 : 0;
}

/**
 * Reads the sample description of a track. In version 2 of QuickTime's audio description, most fields of the first versions are
 * placeholders.
 */
function readDescription(cursor: Cursor, at: number, end: number, track: Mp4Track): void {
  const { view } = cursor;
  track.descriptions = view.getUint32(at + 4);
  track.codec = cursor.ascii(at + 12, 4);
  const version = view.getUint16(at + 24);
  const isSecond = version === 2 && track.handler === "soun" && at + 80 <= end;
  track.descriptionAt = at + (isSecond ? 80 : version === 1 ? 60 : 44);
  track.descriptionEnd = Math.min(end, at + 8 + view.getUint32(at + 8));
  track.channels = isSecond ? view.getUint32(at + 56) : view.getUint16(at + 32);
  track.bits = isSecond ? view.getUint32(at + 64) : view.getUint16(at + 34);
  track.sampleRate = isSecond ? view.getFloat64(at + 48) : view.getUint32(at + 40) >>> 16;
  track.width = view.getUint16(at + 40);
  track.height = view.getUint16(at + 42);
}

function readFragmentHead({ view }: Cursor, at: number, end: number, state: State): void {
  const flags = view.getUint32(at) & 0xff_ffff;
  state.track = state.byId.get(view.getUint32(at + 4));
  state.fragmentTicks = state.track?.defaultTicks ?? 0;
  state.fragmentBytes = state.track?.defaultBytes ?? 0;
  let where = at + 8;
  const hasBase = (flags & 1) !== 0 && where + 8 <= end;
  state.baseAt = hasBase ? Number(view.getBigUint64(where)) : state.fragmentAt;
  state.runAt = state.baseAt;
  where += ((flags & 1) === 0 ? 0 : 8) + ((flags & 2) === 0 ? 0 : 4);
  if ((flags & 8) !== 0 && where + 4 <= end) state.fragmentTicks = view.getUint32(where);
  where += (flags & 8) === 0 ? 0 : 4;
  if ((flags & 16) !== 0 && where + 4 <= end) state.fragmentBytes = view.getUint32(where);
}

function readRun(cursor: Cursor, at: number, end: number, state: State): void {
  const { view } = cursor;
  const { track } = state;
  if (track === undefined) return;
  const flags = view.getUint32(at) & 0xff_ffff;
  const count = Math.min(view.getUint32(at + 4), cursor.length);
  const [hasTicks, hasBytes] = [(flags & 0x100) !== 0, (flags & 0x200) !== 0];
  track.samples += count;
  if (!hasTicks) track.ticks += count * state.fragmentTicks;
  if ((flags & 1) !== 0 && at + 12 <= end) state.runAt = state.baseAt + view.getInt32(at + 8);
  if (!hasTicks && track.onSample === undefined) return;
  const entry = [0x100, 0x200, 0x400, 0x800].filter((flag) => (flags & flag) !== 0).length * 4;
  let where = at + 8 + ((flags & 1) === 0 ? 0 : 4) + ((flags & 4) === 0 ? 0 : 4);
  for (let index = 0; index < count && where + entry <= end; index += 1) {
    cursor.step();
    if (hasTicks) track.ticks += view.getUint32(where);
    const sampleEnd = state.runAt + (hasBytes ? view.getUint32(where + (hasTicks ? 4 : 0)) : state.fragmentBytes);
    track.onSample?.(state.runAt, sampleEnd);
    state.runAt = sampleEnd;
    where += entry;
  }
}

// Positions of the samples of an MP4 track, by its tables (ISO 14496-12, 8.6 and 8.7).

/** Offset of a table's first entry, and number of entries. */
interface Table {
  readonly at: number;
  readonly count: number;
}

interface SampleTables {
  /** Size of every sample in bytes; 0 if each sample has a separate size. */
  uniformBytes: number;
  /** Bits of each size in the table: 32 in `stsz`; 4, 8 or 16 in `stz2`. */
  sizeBits: number;
  sizes: Table | undefined;
  chunks: (Table & { readonly isLong: boolean }) | undefined;
  spans: Table | undefined;
}

type OnSample = (at: number, end: number) => void;

function newTables(): SampleTables {
  return { uniformBytes: 0, sizeBits: 32, sizes: undefined, chunks: undefined, spans: undefined };
}

/** Reads a box of the sample tables. @returns number of samples in the box, 0 for any other box */
function readTable(cursor: Cursor, kind: string, at: number, end: number, tables: SampleTables): number {
  const { view } = cursor;
  const table = (head: number, entryBits: number): Table => {
    const statedCount = view.getUint32(at + head - 4);
    return { at: at + head, count: Math.min(statedCount, Math.floor(((end - at - head) * 8) / entryBits)) };
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

/** Visits the samples in order, as far as the tables are consistent. */
function forEachSample(cursor: Cursor, tables: SampleTables, onSample: OnSample): void {
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
