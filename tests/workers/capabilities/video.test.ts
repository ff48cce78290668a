import { describe, expect, test } from "bun:test";

import { runCapability } from "./in-folder.ts";
import { refused } from "./refused.ts";

/** 3 s of 320 × 180 at 25 frames a second, with sound in two channels. */
const CLIP = { file_id: "file-sample-clip" } as const;

test.each([
  ["mp4", "h264", "aac"],
  ["mp4", "h265", "mp3"],
  ["mp4", "vp9", "opus"],
  ["webm", "vp8", "vorbis"],
  ["webm", "av1", "opus"],
  ["mkv", "h264", "none"],
  ["mov", "h265", "aac"],
])("%s with %s and %s is written, with the same bytes each time", async (format, video_codec, audio_codec) => {
  const params = { start: 0.5, duration: 1, format, video_codec, audio_codec };
  const [one, two] = [
    await runCapability("video.trim", { video: CLIP }, params),
    await runCapability("video.trim", { video: CLIP }, params),
  ];
  expect(Buffer.from(one.bytes()).equals(Buffer.from(two.bytes()))).toBe(true);
  const { output } = await runCapability("video.probe", { video: one.bytes() }, { count_frames: true });
  expect(output).toMatchObject({
    width: 320,
    height: 180,
    frames: 25,
    fps: 25,
    video_codec: video_codec === "h265" ? "hevc" : video_codec,
    audio: audio_codec === "none" ? null : { codec: audio_codec, channels: 2 },
  });
});

describe("video.rotate", () => {
  test("swaps the sides", async () => {
    const { output } = await runCapability("video.rotate", { video: CLIP }, { angle: 270 });
    expect(output).toMatchObject({ width: 180, height: 320, seconds: 3 });
  });
});

test("a codec that its format does not support is rejected, for a requested format and the input's", async () => {
  expect(await refused(runCapability("video.trim", { video: CLIP }, { format: "webm", video_codec: "h264" }))).toBe(
    'invalid_request params.video_codec: Expected params.video_codec to be one of vp9, vp8, av1 with params.format "webm", got "h264".',
  );
  expect(await refused(runCapability("video.trim", { video: CLIP }, { audio_codec: "vorbis" }))).toBe(
    "invalid: Expected params.audio_codec to be one of aac, mp3, opus, none in mp4, got vorbis.",
  );
});

test("a start after the end of the video is rejected", async () => {
  expect(await refused(runCapability("video.trim", { video: CLIP }, { start: 4 }))).toBe(
    "invalid: Expected params.start before the end at 3 s, got 4.",
  );
});

test("audio in Vorbis is written for any rates of the input and any bitrate", async () => {
  for (const audio_bitrate of [32, 320]) {
    const params = { format: "webm", audio_codec: "vorbis", audio_bitrate, duration: 0.5 };
    const { output } = await runCapability("video.trim", { video: CLIP }, params);
    expect(output).toMatchObject({ audio_codec: "vorbis" });
  }
});
