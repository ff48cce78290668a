import { describe, expect, test } from "bun:test";

import { MediaError } from "#shared/children/media-error.ts";
import { probeVideo } from "#shared/media/probe/video.ts";

function bytesOf(...parts: (string | readonly number[] | Uint8Array)[]): Uint8Array {
  return new Uint8Array(
    Buffer.concat(parts.map((part) => (typeof part === "string" ? Buffer.from(part, "latin1") : Buffer.from(part)))),
  );
}

function be(value: number, size: number): number[] {
  return Array.from({ length: size }, (_, at) => Math.floor(value / 256 ** (size - 1 - at)) % 256);
}

function fault(bytes: Uint8Array): string {
  try {
    return `no fault but ${JSON.stringify(probeVideo(bytes))}`;
  } catch (error) {
    expect(error).toBeInstanceOf(MediaError);
    return (error as MediaError).fault;
  }
}

function box(kind: string, ...content: (string | readonly number[] | Uint8Array)[]): Uint8Array {
  const body = bytesOf(...content);
  return bytesOf(be(8 + body.length, 4), kind, body);
}

const UPRIGHT = [1, 0, 0, 1] as const;
const CLOCKWISE = [0, 1, -1, 0] as const;
const UPSIDE_DOWN = [-1, 0, 0, -1] as const;

interface Film {
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

function trackHead(id: number, [a, b, c, d]: readonly [number, number, number, number]): Uint8Array {
  const matrix = [
    ...fixed(a),
    ...fixed(b),
    ...be(0, 4),
    ...fixed(c),
    ...fixed(d),
    ...be(0, 4),
    ...be(0, 8),
    ...be(2 ** 30, 4),
  ];
  return box("tkhd", be(0, 12), be(id, 4), be(0, 24), matrix, be(0, 8));
}

/** 30 frames a second unless said otherwise. */
function pictureTrack({
  frames,
  ticks = 100,
  timescale = 3_000,
  turn = UPRIGHT,
  width = 640,
  height = 360,
}: Film): Uint8Array {
  const entry = box("avc1", be(0, 6), be(1, 2), be(0, 16), be(width, 2), be(height, 2), be(0, 50));
  const table = box(
    "stbl",
    box("stsd", be(0, 4), be(1, 4), entry),
    box("stts", be(0, 4), be(1, 4), be(frames, 4), be(ticks, 4)),
    box("stsz", be(0, 4), be(20, 4), be(frames, 4)),
  );
  const media = box(
    "mdia",
    box("mdhd", be(0, 12), be(timescale, 4), be(1, 4), be(0, 4)),
    box("hdlr", be(0, 8), "vide", be(0, 13)),
    box("minf", table),
  );
  return box("trak", trackHead(1, turn), media);
}

function soundTrack(samples: number): Uint8Array {
  const entry = box("mp4a", be(0, 16), be(2, 2), be(16, 2), be(0, 4), be(48_000 * 65_536, 4));
  const table = box(
    "stbl",
    box("stsd", be(0, 4), be(1, 4), entry),
    box("stts", be(0, 4), be(1, 4), be(samples, 4), be(1_024, 4)),
    box("stsz", be(0, 4), be(10, 4), be(samples, 4)),
  );
  const media = box(
    "mdia",
    box("mdhd", be(0, 12), be(48_000, 4), be(1, 4), be(0, 4)),
    box("hdlr", be(0, 8), "soun", be(0, 13)),
    box("minf", table),
  );
  return box("trak", trackHead(2, UPRIGHT), media);
}

function mp4(film: Film, sound = 0): Uint8Array {
  const tracks = sound > 0 ? [soundTrack(sound), pictureTrack(film)] : [pictureTrack(film)];
  return bytesOf(box("ftyp", "isom", be(0, 4)), box("moov", ...tracks), box("mdat", new Uint8Array(20 * film.frames)));
}

/** A film as it is streamed: the index has no samples, each second of 24 frames comes with its own. */
function fragments(seconds: number): Uint8Array {
  const parts = Array.from({ length: seconds }, () => {
    // Track 1, the usual length of a sample; 24 of them.
    const head = box("tfhd", be(8, 4), be(1, 4), be(512, 4));
    const run = box("trun", be(0, 4), be(24, 4));
    return bytesOf(box("moof", box("traf", head, run)), box("mdat", new Uint8Array(480)));
  });
  const index = box("moov", pictureTrack({ frames: 0, timescale: 24 * 512 }));
  return bytesOf(box("ftyp", "iso5", be(0, 4)), index, ...parts);
}

function ebml(id: number, content: Uint8Array | null): Uint8Array {
  const idBytes = be(id, id > 0xff_ffff ? 4 : id > 0xffff ? 3 : id > 0xff ? 2 : 1);
  return content === null
    ? bytesOf(idBytes, [0x01, 255, 255, 255, 255, 255, 255, 255])
    : bytesOf(idBytes, [0x08], be(content.length, 4), content);
}

/** A WebM as a browser records it: no duration, no sizes. A frame each 40 ms, and sound unless it was muted. */
function webm(frames: number, { hasAudio = true, told = 0 } = {}): Uint8Array {
  const size = ebml(0xe0, bytesOf(ebml(0xb0, bytesOf(be(1_280, 2))), ebml(0xba, bytesOf(be(720, 2)))));
  const pictures = ebml(0xae, bytesOf(ebml(0xd7, bytesOf([1])), ebml(0x83, bytesOf([1])), size));
  const sound = ebml(0xae, bytesOf(ebml(0xd7, bytesOf([2])), ebml(0x83, bytesOf([2]))));
  const duration = new Uint8Array(8);
  new DataView(duration.buffer).setFloat64(0, told * 1_000);
  const clusters = Array.from({ length: frames }, (_, index) =>
    bytesOf(
      ebml(0x1f43b675, null),
      ebml(0xe7, bytesOf(be(40 * index, 4))),
      ebml(0xa3, bytesOf([0x81, 0, 0, 0x80, 1, 2])),
      hasAudio ? ebml(0xa3, bytesOf([0x82, 0, 5, 0x80, 1, 2])) : [],
    ),
  );
  return bytesOf(
    ebml(0x1a45dfa3, bytesOf([0x42, 0x86, 0x81, 1])),
    ebml(0x18538067, null),
    told > 0 ? ebml(0x1549a966, ebml(0x4489, duration)) : [],
    ebml(0x1654ae6b, bytesOf(pictures, sound)),
    ...clusters,
  );
}

const HD = { width: 640, height: 360, rotation: 0 } as const;

describe("a probe of video", () => {
  test.each([
    ["MP4", mp4({ frames: 90 }), { format: "mp4", seconds: 3, ...HD, hasAudio: false }],
    ["MP4 with sound", mp4({ frames: 90 }, 150), { format: "mp4", seconds: 3, ...HD, hasAudio: true }],
    [
      "MP4 held upright",
      mp4({ frames: 30, turn: CLOCKWISE }),
      { format: "mp4", seconds: 1, width: 360, height: 640, rotation: 90, hasAudio: false },
    ],
    [
      "MP4 held upside down",
      mp4({ frames: 30, turn: UPSIDE_DOWN }),
      { format: "mp4", seconds: 1, ...HD, rotation: 180, hasAudio: false },
    ],
    ["MP4 in fragments", fragments(7), { format: "mp4", seconds: 7, ...HD, hasAudio: false }],
    [
      "QuickTime that begins with its data",
      mp4({ frames: 60 }).subarray(16),
      { format: "mp4", seconds: 2, ...HD, hasAudio: false },
    ],
    ["WebM", webm(50), { format: "webm", seconds: 2, width: 1_280, height: 720, rotation: 0, hasAudio: true }],
    [
      "WebM that was muted and tells its length",
      webm(50, { hasAudio: false, told: 2.02 }),
      { format: "webm", seconds: 2.02, width: 1_280, height: 720, rotation: 0, hasAudio: false },
    ],
  ] as const)("tells what %s is", (_name, bytes, expected) => {
    const { seconds, ...rest } = probeVideo(bytes);
    const { seconds: wanted, ...others } = expected;
    expect(rest).toEqual(others);
    expect(seconds).toBeCloseTo(wanted, 3);
  });

  test("counts the frames of a WebM that promises an hour", () => {
    expect(probeVideo(webm(50, { told: 3_600 })).seconds).toBeCloseTo(2, 3);
  });

  test("reads a file of hundreds of megabytes", () => {
    const [head, index] = [box("ftyp", "isom", be(0, 4)), box("moov", pictureTrack({ frames: 300 }))];
    const length = 400 * 1_048_576;
    // Pages of zeros that nobody has looked at take no memory.
    const file = new Uint8Array(length);
    file.set(bytesOf(head, be(length - head.length - index.length, 4), "mdat"));
    file.set(index, length - index.length);
    expect(probeVideo(file)).toEqual({ format: "mp4", seconds: 10, ...HD, hasAudio: false });
  });

  test.each([
    ["nothing", new Uint8Array(0), "unsupported"],
    ["a playlist", bytesOf("#EXTM3U\nfile:///etc/passwd\n"), "unsupported"],
    ["a list for joining", bytesOf("ffconcat version 1.0\nfile /etc/passwd\n"), "unsupported"],
    ["a page", bytesOf("<html>"), "unsupported"],
    ["an AVI", bytesOf("RIFF", be(9, 4), "AVI LIST"), "unsupported"],
    ["a picture", bytesOf("\x89PNG\r\n\x1a\n", new Uint8Array(64)), "unsupported"],
    ["an MP4 of sound only", bytesOf(box("ftyp", "M4A "), box("moov", soundTrack(99))), "corrupt"],
    ["an MP4 without samples", mp4({ frames: 0 }), "corrupt"],
    ["an MP4 whose frames last no time", mp4({ frames: 30, ticks: 0 }), "corrupt"],
    ["an MP4 without a clock", mp4({ frames: 30, timescale: 0 }), "corrupt"],
    ["an MP4 without pixels", mp4({ frames: 30, width: 0 }), "corrupt"],
    ["an MP4 with a box smaller than its head", bytesOf(box("ftyp", "isom"), be(7, 4), "moov"), "corrupt"],
    ["a WebM that ends at once", bytesOf([0x1a, 0x45, 0xdf, 0xa3]), "corrupt"],
    [
      "millions of tiny boxes",
      bytesOf(
        box("ftyp", "isom"),
        new Uint8Array(16_000_000).map((_, at) => (at % 8 === 3 ? 8 : at % 8 < 3 ? 0 : 65)),
      ),
      "corrupt",
    ],
  ])("refuses %s", (_name, bytes, kind) => {
    expect(fault(bytes)).toBe(kind);
  });

  test("names the video in what it says", () => {
    expect(() => probeVideo(mp4({ frames: 0 }))).toThrow("The video cannot be read: it has no track of images.");
  });

  test("of any file cut anywhere or with flipped bytes answers or refuses", () => {
    let state = 7;
    const random = (bound: number): number => {
      state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
      return state % bound;
    };
    let answered = 0;
    const look = (bytes: Uint8Array): void => {
      try {
        const { seconds, width, height } = probeVideo(bytes);
        expect(seconds).toBeGreaterThan(0);
        expect(Math.min(width, height)).toBeGreaterThan(0);
        answered += 1;
      } catch (error) {
        expect(error).toBeInstanceOf(MediaError);
      }
    };
    for (const file of [mp4({ frames: 20 }, 20), fragments(3), webm(20)]) {
      for (let length = 0; length < file.length; length += Math.max(1, Math.floor(file.length / 200))) {
        look(file.subarray(0, length));
      }
      for (let round = 0; round < 400; round += 1) {
        const spoilt = file.slice();
        for (let flip = 0; flip < 4; flip += 1) spoilt[random(Math.min(600, spoilt.length))] = random(256);
        look(spoilt);
      }
    }
    expect(answered).toBeGreaterThan(300);
  });
});
