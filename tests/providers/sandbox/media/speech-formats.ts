/** Speech of the sandbox for tests: a text, and what it is like in each format. */
import { describe, expect, test } from "bun:test";

import { decoders } from "#tests/support/decoded-sound.ts";
import type { SpeechFormat } from "#workers/providers/media.ts";
import type { SandboxMedia } from "#workers/providers/sandbox/media/index.ts";
import { probeSandboxAudio, transcribeAudio } from "#workers/providers/sandbox/media/speech/transcribe.ts";

export const TEXT = 'Hello there, Dr. Smith!  42 dogs;\nwho paid $3.50? — "Привет", 日本 😀 yes.';
/** AAC and MP3 do not say where in their last frames the speech ends. */
const FRAME_SECONDS = 0.1;

function loudness(samples: Float32Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}

/** Defines tests of the text in each of these formats. */
export function testSpeechFormats(media: SandboxMedia, formats: readonly SpeechFormat[]): void {
  describe.each([...formats])("speech as %s", (format) => {
    const speaking = media.speak({ text: TEXT, format });

    test("is decoded to its length and is not silent", async () => {
      const { bytes, seconds } = await speaking;
      const { samples, sampleRate } = await decoders[format](bytes);
      expect(sampleRate).toBe(format === "opus" ? 48_000 : 24_000);
      expect(Math.abs(samples.length / sampleRate - seconds)).toBeLessThan(FRAME_SECONDS);
      expect(seconds).toBeGreaterThan(3);
      expect(loudness(samples)).toBeGreaterThan(0.03);
      const facts = probeSandboxAudio(bytes);
      expect([facts.format, facts.channels]).toEqual([format === "opus" ? "ogg" : format, 1]);
      expect(Math.abs(facts.seconds - seconds)).toBeLessThan(FRAME_SECONDS);
    });

    test("is transcribed word by word, with words in order and within its length", async () => {
      const { text, words, segments, facts, language } = await transcribeAudio((await speaking).bytes);
      expect([text, language]).toEqual([TEXT, "en"]);
      expect(words.map(({ word }) => word)).toEqual(TEXT.split(/\s+/));
      expect(segments.map((segment) => segment.text).join("")).toBe(TEXT);
      const times = words.flatMap(({ start, end }) => [start, end]);
      expect(times).toEqual(times.toSorted((one, other) => one - other));
      expect(times.at(-1)).toBeGreaterThan(facts.seconds - 1.5);
      expect(Math.max(...times, ...segments.map(({ end }) => end))).toBeLessThanOrEqual(facts.seconds);
    });

    test("has the same bytes when it is streamed, in several parts if the format allows it", async () => {
      const chunks = await Array.fromAsync(media.streamSpeech({ text: TEXT, format }));
      expect(Buffer.compare(Buffer.concat(chunks), (await speaking).bytes)).toBe(0);
      expect(chunks.length > 2).toBe(["mp3", "wav", "pcm"].includes(format));
    });

    test("that is damaged is answered or rejected", async () => {
      const { bytes } = await speaking;
      for (const where of [0.02, 0.5]) {
        const from = Math.floor(bytes.length * where);
        const damaged = bytes.map((value, at) => (at >= from && at < from + 200 ? (value * 31 + at) & 0xff : value));
        const outcome: unknown = await transcribeAudio(damaged.subarray(0, Math.floor(bytes.length * 0.9))).then(
          ({ text }) => ({ fault: "", text }),
          (error: unknown) => error,
        );
        expect(outcome).toMatchObject({ fault: expect.stringMatching(/^(?:|corrupt|unsupported)$/) });
      }
    });
  });
}
