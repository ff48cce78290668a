import { afterAll, describe, expect, test } from "bun:test";

import { decoders, fromPcm, type Sound } from "#tests/support/decoded-sound.ts";
import { MediaError } from "#shared/media/media-error.ts";
import { createSandboxMedia, probeSandboxAudio } from "#workers/providers/sandbox/media/index.ts";
import { cutIntoPieces } from "#workers/providers/sandbox/media/speech/pieces.ts";

const media = createSandboxMedia();
afterAll(() => media.close());

const FORMATS = ["mp3", "opus", "aac", "flac", "wav", "pcm"] as const;

const TEXT = 'Hello there, Dr. Smith!  The fox jumps over 42 dogs;\nwho paid $3.50? — "Привет", 日本 😀 yes.';

function loudness(samples: Float32Array): number {
  return Math.sqrt(samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length);
}

/** Hz of the strongest period from 60 to 350 Hz, as the median over loud windows. */
function pitch({ samples, sampleRate }: Sound): number {
  const found: number[] = [];
  const window = Math.round(sampleRate * 0.05);
  for (let at = 0; at + 2 * window < samples.length; at += window) {
    if (loudness(samples.subarray(at, at + window)) < 0.05) continue;
    let [best, bestLag] = [0, 0];
    for (let lag = Math.floor(sampleRate / 350); lag <= sampleRate / 60; lag += 1) {
      let sum = 0;
      for (let index = at; index < at + window; index += 1) sum += (samples[index] ?? 0) * (samples[index + lag] ?? 0);
      if (sum > best) [best, bestLag] = [sum, lag];
    }
    if (bestLag > 0) found.push(sampleRate / bestLag);
  }
  return found.toSorted((one, other) => one - other)[found.length >> 1] ?? 0;
}

async function collect(stream: AsyncIterable<Uint8Array>): Promise<Uint8Array[]> {
  return Array.fromAsync(stream);
}

async function fault(job: Promise<unknown>): Promise<string> {
  const error = await job.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(MediaError);
  return (error as MediaError).fault;
}

describe.each(FORMATS)("speech as %s", (format) => {
  const made = media.speak({ text: TEXT, format });

  test("is opened by an independent decoder, sounds, and lasts as long as is said of it", async () => {
    const { bytes, seconds } = await made;
    const { samples, sampleRate } = await decoders[format](bytes);
    expect(sampleRate).toBe(format === "opus" ? 48_000 : 24_000);
    // AAC and MP3 have no way to say where in their last frames the sound ends.
    expect(Math.abs(samples.length / sampleRate - seconds)).toBeLessThan(0.15);
    expect(loudness(samples)).toBeGreaterThan(0.03);
    expect(pitch({ samples, sampleRate })).toBeGreaterThan(120);
    expect(seconds).toBeGreaterThan(5);
  });

  test("is probed as what it is", async () => {
    const { bytes, seconds } = await made;
    const facts = probeSandboxAudio(bytes);
    expect(facts.format).toBe(format === "opus" ? "ogg" : format);
    expect(facts.channels).toBe(1);
    expect(Math.abs(facts.seconds - seconds)).toBeLessThan(0.15);
  });

  test("is transcribed to exactly the text that was spoken, with times that go forward", async () => {
    const { bytes } = await made;
    const { text, words, segments, heard, facts, language } = await media.transcribe(bytes, { language: "en" });
    expect(text).toBe(TEXT);
    expect(heard).toBeNull();
    expect(language).toBe("en");
    expect(words.map(({ word }) => word)).toEqual(TEXT.split(/\s+/));
    expect(segments.map((segment) => segment.text).join("")).toBe(TEXT);
    let before = 0;
    for (const { start, end } of words) {
      expect(start).toBeGreaterThanOrEqual(before - 0.001);
      expect(end).toBeGreaterThanOrEqual(start);
      before = start;
    }
    expect(words.at(-1)?.end).toBeGreaterThan(facts.seconds - 1.5);
    expect(words.at(-1)?.end).toBeLessThanOrEqual(facts.seconds);
  });
});

describe("a voice", () => {
  test("is the same every time, and another voice sounds otherwise", async () => {
    const call = { text: "Good morning.", format: "pcm" } as const;
    const [one, again, other, unknown, unknownAgain] = await Promise.all([
      media.speak({ ...call, voice: "nova" }),
      media.speak({ ...call, voice: "nova" }),
      media.speak({ ...call, voice: "onyx" }),
      media.speak({ ...call, voice: "somebody" }),
      media.speak({ ...call, voice: "somebody" }),
    ]);
    expect(again.bytes).toEqual(one.bytes);
    expect(other.bytes).not.toEqual(one.bytes);
    expect(unknownAgain.bytes).toEqual(unknown.bytes);
  });

  test("has its own pitch, and a deep one where instructions ask for it", async () => {
    const text = "We were away all year.";
    const heard = async (voice: string, instructions?: string): Promise<number> =>
      pitch(fromPcm((await media.speak({ text, voice, instructions, format: "pcm" })).bytes));
    const [onyx, nova, deep] = [await heard("onyx"), await heard("nova"), await heard("nova", "a deep voice")];
    expect(onyx).toBeLessThan(110);
    expect(nova).toBeGreaterThan(170);
    expect(deep).toBeLessThan(nova * 0.93);
  });

  test.each([
    [0.25, 4],
    [2, 0.5],
    [4, 0.25],
  ])("at speed %p takes %p times as long", async (speed, factor) => {
    const text = "One two three four five six seven eight.";
    const usual = await media.speak({ text, format: "pcm" });
    const other = await media.speak({ text, speed, format: "pcm" });
    expect(other.seconds / usual.seconds).toBeGreaterThan(factor * 0.85);
    expect(other.seconds / usual.seconds).toBeLessThan(factor * 1.15);
    expect((await media.transcribe(other.bytes)).text).toBe(text);
  });

  test.each([
    ["a dash", "—"],
    ["one letter at the highest speed", "a"],
    ["Chinese", "你好，世界。今天天气很好！"],
    ["markup and arguments", "<ssml> -o /etc/passwd --help </ssml>"],
    ["a lone half of a pair", "a\ud83d b"],
  ])("speaks %s", async (_name, text) => {
    const { bytes } = await media.speak({ text, speed: 4, format: "wav" });
    expect((await media.transcribe(bytes)).text).toBe(text.toWellFormed());
  });

  test("has words where its sound is: the pause between two sentences is no word", async () => {
    const { bytes } = await media.speak({ text: "Stop. Then go on.", format: "wav" });
    const { words } = await media.transcribe(bytes);
    const { samples } = fromPcm(bytes.subarray(44));
    const part = (from: number, to: number): number =>
      loudness(samples.subarray(Math.round(from * 24_000), Math.round(to * 24_000)));
    const [first, second] = words;
    if (first === undefined || second === undefined) throw new Error("no words");
    expect(part(first.start, first.end)).toBeGreaterThan(10 * part(first.end + 0.06, second.start - 0.06));
  });

  test.each([
    ["no text", "  ", 1],
    ["too much text", "x".repeat(4_097), 1],
    ["too low a speed", "hi", 0.2],
    ["too high a speed", "hi", 4.1],
    ["a speed that is no number", "hi", Number.NaN],
  ])("is refused for %s", async (_name, text, speed) => {
    expect(await fault(media.speak({ text, speed, format: "mp3" }))).toBe("invalid");
  });
});

describe("streamed speech", () => {
  const text = "The first sentence is here. And then comes another one. The third ends it.";

  test.each(["pcm", "wav", "mp3"] as const)("in %s comes in several pieces that make the whole", async (format) => {
    const chunks = await collect(media.streamSpeech({ text, format }));
    const { bytes } = await media.speak({ text, format });
    const all = new Uint8Array(Buffer.concat(chunks));
    expect(chunks.length).toBeGreaterThanOrEqual(3);
    // A wav that is sent before it is finished cannot say its length.
    const head = format === "wav" ? 44 : 0;
    expect(Buffer.compare(all.subarray(head), bytes.subarray(head))).toBe(0);
    expect((await media.transcribe(all)).text).toBe(text);
  });

  test("that nobody reads on ends its child, and the next call is served", async () => {
    for await (const chunk of media.streamSpeech({ text: "Again and again. ".repeat(100), format: "pcm" })) {
      expect(chunk.length).toBeGreaterThan(0);
      break;
    }
    expect((await media.speak({ text: "Still here.", format: "pcm" })).seconds).toBeGreaterThan(0.5);
  });

  test("is given up when its signal fires", async () => {
    const stop = new AbortController();
    const reading = collect(media.streamSpeech({ text: "Again and again. ".repeat(100), format: "pcm" }, stop.signal));
    stop.abort();
    expect(await fault(reading)).toBe("aborted");
  });
});

describe("the marker", () => {
  test("outlives cutting and joining of plain samples", async () => {
    const one = await media.speak({ text: "First of all. The middle part stays. Last of all.", format: "pcm" });
    const cut = one.bytes.subarray(2 * 24_000 * 0.4);
    expect((await media.transcribe(cut)).text).toBe("First of all. The middle part stays. Last of all.");
    const other = await media.speak({ text: " And more.", format: "pcm" });
    const joined = new Uint8Array(Buffer.concat([one.bytes, other.bytes]));
    expect((await media.transcribe(joined)).text).toBe("First of all. The middle part stays. Last of all. And more.");
  });

  test("that was tampered with is not believed", async () => {
    const { bytes } = await media.speak({ text: "Good morning to you.", format: "mp3" });
    const at = Buffer.from(bytes.buffer).lastIndexOf("SLUICE_SPEECH") + 30;
    const { heard, words } = await media.transcribe(bytes.map((value, index) => (index === at ? value ^ 1 : value)));
    expect(heard?.kind).toBe("sound");
    expect(words).toEqual([]);
  });
});

describe("other sound", () => {
  function wav(sample: (at: number) => number, seconds = 2, rate = 16_000): Uint8Array {
    const bytes = new Uint8Array(44 + 2 * seconds * rate);
    const view = new DataView(bytes.buffer);
    bytes.set(Buffer.from("RIFF????WAVEfmt "));
    view.setUint32(4, bytes.length - 8, true);
    view.setUint32(16, 16, true);
    view.setUint16(20, 1, true);
    view.setUint16(22, 1, true);
    view.setUint32(24, rate, true);
    view.setUint32(28, 2 * rate, true);
    view.setUint16(32, 2, true);
    view.setUint16(34, 16, true);
    bytes.set(Buffer.from("data"), 36);
    view.setUint32(40, bytes.length - 44, true);
    for (let at = 0; at < seconds * rate; at += 1)
      view.setInt16(44 + 2 * at, Math.round(32_767 * sample(at / rate)), true);
    return bytes;
  }

  test("is called what it is: silence, a tone of its frequency, noise", async () => {
    const silence = await media.transcribe(wav(() => 0));
    expect([silence.heard?.kind, silence.text, silence.words]).toEqual(["silence", "[2 seconds of silence]", []]);
    const tone = await media.transcribe(wav((time) => 0.1 * Math.sin(2 * Math.PI * 440 * time)));
    expect(tone.heard).toEqual({ kind: "tone", hertz: 440, loudnessDb: -23 });
    let state = 1;
    const noise = await media.transcribe(
      wav(() => {
        state = (Math.imul(state, 1_103_515_245) + 12_345) >>> 0;
        return 0.2 * (state / 2 ** 31 - 1);
      }),
    );
    expect(noise.heard?.kind).toBe("noise");
    expect(noise.text).toContain("noise at");
  });

  test("that is speech of somebody else is not put into words, and always gets the same answer", async () => {
    // Half as loud: the marker is gone with the lowest bits.
    const { bytes } = await media.speak({ text: "Nobody knows what I say here.", format: "pcm" });
    const { samples } = fromPcm(bytes);
    const foreign = wav((time) => 0.5 * (samples[Math.round(time * 16_000)] ?? 0), 2);
    const [one, again] = [await media.transcribe(foreign), await media.transcribe(foreign)];
    expect(again).toEqual(one);
    expect(one.heard?.kind).toBe("sound");
    expect(one.text).toMatch(/^\[2 seconds of sound the sandbox cannot put into words, at -\d+(\.\d)? dBFS\]$/);
    expect(one.segments).toEqual([{ id: 0, start: 0, end: 2, text: one.text }]);
  });
});

describe("damaged sound", () => {
  test.each(["mp3", "opus", "aac", "flac"] as const)(
    "as %s is answered or refused, never a broken child",
    async (format) => {
      const { bytes } = await media.speak({ text: "Good morning to you all, and good night.", format });
      const outcomes = await Promise.all(
        [0.02, 0.3, 0.7].map(async (where) => {
          const from = Math.floor(bytes.length * where);
          const spoilt = bytes.map((value, at) => (at >= from && at < from + 200 ? (value * 31 + at) & 0xff : value));
          // Whatever is found of the marker, the rest must go through the decoder.
          const cut = spoilt.subarray(0, Math.floor(bytes.length * 0.9));
          return media.transcribe(cut).then(
            ({ text }) => text,
            (error: unknown) => (error as MediaError).fault,
          );
        }),
      );
      expect(outcomes.filter((outcome) => outcome === "failed" || outcome === "timeout")).toEqual([]);
    },
  );
});

test("pieces put together are the text, and none is longer than one breath", () => {
  const texts = [
    TEXT,
    "a".repeat(5_000),
    "word ".repeat(900),
    "。".repeat(700),
    "\n\n a \n",
    "...!?...",
    "😀".repeat(400),
  ];
  for (const text of texts) {
    const pieces = cutIntoPieces(text);
    expect(pieces.join("")).toBe(text);
    expect(Math.max(...pieces.map((piece) => piece.length))).toBeLessThanOrEqual(240);
    expect(pieces.every((piece) => piece.isWellFormed())).toBe(true);
  }
  expect(cutIntoPieces("Dr. Smith came. He sat down.")).toEqual(["Dr. Smith came. ", "He sat down."]);
});
