import { describe, expect, test } from "bun:test";

import { MediaError } from "#shared/children/media-error.ts";
import { probeVideo } from "#shared/media/probe/video.ts";
import { be, box, bytesOf, ebml } from "#tests/support/file-parts.ts";
import { hostileFiles } from "#tests/support/hostile-files/corpus.ts";
import { cutsOf, spoilt } from "#tests/support/hostile-files/damage.ts";
import { cluster, fragments, mp4, pictureTrack, webm } from "#tests/support/hostile-files/films.ts";
import { seeded, testSeed } from "#tests/support/seed.ts";

function fault(bytes: Uint8Array): string {
  try {
    return `no fault but ${JSON.stringify(probeVideo(bytes))}`;
  } catch (error) {
    expect(error).toBeInstanceOf(MediaError);
    return (error as MediaError).fault;
  }
}

const CLOCKWISE = [0, 1, -1, 0] as const;
const UPSIDE_DOWN = [-1, 0, 0, -1] as const;

/** A frame each 40 ms, and sound unless it was muted. */
function footage(frames: number, { hasAudio = true, told = 0 } = {}): Buffer {
  const size = ebml(0xe0, bytesOf(ebml(0xb0, be(1_280, 2)), ebml(0xba, be(720, 2))));
  const pictures = ebml(0xae, bytesOf(ebml(0xd7, [1]), ebml(0x83, [1]), size));
  const sound = ebml(0xae, bytesOf(ebml(0xd7, [2]), ebml(0x83, [2])));
  const duration = Buffer.alloc(8);
  duration.writeDoubleBE(told * 1_000);
  const clusters = Array.from({ length: frames }, (_, index) =>
    cluster(40 * index, [0x81, 0, 0, 0x80, 1, 2], ...(hasAudio ? [[0x82, 0, 5, 0x80, 1, 2]] : [])),
  );
  return webm(bytesOf(pictures, sound), clusters, told > 0 ? ebml(0x1549a966, ebml(0x4489, duration)) : "");
}

const HD = { width: 640, height: 360, rotation: 0 } as const;

describe("a video probe", () => {
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
    ["WebM", footage(50), { format: "webm", seconds: 2, width: 1_280, height: 720, rotation: 0, hasAudio: true }],
    [
      "WebM that was muted and tells its length",
      footage(50, { hasAudio: false, told: 2.02 }),
      { format: "webm", seconds: 2.02, width: 1_280, height: 720, rotation: 0, hasAudio: false },
    ],
  ] as const)("detects %s", (_name, bytes, expected) => {
    const { seconds, ...rest } = probeVideo(bytes);
    const { seconds: wanted, ...others } = expected;
    expect(rest).toEqual(others);
    expect(seconds).toBeCloseTo(wanted, 3);
  });

  test("counts the frames of a WebM that declares an hour", () => {
    expect(probeVideo(footage(50, { told: 3_600 })).seconds).toBeCloseTo(2, 3);
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

  test.each(hostileFiles("film"))("rejects %s as broken, or returns its extreme length", async (name, make) => {
    const isLong = name.includes("billions");
    const isOther = /FLV|MPEG-TS/.test(name);
    expect(fault(await make())).toMatch(isLong ? /"seconds":\d{14},/ : isOther ? /^unsupported$/ : /^corrupt$/);
  });

  test.each(hostileFiles("disguise"))("rejects %s as no video", async (_name, make) => {
    expect(fault(await make())).toBe("unsupported");
  });

  test.each([
    ["an AVI", bytesOf("RIFF", be(9, 4), "AVI LIST"), "unsupported"],
    ["a picture", bytesOf("\x89PNG\r\n\x1a\n", Buffer.alloc(64)), "unsupported"],
    ["millions of tiny boxes", bytesOf(box("ftyp", "isom"), Buffer.alloc(16_000_000, "\0\0\0\bAAAA")), "corrupt"],
  ])("rejects %s", (_name, bytes, kind) => {
    expect(fault(bytes)).toBe(kind);
  });

  test("names the video in its error", () => {
    expect(() => probeVideo(mp4({ frames: 0 }))).toThrow("The video cannot be read: it has no video track.");
  });

  test("of any truncated or corrupted file answers or rejects", () => {
    const random = seeded(testSeed("spoilt video"));
    let answered = 0;
    for (const file of [mp4({ frames: 20 }, 20), fragments(3), footage(20)]) {
      const flipped = Array.from({ length: 400 }, () => spoilt(file, random, 4, 600));
      for (const bytes of [...cutsOf(file, 200), ...flipped]) {
        try {
          const { seconds, width, height } = probeVideo(bytes);
          expect(seconds).toBeGreaterThan(0);
          expect(Math.min(width, height)).toBeGreaterThan(0);
          answered += 1;
        } catch (error) {
          expect(error).toBeInstanceOf(MediaError);
        }
      }
    }
    expect(answered).toBeGreaterThan(300);
  });
});
