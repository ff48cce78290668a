/** Reads the tracks of WebM and Matroska (RFC 9559). Recorders write neither duration nor sizes, so that blocks must be read one by one. */
import { PROBE_LIMITS } from "../limits.ts";
import type { Cursor } from "./facts.ts";
import { type OnFrame, readFrames, readVint } from "./webm-frames.ts";

const ID = {
  segment: 0x18538067,
  info: 0x1549a966,
  timestampScale: 0x2ad7b1,
  duration: 0x4489,
  tracks: 0x1654ae6b,
  trackEntry: 0xae,
  trackNumber: 0xd7,
  trackType: 0x83,
  defaultDuration: 0x23e383,
  video: 0xe0,
  pixelWidth: 0xb0,
  pixelHeight: 0xba,
  audio: 0xe1,
  samplingFrequency: 0xb5,
  channels: 0x9f,
  bitDepth: 0x6264,
  codecId: 0x86,
  codecPrivate: 0x63a2,
  contentEncodings: 0x6d80,
  cluster: 0x1f43b675,
  clusterTimestamp: 0xe7,
  simpleBlock: 0xa3,
  blockGroup: 0xa0,
  block: 0xa1,
} as const;

/** Elements whose content is read as if it followed the element. Unknown sizes then need no special handling. */
const OPENED = new Set<number>([
  ID.segment,
  ID.info,
  ID.tracks,
  ID.trackEntry,
  ID.video,
  ID.audio,
  ID.cluster,
  ID.blockGroup,
]);

/** Track types of the format. */
export const VIDEO = 1;
export const AUDIO = 2;

export interface WebmTrack {
  number: number;
  /** Type of the track: `VIDEO`, `AUDIO` or another number. */
  type: number;
  sampleRate: number;
  channels: number;
  /** Bits per sample; 0 if the track does not state them. */
  bits: number;
  codec: string;
  /** Byte range of the decoder's settings (CodecPrivate); empty if there are none. */
  privateAt: number;
  privateEnd: number;
  /** True if the track's frames are compressed again, or encrypted. */
  isPacked: boolean;
  /** Width in pixels. */
  width: number;
  height: number;
  /** Duration of a block in seconds; 0 if the track does not state it. */
  blockSeconds: number;
  /** Start of the last block in seconds; negative if there is none. */
  lastSeconds: number;
}

export interface WebmContent {
  /** Total duration stated in the header, in seconds; 0 if absent. */
  readonly statedSeconds: number;
  readonly tracks: readonly WebmTrack[];
}

/** Reads as much as possible. For a truncated file, returns the content before the truncation. @param onFrame called for each frame */
export function readWebm(cursor: Cursor, onFrame?: OnFrame<WebmTrack>): WebmContent {
  const { view } = cursor;
  const tracks: WebmTrack[] = [];
  const byNumber = new Map<number, WebmTrack>();
  let scale = 1_000_000;
  let statedDuration = 0;
  let clusterStart = 0;
  for (let at = 0; at < cursor.length;) {
    cursor.step();
    const id = readVint(cursor, at, false);
    const size = id === null ? null : readVint(cursor, at + id.length, true);
    if (id === null || size === null) break;
    const start = at + id.length + size.length;
    const track = tracks.at(-1);
    const end = start + size.value;
    at = OPENED.has(id.value) ? start : end;
    if (id.value === ID.trackEntry) {
      if (tracks.length >= PROBE_LIMITS.tracksMax) throw cursor.corrupt("has too many tracks");
      tracks.push(newTrack());
    }
    if (OPENED.has(id.value) || end > cursor.length) continue;
    const number = (): number => readUnsigned(cursor, start, size.value);
    if (id.value === ID.timestampScale) scale = number();
    else if (id.value === ID.duration) statedDuration = readFloat(view, start, size.value);
    else if (id.value === ID.clusterTimestamp) clusterStart = number();
    else if (id.value === ID.simpleBlock || id.value === ID.block) {
      if (byNumber.size === 0) for (const one of tracks.toReversed()) byNumber.set(one.number, one);
      const owner = readVint(cursor, start, true);
      const of = owner === null ? undefined : byNumber.get(owner.value);
      if (owner === null || of === undefined || start + owner.length + 2 > cursor.length) continue;
      const begins = ((clusterStart + view.getInt16(start + owner.length)) * scale) / 1e9;
      of.lastSeconds = Math.max(of.lastSeconds, begins);
      if (onFrame) readFrames(cursor, start + owner.length + 2, end, (from, to) => onFrame(of, from, to));
    } else if (track !== undefined) {
      if (id.value === ID.trackNumber) track.number = number();
      else if (id.value === ID.trackType) track.type = number();
      else if (id.value === ID.defaultDuration) track.blockSeconds = number() / 1e9;
      else if (id.value === ID.pixelWidth) track.width = number();
      else if (id.value === ID.pixelHeight) track.height = number();
      else if (id.value === ID.samplingFrequency) track.sampleRate = readFloat(view, start, size.value);
      else if (id.value === ID.channels) track.channels = number();
      else if (id.value === ID.bitDepth) track.bits = number();
      else if (id.value === ID.codecId) track.codec = cursor.ascii(start, Math.min(size.value, CODEC_ID_MAX));
      else if (id.value === ID.contentEncodings) track.isPacked = true;
      else if (id.value === ID.codecPrivate) [track.privateAt, track.privateEnd] = [start, end];
    }
  }
  return { statedSeconds: (statedDuration * scale) / 1e9, tracks };
}

const CODEC_ID_MAX = 64;

/**
 * Maximum duration of the last block in seconds, which the file does not state. The stated total may exceed the counted one by this much.
 */
const LAST_BLOCK_SECONDS_MAX = 2;

/**
 * Returns the duration of a track in seconds.
 * @param usualSeconds duration of a block in such a track, if it is not stated
 */
export function webmSeconds({ statedSeconds }: WebmContent, track: WebmTrack, usualSeconds: number): number {
  const isKnown = track.blockSeconds > 0 && track.blockSeconds < LAST_BLOCK_SECONDS_MAX;
  const countedSeconds = track.lastSeconds + (isKnown ? track.blockSeconds : usualSeconds);
  const isBelievable =
    statedSeconds > 0 && statedSeconds >= track.lastSeconds && statedSeconds <= countedSeconds + LAST_BLOCK_SECONDS_MAX;
  return isBelievable ? statedSeconds : countedSeconds;
}

/** Creates a track with the default sampling frequency and channels of the format. */
function newTrack(): WebmTrack {
  return {
    number: 0,
    type: 0,
    sampleRate: 8_000,
    channels: 1,
    bits: 0,
    codec: "",
    privateAt: 0,
    privateEnd: 0,
    isPacked: false,
    width: 0,
    height: 0,
    blockSeconds: 0,
    lastSeconds: -1,
  };
}

function readUnsigned({ bytes }: Cursor, at: number, size: number): number {
  let value = 0;
  for (let index = 0; index < Math.min(size, 8); index += 1) value = value * 256 + (bytes[at + index] ?? 0);
  return value;
}

function readFloat(view: DataView, at: number, size: number): number {
  return size === 4 ? view.getFloat32(at) : size === 8 ? view.getFloat64(at) : 0;
}
