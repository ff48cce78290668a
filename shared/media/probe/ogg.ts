/** Ogg (RFC 3533) with Opus, Vorbis, FLAC or Speex in it. Chained streams add up. */
import { corrupt, facts, type AudioFacts, type Cursor } from "./facts.ts";

interface Stream {
  readonly codec: "opus" | "vorbis" | "flac" | "speex";
  readonly sampleRate: number;
  readonly channels: number;
  readonly skipped: number;
  lastGranule: number;
  /** Of Opus only, whose packets tell their length: at 48 kHz. */
  counted: number;
  isInPacket: boolean;
  packets: number;
}

const OPUS_RATE = 48_000;
const STREAMS_MAX = 256;
/** A position that says this much less than the packets hold is not believed. */
const TRIM_SECONDS_MAX = 1;

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
      const stream = readHead(cursor, body);
      const former = streams.get(serial);
      if (former !== undefined) ended.push(former);
      if (stream !== null) streams.set(serial, stream);
      if (streams.size + ended.length > STREAMS_MAX) throw corrupt("has more streams than any recording");
    }
    const stream = streams.get(serial);
    const granule = Number(view.getBigInt64(at + 6, true));
    at = body + readSegments(cursor, at + 27, segments, body, stream);
    if (stream !== undefined && granule > stream.lastGranule) stream.lastGranule = granule;
  }
  const all = [...ended, ...streams.values()];
  const [first] = all;
  if (first === undefined) throw corrupt("holds no sound that is known here");
  const seconds = all.reduce((sum, stream) => sum + secondsOf(stream), 0);
  return facts("ogg", seconds, first.sampleRate, first.channels);
}

/** Counts what the page's packets last. @returns bytes of the page's body */
function readSegments(
  cursor: Cursor,
  table: number,
  segments: number,
  body: number,
  stream: Stream | undefined,
): number {
  let at = body;
  for (let index = 0; index < segments; index += 1) {
    const length = cursor.view.getUint8(table + index);
    if (stream !== undefined) {
      if (!stream.isInPacket) {
        stream.packets += 1;
        // The first two packets are head and comments.
        if (stream.codec === "opus" && stream.packets > 2 && at < cursor.length) {
          stream.counted += opusSamples(cursor.bytes[at] ?? 0, cursor.bytes[at + 1] ?? 0);
        }
      }
      stream.isInPacket = length === 255;
    }
    at += length;
  }
  return at - body;
}

function secondsOf({ codec, lastGranule, skipped, counted, sampleRate }: Stream): number {
  if (codec !== "opus") return lastGranule / sampleRate;
  const told = Math.max(0, lastGranule - skipped);
  const heard = Math.max(0, counted - skipped);
  const isBelievable = told <= heard && heard - told <= TRIM_SECONDS_MAX * OPUS_RATE;
  return (isBelievable ? told : heard) / OPUS_RATE;
}

function readHead(cursor: Cursor, at: number): Stream | null {
  const { view } = cursor;
  const empty = { lastGranule: 0, counted: 0, isInPacket: false, packets: 0 };
  if (at + 30 > cursor.length && cursor.ascii(at, 8) !== "OpusHead") return null;
  if (cursor.ascii(at, 8) === "OpusHead" && at + 19 <= cursor.length) {
    const channels = view.getUint8(at + 9);
    return { codec: "opus", sampleRate: OPUS_RATE, channels, skipped: view.getUint16(at + 10, true), ...empty };
  }
  if (cursor.ascii(at, 7) === "\x01vorbis") {
    const channels = view.getUint8(at + 11);
    return { codec: "vorbis", sampleRate: view.getUint32(at + 12, true), channels, skipped: 0, ...empty };
  }
  if (cursor.ascii(at, 5) === "\x7fFLAC") {
    const packed = view.getUint32(at + 27);
    return { codec: "flac", sampleRate: packed >>> 12, channels: ((packed >>> 9) & 7) + 1, skipped: 0, ...empty };
  }
  if (cursor.ascii(at, 8) === "Speex   " && at + 52 <= cursor.length) {
    const channels = view.getUint32(at + 48, true);
    return { codec: "speex", sampleRate: view.getUint32(at + 36, true), channels, skipped: 0, ...empty };
  }
  return null;
}

/** Samples of an Opus packet at 48 kHz from its first two bytes (RFC 6716, 3.1 and 3.2). */
function opusSamples(toc: number, second: number): number {
  const config = toc >> 3;
  const sizes = config < 12 ? [480, 960, 1_920, 2_880] : config < 16 ? [480, 960] : [120, 240, 480, 960];
  const size = sizes[config < 12 ? config & 3 : config < 16 ? config & 1 : config & 3] ?? 960;
  const code = toc & 3;
  return size * (code === 0 ? 1 : code === 3 ? second & 0x3f : 2);
}
