/** Changes of the picture of a video: its size, its speed, and what is laid over it. */
import { beforeAll, describe, expect, test } from "bun:test";
import sharp from "sharp";

import { runCapability } from "./in-folder.ts";
import { refused } from "./refused.ts";
import { clipOf, COLORS, frameAt, HALVES, nameOf, probe, soundOf } from "./video-clips.ts";

const PHOTO = { file_id: "file-sample-photo" } as const;
let halves: Uint8Array;
let colors: Uint8Array;
beforeAll(async () => {
  halves = await clipOf(HALVES);
  colors = await clipOf(COLORS);
});

const made = async (id: string, video: Uint8Array, params: object, more = {}): Promise<Uint8Array> =>
  (await runCapability(id, { video, ...more }, params)).bytes();

describe("video.resize", () => {
  test("adds borders if the shape differs, in their colour", async () => {
    const frame = await frameAt(await made("video.resize", halves, { width: 160, height: 160, background: "#0f0" }), 0);
    expect([frame.width, frame.height]).toEqual([160, 160]);
    expect([5, 40, 120, 155].map((y) => nameOf(frame.at(80, y)))).toEqual(["lime", "red", "blue", "lime"]);
  });

  test("fills, crops, stretches, or scales one side", async () => {
    const of = async (fit: string) => frameAt(await made("video.resize", halves, { width: 80, height: 80, fit }), 0);
    const [cover, fill, inside] = [await of("cover"), await of("fill"), await of("inside")];
    expect([cover, fill, inside].map(({ width, height }) => `${width}x${height}`)).toEqual(["80x80", "80x80", "80x60"]);
    expect([2, 77].map((y) => nameOf(cover.at(40, y)))).toEqual(["red", "blue"]);
    expect([2, 77].map((y) => nameOf(fill.at(40, y)))).toEqual(["red", "blue"]);
  });

  test.each([
    [{ width: 80 }, "80x60"],
    [{ height: 61 }, "80x60"],
    [{ aspect_ratio: "1:1" }, "160x160"],
    [{ aspect_ratio: "1:1", fit: "cover" }, "120x120"],
    [{ width: 90, aspect_ratio: "9:16" }, "90x160"],
  ])("%p converts %s of 160x120", async (params, size) => {
    const { width, height } = await probe(await made("video.resize", halves, params));
    expect(`${String(width)}x${String(height)}`).toBe(size);
  });

  test("rejects no size, all three sizes, and an invalid colour", async () => {
    expect(await refused(made("video.resize", halves, {}))).toContain(
      "params.width, params.height, params.aspect_ratio",
    );
    const all = { width: 80, height: 80, aspect_ratio: "1:1" };
    expect(await refused(made("video.resize", halves, all))).toStartWith("invalid: Expected params.aspect_ratio with");
    expect(await refused(made("video.resize", halves, { width: 80, background: "nosuch" }))).toBe(
      "invalid: Expected params.background to be a colour, got nosuch.",
    );
  });
});

describe("video.crop", () => {
  test("crops a box by its gravity, and one at a position", async () => {
    const south = await frameAt(await made("video.crop", halves, { width: 40, height: 40, gravity: "south" }), 0);
    expect([south.width, south.height, nameOf(south.at(20, 2))]).toEqual([40, 40, "blue"]);
    const placed = await frameAt(await made("video.crop", halves, { width: 41, height: 20, x: 7, y: 50 }), 0);
    expect([placed.width, placed.height]).toEqual([40, 20]);
    expect([3, 17].map((y) => nameOf(placed.at(10, y)))).toEqual(["red", "blue"]);
  });

  test("rejects a box that is not inside", async () => {
    expect(await refused(made("video.crop", halves, { width: 100, height: 100, x: 61, y: 0 }))).toBe(
      "invalid: Expected params.width and params.height of a box inside 160 × 120 pixels, got 100 × 100 at 61, 0.",
    );
    expect(await refused(made("video.crop", halves, { width: 200, height: 100 }))).toContain("got 200 × 100.");
  });
});

describe("video.speed", () => {
  test.each([
    [2, 1, 10],
    [0.5, 4, 40],
  ])("at %d times it lasts %d s, at as many frames a second", async (rate, seconds, frames) => {
    expect(await probe(await made("video.speed", colors, { rate }))).toMatchObject({ seconds, frames, fps: 10 });
  });

  test("plays backwards", async () => {
    const back = await made("video.speed", colors, { reverse: true });
    const seen = await Promise.all([0, 0.6, 1.1, 1.6].map(async (at) => nameOf((await frameAt(back, at)).at(20, 20))));
    expect(seen).toEqual(["white", "blue", "lime", "red"]);
    expect(await probe(back)).toMatchObject({ frames: 20, seconds: 2 });
  });

  test("voices keep their pitch, or are higher; backwards the last sound comes first", async () => {
    const tone = "color=c=red:s=64x48:r=10:d=2[v];aevalsrc='0.5*sin(2*PI*if(lt(t,1),400,800)*t)':s=48000:d=2[a]";
    const video = await clipOf(tone, { hasSound: true });
    const [kept, higher, back] = [
      await made("video.speed", video, { rate: 2 }),
      await made("video.speed", video, { rate: 2, keep_pitch: false }),
      await made("video.speed", video, { reverse: true }),
    ];
    const heard = async (of: Uint8Array) => Math.round((await soundOf(of, 0.1, 0.4)).hertz / 20) * 20;
    expect([await heard(kept), await heard(higher), await heard(back)]).toEqual([400, 800, 800]);
  });

  test("rejects more buffered frames than the memory limit, before it reads them", async () => {
    const long = await clipOf("color=c=red:s=1280x720:r=30:d=0.1,setpts=N*15/TB[v]", { kind: "mkv" });
    expect(await probe(long)).toMatchObject({ fps: 30, frames: 3 });
    expect(await refused(made("video.speed", long, { reverse: true }))).toMatch(
      /^too_large: Expected at most 24 s to be played backwards of 1280 × 720 pixels, got 3\d s\.$/,
    );
  });
});

describe("video.watermark", () => {
  let logo: Uint8Array;
  beforeAll(async () => {
    logo = await sharp({ create: { width: 40, height: 20, channels: 3, background: "lime" } })
      .png()
      .toBuffer();
  });

  test("is at its position, in its size, and keeps its transparency", async () => {
    const params = { gravity: "northwest", margin: 10, scale: 25, opacity: 1 };
    const frame = await frameAt(await made("video.watermark", halves, params, { logo }), 0.5);
    const seen = [[8, 8], [12, 12], [48, 28], [52, 28], [48, 32]].map(([x = 0, y = 0]) => nameOf(frame.at(x, y))); // prettier-ignore
    expect(seen).toEqual(["red", "lime", "lime", "red", "red"]);
    const faint = await frameAt(await made("video.watermark", halves, { ...params, opacity: 0.5 }, { logo }), 0.5);
    const [red, green] = faint.at(30, 20);
    expect([red, green].every((part) => part > 90 && part < 170)).toBe(true);
  });

  test("is visible for its time only", async () => {
    const params = { gravity: "center", scale: 50, opacity: 1, start: 0.5, end: 1 };
    const video = await made("video.watermark", colors, params, { logo });
    const seen = await Promise.all([0.4, 0.8, 1.1].map(async (at) => nameOf((await frameAt(video, at)).at(32, 24))));
    expect(seen).toEqual(["red", "lime", "blue"]);
  });

  test("rejects an end before its start, a logo that is higher than the video, and a missing one", async () => {
    expect(await refused(made("video.watermark", halves, { start: 2, end: 1 }, { logo }))).toContain("params.start");
    const high = await sharp(logo).resize(20, 400, { fit: "fill" }).png().toBuffer();
    expect(await refused(made("video.watermark", halves, { scale: 50 }, { logo: high }))).toBe(
      "invalid: Expected params.scale to leave input.logo inside 160 × 120 pixels, got 80 × 1600.",
    );
    expect(await refused(made("video.watermark", halves, {}))).toContain("input.logo");
    expect(await refused(made("video.watermark", halves, {}, { logo: Buffer.from("no picture") }))).toStartWith(
      "corrupt: ",
    );
  });
});

describe("video.text", () => {
  const inked = async (params: object): Promise<readonly [number, number]> => {
    const frame = await frameAt(await made("video.text", halves, { margin: 4, size: 16, ...params }), 0.5);
    let [upper, lower] = [0, 0];
    for (let y = 0; y < frame.height; y++) {
      for (let x = 0; x < frame.width; x++) {
        if (frame.at(x, y)[1] < 128) continue;
        if (y < 60) upper++;
        else lower++;
      }
    }
    return [upper, lower];
  };

  test("is at its position", async () => {
    const [north, south] = [await inked({ text: "tea", gravity: "north" }), await inked({ text: "tea" })];
    expect(north[0]).toBeGreaterThan(30);
    expect(north[1]).toBe(0);
    expect(south[1]).toBeGreaterThan(30);
    expect(south[0]).toBe(0);
  });

  test("is never interpreted as a program", async () => {
    for (const text of ["%{pts}':x=0", "a:enable=0", "[x];nullsink,\\", "'; movie=/etc/passwd", "%{eif\\:1"]) {
      expect((await inked({ text }))[1]).toBeGreaterThan(50);
    }
  });

  test("is broken between words, so that it stays inside", async () => {
    const one = await inked({ text: "tea and more tea and still more tea", gravity: "northwest" });
    const parts = await inked({ text: "tea and more\ntea and still\nmore tea", gravity: "northwest" });
    expect(Math.abs(one[0] + one[1] - parts[0] - parts[1]) / (parts[0] + parts[1])).toBeLessThan(0.1);
  });

  test("has a box of its colour", async () => {
    const video = await made("video.text", halves, {
      text: "tea",
      size: 16,
      gravity: "north",
      margin: 8,
      box_color: "lime",
    });
    const frame = await frameAt(video, 0);
    expect([80, 20].map((x) => nameOf(frame.at(x, 6)))).toEqual(["lime", "red"]);
  });

  test("rejects more lines than fit, an invalid colour, and an end before its start", async () => {
    expect(await refused(made("video.text", halves, { text: "a\nb\nc", margin: 0 }))).toBe(
      "invalid: Expected params.text, params.size and params.margin to take 120 pixels of height at most, got 173.",
    );
    expect(await refused(made("video.text", halves, { text: "a", size: 8, color: "nosuch" }))).toContain(
      "params.color",
    );
    expect(await refused(made("video.text", halves, { text: "a", start: 2, end: 1 }))).toContain("params.start");
  });
});

test.each([
  ["video.resize", { width: 48 }],
  ["video.crop", { width: 32, height: 32 }],
  ["video.speed", { rate: 2, reverse: true }],
  ["video.watermark", { scale: 50 }],
  ["video.text", { text: "tea", size: 10, margin: 2 }],
])(
  "%s accepts a GIF, 120 frames a second and video without audio, and writes the same bytes each time",
  async (id, params) => {
    const logo = id === "video.watermark" ? { logo: PHOTO } : {};
    const fast = await clipOf("testsrc2=s=64x48:r=120:d=0.5[v]");
    for (const video of [await clipOf("testsrc2=s=64x48:r=10:d=1[v]", { kind: "gif" }), fast]) {
      const [one, two] = [await made(id, video, params, logo), await made(id, video, params, logo)];
      expect(Buffer.compare(one, two)).toBe(0);
      expect((await probe(one))["fps"] as number).toBeLessThanOrEqual(60);
    }
  },
);

test("a GIF of one frame, and a video with a late start, keep their lengths", async () => {
  const still = await clipOf("color=c=red:s=65x49:r=10:d=0.1[v]", { kind: "gif" });
  expect(await probe(await made("video.speed", still, { rate: 0.5, reverse: true }))).toMatchObject({
    frames: 2,
    width: 64,
  });
  const late = await clipOf("testsrc2=s=64x48:r=10:d=1,setpts=PTS+5/TB[v]", { kind: "mkv" });
  expect(await probe(late)).toMatchObject({ seconds: 1 });
  expect(await probe(await made("video.speed", late, { reverse: true }))).toMatchObject({ frames: 10, seconds: 1 });
});

test("pixels that are not square, and a rotated video, are normalized first", async () => {
  const wide = await clipOf("testsrc2=s=64x48:r=10:d=0.5[v]", { options: { "x264-params": "sar=2/1" } });
  expect(await probe(await made("video.resize", wide, { height: 24 }))).toMatchObject({ width: 64, height: 24 });
  const turned = Buffer.from(halves);
  const [a, b, u, c] = [0, 65_536, 0, -65_536];
  const matrix = turned.indexOf("tkhd") + 44;
  for (const [at, value] of [a, b, u, c, 0].entries()) turned.writeInt32BE(value, matrix + at * 4);
  const frame = await frameAt(await made("video.crop", turned, { width: 120, height: 160 }), 0);
  expect([10, 110].map((x) => nameOf(frame.at(x, 80)))).toEqual(["blue", "red"]);
});
