/** Music of the sandbox in every format, and what its pieces have in common. */
import { afterAll, describe, expect, test } from "bun:test";

import { decoders } from "#tests/support/decoded-sound.ts";
import { createSandboxMedia } from "#workers/providers/sandbox/media/index.ts";

import { composer, power, RATE, testMusicFormats } from "./music-pieces.ts";

const media = createSandboxMedia();
afterAll(() => media.close());
const compose = composer(media);

testMusicFormats(compose, ["opus", "aac", "flac", "wav"]);

describe("a piece of music", () => {
  test("differs for another seed, prompt or lyrics", async () => {
    const changes = [{}, { seed: 2 }, { prompt: "techno" }, { prompt: "happy song" }, { lyrics: "Sing with me" }];
    const pieces = await Promise.all(changes.map(compose));
    expect(new Set(pieces.map((piece) => Bun.hash(piece))).size).toBe(changes.length);
  });

  test.each([3, 7.25, 12])("of %p seconds has exactly as many samples", async (seconds) => {
    expect((await compose({ seconds, format: "pcm" })).length).toBe(4 * seconds * RATE);
  });

  test("starts and ends without a click", async () => {
    const { samples } = await decoders.wav(await compose());
    expect([samples[0], samples.at(-1)]).toEqual([0, 0]);
    expect(power(samples.subarray(-RATE / 20))).toBeLessThan(power(samples.subarray(RATE, 2 * RATE)) / 100);
  });

  test.each([
    ["nothing", "", ""],
    ["markup and arguments", "<svg/> -o /etc/passwd --help", "[Verse]\n<speak>-voice kal -o /out/x</speak>"],
    ["emoji, half a character and Chinese", "😀\ud83d\u0000 日本の音楽", "你好 世界 😀\n\u0000\ud800"],
    ["more than can be spoken", "song ".repeat(4_000), "la ".repeat(40_000)],
    ["one endless word", "a".repeat(20_000), "a".repeat(20_000)],
    ["an impossible tempo", "999 bpm", ""],
  ])("is composed from %s", async (_name, prompt, lyrics) => {
    const { samples } = await decoders.wav(await compose({ prompt, lyrics, seconds: 3 }));
    expect(samples.length).toBe(3 * RATE);
    expect(power(samples)).toBeGreaterThan(0.001);
  });
});
