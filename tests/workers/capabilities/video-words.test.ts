/** Times at which words and pictures over a video come and go, and subtitles of files that are not as they should be. */
import { describe, expect, test } from "bun:test";
import sharp from "sharp";

import { runCapability } from "./in-folder.ts";
import { refused } from "./refused.ts";
import { clipOf, frameAt, LOSSLESS, nameOf, probe } from "./video-clips.ts";

const plain = (background: string) =>
  sharp({ create: { width: 64, height: 48, channels: 3, background } })
    .png()
    .toBuffer();

describe("a timed overlay", () => {
  const black = async (r: string, seconds: number) => clipOf(`color=c=black:s=64x48:r=${r}:d=${seconds}[v]`);
  const cue = "1\n00:00:01,000 --> 00:00:02,000\n████████";

  test("appears at its times, though the frames below last longer", async () => {
    const video = await black("1/2", 4);
    const burnt = await runCapability("video.subtitle", { video, subtitles: { text: cue } }, { size: 20, ...LOSSLESS });
    const params = { text: "████████", size: 20, gravity: "center", margin: 0, start: 1, end: 2, ...LOSSLESS };
    const written = await runCapability("video.text", { video }, params);
    const logo = { logo: await plain("white") };
    const marked = await runCapability("video.watermark", { video, ...logo }, { start: 1, end: 2, scale: 80, opacity: 1, margin: 0, gravity: "south", ...LOSSLESS }); // prettier-ignore
    for (const [made, y] of [[burnt, 36], [written, 24], [marked, 36]] as const) // prettier-ignore
      expect(await Promise.all([0.5, 1.5, 2.5].map(async (at) => nameOf((await frameAt(made.bytes(), at)).at(32, y))))).toEqual(["black", "white", "black"]); // prettier-ignore
  });

  test("has its colour in a video of BT.709 too", async () => {
    const tagged = "scale=out_color_matrix=bt709:out_range=tv,format=yuv420p,setparams=colorspace=bt709:range=tv[v]";
    const video = await clipOf(`color=c=black:s=320x180:r=10:d=0.2,format=gbrp,${tagged}`);
    const text = "1\n00:00:00,000 --> 00:00:01,000\n████████";
    const burnt = await runCapability("video.subtitle", { video, subtitles: { text } }, { color: "#00c800", size: 60, ...LOSSLESS }); // prettier-ignore
    const [red, green, blue] = (await frameAt(burnt.bytes(), 0)).at(160, 140);
    expect(Math.max(red, Math.abs(green - 200), blue)).toBeLessThan(6);
  });

  test("is rejected after the end, like text without letters", async () => {
    const video = await black("10", 1);
    expect(await refused(runCapability("video.text", { video }, { text: "a", size: 8, start: 1 }))).toBe(
      "invalid: Expected params.start before the end at 1 s, got 1.",
    );
    for (const mode of ["burn", "soft"]) {
      expect(await refused(runCapability("video.subtitle", { video, subtitles: { text: cue } }, { mode }))).toBe(
        "invalid: Expected input.subtitles that begin before the end at 1 s, got 1.",
      );
    }
    const written = (text: string, font: string) => refused(runCapability("video.text", { video }, { text, font, size: 8 })); // prettier-ignore
    expect(await written(" \n", "sans")).toContain("with letters");
    for (const font of ["sans", "serif", "mono"])
      expect(await written("Tea: \u{10380}", font)).toBe(
        "invalid: Expected params.text in letters that an installed font has, got \u{10380} (U+10380). Remove or replace that letter.",
      );
    for (const text of ["Grüße, Ελλάδα, Привет, 100 % – “♪”", "😀 a\u200db"])
      expect((await runCapability("video.text", { video }, { text, size: 8, margin: 0 })).output).toMatchObject({ width: 64 }); // prettier-ignore
  });
});

describe("subtitles as a track", () => {
  const track = async (video: Uint8Array, text: string, params: object = {}) =>
    runCapability("video.subtitle", { video, subtitles: { text } }, { mode: "soft", ...params });

  test.each([["mp4"], ["mkv"]])("do not make %s longer", async (format) => {
    const video = await clipOf("color=s=64x48:r=10:d=2[v]");
    const made = await track(video, "1\n00:00:01,000 --> 01:00:00,000\nOn and on", { format });
    expect(await probe(made.bytes())).toMatchObject({ seconds: 2 });
  });

  test("may begin after more than half an hour", async () => {
    const video = await clipOf("color=s=64x48:r=1/50:d=2500[v]");
    const made = await track(video, "1\n00:40:00,000 --> 00:40:10,000\nAt last");
    expect(Buffer.from(made.bytes()).includes("At last")).toBe(true);
  });

  test.each([
    ["with spaces in empty lines", "a\n \n2\n"],
    ["without empty lines", "a\n2\n"],
    ["without numbers", "a\n"],
  ])("are all read %s", async (_, between) => {
    const video = await clipOf("color=s=64x48:r=10:d=2[v]");
    const text = `1\n00:00:00,000 --> 00:00:01,000\n${between}00:00:01,000 --> 00:00:02,000\nb`;
    expect((await track(video, text)).output).toMatchObject({ subtitles: 2 });
  });

  test("of SRT keep text after an empty line, and those of WebVTT no comments", async () => {
    const video = await clipOf("color=s=64x48:r=10:d=3[v]");
    const cues = (mark: string) =>
      `1\n00:00:00${mark}000 --> 00:00:01${mark}000\nfirst\n\nsecond part\n\n2\n\n00:00:02${mark}000 --> 00:00:03${mark}000\nlast`;
    const srt = await track(video, cues(","));
    expect(srt.output).toMatchObject({ subtitles: 2 });
    expect(Buffer.from(srt.bytes()).toString("latin1")).toContain("first\nsecond part");
    const vtt = await track(video, `WEBVTT\n\n${cues(".").replace("second part", "NOTE a comment")}`);
    expect(vtt.output).toMatchObject({ subtitles: 2 });
    expect(Buffer.from(vtt.bytes()).toString("latin1")).not.toContain("comment");
  });
});
