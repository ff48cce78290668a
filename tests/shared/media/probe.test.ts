import { describe, expect, test } from "bun:test";

import { MediaError } from "#shared/children/media-error.ts";
import { probeAudio } from "#shared/media/probe/probe.ts";
import { be, box, bytesOf, ebml, le } from "#tests/support/file-parts.ts";
import { hostileFiles, type HostileName } from "#tests/support/hostile-files/corpus.ts";
import { cutsOf, spoilt } from "#tests/support/hostile-files/damage.ts";
import { cluster, soundTrack, webm } from "#tests/support/hostile-files/films.ts";
import { wav, type WavHead } from "#tests/support/hostile-files/sounds.ts";
import { createOggWriter, opusTags } from "#tests/support/ogg.ts";
import { seeded, testSeed } from "#tests/support/seed.ts";

function fault(bytes: Uint8Array): string {
  try {
    return `no fault but ${JSON.stringify(probeAudio(bytes))}`;
  } catch (error) {
    expect(error).toBeInstanceOf(MediaError);
    return (error as MediaError).fault;
  }
}

/** One second at 8 kHz, 16 bits, one channel; the head may say otherwise. */
function second(dataBytes = 16_000, head: WavHead = {}): Buffer {
  return wav({ dataBytes, chunks: bytesOf("LIST", le(4, 4), "INFO"), ...head }, Buffer.alloc(16_000));
}

/** MPEG 2 layer III, 24 kHz, 64 kbit/s, mono: 192 bytes and 24 ms. */
const MP3_FRAME = bytesOf([0xff, 0xf3, 0x84, 0xc4], Buffer.alloc(188));
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

/** AAC at 48 kHz in stereo, `samples` of `ticks` each. */
function m4a(samples: number, ticks: number): Buffer {
  const index = box("moov", soundTrack(samples, ticks));
  return bytesOf(box("ftyp", "M4A ", be(0, 4)), index, box("mdat", Buffer.alloc(10 * samples)));
}

/** One block each 20 ms, of a frame of as much. */
function speech(blocks: number, { codec = "A_OPUS", block = [0x80, 1, 2], every = 20 } = {}): Buffer {
  const audio = ebml(0xe1, bytesOf(ebml(0xb5, be(0x473b8000, 4)), ebml(0x9f, [2])));
  const track = ebml(0xae, bytesOf(ebml(0xd7, [1]), ebml(0x83, [2]), ebml(0x86, bytesOf(codec)), audio));
  const clusters = Array.from({ length: blocks }, (_, index) => cluster(every * index, [0x81, 0, 0, ...block]));
  return webm(track, clusters);
}

describe("an audio probe", () => {
  test.each([
    ["WAV", second(), { format: "wav", seconds: 1, sampleRate: 8_000, channels: 1 }],
    [
      "WAV of A-law",
      second(16_000, { code: 6, bits: 8 }),
      { format: "wav", seconds: 2, sampleRate: 8_000, channels: 1 },
    ],
    [
      "WAV that was streamed and names no length",
      second(0xffff_ffff),
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
    ["M4A", m4a(94, 1_024), { format: "mp4", seconds: (94 * 1_024) / 48_000, sampleRate: 48_000, channels: 2 }],
    ["WebM", speech(100), { format: "webm", seconds: 2, sampleRate: 48_000, channels: 2 }],
  ] as const)("detects %s and its length", (_name, bytes, expected) => {
    const { seconds, ...rest } = probeAudio(bytes);
    const { seconds: wanted, ...others } = expected;
    expect(rest).toEqual(others);
    expect(seconds).toBeCloseTo(wanted, 3);
  });

  test.each([
    ["a WAV that promises an hour and holds a second", second(57_600_000), 1],
    [
      "a WAV of ADPCM that promises gigabytes a second",
      second(16_000, { code: 0x11, blockBytes: 256, byteRate: 2 ** 32 - 1 }),
      3.945,
    ],
    [
      "a WAV of Microsoft's ADPCM with one block beyond its end",
      second(16_000, { code: 2, blockBytes: 65_535, byteRate: 1 }),
      3.998,
    ],
    ["a WAV of GSM", second(16_000, { code: 0x31, blockBytes: 1, byteRate: 2 ** 32 - 1 }), 9.846],
    [
      "an MP3 within a WAV that promises gigabytes a second",
      bytesOf(second(19_200, { code: 0x55, byteRate: 2 ** 32 - 1 }).subarray(0, -16_000), repeated(MP3_FRAME, 100)),
      2.4,
    ],
    ["Ogg pages that all stand at the beginning", ogg(500, () => 960), (500 * 960 - 312) / 48_000],
    ["Ogg pages that stand at the end of time", ogg(50, () => 2 ** 50), (50 * 960 - 312) / 48_000],
    ["AAC in an MP4 whose samples last a tick each", m4a(94, 1), (94 * 1_024) / 48_000],
    ["a WebM whose blocks all stand at the beginning", speech(500, { every: 0 }), 10],
    [
      "a WebM with three frames in each block, laced as Xiph's",
      speech(100, { every: 0, block: [0x82, 2, 2, 2, 1, 2, 1, 2, 1, 2] }),
      6,
    ],
    [
      "a WebM with three frames in each block, laced as EBML's",
      speech(100, { every: 0, block: [0x86, 2, 0x82, 0xbf, 1, 2, 1, 2, 1, 2] }),
      6,
    ],
    [
      "a WebM with three frames in each block, all of one size",
      speech(100, { every: 0, block: [0x84, 2, 1, 2, 1, 2, 1, 2] }),
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
  ])("counts the audio of %s, regardless of its header", (_name, bytes, seconds) => {
    expect(probeAudio(bytes).seconds).toBeCloseTo(seconds, 3);
  });

  const OTHERWISE: Partial<Record<HostileName<"sound">, string>> = {
    // A decoder's to refuse.
    "a WAV of samples of 8 KB": "no fault",
    "a WAV of an unknown codec": "unsupported",
    "a WAV of a codec that names its own rate": "unsupported",
    "a CAF that ends at once": "unsupported",
    "a CAF of no samples a second": "unsupported",
    "an AC-3 of a head only": "unsupported",
  };
  test.each(hostileFiles("sound"))("rejects %s as broken, or as an unknown codec", async (name, make) => {
    expect(fault(await make())).toStartWith(OTHERWISE[name] ?? "corrupt");
  });

  test.each(hostileFiles("disguise"))("rejects %s as no audio", async (_name, make) => {
    expect(fault(await make())).toBe("unsupported");
  });

  test.each([
    ["a picture", bytesOf("\x89PNG\r\n\x1a\n", Buffer.alloc(64)), "unsupported"],
    [
      "an MP4 of a box within a box within a box",
      bytesOf(be(24, 4), "ftyp", Buffer.alloc(16), be(1_000_000, 4), "moov", be(7, 4), "trak"),
      "corrupt",
    ],
    ["an MP4 without sound", bytesOf(box("ftyp", "isom"), box("moov", box("trak", box("mdia")))), "corrupt"],
    ["a WebM that ends at once", bytesOf([0x1a, 0x45, 0xdf, 0xa3]), "corrupt"],
    ["a WebM of a codec that names its own times", speech(100, { codec: "A_MS/ACM" }), "unsupported"],
    ["a million false frames", bytesOf(MP3_FRAME, MP3_FRAME, Buffer.alloc(2_000_000, 0xff)), "corrupt"],
    ["a million tiny boxes", bytesOf(box("ftyp", "M4A "), Buffer.alloc(16_000_000, "\0\0\0\bAAAA")), "corrupt"],
  ])("rejects %s", (_name, bytes, kind) => {
    expect(fault(bytes)).toBe(kind);
  });

  const files = [second(), repeated(MP3_FRAME, 30), repeated(ADTS_FRAME, 30), ogg(20), m4a(20, 1_024), speech(20)];

  test("of any truncated file answers or rejects, and never exceeds the whole length", () => {
    let answered = 0;
    for (const file of files) {
      const whole = probeAudio(file).seconds;
      for (const bytes of cutsOf(file, 150)) {
        try {
          expect(probeAudio(bytes).seconds).toBeLessThanOrEqual(whole + 0.001);
          answered += 1;
        } catch (error) {
          expect(error).toBeInstanceOf(MediaError);
        }
      }
    }
    expect(answered).toBeGreaterThan(200);
  });

  test("of files with flipped bytes answers or rejects", () => {
    const random = seeded(testSeed("spoilt audio"));
    for (const file of files) {
      for (let round = 0; round < 300; round += 1) {
        try {
          expect(probeAudio(spoilt(file, random, 4, 400)).seconds).toBeGreaterThan(0);
        } catch (error) {
          expect(error).toBeInstanceOf(MediaError);
        }
      }
    }
  });
});
