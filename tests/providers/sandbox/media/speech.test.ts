/** Speech of the sandbox as MP3 and WAV, and the refusals. The other formats and the golden voices are in speech.nightly.test.ts. */
import { afterAll, describe, expect, test } from "bun:test";

import { MediaError } from "#shared/children/media-error.ts";
import { encodeAudio } from "#workers/children/audio-encoder.ts";
import { createSandboxMedia } from "#workers/providers/sandbox/media/index.ts";
import { cutIntoPieces } from "#workers/providers/sandbox/media/speech/pieces.ts";
import { transcribeAudio } from "#workers/providers/sandbox/media/speech/transcribe.ts";

import { TEXT, testSpeechFormats } from "./speech-formats.ts";

/** A child ends after each foreign file: most audio is transcribed in this process, which is what the child does. */
const media = createSandboxMedia();
afterAll(() => media.close());

async function faultOf(job: Promise<unknown>): Promise<string> {
  const error: unknown = await job.catch((reason: unknown) => reason);
  expect(error).toBeInstanceOf(MediaError);
  return (error as MediaError).fault;
}

testSpeechFormats(media, ["mp3", "wav"]);

describe("a voice", () => {
  const speak = async (params: object) => media.speak({ text: "Good morning.", format: "pcm", ...params });

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
  ])("is rejected for %s", async (_name, params) => {
    expect(await faultOf(speak(params))).toBe("invalid");
  });

  test("ends when its stream is closed or aborted, and the next call is served", async () => {
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

  test("is described by its length and loudness, without a transcript", async () => {
    const text = "[2 seconds of sound the sandbox cannot put into words, at -23 dBFS]";
    const tone = await media.transcribe(await encode((time) => 0.1 * Math.sin(2_000 * time)), { language: "de" });
    expect(tone).toMatchObject({ text, language: "de", words: [], segments: [{ id: 0, start: 0, end: 2, text }] });
    expect((await transcribeAudio(await encode(() => 0))).text).toBe("[2 seconds of silence]");
  });

  test("that is damaged does not stop the children", async () => {
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

  test.each([
    ["text", new TextEncoder().encode("no audio at all, ".repeat(100)), "unsupported"],
    ["nothing", new Uint8Array(0), "unsupported"],
    ["a wav without samples", new TextEncoder().encode("RIFF____WAVEfmt "), "corrupt"],
    ["a flac of noise", new TextEncoder().encode(`fLaC\x80\0\0\x22${"no frames ".repeat(20)}`), "corrupt"],
  ])("is rejected if it is %s", async (_name, bytes, fault) => {
    expect(await faultOf(transcribeAudio(bytes))).toBe(fault);
  });
});

test("joined pieces equal the text, and none is longer than flite accepts", () => {
  const texts = [TEXT, "a".repeat(5_000), "word ".repeat(900), "。".repeat(700), "\n\n a \n", "😀".repeat(400)];
  for (const text of texts) {
    const pieces = cutIntoPieces(text);
    expect(pieces.join("")).toBe(text);
    expect(Math.max(...pieces.map((piece) => Array.from(piece).length))).toBeLessThanOrEqual(240);
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
  }
});
