/** Reads MP3 (ISO 11172-3, 13818-3) and AAC as ADTS (13818-7). Frames are counted one by one. */
import { AAC_RATES } from "./aac-config.ts";
import { corrupt, facts, type AudioFacts, type Cursor } from "./facts.ts";

interface Frame {
  readonly length: number;
  readonly samples: number;
  readonly sampleRate: number;
  readonly channels: number;
}

/** Returns the size of the ID3v2 tags before the audio, in bytes. Several tags may follow each other. */
export function id3Length(cursor: Cursor): number {
  let at = 0;
  while (cursor.ascii(at, 3) === "ID3" && at + 10 <= cursor.length) {
    cursor.step();
    const { view } = cursor;
    const size = [6, 7, 8, 9].reduce((sum, index) => (sum << 7) | (view.getUint8(at + index) & 0x7f), 0);
    at += 10 + size + ((view.getUint8(at + 5) & 0x10) === 0 ? 0 : 10);
  }
  return Math.min(at, cursor.length);
}

/** Bit rates in kilobits per second, by index. Rows: MPEG 1 layers I, II, III, then MPEG 2 and 2.5 layer I, layers II and III. */
const BIT_RATES = [
  [0, 32, 64, 96, 128, 160, 192, 224, 256, 288, 320, 352, 384, 416, 448],
  [0, 32, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320, 384],
  [0, 32, 40, 48, 56, 64, 80, 96, 112, 128, 160, 192, 224, 256, 320],
  [0, 32, 48, 56, 64, 80, 96, 112, 128, 144, 160, 176, 192, 224, 256],
  [0, 8, 16, 24, 32, 40, 48, 56, 64, 80, 96, 112, 128, 144, 160],
];
const MPEG_RATES = [44_100, 48_000, 32_000];

export function mpegFrame(cursor: Cursor, at: number): Frame | null {
  if (at + 4 > cursor.length) return null;
  const head = cursor.view.getUint32(at);
  const version = (head >>> 19) & 3;
  const layer = 4 - ((head >>> 17) & 3);
  const base = MPEG_RATES[(head >>> 10) & 3];
  if (head >>> 21 !== 0x7ff || version === 1 || layer === 4 || base === undefined) return null;
  const isFirst = version === 3;
  const sampleRate = isFirst ? base : version === 2 ? base / 2 : base / 4;
  const table = isFirst ? layer - 1 : layer === 1 ? 3 : 4;
  const kilobits = BIT_RATES[table]?.[(head >>> 12) & 15] ?? 0;
  if (kilobits === 0) return null;
  const samples = layer === 1 ? 384 : layer === 3 && !isFirst ? 576 : 1_152;
  const padding = (head >>> 9) & 1;
  const length =
    layer === 1
      ? (Math.floor((12_000 * kilobits) / sampleRate) + padding) * 4
      : Math.floor((samples * 125 * kilobits) / sampleRate) + padding;
  return { length, samples, sampleRate, channels: ((head >>> 6) & 3) === 3 ? 1 : 2 };
}

export function adtsFrame(cursor: Cursor, at: number): Frame | null {
  if (at + 7 > cursor.length || (cursor.view.getUint16(at) & 0xfff6) !== 0xfff0) return null;
  const sampleRate = AAC_RATES[(cursor.view.getUint8(at + 2) >> 2) & 15];
  const word = cursor.view.getUint32(at + 2);
  const length = (word >>> 5) & 0x1fff;
  if (sampleRate === undefined || length < 7) return null;
  const channels = (word >>> 22) & 7;
  const blocks = (cursor.view.getUint8(at + 6) & 3) + 1;
  return { length, samples: blocks * 1_024, sampleRate, channels: channels === 7 ? 8 : Math.max(1, channels) };
}

/** Returns true if a frame is at the offset, and another frame or the end of the file follows it. */
function isFrameStart(cursor: Cursor, at: number, read: typeof mpegFrame): boolean {
  const frame = read(cursor, at);
  if (frame === null) return false;
  const next = at + frame.length;
  return next >= cursor.length || read(cursor, next) !== null || isTrailer(cursor, next);
}

/** Returns true if a tag that follows the audio begins at the offset: ID3v1, APEv2, Lyrics3. */
function isTrailer(cursor: Cursor, at: number): boolean {
  return /^(?:TAG|APETAGEX|LYRICS)/.test(cursor.ascii(at, 8));
}

export function probeFrames(cursor: Cursor, format: "mp3" | "aac"): AudioFacts {
  const read = format === "mp3" ? mpegFrame : adtsFrame;
  let seconds = 0;
  let first: Frame | null = null;
  for (let at = id3Length(cursor); at < cursor.length;) {
    cursor.step();
    const frame = read(cursor, at);
    if (frame === null || (first === null && !isFrameStart(cursor, at, read))) {
      if (isTrailer(cursor, at)) break;
      // Damage, or padding: continue at the next byte that can begin a frame.
      do {
        at = cursor.bytes.indexOf(0xff, at + 1);
        cursor.miss();
      } while (at >= 0 && !isFrameStart(cursor, at, read));
      if (at < 0) break;
      continue;
    }
    // The first frame of an MP3 may contain an index of the others instead of audio.
    const isIndex = first === null && format === "mp3" && /Xing|Info|VBRI/.test(cursor.ascii(at + 4, 40));
    first ??= frame;
    // A truncated last frame is not played.
    if (!isIndex && at + frame.length <= cursor.length) seconds += frame.samples / frame.sampleRate;
    at += frame.length;
  }
  if (first === null) throw corrupt("contains no audio");
  return facts(format, seconds, first.sampleRate, first.channels);
}
