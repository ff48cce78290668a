/** Copies without encoding anew: pieces of video and audio, and tracks of subtitles; and subtitles in the picture. */
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { loadFfmpeg } from "#workers/children/ffmpeg.ts";

import { runCapability } from "./in-folder.ts";
import { refused } from "./refused.ts";
import { CLIP, clipOf, frameAt, HALVES, nameOf, pixelsOf, probe, soundOf } from "./video-clips.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-tracks-"));
afterAll(() => rmSync(folder, { recursive: true }));

/** A key frame each second: red, lime, blue and white; a tone that is higher each second. */
const SECONDS = ["red", "lime", "blue", "white"]
  .map((name, at) => `color=c=${name}:s=64x48:r=10:d=1[c${at}]`)
  .concat("[c0][c1][c2][c3]concat=n=4,fps=10[v]", "aevalsrc='0.5*sin(2*PI*400*(1+floor(t))*t)':s=48000:d=4[a]")
  .join(";");
const clips = new Map<string, Uint8Array>();
beforeAll(async () => {
  const options = { g: "10", keyint_min: "10" };
  for (const kind of ["mp4", "mkv", "webm"] as const) {
    clips.set(kind, await clipOf(SECONDS, { kind, hasSound: true, options }));
  }
});

describe("video.trim, copied", () => {
  test.each(["mp4", "mkv", "webm"])(
    "%s starts at the key frame before its start, with unchanged frames",
    async (kind) => {
      const video = clips.get(kind) ?? new Uint8Array();
      const run = () => runCapability("video.trim", { video }, { start: 1.45, end: 3, mode: "copy" });
      const [made, again] = [await run(), await run()];
      expect(Buffer.compare(made.bytes(), again.bytes())).toBe(0);
      expect(made.output).toMatchObject({ start: 1, format: kind });
      expect(Math.abs(Number(made.output?.["seconds"]) - 2)).toBeLessThan(0.06);
      const frames = 64 * 48 * 1.5;
      const all = await pixelsOf(video);
      expect(Buffer.compare(await pixelsOf(made.bytes()), all.subarray(10 * frames, 30 * frames))).toBe(0);
      expect(Math.abs((await soundOf(made.bytes(), 1.2, 1.8)).hertz - 1_200)).toBeLessThan(20);
    },
  );

  test("a clip whose frames refer to later ones is unchanged", async () => {
    const made = await runCapability("video.trim", { video: CLIP }, { duration: 1, mode: "copy" });
    const facts = await probe(made.bytes());
    expect(facts).toMatchObject({ width: 320, video_codec: "h264", audio: { codec: "aac" } });
    expect(facts["frames"]).toBeGreaterThanOrEqual(25);
    expect(facts["frames"]).toBeLessThan(30);
    const exact = await runCapability("video.trim", { video: CLIP }, { duration: 1, crf: 0, preset: "ultrafast" });
    const [copied, encoded] = [await pixelsOf(made.bytes()), await pixelsOf(exact.bytes())];
    expect(Buffer.compare(copied.subarray(0, 24 * 86_400), encoded.subarray(0, 24 * 86_400))).toBe(0);
  });

  test("is written to another container that supports the codecs, and rejected by one that does not", async () => {
    const made = await runCapability("video.trim", { video: CLIP }, { mode: "copy", format: "mkv" });
    expect(await probe(made.bytes())).toMatchObject({ video_codec: "h264", frames: 75 });
    expect(await refused(runCapability("video.trim", { video: CLIP }, { mode: "copy", format: "webm" }))).toBe(
      "invalid: Expected a format that supports h264 and aac.",
    );
    const gif = await clipOf("color=c=red:s=64x48:r=10:d=1[v]", { kind: "gif" });
    expect(await refused(runCapability("video.trim", { video: gif }, { mode: "copy" }))).toStartWith(
      "invalid: Expected params.mode other than copy for gif",
    );
    expect(
      await refused(runCapability("video.trim", { video: CLIP }, { mode: "copy", video_codec: "h265" })),
    ).toContain('Expected params.video_codec to be absent with params.mode "copy"');
    expect(await refused(runCapability("video.trim", { video: CLIP }, { mode: "copy", start: 5 }))).toContain(
      "params.start before the end",
    );
  });
});

describe("audio.trim, copied", () => {
  test.each(["mp3", "m4a", "aac", "opus", "ogg", "wav", "aiff"])(
    "%s starts with the packet that contains its start",
    async (format) => {
      const audio = (
        await runCapability("audio.convert", { audio: { file_id: "file-sample-tune" } }, { format })
      ).bytes();
      const run = () => runCapability("audio.trim", { audio }, { start: 1.4, duration: 0.8, mode: "copy" });
      const [made, again] = [await run(), await run()];
      expect(Buffer.compare(made.bytes(), again.bytes())).toBe(0);
      const { start, seconds } = made.output as { start: number; seconds: number };
      expect(start).toBeLessThanOrEqual(1.4);
      expect(start).toBeGreaterThan(1.25);
      expect(start + seconds).toBeGreaterThanOrEqual(2.199);
      const { output } = await runCapability("audio.probe", { audio: made.bytes() });
      expect(Math.abs(Number(output?.["seconds"]) - seconds)).toBeLessThan(0.06);
      const wav = await runCapability("audio.convert", { audio: made.bytes() }, { format: "wav" });
      expect(wav.bytes().length).toBeGreaterThan(50_000);
    },
  );

  test("rejects another format, FLAC, and encoding settings", async () => {
    const tune = { audio: { file_id: "file-sample-tune" } };
    expect(await refused(runCapability("audio.trim", tune, { mode: "copy", format: "wav" }))).toBe(
      "invalid: Expected params.format to be mp3, as the input is, with params.mode copy, got wav.",
    );
    expect(await refused(runCapability("audio.trim", tune, { mode: "copy", bitrate: 64 }))).toContain("params.bitrate");
    const audio = (await runCapability("audio.convert", tune, { format: "flac" })).bytes();
    expect(await refused(runCapability("audio.trim", { audio }, { mode: "copy" }))).toContain("FLAC");
  });
});

const SRT =
  "1\r\n00:00:00,200 --> 00:00:00,600\r\n<i>Three</i> boxes\r\n\r\n2\r\n00:00:00,500 --> 00:00:00,900\r\nof {\\an8}tea & more\r\n";
const VTT =
  "WEBVTT\n\nNOTE none\n\n00:00.200 --> 00:00.600 line:0\nThree <b>boxes</b>\n\nsecond\n00:00:00.500 --> 00:00:00.900\nof tea &amp; more\n";

/** Packets of the subtitles of a file: when, how long, what. */
async function trackOf(
  video: Uint8Array,
  format: string,
): Promise<{ codec: string; language: string | null; packets: [number, number, string][] }> {
  const path = join(folder, `track.${format}`);
  writeFileSync(path, video);
  const { lib } = await loadFfmpeg();
  const { Demuxer } = await import("node-av/api");
  const demuxer = await Demuxer.open(path);
  const stream = demuxer.streams.find(({ codecpar }) => codecpar.codecType === 3);
  if (!stream) throw new Error("there are no subtitles");
  const packets: [number, number, string][] = [];
  const tick = stream.timeBase.num / stream.timeBase.den;
  for await (const packet of demuxer.packets(stream.index)) {
    if (packet === null) break;
    const words = format === "mp4" || format === "mov" ? packet.data?.subarray(2) : packet.data;
    const [at, long] = [Number(packet.pts) * tick, Number(packet.duration) * tick];
    packets.push([Math.round(at * 1_000), Math.round(long * 1_000), words?.toString() ?? ""]);
    packet.free();
  }
  const found = {
    codec: lib.avGetCodecName(stream.codecpar.codecId) ?? "",
    language: stream.metadata?.get("language") ?? null,
    packets,
  };
  await demuxer.close();
  return found;
}

describe("video.subtitle", () => {
  const LINES = [
    [200, 400, "Three boxes"],
    [500, 400, "of tea & more"],
  ];
  const FLAT = [
    [0, 200, ""],
    [200, 300, "Three boxes"],
    [500, 100, "Three boxes\nof tea & more"],
    [600, 300, "of tea & more"],
  ];

  test.each([
    ["mp4", "mov_text", FLAT],
    ["mov", "mov_text", FLAT],
    ["mkv", "subrip", LINES],
  ])("adds a track to %s, in %s, and leaves other tracks unchanged", async (format, codec, packets) => {
    for (const text of [SRT, VTT]) {
      const params = { mode: "soft", format, language: "eng" };
      const made = await runCapability("video.subtitle", { video: CLIP, subtitles: { text } }, params);
      expect(await trackOf(made.bytes(), format)).toMatchObject({ codec, language: "eng", packets });
      expect(made.output).toMatchObject({ subtitles: 2, language: "eng", video_codec: "h264" });
      expect(await probe(made.bytes())).toMatchObject({ frames: 75, audio: { codec: "aac" } });
      const again = await runCapability("video.subtitle", { video: CLIP, subtitles: { text } }, params);
      expect(Buffer.compare(made.bytes(), again.bytes())).toBe(0);
    }
  });

  test("adds a track to WebM, and rejects codecs that WebM does not support", async () => {
    const video = clips.get("webm") ?? new Uint8Array();
    const made = await runCapability("video.subtitle", { video, subtitles: { text: SRT } }, { mode: "soft" });
    const { codec, packets } = await trackOf(made.bytes(), "webm");
    expect([codec, packets.map(([at]) => at)]).toEqual(["webvtt", [200, 500]]);
    expect(packets[1]?.[2]).toContain("of tea &amp; more");
    const into = { mode: "soft", format: "webm" };
    expect(await refused(runCapability("video.subtitle", { video: CLIP, subtitles: { text: SRT } }, into))).toStartWith(
      "invalid: Expected a format that supports h264",
    );
  });

  test("burns them in, for their time, in their colour and size", async () => {
    const video = await clipOf(HALVES.replaceAll("red", "blue"));
    const inked = async (made: Uint8Array, at: number): Promise<number> => {
      const frame = await frameAt(made, at);
      let count = 0;
      for (let y = 0; y < frame.height; y++)
        for (let x = 0; x < frame.width; x++) count += nameOf(frame.at(x, y)) === "yellow" ? 1 : 0;
      return count;
    };
    const of = async (params: object) => {
      const made = await runCapability(
        "video.subtitle",
        { video, subtitles: { text: SRT } },
        { color: "yellow", ...params },
      );
      return made.bytes();
    };
    const [small, large] = [await of({ size: 12 }), await of({ size: 24 })];
    expect(await inked(small, 0)).toBe(0);
    expect(await inked(small, 0.3)).toBeGreaterThan(20);
    expect(await inked(large, 0.3)).toBeGreaterThan((await inked(small, 0.3)) * 2);
    expect(await inked(large, 0.94)).toBe(0);
  });

  test("text in them is never interpreted as commands", async () => {
    const video = await clipOf("color=c=blue:s=160x120:r=5:d=1[v]");
    const of = async (words: string) =>
      pixelsOf(
        (
          await runCapability("video.subtitle", {
            video,
            subtitles: { text: `1\n00:00:00,000 --> 00:00:01,000\n${words}\n` },
          })
        ).bytes(),
      );
    const plain = await pixelsOf((await runCapability("video.rotate", { video }, { angle: 0 })).bytes());
    for (const words of ["{tea}\\Ntea", "\\Ntea", "{\\\n}tea", "Dialogue: 0,0:00:00.00"]) {
      expect(Buffer.compare(await of(words), plain)).not.toBe(0);
    }
    expect(Buffer.compare(await of("tea {\\alpha"), await of("tea "))).not.toBe(0);
  });

  test.each([["burn"], ["soft"]])("drops invalid single subtitles, and names them (%s)", async (mode) => {
    const text =
      "WEBVTT\n\n00:00.000 --> 00:01.000\nOne\n\n00:01.000 --> 1:xx\nTwo\n\n00:02.000 --> 00:02.000\nThree\n\n00:02.000 --> 00:03.000\nFour\n";
    const video = await clipOf("color=c=blue:s=160x120:r=5:d=3[v]");
    const { output } = await runCapability("video.subtitle", { video, subtitles: { text } }, { mode });
    expect(output?.["notes"]).toEqual([
      'Subtitle 2 was dropped, because its time cannot be read: "00:01.000 --> 1:xx".',
      "Subtitle 3 was dropped, because it ends at or before its start.",
    ]);
    if (mode === "soft") expect(output).toMatchObject({ subtitles: 2 });
  });

  test("rejects other files, unreadable and too long times, and too many subtitles, and reads Latin-1", async () => {
    const of = (text: string) => refused(runCapability("video.subtitle", { video: CLIP, subtitles: { text } }));
    expect(await of("tea")).toBe("corrupt: Expected subtitles in SRT or WebVTT, got none.");
    expect(await of("1\n00:00:01 --> 00:00:02\ntea")).toBe(
      'corrupt: Expected subtitles in SRT or WebVTT, got none. Subtitle 1 was dropped, because its time cannot be read: "00:00:01 --> 00:00:02".',
    );
    expect(await of(`1\n00:00:01,000 --> 00:00:02,000\n${"tea ".repeat(300)}`)).toBe(
      "too_large: Expected subtitles of at most 1000 characters each, got 1199.",
    );
    expect(await of("1\n00:00:01,000 --> 00:00:02,000\ntea\n\n".repeat(10_001))).toBe(
      "too_large: Expected at most 10000 subtitles, got more.",
    );
    const latin = Buffer.from("1\n00:00:01,000 --> 00:00:02,000\nth\xe9", "latin1");
    const { output } = await runCapability("video.subtitle", { video: CLIP, subtitles: latin });
    expect(output).toMatchObject({ charset: "windows-1252" });
    const params = { color: "nosuch" };
    expect(await refused(runCapability("video.subtitle", { video: CLIP, subtitles: { text: SRT } }, params))).toContain(
      "params.color",
    );
  });
});
