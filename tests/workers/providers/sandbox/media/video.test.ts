import { afterAll, describe, expect, test } from "bun:test";

import { MediaError } from "#shared/media/media-error.ts";
import { probeVideo } from "#shared/media/probe/video.ts";
import { createSandboxMedia, videoSize } from "#workers/providers/sandbox/media/index.ts";

import { decodePng } from "./png.ts";
import { mp4Footage, turned, webmFootage } from "./video-footage.ts";
import { decodePictures, decodeSound, loudnessOf, type Picture } from "./video-reading.ts";

const media = createSandboxMedia();
afterAll(() => media.close());

const RATE = 48_000;
const wish = { prompt: "a red house and birds on green hills", seed: 1, seconds: 1, width: 320, height: 180 } as const;
const plain = media.makeVideo({ ...wish, seconds: 2 });
// Awaited by the tests below.
plain.catch(() => {});

async function fault(job: Promise<unknown>): Promise<string> {
  const error = await job.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(MediaError);
  return (error as MediaError).fault;
}

/** Means of the three planes over a part of the picture, given as shares of its sides. */
function means({ width, height, data }: Picture, [left, top, right, bottom] = [0, 0, 1, 1]): [number, number, number] {
  const half = (width / 2) * (height / 2);
  const plane = (start: number, across: number, down: number): number => {
    let [sum, count] = [0, 0];
    for (let y = Math.round(down * top); y < Math.round(down * bottom); y += 1) {
      for (let x = Math.round(across * left); x < Math.round(across * right); x += 1) {
        sum += data[start + y * across + x] ?? 0;
        count += 1;
      }
    }
    return sum / count;
  };
  return [
    plane(0, width, height),
    plane(width * height, width / 2, height / 2),
    plane(width * height + half, width / 2, height / 2),
  ];
}

/** Mean distance of two pictures' light. */
function distance(one: Picture, other: Picture): number {
  let sum = 0;
  for (let at = 0; at < one.width * one.height; at += 1) sum += Math.abs((one.data[at] ?? 0) - (other.data[at] ?? 0));
  return sum / (one.width * one.height);
}

/** Share of pixels that are about the red of a house (#d92b3a in BT.709). */
function redness({ width, height, data }: Picture): number {
  const half = (width / 2) * (height / 2);
  let count = 0;
  for (let at = 0; at < half; at += 1) {
    const [u, v] = [data[width * height + at] ?? 0, data[width * height + half + at] ?? 0];
    if (v > 185 && u < 128) count += 1;
  }
  return count / half;
}

function at(pictures: readonly Picture[], index: number): Picture {
  const picture = pictures.at(index);
  if (picture === undefined) throw new Error(`no frame ${index}`);
  return picture;
}

describe("a size", () => {
  test.each([
    ["480p", "16:9", 854, 480],
    ["720p", "16:9", 1_280, 720],
    ["1080p", "16:9", 1_920, 1_080],
    ["720p", "9:16", 720, 1_280],
    ["720p", "1:1", 720, 720],
    ["720p", "4:3", 960, 720],
    ["720p", "3:4", 720, 960],
    ["480p", "21:9", 1_120, 480],
    ["1080p", "21:9", 2_520, 1_080],
    ["720P", " 16:9 ", 1_280, 720],
    [undefined, undefined, 1_280, 720],
  ] as const)("of %p at %p is %p × %p", (resolution, ratio, width, height) => {
    expect(videoSize(resolution, ratio)).toEqual({ width, height });
  });

  test.each([
    ["big", "16:9"],
    ["720p", "wide"],
    ["720p", "16:0"],
    ["720p", "0:9"],
    ["4320p", "16:9"],
    ["10p", "16:9"],
    ["1080p", "99:1"],
  ])("of %p at %p is refused", (resolution, ratio) => {
    expect(() => videoSize(resolution, ratio)).toThrow(MediaError);
  });
});

describe("a video", () => {
  test.each([
    [1_280, 720, 1],
    [270, 480, 3],
    [640, 274, 1],
    [64, 64, 1],
  ])("of %p × %p and %p seconds has exactly that, in frames, pixels and samples", async (width, height, seconds) => {
    const made = await media.makeVideo({ ...wish, width, height, seconds });
    expect([made.width, made.height, made.seconds]).toEqual([width, height, seconds]);
    const facts = { format: "mp4", seconds, width, height, rotation: 0, hasSound: true } as const;
    expect(probeVideo(made.bytes)).toEqual(facts);
    const pictures = await decodePictures(made.bytes);
    expect(pictures.length).toBe(24 * seconds);
    expect(pictures.every((picture) => picture.width === width && picture.height === height)).toBe(true);
    expect(at(pictures, 0).seconds).toBe(0);
    expect(at(pictures, -1).seconds).toBeCloseTo(seconds - 1 / 24, 4);
    // The last frame of AAC may go on beyond the end; players stop where the edit list says.
    const { left } = await decodeSound(made.bytes, "mov");
    expect(left.length).toBeGreaterThanOrEqual(seconds * RATE);
    expect(left.length).toBeLessThan(seconds * RATE + 1_024);
  });

  test("can be played from its beginning on: the index stands before the data", async () => {
    const text = Buffer.from((await plain).bytes).toString("latin1");
    expect(text.slice(4, 8)).toBe("ftyp");
    expect(text.indexOf("moov")).toBeLessThan(text.indexOf("mdat"));
    expect(text).toContain("avc1");
    expect(text).toContain("mp4a");
  });

  test("moves: no frame is the one a second before, and each is near the one before it", async () => {
    const pictures = await decodePictures((await plain).bytes);
    for (let index = 24; index < pictures.length; index += 4) {
      expect(distance(at(pictures, index), at(pictures, index - 24))).toBeGreaterThan(0.8);
      expect(distance(at(pictures, index), at(pictures, index - 1))).toBeLessThan(8);
    }
  });

  test("is the same for the same prompt and seed, and another for others", async () => {
    const [again, seed, prompt] = await Promise.all([
      media.makeVideo({ ...wish, seconds: 2 }),
      media.makeVideo({ ...wish, seed: 2 }),
      media.makeVideo({ ...wish, prompt: "a red house and birds on the moon" }),
    ]);
    expect(Buffer.compare(again.bytes, (await plain).bytes)).toBe(0);
    const [first, ...others] = await Promise.all(
      [(await plain).bytes, seed.bytes, prompt.bytes].map(async (bytes) => at(await decodePictures(bytes), 5)),
    );
    if (first === undefined) throw new Error("no picture");
    for (const other of others) expect(distance(first, other)).toBeGreaterThan(5);
  });

  test("shows what the prompt names, and not what the negative prompt names", async () => {
    const both = { ...wish, prompt: "a red house and a yellow car" };
    const [shown, hidden] = await Promise.all(
      [both, { ...both, negativePrompt: "houses" }].map(async (call) => {
        const { bytes } = await media.makeVideo(call);
        return redness(at(await decodePictures(bytes), 12));
      }),
    );
    expect(shown).toBeGreaterThan(0.01);
    expect(hidden).toBeLessThan(0.001);
  });

  test("is heard, in both ears, softer than music that is listened to", async () => {
    const sound = await decodeSound((await plain).bytes, "mov");
    expect(sound.sampleRate).toBe(RATE);
    const loudness = await loudnessOf(sound);
    expect(loudness).toBeGreaterThan(-24);
    expect(loudness).toBeLessThan(-16);
    expect(sound.left).not.toEqual(sound.right);
    expect(sound.left.reduce((most, one) => Math.max(most, Math.abs(one)), 0)).toBeLessThan(0.97);
  });

  test("has somebody speak where the prompt quotes what is said", async () => {
    const [silent, spoken] = await Promise.all(
      ["a robot on green hills", 'a robot on green hills says: "Hello my dear friends!"'].map(async (prompt) => {
        const { left, right } = await decodeSound(
          (await media.makeVideo({ ...wish, prompt, seconds: 2 })).bytes,
          "mov",
        );
        // A voice is in the middle, music on all sides.
        let [middle, sides] = [0, 0];
        left.forEach((sample, index) => {
          middle += (sample + (right[index] ?? 0)) ** 2;
          sides += (sample - (right[index] ?? 0)) ** 2;
        });
        return middle / sides;
      }),
    );
    expect(spoken).toBeGreaterThan(3 * (silent ?? Infinity));
  });

  test.each([
    ["markup", '</text></svg><image href="file:///etc/passwd"/>&<>" says "<speak>"'],
    ["control characters, half a character and an emoji", "a\u0000b\u001b[31m\ud800 😀 c"],
    ["nothing", ""],
    ["words that objects inherit", "constructor toString __proto__"],
    ["more text than fits", 'red cat says "hello" '.repeat(2_000)],
  ])("is made of a prompt of %s", async (_name, prompt) => {
    const { bytes } = await media.makeVideo({ ...wish, prompt, width: 160, height: 120 });
    expect(probeVideo(bytes)).toMatchObject({ seconds: 1, width: 160, height: 120, hasSound: true });
  });

  test.each([
    ["no seconds", { seconds: 0 }],
    ["too many seconds", { seconds: 31 }],
    ["half a second", { seconds: 1.5 }],
    ["an odd width", { width: 321 }],
    ["a height that is no number", { height: Number.NaN }],
    ["too small a height", { height: 32 }],
    ["too large a width", { width: 4_000 }],
    ["too many pixels", { width: 2_560, height: 1_440 }],
    ["both an image and a video", { image: new Uint8Array(9), video: new Uint8Array(9) }],
  ])("with %s is refused", async (_name, change) => {
    expect(await fault(media.makeVideo({ ...wish, ...change }))).toBe("invalid");
  });

  test("is given up when its signal fires", async () => {
    const stop = new AbortController();
    const making = media.makeVideo({ ...wish, seconds: 30, width: 1_280, height: 720 }, stop.signal);
    stop.abort();
    expect(await fault(making)).toBe("aborted");
  });
});

describe("a video of a picture", () => {
  const image = media.makeImage({ prompt: "a blue sea", seed: 5, width: 400, height: 225, format: "png" });

  test("shows the picture, and moves over it", async () => {
    const { bytes } = await image;
    const { data, width, height } = decodePng(bytes);
    // The lower half: above is the caption.
    const lower = data.subarray(3 * width * Math.round(height / 2));
    const [red, green, blue] = [0, 1, 2].map((channel) => {
      const values = lower.filter((_, index) => index % 3 === channel);
      return values.reduce((sum, value) => sum + value, 0) / values.length;
    }) as [number, number, number];
    const made = await media.makeVideo({ ...wish, prompt: "slowly zooming in", image: bytes });
    const pictures = await decodePictures(made.bytes);
    // BT.709, as the file says of itself.
    const expected = [
      16 + (0.2126 * red + 0.7152 * green + 0.0722 * blue) * (219 / 255),
      128 + (-0.1006 * red - 0.3386 * green + 0.4392 * blue),
      128 + (0.4392 * red - 0.3989 * green - 0.0403 * blue),
    ];
    means(at(pictures, 0), [0, 0.5, 1, 1]).forEach((mean, plane) =>
      expect(Math.abs(mean - (expected[plane] ?? 0))).toBeLessThan(3),
    );
    expect(distance(at(pictures, 0), at(pictures, -1))).toBeGreaterThan(1.5);
  });

  test.each(["jpeg", "webp"] as const)("takes %s, of another shape than the video", async (format) => {
    const given = await media.makeImage({ prompt: "a cat", seed: 5, width: 300, height: 500, format });
    const { bytes } = await media.makeVideo({ ...wish, image: given.bytes });
    expect(probeVideo(bytes)).toMatchObject({ width: 320, height: 180, seconds: 1 });
  });

  test("has its colours changed where the prompt says so", async () => {
    const { bytes } = await media.makeVideo({ ...wish, prompt: "in black and white", image: (await image).bytes });
    const [, u, v] = means(at(await decodePictures(bytes), 10));
    expect(Math.abs(u - 128) + Math.abs(v - 128)).toBeLessThan(3);
  });

  test.each([
    ["text", "unsupported", () => new TextEncoder().encode("hello")],
    ["SVG", "unsupported", () => new TextEncoder().encode('<svg xmlns="http://www.w3.org/2000/svg"/>')],
    ["a picture that was cut off", "corrupt", (png: Uint8Array) => png.subarray(0, png.length / 2)],
    ["a head that promises 30,000 × 30,000", "too_large", (png: Uint8Array) => enlarged(png)],
  ] as const)("refuses %s as %s", async (_name, kind, spoil) => {
    expect(await fault(media.makeVideo({ ...wish, image: spoil((await image).bytes) }))).toBe(kind);
  });
});

function enlarged(png: Uint8Array): Uint8Array {
  const result = png.slice();
  const view = new DataView(result.buffer);
  view.setUint32(16, 30_000);
  view.setUint32(20, 30_000);
  view.setUint32(29, Bun.hash.crc32(result.subarray(12, 29)));
  return result;
}

describe("a video of footage", () => {
  const shape = { width: 160, height: 96, frames: 10 };
  /** Light on the left, dark on the right, and a bar that goes down. */
  const footage = mp4Footage(shape, (x, y, frame) => [Math.abs(y - 9 * frame) < 6 ? 235 : x < 80 ? 170 : 40, 90, 150]);
  const wanted = { ...wish, prompt: "make it black and white" };

  test("shows what it shows, in the colours of the prompt, as long and as large as was wished for", async () => {
    const { bytes } = await media.makeVideo({ ...wanted, seconds: 2, width: 240, height: 144, video: await footage });
    expect(probeVideo(bytes)).toEqual({
      format: "mp4",
      seconds: 2,
      width: 240,
      height: 144,
      rotation: 0,
      hasSound: true,
    });
    const pictures = await decodePictures(bytes);
    const [light, u, v] = means(at(pictures, 2), [0, 0.5, 0.4, 0.8]);
    const [dark] = means(at(pictures, 2), [0.6, 0.5, 1, 0.8]);
    expect(light - dark).toBeGreaterThan(100);
    expect(Math.abs(u - 128) + Math.abs(v - 128)).toBeLessThan(3);
    expect(distance(at(pictures, 0), at(pictures, 12))).toBeGreaterThan(3);
    // After its second the footage begins again.
    expect(distance(at(pictures, 4), at(pictures, 28))).toBeLessThan(2);
  });

  test("is tinted where the prompt names no colours, so that it is seen to have been made anew", async () => {
    const [one, other] = await Promise.all(
      ["in green", "in purple"].map(async (prompt) => {
        const { bytes } = await media.makeVideo({ ...wish, prompt, video: await footage });
        return means(at(await decodePictures(bytes), 2));
      }),
    );
    expect(Math.abs((one?.[2] ?? 0) - (other?.[2] ?? 0))).toBeGreaterThan(15);
  });

  test("is turned upright as its camera was held", async () => {
    const onItsSide = turned(await footage);
    expect(probeVideo(onItsSide)).toMatchObject({ width: 96, height: 160, rotation: 90 });
    const { bytes } = await media.makeVideo({ ...wanted, width: 96, height: 160, video: onItsSide });
    const picture = at(await decodePictures(bytes), 2);
    // A quarter turn clockwise: what was on the left is above.
    expect(means(picture, [0, 0.2, 0.7, 0.45])[0] - means(picture, [0, 0.6, 0.7, 1])[0]).toBeGreaterThan(80);
  });

  test("takes WebM", async () => {
    const webm = await webmFootage(shape, (x) => [x < 80 ? 200 : 40, 128, 128]);
    expect(probeVideo(webm)).toMatchObject({ format: "webm", width: 160, height: 96, hasSound: false });
    const { bytes } = await media.makeVideo({ ...wanted, video: webm });
    const picture = at(await decodePictures(bytes), 6);
    expect(means(picture, [0, 0.4, 0.4, 1])[0] - means(picture, [0.6, 0.4, 1, 1])[0]).toBeGreaterThan(100);
  });

  test("keeps its sound", async () => {
    const loud = await media.makeVideo({ ...wish, prompt: "techno music, a robot dances" });
    const { bytes } = await media.makeVideo({ ...wanted, video: loud.bytes });
    const [before, after] = [await decodeSound(loud.bytes, "mov"), await decodeSound(bytes, "mov")];
    let [product, one, other] = [0, 0, 0];
    for (let index = 4_800; index < 40_000; index += 1) {
      const middle = (before.left[index] ?? 0) + (before.right[index] ?? 0);
      product += middle * (after.left[index] ?? 0);
      one += middle ** 2;
      other += (after.left[index] ?? 0) ** 2;
    }
    expect(product / Math.sqrt(one * other)).toBeGreaterThan(0.9);
  });

  test.each([
    ["nothing", "unsupported", () => new Uint8Array(0)],
    ["a playlist", "unsupported", () => ascii("#EXTM3U\n#EXTINF:9,\nfile:///etc/passwd\n")],
    ["a list for joining", "unsupported", () => ascii("ffconcat version 1.0\nfile /etc/passwd\n")],
    ["a description of a stream", "unsupported", () => ascii("v=0\no=- 0 0 IN IP4 127.0.0.1\n")],
    ["a playlist behind a box", "corrupt", () => ascii("\0\0\0\x10ftypisom\0\0\0\0#EXTM3U\nfile:///etc/passwd\n")],
    ["a picture", "unsupported", () => ascii("\x89PNG\r\n\x1a\n")],
    ["only the first kilobyte", "corrupt", (mp4: Uint8Array) => mp4.subarray(0, 700)],
    ["no data behind the index", "corrupt", (mp4: Uint8Array) => mp4.subarray(0, Buffer.from(mp4).indexOf("mdat"))],
    ["a head that promises 16,000 × 16,000", "too_large", (mp4: Uint8Array) => resized(mp4, 16_000, 16_000)],
    ["a head that promises one long row", "too_large", (mp4: Uint8Array) => resized(mp4, 65_000, 2)],
    ["noise for data", "corrupt", (mp4: Uint8Array) => noisy(mp4)],
  ] as const)("refuses %s as %s", async (_name, kind, spoil) => {
    expect(await fault(media.makeVideo({ ...wanted, video: spoil(await footage) }))).toBe(kind);
  });

  test("refuses pictures that are larger than the head says, before they are decoded", async () => {
    const bomb = await mp4Footage({ width: 4_096, height: 4_096, frames: 1 }, () => [16, 128, 128], shape);
    expect(probeVideo(bomb)).toMatchObject({ width: 160, height: 96 });
    expect(await fault(media.makeVideo({ ...wanted, video: bomb }))).toBe("corrupt");
  });

  test("that is damaged anywhere is taken or refused, never a broken child", async () => {
    const whole = (await media.makeVideo({ ...wish, width: 160, height: 96 })).bytes;
    const outcomes = await Promise.all(
      [0.02, 0.06, 0.2, 0.5, 0.8].map(async (where) => {
        const from = Math.floor(whole.length * where);
        const spoilt = whole.map((value, at) => (at >= from && at < from + 60 ? (value * 31 + at) & 0xff : value));
        const job = media.makeVideo({ ...wanted, width: 160, height: 96, video: spoilt });
        return job.then(
          () => "taken",
          (error: unknown) => (error as MediaError).fault,
        );
      }),
    );
    const seen = new Set(outcomes);
    for (const allowed of ["taken", "corrupt", "unsupported", "too_large"]) seen.delete(allowed);
    expect([...seen]).toEqual([]);
  });
});

function ascii(text: string): Uint8Array {
  return new Uint8Array(Buffer.from(text, "latin1"));
}

/** Width and height in the sample entry. */
function resized(mp4: Uint8Array, width: number, height: number): Uint8Array {
  const result = mp4.slice();
  const at = Buffer.from(result.buffer).indexOf("avc1", 100) + 28;
  const view = new DataView(result.buffer);
  view.setUint16(at, width);
  view.setUint16(at + 2, height);
  return result;
}

function noisy(mp4: Uint8Array): Uint8Array {
  const start = Buffer.from(mp4).indexOf("mdat") + 4;
  return mp4.map((value, at) => (at < start ? value : (at * 7_919) % 251));
}
