/** The tracks of MP4, M4A, MOV (ISO 14496-12), whole and in fragments. */
import type { Cursor } from "./facts.ts";

export interface Mp4Track {
  id: number;
  /** As its handler says: `soun`, `vide` or something else. */
  handler: string;
  /** Ticks a second, and what all samples last together. */
  timescale: number;
  ticks: number;
  samples: number;
  codec: string;
  /** Of sound. */
  sampleRate: number;
  channels: number;
  /** Of pictures: pixels, before they are turned clockwise by so many degrees. */
  width: number;
  height: number;
  rotation: 0 | 90 | 180 | 270;
  defaultTicks: number;
}

const DEPTH_MAX = 8;
const CONTAINERS = new Set(["moov", "trak", "mdia", "minf", "stbl", "mvex", "moof", "traf"]);

interface State {
  readonly tracks: Mp4Track[];
  track: Mp4Track | undefined;
  /** Ticks of a fragment's samples that tell none. */
  fragmentTicks: number;
}

/** In the file's order. @throws MediaError corrupt, for boxes that cannot be; RangeError, where it ends within one */
export function readMp4Tracks(cursor: Cursor): readonly Mp4Track[] {
  const state: State = { tracks: [], track: undefined, fragmentTicks: 0 };
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
    if (size < head) throw cursor.corrupt("has a box that is smaller than its own head");
    const end = Math.min(to, at + size);
    if (CONTAINERS.has(kind) && depth < DEPTH_MAX) {
      if (kind === "trak") {
        state.track = newTrack();
        state.tracks.push(state.track);
      }
      walk(cursor, at + head, end, depth + 1, state);
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
    sampleRate: 0,
    channels: 0,
    width: 0,
    height: 0,
    rotation: 0,
    defaultTicks: 0,
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
        if (has(isLong ? 88 : 76)) track.rotation = readRotation(cursor, at + (isLong ? 52 : 40));
      }
      break;
    case "mdhd":
      if (track !== undefined && has(24)) track.timescale = view.getUint32(at + (view.getUint8(at) === 1 ? 20 : 12));
      break;
    case "hdlr":
      if (track !== undefined && has(12)) track.handler = cursor.ascii(at + 8, 4);
      break;
    case "stsd":
      if (track !== undefined && has(44)) {
        track.codec = cursor.ascii(at + 12, 4);
        track.channels = view.getUint16(at + 32);
        track.sampleRate = view.getUint32(at + 40) >>> 16;
        track.width = view.getUint16(at + 40);
        track.height = view.getUint16(at + 42);
      }
      break;
    case "stsz":
      if (track !== undefined && has(12)) {
        // Each sample has bytes of its own, so there cannot be more samples than bytes.
        track.samples += Math.min(view.getUint32(at + 8), cursor.length);
      }
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
        const found = state.tracks.find(({ id }) => id === view.getUint32(at + 4));
        if (found !== undefined) found.defaultTicks = view.getUint32(at + 12);
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

/** A matrix of two rows and their shift, of which quarter turns are all that cameras write. */
function readRotation({ view }: Cursor, at: number): Mp4Track["rotation"] {
  const [a, b] = [view.getInt32(at), view.getInt32(at + 4)];
  if (Math.abs(b) > Math.abs(a)) return b > 0 ? 90 : 270;
  return a < 0 ? 180 : 0;
}

function readFragmentHead({ view }: Cursor, at: number, end: number, state: State): void {
  const flags = view.getUint32(at) & 0xff_ffff;
  state.track = state.tracks.find(({ id }) => id === view.getUint32(at + 4));
  state.fragmentTicks = state.track?.defaultTicks ?? 0;
  const where = at + 8 + ((flags & 1) === 0 ? 0 : 8) + ((flags & 2) === 0 ? 0 : 4);
  if ((flags & 8) !== 0 && where + 4 <= end) state.fragmentTicks = view.getUint32(where);
}

function readRun(cursor: Cursor, at: number, end: number, state: State): void {
  const { view } = cursor;
  const { track } = state;
  if (track === undefined) return;
  const flags = view.getUint32(at) & 0xff_ffff;
  const count = Math.min(view.getUint32(at + 4), cursor.length);
  track.samples += count;
  if ((flags & 0x100) === 0) {
    track.ticks += count * state.fragmentTicks;
    return;
  }
  const entry = [0x100, 0x200, 0x400, 0x800].filter((flag) => (flags & flag) !== 0).length * 4;
  let where = at + 8 + ((flags & 1) === 0 ? 0 : 4) + ((flags & 4) === 0 ? 0 : 4);
  for (let index = 0; index < count && where + 4 <= end; index += 1) {
    cursor.step();
    track.ticks += view.getUint32(where);
    where += entry;
  }
}
