import { describe, expect, test } from "bun:test";

import { parseBuffer } from "music-metadata";
import sharp from "sharp";

import { refused } from "./refused.ts";
import { runCapability } from "./in-folder.ts";

const TUNE = { file_id: "file-sample-tune" } as const;
const ALL = {
  title: "Drei Töne ♪",
  artist: "Ada; Grace",
  album: "Samples",
  year: 2026,
  genre: "Test",
  track: "1/3",
  comment: "First line\nsecond line",
} as const;
const FORMATS = ["mp3", "m4a", "flac", "ogg", "opus", "wav", "aiff"] as const;

const square = (size: number, format: "png" | "jpeg" | "webp") =>
  sharp({ create: { width: size, height: size, channels: 3, background: "teal" } }).toFormat(format).toBuffer(); // prettier-ignore
/** In each format once. */
const tunes = new Map<string, Promise<Uint8Array>>();
const tuneAs = (format: string): Promise<Uint8Array> => {
  const made =
    tunes.get(format) ??
    runCapability("audio.convert", { audio: TUNE }, { format, sample_rate: 44_100 }).then((one) => one.bytes());
  tunes.set(format, made);
  return made;
};
const tag = (audio: Uint8Array, params: object, artwork?: Uint8Array) =>
  runCapability("audio.tag", artwork === undefined ? { audio } : { audio, artwork }, params);
const heard = async (audio: Uint8Array): Promise<Uint8Array> =>
  (await runCapability("audio.convert", { audio }, { format: "wav" })).bytes();
/** Larger than a picture that is kept as it is. */
const large = square(1_500, "webp");
/** Reads tags with a reader that is not FFmpeg. */
const read = async (bytes: Uint8Array) => (await parseBuffer(bytes)).common;

describe.each(FORMATS)("%s", (format) => {
  test("has the requested tags, and the same samples", async () => {
    const audio = await tuneAs(format);
    // What a WAV says has no set of letters: readers take it for Latin ones.
    const given = format === "wav" ? { ...ALL, title: "Three notes" } : ALL;
    const made = await tag(audio, given);
    const { title, artist, album, year, genre, track, comment } = await read(made.bytes());
    expect({ title, artist, album, year, genre, no: track.no }).toEqual({
      title: given.title,
      artist: ALL.artist,
      album: ALL.album,
      year: ALL.year,
      genre: [ALL.genre],
      no: 1,
    });
    expect(comment?.[0]?.text).toBe(ALL.comment);
    expect(Buffer.compare(await heard(made.bytes()), await heard(audio))).toBe(0);
    const { output } = await runCapability("audio.probe", { audio: made.bytes() });
    expect(output?.["tags"]).toMatchObject({ title: given.title, artist: ALL.artist });
  });

  test("keeps other tags, unless all old ones are removed, and has the same bytes each time", async () => {
    const first = await tag(await tuneAs(format), { title: "Old", artist: "Ada" });
    const [second, again] = [await tag(first.bytes(), { title: "New" }), await tag(first.bytes(), { title: "New" })];
    expect(await read(second.bytes())).toMatchObject({ title: "New", artist: "Ada" });
    expect(Buffer.compare(second.bytes(), again.bytes())).toBe(0);
    const cleared = await read((await tag(second.bytes(), { clear: true, album: "Alone" })).bytes());
    expect([cleared.title, cleared.artist, cleared.album]).toEqual([undefined, undefined, "Alone"]);
  });
});

describe.each(["mp3", "m4a", "flac", "ogg", "opus", "aiff"])("a cover image in %s", (format) => {
  test("is detected, stays when tags change, is replaced by another, and is removed with all old tags", async () => {
    const audio = await tuneAs(format);
    const first = (await tag(audio, {}, await square(40, "png"))).bytes();
    const kept = await tag(first, { title: "New" });
    expect(kept.output).toMatchObject({ pictures: 1 });
    const [png] = (await read(kept.bytes())).picture ?? [];
    expect(png?.format).toBe("image/png");
    expect(await sharp(png?.data).metadata()).toMatchObject({ width: 40, height: 40 });
    const second = await read((await tag(first, {}, await large)).bytes());
    expect(second.picture?.map((one) => one.format)).toEqual(["image/jpeg"]);
    expect(await sharp(second.picture?.[0]?.data).metadata()).toMatchObject({ width: 1_400, height: 1_400 });
    const cleared = (await tag(first, { clear: true })).bytes();
    expect((await read(cleared)).picture).toBeUndefined();
    expect(Buffer.compare(await heard(first), await heard(audio))).toBe(0);
  });
});

describe("rejected:", () => {
  test("an empty request", async () => {
    expect(await refused(runCapability("audio.tag", { audio: TUNE }))).toBe(
      "invalid: Expected a tag in params, input.artwork or params.clear, got none.",
    );
  });

  test("a cover image in a format without one", async () => {
    expect(await refused(tag(await tuneAs("wav"), {}, await square(10, "png")))).toBe(
      "invalid: Expected no input.artwork for wav, which has no place for pictures.",
    );
  });

  test("a file that is no image, a format without tags, video, and a truncated file", async () => {
    expect(await refused(tag(await tuneAs("mp3"), {}, Buffer.from("no picture")))).toMatch(
      /^(?:unsupported|corrupt): /,
    );
    expect(await refused(tag(await tuneAs("aac"), ALL))).toMatch(/^unsupported: Expected mp3, m4a, /);
    const clip = { file_id: "file-sample-clip" };
    expect(await refused(runCapability("audio.tag", { audio: clip }, ALL))).toBe(
      "unsupported: Expected audio alone, got a file with video.",
    );
    expect(await refused(tag((await tuneAs("m4a")).subarray(0, 60), ALL))).toMatch(/^corrupt: /);
  });

  test("a track that is not a number", async () => {
    expect(await refused(tag(await tuneAs("mp3"), { track: "one" }))).toContain("params.track");
  });
});
