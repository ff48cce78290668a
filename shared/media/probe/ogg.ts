/** Reads Ogg (RFC 3533) with Opus, Vorbis, FLAC or Speex, and counts the packets. Durations of chained streams are added. */
import { corrupt, facts, trimmed, type AudioFacts, type Cursor } from "./facts.ts";
import { flacInfo } from "./flac.ts";
import { evenClock, flacClock, OPUS_RATE, opusClock, type PacketClock } from "./packets.ts";
import { VORBIS_TAIL_BYTES, vorbisClock, vorbisHead } from "./vorbis.ts";

interface Head {
  readonly sampleRate: number;
  readonly channels: number;
  /** Number of samples that a player skips at the beginning. */
  readonly skipped: number;
  /** Determines the duration of packets. Undefined until the third packet was read. */
  clock: PacketClock | undefined;
  readonly clockOf?: (setup: Uint8Array) => PacketClock;
}

interface Stream extends Head {
  lastGranule: number;
  seconds: number;
  isInPacket: boolean;
  packets: number;
  /** Last chunks of the third packet. Only the end of this packet is parsed. */
  setup: Uint8Array[];
}

const STREAMS_MAX = 256;
/** Number of packets before the audio: head and comments. Vorbis has one more; FLAC's further header packets are no frames. */
const HEADS = 2;
const SEGMENT_BYTES = 255;

export function probeOgg(cursor: Cursor): AudioFacts {
  const { view } = cursor;
  const streams = new Map<number, Stream>();
  const ended: Stream[] = [];
  for (let at = 0; at + 27 <= cursor.length;) {
    cursor.step();
    if (view.getUint32(at) !== 0x4f676753) {
      cursor.miss();
      at = cursor.bytes.indexOf(0x4f, at + 1);
      if (at < 0) break;
      continue;
    }
    const flags = view.getUint8(at + 5);
    const serial = view.getUint32(at + 14, true);
    const segments = view.getUint8(at + 26);
    const body = at + 27 + segments;
    if (body > cursor.length) break;
    if ((flags & 2) !== 0) {
      const head = readHead(cursor, body);
      const former = streams.get(serial);
      if (former !== undefined) ended.push(former);
      streams.delete(serial);
      if (head !== null) {
        streams.set(serial, { ...head, lastGranule: 0, seconds: 0, isInPacket: false, packets: 0, setup: [] });
      }
      if (streams.size + ended.length > STREAMS_MAX) throw corrupt("has too many streams");
    }
    const stream = streams.get(serial);
    const granule = Number(view.getBigInt64(at + 6, true));
    at = body + readSegments(cursor, at + 27, segments, body, stream);
    if (stream !== undefined && granule > stream.lastGranule) stream.lastGranule = granule;
  }
  const all = [...ended, ...streams.values()];
  const [first] = all;
  if (first === undefined) throw corrupt("contains no audio of a supported codec");
  const seconds = all.reduce((sum, stream) => sum + secondsOf(stream), 0);
  return facts("ogg", seconds, first.sampleRate, first.channels);
}

/** Adds the durations of a page's packets. @returns size of the page's body in bytes */
function readSegments(
  cursor: Cursor,
  table: number,
  segments: number,
  body: number,
  stream: Stream | undefined,
): number {
  let at = body;
  for (let index = 0; index < segments;) {
    const from = at;
    let length = SEGMENT_BYTES;
    for (; index < segments && length === SEGMENT_BYTES; index += 1) {
      length = cursor.view.getUint8(table + index);
      at += length;
    }
    if (stream !== undefined) readPiece(cursor, from, at, stream, length === SEGMENT_BYTES);
  }
  return at - body;
}

/** Adds the part of a packet that one page contains to the stream. Counts the packet, and adds its duration if it contains audio. */
function readPiece(cursor: Cursor, from: number, to: number, stream: Stream, isContinued: boolean): void {
  if (!stream.isInPacket) stream.packets += 1;
  if (stream.clockOf && stream.packets === HEADS + 1) {
    stream.setup = [...stream.setup.slice(-2), cursor.bytes.subarray(from, to)];
    if (!isContinued) stream.clock = stream.clockOf(Buffer.concat(stream.setup).subarray(-VORBIS_TAIL_BYTES));
  } else if (stream.packets > HEADS && !stream.isInPacket) {
    stream.seconds += stream.clock?.(cursor, from, to) ?? 0;
  }
  stream.isInPacket = isContinued;
}

/**
 * Returns the duration of a stream in seconds. Positions of a stream may start anywhere, for example in a recording that begins within a
 * broadcast.
 */
function secondsOf({ lastGranule, skipped, seconds, sampleRate }: Stream): number {
  const statedSeconds = Math.max(0, lastGranule - skipped) / sampleRate;
  return trimmed(statedSeconds, Math.max(0, seconds - skipped / sampleRate));
}

function readHead(cursor: Cursor, at: number): Head | null {
  const { view } = cursor;
  if (cursor.ascii(at, 8) === "OpusHead" && at + 19 <= cursor.length) {
    const [channels, skipped] = [view.getUint8(at + 9), view.getUint16(at + 10, true)];
    return { sampleRate: OPUS_RATE, channels, skipped, clock: opusClock };
  }
  if (cursor.ascii(at, 7) === "\x01vorbis") {
    const head = vorbisHead(cursor, at);
    if (head === undefined) return null;
    return { ...head, skipped: 0, clock: undefined, clockOf: (setup) => vorbisClock(head, setup) };
  }
  if (cursor.ascii(at, 5) === "\x7fFLAC") {
    const info = flacInfo(cursor, at + 17);
    return info === undefined ? null : { ...info, skipped: 0, clock: flacClock(info.sampleRate) };
  }
  if (cursor.ascii(at, 8) === "Speex   " && at + 68 <= cursor.length) {
    const [sampleRate, mode, channels] = [36, 40, 48].map((place) => view.getUint32(at + place, true));
    const samples = SPEEX_FRAMES[mode ?? 0];
    if (sampleRate === undefined || channels === undefined || samples === undefined) return null;
    const frames = Math.max(1, view.getUint32(at + 64, true));
    return { sampleRate, channels, skipped: 0, clock: evenClock((frames * samples) / sampleRate) };
  }
  return null;
}

/** Number of samples of a Speex frame in each of its three bands. */
const SPEEX_FRAMES = [160, 320, 640];
