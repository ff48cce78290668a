/**
 * An MP4 (ISO 14496-12, -14, -15) of one picture track in H.264 and one sound track in AAC. Its index stands before the
 * data, so that a player can begin while it loads; equal packets make equal bytes.
 */
import type { VideoPacket, VideoShape } from "./video-encoder.ts";

export interface AudioPacket {
  readonly bytes: Uint8Array;
  /** Of one channel, at the encoder's rate. */
  readonly samples: number;
}

export interface Mp4Content extends VideoShape {
  readonly video: { readonly setup: Uint8Array; readonly packets: readonly VideoPacket[] };
  readonly audio: {
    /** AudioSpecificConfig. */
    readonly setup: Uint8Array;
    readonly packets: readonly AudioPacket[];
    readonly sampleRate: number;
    readonly channels: number;
    /** Samples at the beginning that only fill the encoder's first frame, and those after them that are meant. */
    readonly skipped: number;
    readonly samples: number;
  };
}

/** Of the whole file; tracks have clocks of their own. */
const MOVIE_TIMESCALE = 1_000;
/** For each frame, so that every usual number of frames a second divides it. */
const FRAME_TICKS = 512;

/** Some samples that lie together, and where. */
interface Chunk {
  readonly packets: readonly { readonly bytes: Uint8Array }[];
  readonly offset: number;
}

interface Layout {
  readonly video: readonly Chunk[];
  readonly audio: readonly Chunk[];
}

export function writeMp4(content: Mp4Content): Uint8Array {
  const head = box("ftyp", ascii("isom"), u32(512), ascii("isomiso2avc1mp41"));
  // The index holds offsets and its size does not depend on them.
  const indexBytes = movie(content, lay(content, 0)).length;
  const dataStart = head.length + indexBytes + 8;
  const layout = lay(content, dataStart);
  const chunks = [...layout.video, ...layout.audio].toSorted((one, other) => one.offset - other.offset);
  const data = chunks.flatMap(({ packets }) => packets.map(({ bytes }) => bytes));
  const dataBytes = data.reduce((sum, { length }) => sum + length, 8);
  return new Uint8Array(Buffer.concat([head, movie(content, layout), u32(dataBytes), ascii("mdat"), ...data]));
}

/** A second of pictures, then a second of sound, and so on: a player needs both at once. */
function lay({ video, audio, framesPerSecond }: Mp4Content, start: number): Layout {
  const sounds = audio.packets.map((packet, index) => ({ packet, at: index * (audio.packets[0]?.samples ?? 1) }));
  const layout = { video: [] as Chunk[], audio: [] as Chunk[] };
  let offset = start;
  const put = (track: Chunk[], packets: Chunk["packets"]): void => {
    if (packets.length === 0) return;
    track.push({ packets, offset });
    offset += packets.reduce((sum, { bytes }) => sum + bytes.length, 0);
  };
  const seconds = Math.ceil(video.packets.length / framesPerSecond);
  for (let second = 0; second < seconds; second += 1) {
    put(layout.video, video.packets.slice(second * framesPerSecond, (second + 1) * framesPerSecond));
    const until = second === seconds - 1 ? Infinity : (second + 1) * audio.sampleRate;
    const here = sounds.filter(({ at }) => at >= second * audio.sampleRate && at < until);
    put(
      layout.audio,
      here.map(({ packet }) => packet),
    );
  }
  return layout;
}

const IDENTITY = [0x1_0000, 0, 0, 0, 0x1_0000, 0, 0, 0, 0x4000_0000];
/** "und", five bits a letter. */
const NO_LANGUAGE = 0x55c4;

function movie(content: Mp4Content, layout: Layout): Uint8Array {
  const { video, audio, framesPerSecond, width, height } = content;
  const ticks = video.packets.length * FRAME_TICKS;
  const seconds = video.packets.length / framesPerSecond;
  const duration = Math.round(seconds * MOVIE_TIMESCALE);
  const keys = video.packets.flatMap(({ isKey }, index) => (isKey ? [index + 1] : []));
  const pictures = track({
    id: 1,
    duration,
    mediaStart: 0,
    volume: 0,
    size: [width, height],
    timescale: framesPerSecond * FRAME_TICKS,
    mediaDuration: ticks,
    handler: "vide",
    header: fullBox("vmhd", 1, u16(0, 0, 0, 0)),
    description: pictureEntry(content),
    times: u32(1, video.packets.length, FRAME_TICKS),
    more: [fullBox("stss", 0, u32(keys.length, ...keys))],
    chunks: layout.video,
  });
  const frame = audio.packets[0]?.samples ?? 0;
  const sound = track({
    id: 2,
    duration: Math.min(duration, Math.round((audio.samples / audio.sampleRate) * MOVIE_TIMESCALE)),
    mediaStart: audio.skipped,
    volume: 0x100,
    size: [0, 0],
    timescale: audio.sampleRate,
    mediaDuration: audio.packets.length * frame,
    handler: "soun",
    header: fullBox("smhd", 0, u32(0)),
    description: soundEntry(content),
    times: u32(1, audio.packets.length, frame),
    more: [],
    chunks: layout.audio,
  });
  const header = fullBox(
    "mvhd",
    0,
    u32(0, 0, MOVIE_TIMESCALE, duration, 0x1_0000),
    u16(0x100, 0),
    u32(0, 0, ...IDENTITY, 0, 0, 0, 0, 0, 0, 3),
  );
  return box("moov", header, pictures, sound);
}

interface Track {
  readonly id: number;
  /** In the movie's time. */
  readonly duration: number;
  /** The others in the track's own. */
  readonly mediaStart: number;
  readonly mediaDuration: number;
  readonly timescale: number;
  /** 8.8 fixed point. */
  readonly volume: number;
  readonly size: readonly [number, number];
  readonly handler: "vide" | "soun";
  readonly header: Uint8Array;
  readonly description: Uint8Array;
  readonly times: Uint8Array;
  readonly more: readonly Uint8Array[];
  readonly chunks: readonly Chunk[];
}

function track(of: Track): Uint8Array {
  const samples = of.chunks.flatMap(({ packets }) => packets.map(({ bytes }) => bytes.length));
  // A new entry where a chunk holds another number of samples than the one before it.
  const runs = of.chunks.flatMap(({ packets: { length } }, index) =>
    index > 0 && of.chunks[index - 1]?.packets.length === length ? [] : [index + 1, length, 1],
  );
  const [width, height] = of.size.map((side) => side * 0x1_0000) as [number, number];
  const table = box(
    "stbl",
    fullBox("stsd", 0, u32(1), of.description),
    fullBox("stts", 0, of.times),
    ...of.more,
    fullBox("stsc", 0, u32(runs.length / 3, ...runs)),
    fullBox("stsz", 0, u32(0, samples.length, ...samples)),
    fullBox("stco", 0, u32(of.chunks.length, ...of.chunks.map(({ offset }) => offset))),
  );
  const references = box("dinf", fullBox("dref", 0, u32(1), fullBox("url ", 1)));
  const name = of.handler === "vide" ? "Pictures\0" : "Sound\0";
  return box(
    "trak",
    // Enabled, in the movie.
    fullBox(
      "tkhd",
      3,
      u32(0, 0, of.id, 0, of.duration, 0, 0),
      u16(0, 0, of.volume, 0),
      u32(...IDENTITY, width, height),
    ),
    box("edts", fullBox("elst", 0, u32(1, of.duration, of.mediaStart, 0x1_0000))),
    box(
      "mdia",
      fullBox("mdhd", 0, u32(0, 0, of.timescale, of.mediaDuration), u16(NO_LANGUAGE, 0)),
      fullBox("hdlr", 0, u32(0), ascii(of.handler), u32(0, 0, 0), ascii(name)),
      box("minf", of.header, references, table),
    ),
  );
}

/** 72 dots an inch, one frame a sample, 24 bits: what all writers say here. */
function pictureEntry({ width, height, video }: Mp4Content): Uint8Array {
  return box(
    "avc1",
    u16(0, 0, 0, 1),
    u32(0, 0, 0, 0),
    u16(width, height),
    u32(0x48_0000, 0x48_0000, 0),
    u16(1),
    new Uint8Array(32),
    u16(24, 0xffff),
    box("avcC", video.setup),
    // BT.709 throughout, 16 to 235.
    box("colr", ascii("nclx"), u16(1, 1, 1), Uint8Array.of(0)),
  );
}

function soundEntry({ audio }: Mp4Content): Uint8Array {
  const bytes = audio.packets.reduce((sum, packet) => sum + packet.bytes.length, 0);
  const seconds = Math.max(1, audio.samples) / audio.sampleRate;
  const bitRate = Math.round((8 * bytes) / seconds);
  const decoder = descriptor(
    4,
    // Audio of ISO 14496-3, a stream of sound.
    Uint8Array.of(0x40, 0x15, 0, 0, 0),
    u32(bitRate, bitRate),
    descriptor(5, audio.setup),
  );
  return box(
    "mp4a",
    u16(0, 0, 0, 1),
    u32(0, 0),
    u16(audio.channels, 16, 0, 0),
    u32(audio.sampleRate * 0x1_0000),
    fullBox("esds", 0, descriptor(3, u16(2), Uint8Array.of(0), decoder, descriptor(6, Uint8Array.of(2)))),
  );
}

/** All of ours are shorter than 128 bytes. */
function descriptor(tag: number, ...parts: readonly Uint8Array[]): Uint8Array {
  const body = Buffer.concat(parts);
  return new Uint8Array(Buffer.concat([Uint8Array.of(tag, body.length), body]));
}

function box(kind: string, ...parts: readonly Uint8Array[]): Uint8Array {
  const size = parts.reduce((sum, { length }) => sum + length, 8);
  return new Uint8Array(Buffer.concat([u32(size), ascii(kind), ...parts]));
}

/** Version 0 and flags first. */
function fullBox(kind: string, flags: number, ...parts: readonly Uint8Array[]): Uint8Array {
  return box(kind, u32(flags), ...parts);
}

function ascii(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}

function u16(...values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(2 * values.length);
  const view = new DataView(bytes.buffer);
  values.forEach((value, index) => view.setUint16(2 * index, value));
  return bytes;
}

function u32(...values: readonly number[]): Uint8Array {
  const bytes = new Uint8Array(4 * values.length);
  const view = new DataView(bytes.buffer);
  values.forEach((value, index) => view.setUint32(4 * index, value));
  return bytes;
}
