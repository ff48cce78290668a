import { afterAll, describe, expect, test } from "bun:test";

import { decoders } from "#tests/support/decoded-sound.ts";
import { MediaError } from "#shared/children/media-error.ts";
import { encodeAudio } from "#workers/children/audio-encoder.ts";
import { createSandboxMedia } from "#workers/providers/sandbox/media/index.ts";
import { cutIntoPieces } from "#workers/providers/sandbox/media/speech/pieces.ts";
import { probeSandboxAudio, transcribeAudio } from "#workers/providers/sandbox/media/speech/transcribe.ts";

/** A child ends after each foreign file: most audio is transcribed in this process, which is what the child does. */
const media = createSandboxMedia();
afterAll(() => media.close());

const FORMATS = ["mp3", "opus", "aac", "flac", "wav", "pcm"] as const;
const TEXT = 'Hello there, Dr. Smith!  42 dogs;\nwho paid $3.50? — "Привет", 日本 😀 yes.';
/** AAC and MP3 do not say where in their last frames the speech ends. */
const FRAME_SECONDS = 0.1;

function loudness(samples: Float32Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}

async function faultOf(job: Promise<unknown>): Promise<string> {
  const error: unknown = await job.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(MediaError);
  return (error as MediaError).fault;
}

describe.each(FORMATS)("speech as %s", (format) => {
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

  test("is transcribed word for word, with words in order and within its length", async () => {
    const { text, words, segments, facts, language } = await transcribeAudio((await speaking).bytes);
    expect([text, language]).toEqual([TEXT, "en"]);
    expect(words.map(({ word }) => word)).toEqual(TEXT.split(/\s+/));
    expect(segments.map((segment) => segment.text).join("")).toBe(TEXT);
    const times = words.flatMap(({ start, end }) => [start, end]);
    expect(times).toEqual(times.toSorted((one, other) => one - other));
    expect(times.at(-1)).toBeGreaterThan(facts.seconds - 1.5);
    expect(Math.max(...times, ...segments.map(({ end }) => end))).toBeLessThanOrEqual(facts.seconds);
  });

  test("is the same bytes when it is streamed, in several parts where the format allows it", async () => {
    const chunks = await Array.fromAsync(media.streamSpeech({ text: TEXT, format }));
    expect(Buffer.compare(Buffer.concat(chunks), (await speaking).bytes)).toBe(0);
    expect(chunks.length > 2).toBe(["mp3", "wav", "pcm"].includes(format));
  });

  test("that is damaged is answered or refused", async () => {
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

describe("a voice", () => {
  const speak = async (params: object) => media.speak({ text: "Good morning.", format: "pcm", ...params });

  test("sounds the same every time, and unlike the others", async () => {
    const voices = ["nova", "nova", "onyx", "a name of my own", "a name of my own"];
    const [nova, again, onyx, own, ownAgain] = await Promise.all(voices.map((voice) => speak({ voice })));
    expect(again).toEqual(nova);
    expect(ownAgain).toEqual(own);
    expect(onyx?.bytes).not.toEqual(nova?.bytes);
    expect((await speak({ voice: "nova", instructions: "a deep voice" })).bytes).not.toEqual(nova?.bytes);
  });

  test("takes as much longer as it is slower, and stays legible", async () => {
    const text = "One two three four five.";
    const [usual, ...others] = await Promise.all([1, 0.25, 2, 4].map((speed) => speak({ text, speed })));
    for (const [at, factor] of [4, 0.5, 0.25].entries()) {
      const { seconds = 0, bytes = new Uint8Array(0) } = others[at] ?? {};
      expect(seconds / (usual?.seconds ?? 0) / factor).toBeWithin(0.85, 1.15);
      expect((await transcribeAudio(bytes)).text).toBe(text);
    }
  });

  test.each([
    ["a dash", "—"],
    ["a letter", "a"],
    ["Chinese", "你好，世界。今天天气很好！"],
    ["markup and arguments", "<ssml> -o /etc/passwd --help </ssml>"],
    ["half of a surrogate pair", "a\ud83d b"],
  ])("speaks %s", async (_name, text) => {
    const { bytes } = await speak({ text, speed: 4, format: "wav" });
    expect((await transcribeAudio(bytes)).text).toBe(text.toWellFormed());
  });

  test.each([
    ["no text", { text: "  " }],
    ["too much text", { text: "x".repeat(4_097) }],
    ["too low a speed", { speed: 0.2 }],
    ["too high a speed", { speed: 4.1 }],
    ["a speed that is not a number", { speed: Number.NaN }],
  ])("is refused for %s", async (_name, params) => {
    expect(await faultOf(speak(params))).toBe("invalid");
  });

  test("ends when its stream is left or aborted, and the next call is served", async () => {
    const long = { text: "Again and again. ".repeat(100), format: "pcm" } as const;
    for await (const chunk of media.streamSpeech(long)) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    expect(await faultOf(Array.fromAsync(media.streamSpeech(long, AbortSignal.abort())))).toBe("aborted");
    expect((await speak({})).seconds).toBeGreaterThan(0.5);
  });
});

describe("other audio", () => {
  const encode = (sample: (seconds: number) => number, format: "wav" | "mp3" = "wav"): Promise<Uint8Array> =>
    encodeAudio(
      format,
      Int16Array.from({ length: 32_000 }, (_, at) => 32_767 * sample(at / 16_000)),
      {
        sampleRate: 16_000,
        channels: 1,
      },
    );

  test("is described by its length and loudness, without words", async () => {
    const text = "[2 seconds of sound the sandbox cannot put into words, at -23 dBFS]";
    const tone = await media.transcribe(await encode((time) => 0.1 * Math.sin(2_000 * time)), { language: "de" });
    expect(tone).toMatchObject({ text, language: "de", words: [], segments: [{ id: 0, start: 0, end: 2, text }] });
    expect((await transcribeAudio(await encode(() => 0))).text).toBe("[2 seconds of silence]");
  });

  test("that is damaged leaves the children able to answer", async () => {
    const wav = await encode((time) => Math.sin(time));
    const { bytes: spoken } = await media.speak({ text: "Good morning to you.", format: "mp3" });
    const damaged = spoken.map((value, at) => (at > 400 && at % 3 === 0 ? value ^ 0xa5 : value));
    const [refused, broken, ...served] = [new Uint8Array(40), damaged, wav, wav].map((bytes) =>
      media.transcribe(bytes),
    );
    expect(await faultOf(Promise.resolve(refused))).toBe("unsupported");
    // Refused or heard as noise: either way its child ends.
    await broken?.catch(() => undefined);
    for (const { text } of await Promise.all(served)) expect(text).toMatch(/^\[2 seconds/);
  });

  test("is also speech whose marker is lost or forged", async () => {
    const { bytes } = await media.speak({ text: "Good morning to you.", format: "mp3" });
    const at = Buffer.from(bytes).lastIndexOf("SLUICE_SPEECH") + 40;
    const forged = bytes.map((value, index) => (index === at ? value ^ 1 : value));
    expect((await transcribeAudio(forged)).text).toMatch(/^\[.* seconds of sound/);
  });

  test.each([
    ["text", new TextEncoder().encode("no audio at all, ".repeat(100)), "unsupported"],
    ["nothing", new Uint8Array(0), "unsupported"],
    ["a wav without samples", new TextEncoder().encode("RIFF____WAVEfmt "), "corrupt"],
    ["a flac of noise", new TextEncoder().encode(`fLaC\x80\0\0\x22${"no frames ".repeat(20)}`), "corrupt"],
  ])("is refused where it is %s", async (_name, bytes, fault) => {
    expect(await faultOf(transcribeAudio(bytes))).toBe(fault);
  });
});

test("pieces joined are the text, and none is longer than flite is given at once", () => {
  const texts = [TEXT, "a".repeat(5_000), "word ".repeat(900), "。".repeat(700), "\n\n a \n", "😀".repeat(400)];
  for (const text of texts) {
    const pieces = cutIntoPieces(text);
    expect(pieces.join("")).toBe(text);
    expect(Math.max(...pieces.map((piece) => Array.from(piece).length))).toBeLessThanOrEqual(240);
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
  }
});
