/** Capabilities that write a whole video anew: another size in bytes, other sound, several in one. */
import { beforeAll, describe, expect, test } from "bun:test";

import { runCapability } from "./in-folder.ts";
import { refused } from "./refused.ts";
import { CLIP, clipOf, COLORS, frameAt, HALVES, nameOf, probe, soundOf } from "./video-clips.ts";
import { tone, wavOf } from "./wav.ts";

/** 2 s of red with a tone of 400 Hz, in one channel. */
const TONED = "color=c=red:s=64x48:r=10:d=2[v];aevalsrc='0.5*sin(2*PI*400*t)':s=44100:d=2[a]";
let halves: Uint8Array;
let colors: Uint8Array;
let toned: Uint8Array;
beforeAll(async () => {
  halves = await clipOf(HALVES);
  colors = await clipOf(COLORS);
  toned = await clipOf(TONED, { hasSound: true });
});

describe("video.transcode", () => {
  test("scales a video down within its bounds, keeps its shape, and never enlarges", async () => {
    const of = async (params: object) => {
      const { width, height } = await probe(
        (await runCapability("video.transcode", { video: halves }, params)).bytes(),
      );
      return `${String(width)}x${String(height)}`;
    };
    expect(await of({ max_width: 80 })).toBe("80x60");
    expect(await of({ max_width: 100, max_height: 31 })).toBe("40x30");
    expect(await of({ max_width: 1_000 })).toBe("160x120");
  });

  test("writes the requested frame rate", async () => {
    const made = await runCapability("video.transcode", { video: CLIP }, { fps: 5 });
    expect(await probe(made.bytes())).toMatchObject({ fps: 5, frames: 15, seconds: 3 });
  });

  test.each(["mp4", "webm"])(
    "keeps a file below the maximum size, and uses most of it: %s",
    async (format) => {
      const noise = "nullsrc=s=160x120:r=8:d=2,geq=96+random(1)*64:128:128[v];aevalsrc='random(0)-0.5':s=44100:d=2[a]";
      const video = await clipOf(noise, { hasSound: true });
      expect(video.length).toBeGreaterThan(200_000);
      const params = { target_bytes: 100_000, format };
      const one = await runCapability("video.transcode", { video }, params);
      expect(one.bytes().length).toBeLessThanOrEqual(100_000);
      expect(one.bytes().length).toBeGreaterThan(50_000);
      // VP9 takes its time.
      if (format === "webm") return;
      const two = await runCapability("video.transcode", { video }, params);
      expect(Buffer.compare(one.bytes(), two.bytes())).toBe(0);
    },
    60_000,
  );

  test.each(["h264", "vp9"])(
    "a bitrate makes %s larger or smaller",
    async (video_codec) => {
      const video = await clipOf("nullsrc=s=160x120:r=8:d=2,geq=96+random(1)*64:128:128[v]");
      const of = async (video_bitrate: number) =>
        (await runCapability("video.transcode", { video }, { video_bitrate, video_codec, format: "mkv" })).bytes()
          .length;
      const [low, high] = [await of(100), await of(600)];
      expect(high / low).toBeGreaterThan(2);
    },
    20_000,
  );

  test("rejects a size that is too small, and two settings of quality", async () => {
    const long = await clipOf("color=c=red:s=64x48:r=5:d=100[v];anullsrc=r=8000:d=100[a]", { hasSound: true });
    expect(await refused(runCapability("video.transcode", { video: long }, { target_bytes: 100_000 }))).toBe(
      "invalid: Expected params.target_bytes to be enough for 64 × 48 pixels for 100 s, got 100000.",
    );
    const both = { crf: 20, target_bytes: 100_000 };
    expect(await refused(runCapability("video.transcode", { video: halves }, both))).toContain("params.target_bytes");
  });
});

test("one channel of a low rate is written to MP4 as MP3, and as Opus for any bitrate", async () => {
  const graph = "testsrc2=s=64x48:r=25:d=0.5[v];sine=f=440:r=8000:d=0.5,aformat=channel_layouts=mono[a]";
  const video = await clipOf(graph, { hasSound: true });
  for (const audio_codec of ["mp3", "opus"]) {
    const made = await runCapability("video.transcode", { video }, { audio_codec, audio_bitrate: 320 });
    expect(await probe(made.bytes())).toMatchObject({ audio: { codec: audio_codec, channels: 1 } });
  }
  const sound = await runCapability("video.extract_audio", { video }, { format: "opus", bitrate: 320 });
  expect(sound.output).toMatchObject({ format: "opus", channels: 1 });
});

test("AV1 keeps a frame rate of large enough frames, though they last for seconds", async () => {
  const params = { video_codec: "av1", video_bitrate: 100 };
  const made = async (size: string) =>
    runCapability("video.transcode", { video: await clipOf(`testsrc2=s=${size}:r=1/2:d=4[v]`) }, params);
  expect(await probe((await made("64x64")).bytes())).toMatchObject({ video_codec: "av1", seconds: 4 });
  expect(await refused(made("64x48"))).toBe(
    "invalid: Expected params.crf instead of a bitrate or file size for AV1 below 64 × 64 pixels, got 64 × 48.",
  );
});

test("one frame is written as H.265", async () => {
  const video = await clipOf("testsrc2=s=64x48:r=25:d=0.04[v]");
  const made = await runCapability("video.transcode", { video }, { video_codec: "h265" });
  expect(await probe(made.bytes())).toMatchObject({ video_codec: "hevc", frames: 1 });
});

describe("video.set_audio", () => {
  const made = async (params: object, audio?: Uint8Array, video = toned): Promise<Uint8Array> =>
    (await runCapability("video.set_audio", audio ? { video, audio } : { video }, params)).bytes();
  const near = (hertz: number) => Math.round(hertz / 20) * 20;

  test("replaces the audio, with silence after it", async () => {
    const video = await made({}, wavOf(1, tone(800)));
    expect(near((await soundOf(video, 0.2, 0.8)).hertz)).toBe(800);
    expect((await soundOf(video, 1.2, 1.8)).peak).toBeLessThan(0.01);
    expect(await probe(video)).toMatchObject({ seconds: 2, frames: 20 });
  });

  test("loops it, at a lower volume", async () => {
    const video = await made({ loop: true, volume: -6.0206 }, wavOf(1, tone(800)));
    for (const from of [0.2, 1.2]) {
      const { hertz, peak } = await soundOf(video, from, from + 0.6);
      expect(near(hertz)).toBe(800);
      expect(peak).toBeCloseTo(0.25, 1);
    }
  });

  test("mixes both, and adds audio to a video without", async () => {
    const mixed = await made({ mode: "mix" }, wavOf(1, tone(400)));
    const [both, own] = [await soundOf(mixed, 0.2, 0.8), await soundOf(mixed, 1.3, 1.8)];
    expect(both.peak).toBeGreaterThan(own.peak * 1.3);
    expect(own.peak).toBeCloseTo(0.5, 1);
    const alone = await made({ mode: "mix" }, wavOf(1, tone(800)), colors);
    expect(near((await soundOf(alone, 0.2, 0.8)).hertz)).toBe(800);
  });

  test("ends with the shorter of both, or removes all audio", async () => {
    expect(await probe(await made({ length: "shortest" }, wavOf(1, tone(800))))).toMatchObject({
      seconds: 1,
      frames: 10,
    });
    expect(await probe(await made({ mode: "mute" }))).toMatchObject({ audio: null, frames: 20 });
  });

  test("is cut at the end of the video, with the same bytes each time", async () => {
    const [one, two] = [await made({}, wavOf(5, tone(800))), await made({}, wavOf(5, tone(800)))];
    expect(Number((await probe(one))["seconds"])).toBeCloseTo(2, 1);
    expect(Buffer.compare(one, two)).toBe(0);
  });

  test("rejects a missing audio, and invalid audio", async () => {
    expect(await refused(made({}))).toBe("invalid: Expected input.audio with params.mode replace, got none.");
    expect(await refused(made({}, Buffer.from("no audio")))).toStartWith("unsupported: ");
  });
});

describe("video.concat", () => {
  const made = async (videos: readonly Uint8Array[], params: object = {}): Promise<Uint8Array> =>
    (await runCapability("video.concat", { videos }, params)).bytes();

  test("converts sizes, rates and audio to the first one's format", async () => {
    const video = await made([toned, halves, await clipOf("color=c=lime:s=50x50:r=10:d=1[v]", { kind: "gif" })]);
    expect(await probe(video)).toMatchObject({ width: 64, height: 48, fps: 10, seconds: 4, frames: 40 });
    const seen = await Promise.all([1, 2.5, 3.5].map(async (at) => nameOf((await frameAt(video, at)).at(32, 10))));
    expect(seen).toEqual(["red", "red", "lime"]);
    expect(nameOf((await frameAt(video, 3.5)).at(2, 10))).toBe("black");
    expect((await soundOf(video, 0.5, 1.5)).peak).toBeGreaterThan(0.4);
    expect((await soundOf(video, 2.5, 3.5)).peak).toBeLessThan(0.01);
  });

  test.each(["fade", "wipeleft", "slideleft", "dissolve"])("%s subtracts its time from both", async (transition) => {
    const params = { transition, transition_duration: 0.5 };
    const [one, two] = [await made([colors, toned, colors], params), await made([colors, toned, colors], params)];
    expect(Buffer.compare(one, two)).toBe(0);
    expect(await probe(one)).toMatchObject({ seconds: 5, frames: 50 });
    const seen = await Promise.all([1.4, 2.5, 3.75].map(async (at) => nameOf((await frameAt(one, at)).at(32, 24))));
    expect(seen).toEqual(["blue", "red", "lime"]);
    expect((await soundOf(one, 0.2, 1.2)).peak).toBeLessThan(0.01);
    expect((await soundOf(one, 2.2, 2.8)).peak).toBeGreaterThan(0.4);
  });

  test("in the middle of a fade both are visible", async () => {
    const [black, white] = [
      await clipOf("color=c=black:s=64x48:r=10:d=2[v]"),
      await clipOf("color=c=white:s=64x48:r=10:d=2[v]"),
    ];
    const [grey] = (await frameAt(await made([black, white], { transition: "fade" }), 1.5)).at(30, 20);
    expect(Math.abs(grey - 128)).toBeLessThan(20);
  });

  test("has the requested size and frame rate", async () => {
    expect(await probe(await made([halves, colors], { width: 100, fps: 5 }))).toMatchObject({
      width: 100,
      height: 76,
      fps: 5,
    });
  });

  test("rejects a transition that is too long, and a single video", async () => {
    const params = { transition: "fade", transition_duration: 1.5 };
    expect(await refused(made([colors, toned, colors], params))).toBe(
      "invalid: Expected params.transition_duration of at most 1 s for input.videos[1], got 1.5.",
    );
    expect(await refused(made([colors]))).toContain("input.videos");
  });
});
