import { describe, expect, test } from "bun:test";

import { MediaError } from "#shared/children/media-error.ts";
import { createOggWriter, opusTags } from "#tests/support/ogg.ts";
import { probeAudio } from "#shared/media/probe/probe.ts";

function bytesOf(...parts: (string | readonly number[] | Uint8Array)[]): Uint8Array {
  return new Uint8Array(
    Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : Buffer.from(part)))),
  );
}

function be(value: number, size: number): number[] {
  return Array.from({ length: size }, (_, at) => Math.floor(value / 256 ** (size - 1 - at)) % 256);
}

function le(value: number, size: number): number[] {
  return be(value, size).toReversed();
}

function fault(bytes: Uint8Array): string {
  try {
    return `no fault but ${JSON.stringify(probeAudio(bytes))}`;
  } catch (error) {
    expect(error).toBeInstanceOf(MediaError);
    return (error as MediaError).fault;
  }
}

/** One second at 8 kHz, 16 bits, one channel; the head may say otherwise. */
function wav(
  dataSize = 16_000,
  head: Partial<Record<"rate" | "channels" | "bits" | "code" | "block" | "byteRate", number>> = {},
): Uint8Array {
  const { rate = 8_000, channels = 1, bits = 16, code = 1 } = head;
  const { block = (channels * bits) / 8, byteRate = rate * block } = head;
  const format = [
    ...le(code, 2),
    ...le(channels, 2),
    ...le(rate, 4),
    ...le(byteRate, 4),
    ...le(block, 2),
    ...le(bits, 2),
  ];
  return bytesOf(
    "RIFF",
    le(0, 4),
    "WAVEfmt ",
    le(16, 4),
    format,
    "LIST",
    le(4, 4),
    "INFO",
    "data",
    le(dataSize, 4),
    new Uint8Array(16_000),
  );
}

/** MPEG 2 layer III, 24 kHz, 64 kbit/s, mono: 192 bytes and 24 ms. */
const MP3_FRAME = bytesOf([0xff, 0xf3, 0x84, 0xc4], new Uint8Array(188));
/** AAC, 24 kHz, mono, 100 bytes: 1,024 samples. */
const ADTS_FRAME = bytesOf([0xff, 0xf1, 0x58, 0x40, 100 >> 3, ((100 & 7) << 5) | 0x1f, 0xfc], new Uint8Array(93));

function repeated(frame: Uint8Array, count: number): Uint8Array {
  return bytesOf(...Array.from({ length: count }, () => frame));
}

const OPUS_HEAD = bytesOf("OpusHead", [1, 2], le(312, 2), le(48_000, 4), le(0, 2), [0]);

/** Packets of 20 ms, one page each; `granule` may lie. */
function ogg(packets: number, granule = (index: number): number => 960 * (index + 1)): Uint8Array {
  const writer = createOggWriter();
  writer.packet(OPUS_HEAD, 0n, { endsPage: true });
  writer.packet(opusTags([]), 0n, { endsPage: true });
  for (let index = 0; index < packets; index += 1) {
    writer.packet(Uint8Array.of(0x78, 1, 2, 3), BigInt(granule(index)), {
      isLast: index === packets - 1,
      endsPage: true,
    });
  }
  return writer.finish();
}

function box(kind: string, ...content: (string | readonly number[] | Uint8Array)[]): Uint8Array {
  const body = bytesOf(...content);
  return bytesOf(be(8 + body.length, 4), kind, body);
}

/** AAC at 48 kHz in stereo, `samples` of `ticks` each. */
function mp4(samples: number, ticks: number): Uint8Array {
  const entry = box("mp4a", be(0, 16), be(2, 2), be(16, 2), be(0, 4), be(48_000 * 65_536, 4));
  const table = box(
    "stbl",
    box("stsd", be(0, 4), be(1, 4), entry),
    box("stts", be(0, 4), be(1, 4), be(samples, 4), be(ticks, 4)),
    box("stsz", be(0, 4), be(10, 4), be(samples, 4)),
  );
  const media = box(
    "mdia",
    box("mdhd", be(0, 12), be(48_000, 4), be(1, 4), be(0, 4)),
    box("hdlr", be(0, 8), "soun", be(0, 13)),
    box("minf", table),
  );
  return bytesOf(
    box("ftyp", "M4A ", be(0, 4)),
    box("moov", box("trak", box("tkhd", be(0, 12), be(1, 4), be(0, 68)), media)),
    box("mdat", new Uint8Array(10 * samples)),
  );
}

function ebml(id: number, content: Uint8Array | null): Uint8Array {
  const idBytes = be(id, id > 0xff_ffff ? 4 : id > 0xffff ? 3 : id > 0xff ? 2 : 1);
  return content === null
    ? bytesOf(idBytes, [0x01, 255, 255, 255, 255, 255, 255, 255])
    : bytesOf(idBytes, [0x08], be(content.length, 4), content);
}

/** A WebM as a browser records it: no duration, no sizes. One block each 20 ms, of a frame of as much. */
function webm(blocks: number, { codec = "A_OPUS", block = [0x80, 1, 2], every = 20 } = {}): Uint8Array {
  const audio = ebml(0xe1, bytesOf(ebml(0xb5, bytesOf(be(0x473b8000, 4))), ebml(0x9f, bytesOf([2]))));
  const track = ebml(
    0xae,
    bytesOf(ebml(0xd7, bytesOf([1])), ebml(0x83, bytesOf([2])), ebml(0x86, bytesOf(codec)), audio),
  );
  const clusters = Array.from({ length: blocks }, (_, index) =>
    bytesOf(
      ebml(0x1f43b675, null),
      ebml(0xe7, bytesOf(be(every * index, 4))),
      ebml(0xa3, bytesOf([0x81, 0, 0], block)),
    ),
  );
  return bytesOf(
    ebml(0x1a45dfa3, bytesOf([0x42, 0x86, 0x81, 1])),
    ebml(0x18538067, null),
    ebml(0x1654ae6b, track),
    ...clusters,
  );
}

describe("a probe", () => {
  test.each([
    ["WAV", wav(), { format: "wav", seconds: 1, sampleRate: 8_000, channels: 1 }],
    ["WAV of A-law", wav(16_000, { code: 6, bits: 8 }), { format: "wav", seconds: 2, sampleRate: 8_000, channels: 1 }],
    [
      "WAV that was streamed and names no length",
      wav(0xffff_ffff),
      { format: "wav", seconds: 1, sampleRate: 8_000, channels: 1 },
    ],
    ["MP3", repeated(MP3_FRAME, 100), { format: "mp3", seconds: 2.4, sampleRate: 24_000, channels: 1 }],
    [
      "MP3 behind a tag with a picture",
      bytesOf("ID3", [4, 0, 0, 0, 0, 1, 0], new Uint8Array(128).fill(0xff), repeated(MP3_FRAME, 50)),
      { format: "mp3", seconds: 1.2, sampleRate: 24_000, channels: 1 },
    ],
    [
      "MP3 with damage in the middle",
      bytesOf(repeated(MP3_FRAME, 50), [1, 2, 3, 0xff, 0xf3, 9], repeated(MP3_FRAME, 50)),
      { format: "mp3", seconds: 2.4, sampleRate: 24_000, channels: 1 },
    ],
    ["AAC", repeated(ADTS_FRAME, 375), { format: "aac", seconds: 16, sampleRate: 24_000, channels: 1 }],
    ["Opus", ogg(101), { format: "ogg", seconds: (101 * 960 - 312) / 48_000, sampleRate: 48_000, channels: 2 }],
    [
      "two Opus streams in a chain",
      bytesOf(ogg(50), ogg(50)),
      { format: "ogg", seconds: (2 * (50 * 960 - 312)) / 48_000, sampleRate: 48_000, channels: 2 },
    ],
    ["M4A", mp4(94, 1_024), { format: "mp4", seconds: (94 * 1_024) / 48_000, sampleRate: 48_000, channels: 2 }],
    ["WebM", webm(100), { format: "webm", seconds: 2, sampleRate: 48_000, channels: 2 }],
  ] as const)("tells what %s is and how long it lasts", (_name, bytes, expected) => {
    const { seconds, ...rest } = probeAudio(bytes);
    const { seconds: wanted, ...others } = expected;
    expect(rest).toEqual(others);
    expect(seconds).toBeCloseTo(wanted, 3);
  });

  test.each([
    ["a WAV that promises an hour and holds a second", wav(57_600_000), 1],
    [
      "a WAV of ADPCM that promises gigabytes a second",
      wav(16_000, { code: 0x11, block: 256, byteRate: 2 ** 32 - 1 }),
      3.945,
    ],
    [
      "a WAV of Microsoft's ADPCM with one block beyond its end",
      wav(16_000, { code: 2, block: 65_535, byteRate: 1 }),
      3.998,
    ],
    ["a WAV of GSM", wav(16_000, { code: 0x31, block: 1, byteRate: 2 ** 32 - 1 }), 9.846],
    [
      "an MP3 within a WAV that promises gigabytes a second",
      bytesOf(wav(19_200, { code: 0x55, byteRate: 2 ** 32 - 1 }).subarray(0, -16_000), repeated(MP3_FRAME, 100)),
      2.4,
    ],
    ["Ogg pages that all stand at the beginning", ogg(500, () => 960), (500 * 960 - 312) / 48_000],
    ["Ogg pages that stand at the end of time", ogg(50, () => 2 ** 50), (50 * 960 - 312) / 48_000],
    ["AAC in an MP4 whose samples last a tick each", mp4(94, 1), (94 * 1_024) / 48_000],
    ["a WebM whose blocks all stand at the beginning", webm(500, { every: 0 }), 10],
    [
      "a WebM with three frames in each block, laced as Xiph's",
      webm(100, { every: 0, block: [0x82, 2, 2, 2, 1, 2, 1, 2, 1, 2] }),
      6,
    ],
    [
      "a WebM with three frames in each block, laced as EBML's",
      webm(100, { every: 0, block: [0x86, 2, 0x82, 0xbf, 1, 2, 1, 2, 1, 2] }),
      6,
    ],
    [
      "a WebM with three frames in each block, all of one size",
      webm(100, { every: 0, block: [0x84, 2, 1, 2, 1, 2, 1, 2] }),
      6,
    ],
    [
      "an MP3 whose index promises one frame",
      bytesOf(
        [0xff, 0xf3, 0x84, 0xc4],
        new Uint8Array(9),
        "Xing",
        be(1, 4),
        be(1, 4),
        new Uint8Array(167),
        repeated(MP3_FRAME, 100),
      ),
      2.4,
    ],
  ])("counts the sound of %s, whatever the head says", (_name, bytes, seconds) => {
    expect(probeAudio(bytes).seconds).toBeCloseTo(seconds, 3);
  });

  test.each([
    ["nothing", new Uint8Array(0), "unsupported"],
    ["a playlist", bytesOf("#EXTM3U\nfile:///etc/passwd\n"), "unsupported"],
    ["a list for joining", bytesOf("ffconcat version 1.0\nfile /etc/passwd\n"), "unsupported"],
    ["a page", bytesOf("<html>"), "unsupported"],
    ["a picture", bytesOf("\x89PNG\r\n\x1a\n", new Uint8Array(64)), "unsupported"],
    ["a WAV without data", wav().subarray(0, 40), "corrupt"],
    ["a WAV of a codec that names its own rate", wav(16_000, { code: 0x161, byteRate: 1_000_000 }), "unsupported"],
    ["a WAV of ADPCM without blocks", wav(16_000, { code: 0x11, block: 0 }), "corrupt"],
    ["a WAV of zero channels", wav(16_000, { channels: 0 }), "corrupt"],
    ["a WAV of four billion samples a second", wav(16_000, { rate: 4_000_000_000 }), "corrupt"],
    [
      "an MP4 of a box within a box within a box",
      bytesOf(be(24, 4), "ftyp", new Uint8Array(16), be(1_000_000, 4), "moov", be(7, 4), "trak"),
      "corrupt",
    ],
    ["an MP4 without sound", bytesOf(box("ftyp", "isom"), box("moov", box("trak", box("mdia")))), "corrupt"],
    ["an Ogg of nothing known", bytesOf("OggS", new Uint8Array(200)), "corrupt"],
    ["a WebM that ends at once", bytesOf([0x1a, 0x45, 0xdf, 0xa3]), "corrupt"],
    ["a WebM of a codec that names its own times", webm(100, { codec: "A_MS/ACM" }), "unsupported"],
    ["a FLAC that ends at once", bytesOf("fLaC", [0x80, 0, 0, 34]), "corrupt"],
    ["a million false frames", bytesOf(MP3_FRAME, MP3_FRAME, new Uint8Array(2_000_000).fill(0xff)), "corrupt"],
    [
      "a million tiny boxes",
      bytesOf(
        box("ftyp", "M4A "),
        ...Array.from({ length: 20_000 }, () =>
          new Uint8Array(800)
            .fill(0)
            .map((_, at) => (at % 8 === 3 ? 8 : 65))
            .map((value, at) => (at % 8 < 3 ? 0 : value)),
        ),
      ),
      "corrupt",
    ],
  ])("refuses %s", (_name, bytes, kind) => {
    expect(fault(bytes)).toBe(kind);
  });

  test("of any file cut anywhere answers or refuses, and never promises more than the whole", () => {
    const files = [wav(), repeated(MP3_FRAME, 30), repeated(ADTS_FRAME, 30), ogg(20), mp4(20, 1_024), webm(20)];
    let answered = 0;
    for (const file of files) {
      const whole = probeAudio(file).seconds;
      for (let length = 0; length < file.length; length += Math.max(1, Math.floor(file.length / 150))) {
        try {
          expect(probeAudio(file.subarray(0, length)).seconds).toBeLessThanOrEqual(whole + 0.001);
          answered += 1;
        } catch (error) {
          expect(error).toBeInstanceOf(MediaError);
        }
      }
    }
    expect(answered).toBeGreaterThan(200);
  });

  test("of files with flipped bytes answers or refuses", () => {
    const files = [wav(), repeated(MP3_FRAME, 20), repeated(ADTS_FRAME, 20), ogg(20), mp4(20, 1_024), webm(20)];
    let state = 7;
    const random = (bound: number): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state % bound;
    };
    let runs = 0;
    for (const file of files) {
      for (let round = 0; round < 300; round += 1) {
        const spoilt = file.slice();
        for (let flip = 0; flip < 4; flip += 1) spoilt[random(Math.min(400, spoilt.length))] = random(256);
        try {
          expect(probeAudio(spoilt).seconds).toBeGreaterThan(0);
        } catch (error) {
          expect(error).toBeInstanceOf(MediaError);
        }
        runs += 1;
      }
    }
    expect(runs).toBe(1_800);
  });
});
