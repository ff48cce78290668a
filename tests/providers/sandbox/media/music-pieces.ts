/** Music of the sandbox for tests: a short piece, and what it is like in each format. */
import { describe, expect, test } from "bun:test";

import { decoders } from "#tests/support/decoded-sound.ts";
import type { SandboxMedia } from "#workers/providers/sandbox/media/index.ts";

export const RATE = 48_000;
export const PARAMS = { prompt: "happy pop", seed: 1, seconds: 4, format: "wav" } as const;

export function power(samples: Float32Array): number {
  return samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
}

export type Compose = (params?: object) => Promise<Uint8Array>;

export function composer(media: SandboxMedia): Compose {
  return async (params = {}) => (await media.composeMusic({ ...PARAMS, ...params })).bytes;
}

/** Defines tests of a piece of three seconds in each of these formats. */
export function testMusicFormats(
  compose: Compose,
  formats: readonly ("mp3" | "opus" | "aac" | "flac" | "wav")[],
): void {
  describe.each([...formats])("music as %s", (format) => {
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

    test("has the same bytes for the same seed", async () => {
      expect(Buffer.compare(await composing, await compose({ format, seconds: 3 }))).toBe(0);
    });
  });
}
