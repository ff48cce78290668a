/** Creates videos with any tables: valid ones, impossible ones, and some that state billions of frames. */
import { be, box, bytesOf, ebml, type Part } from "../file-parts.ts";

export const UPRIGHT = [1, 0, 0, 1] as const;

export interface Film {
  readonly frames: number;
  readonly ticks?: number;
  readonly timescale?: number;
  readonly turn?: readonly [number, number, number, number];
  readonly width?: number;
  readonly height?: number;
}

function fixed(value: number): number[] {
  return be(value < 0 ? 2 ** 32 + value * 65_536 : value * 65_536, 4);
}

function trackHead(id: number, [a, b, c, d]: readonly [number, number, number, number]): Buffer {
  const matrix = [...fixed(a), ...fixed(b), ...be(0, 4), ...fixed(c), ...fixed(d), ...be(0, 12), ...be(2 ** 30, 4)];
  return box("tkhd", be(0, 12), be(id, 4), be(0, 24), matrix, be(0, 8));
}

interface Samples {
  readonly handler: "vide" | "soun";
  readonly entry: Buffer;
  readonly timescale: number;
  readonly count: number;
  readonly ticks: number;
  readonly bytes: number;
}

function media({ handler, entry, timescale, count, ticks, bytes }: Samples): Buffer {
  const table = box(
    "stbl",
    box("stsd", be(0, 4), be(1, 4), entry),
    box("stts", be(0, 4), be(1, 4), be(count, 4), be(ticks, 4)),
    box("stsc", be(0, 4), be(1, 4), be(1, 4), be(count, 4), be(1, 4)),
    box("stsz", be(0, 4), be(bytes, 4), be(count, 4)),
    box("stco", be(0, 4), be(1, 4), be(0, 4)),
  );
  return box(
    "mdia",
    box("mdhd", be(0, 12), be(timescale, 4), be(1, 4), be(0, 4)),
    box("hdlr", be(0, 8), handler, be(0, 13)),
    box("minf", table),
  );
}

/** Returns a video track. Default: 30 frames per second. */
export function pictureTrack(film: Film): Buffer {
  const { frames, ticks = 100, timescale = 3_000, turn = UPRIGHT, width = 640, height = 360 } = film;
  const entry = box("avc1", be(0, 6), be(1, 2), be(0, 16), be(width, 2), be(height, 2), be(0, 50));
  const samples = { handler: "vide", entry, timescale, count: frames, ticks, bytes: 20 } as const;
  return box("trak", trackHead(1, turn), media(samples));
}

/** Returns a stereo AAC track at 48 kHz. Each sample lasts `ticks`. */
export function soundTrack(samples: number, ticks = 1_024): Buffer {
  const entry = box("mp4a", be(0, 16), be(2, 2), be(16, 2), be(0, 4), be(48_000 * 65_536, 4));
  const all = { handler: "soun", entry, timescale: 48_000, count: samples, ticks, bytes: 10 } as const;
  return box("trak", trackHead(2, UPRIGHT), media(all));
}

export function mp4(film: Film, sound = 0): Buffer {
  const tracks = sound > 0 ? [soundTrack(sound), pictureTrack(film)] : [pictureTrack(film)];
  // The frames are stated but not included.
  const data = Buffer.alloc(Math.min(20 * film.frames, 100_000));
  return bytesOf(box("ftyp", "isom", be(0, 4)), box("moov", ...tracks), box("mdat", data));
}

/** Returns a video whose index states four billion frames without duration. */
export function mp4OfBillions(width: number, height: number): Buffer {
  return mp4({ frames: 0xffff_ffff, ticks: 0xffff_ffff, timescale: 25, width, height });
}

/**
 * Returns a copy of the video with changed frame durations, in ticks. @param ticksOf receives the original duration and returns the new one
 */
export function mp4OfTicks(film: Uint8Array, ticksOf: (ticks: number) => number): Buffer {
  const bytes = Buffer.from(film);
  for (let at = bytes.indexOf("stts"); at >= 0; at = bytes.indexOf("stts", at + 1)) {
    for (let place = at + 16; place < at + 16 + 8 * bytes.readUInt32BE(at + 8); place += 8) {
      bytes.writeUInt32BE(ticksOf(bytes.readUInt32BE(place)), place);
    }
  }
  return bytes;
}

/** Returns a fragmented video. Its index has no samples, and each second of 24 frames is a separate fragment. */
export function fragments(seconds: number): Buffer {
  const parts = Array.from({ length: seconds }, () => {
    // Track 1, with the default sample duration; 24 samples.
    const head = box("tfhd", be(8, 4), be(1, 4), be(512, 4));
    const run = box("trun", be(0, 4), be(24, 4));
    return bytesOf(box("moof", box("traf", head, run)), box("mdat", Buffer.alloc(480)));
  });
  const index = box("moov", pictureTrack({ frames: 0, timescale: 24 * 512 }));
  return bytesOf(box("ftyp", "iso5", be(0, 4)), index, ...parts);
}

/** Returns a WebM file as browsers record it: neither the file nor its clusters state a length. @param info data before the tracks */
export function webm(tracks: Part, clusters: readonly Part[], info: Part = ""): Buffer {
  const head = ebml(0x1a45dfa3, [0x42, 0x86, 0x81, 1]);
  return bytesOf(head, ebml(0x18538067, "", null), info, ebml(0x1654ae6b, tracks), ...clusters);
}

export function cluster(milliseconds: number, ...blocks: readonly Part[]): Buffer {
  const all = blocks.map((block) => ebml(0xa3, block));
  return bytesOf(ebml(0x1f43b675, "", null), ebml(0xe7, be(milliseconds, 4)), ...all);
}
