import { afterAll, describe, expect, test } from "bun:test";

import { decoders } from "#tests/support/decoded-sound.ts";
import { MediaError } from "#shared/children/media-error.ts";
import { createSandboxMedia } from "#workers/providers/sandbox/media/index.ts";

const media = createSandboxMedia();
afterAll(() => media.close());

const RATE = 48_000;
const PARAMS = { prompt: "happy pop", seed: 1, seconds: 4, format: "wav" } as const;

function power(samples: Float32Array): number {
  return samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
}

async function compose(params: object = {}): Promise<Uint8Array> {
  return (await media.composeMusic({ ...PARAMS, ...params })).bytes;
}

describe.each(["mp3", "opus", "aac", "flac", "wav"] as const)("music as %s", (format) => {
  const composing = compose({ format, seconds: 3 });
  // Awaited by the tests below.
  composing.catch(() => {});

  test("is decoded to its length in two channels, neither silent nor clipped", async () => {
    const { channels, sampleRate } = await decoders[format](await composing);
    const [left = new Float32Array(0), right = left] = channels;
    expect([sampleRate, right.length]).toEqual([RATE, left.length]);
    // ADTS does not say where in its first and last frames the music begins and ends.
    const slack = format === "aac" ? 2 * 1_024 : 0;
    expect(left.length - 3 * RATE).toBeWithin(0, slack + 1);
    expect(left).not.toEqual(right);
    expect(Math.sqrt(power(left))).toBeWithin(0.08, 0.25);
    expect(left.reduce((most, sample) => Math.max(most, Math.abs(sample)), 0)).toBeLessThan(1);
  });

  test("is the same bytes for the same seed", async () => {
    expect(Buffer.compare(await composing, await compose({ format, seconds: 3 }))).toBe(0);
  });
});

describe("a piece", () => {
  test("is another one for another seed, prompt or lyrics", async () => {
    const changes = [{}, { seed: 2 }, { prompt: "techno" }, { prompt: "happy song" }, { lyrics: "Sing with me" }];
    const pieces = await Promise.all(changes.map(compose));
    expect(new Set(pieces.map((piece) => Bun.hash(piece))).size).toBe(changes.length);
  });

  test.each([3, 7.25, 12])("of %p seconds has exactly as many samples", async (seconds) => {
    expect((await compose({ seconds, format: "pcm" })).length).toBe(4 * seconds * RATE);
  });

  test("begins and ends without a click", async () => {
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

  test.each([2.9, 181, Number.NaN, Infinity])("of %p seconds is refused", async (seconds) => {
    const error: unknown = await compose({ seconds }).catch((reason: unknown) => reason);
    expect(error).toMatchObject({ fault: "invalid" });
  });

  test("ends when its signal fires", async () => {
    const stop = new AbortController();
    const composing = media.composeMusic({ ...PARAMS, seconds: 180 }, stop.signal);
    stop.abort();
    const error: unknown = await composing.catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(MediaError);
    expect(error).toMatchObject({ fault: "aborted" });
  });
});
