import { afterAll, describe, expect, test } from "bun:test";

import { FLACDecoder } from "@wasm-audio-decoders/flac";
import { MPEGDecoder } from "mpg123-decoder";
import { OggOpusDecoder } from "ogg-opus-decoder";

import { MediaError } from "#shared/media/media-error.ts";
import { probeAudio } from "#shared/media/probe/probe.ts";
import { createRandom } from "#workers/providers/sandbox/random.ts";
import { createSandboxMedia } from "#workers/providers/sandbox/media/index.ts";
import { planForm } from "#workers/providers/sandbox/media/music/form.ts";
import { setLyrics } from "#workers/providers/sandbox/media/music/lyrics.ts";
import { writeScore } from "#workers/providers/sandbox/media/music/score.ts";
import { chooseStyle, type Style } from "#workers/providers/sandbox/media/music/style.ts";
import { pitchOf } from "#workers/providers/sandbox/media/music/theory.ts";

import { decodeSound, loudnessOf, type Stereo } from "./video-reading.ts";

const media = createSandboxMedia();
afterAll(() => media.close());

const FORMATS = ["mp3", "opus", "aac", "flac", "wav", "pcm"] as const;
type Format = (typeof FORMATS)[number];

const RATE = 48_000;
const wish = { prompt: "happy pop", seed: 1, seconds: 4, format: "pcm" } as const;

/** Each by a decoder that had no part in making it. */
const decoders: Readonly<Record<Format, (bytes: Uint8Array) => Promise<Stereo>>> = {
  mp3: async (bytes) => {
    const decoder = new MPEGDecoder();
    await decoder.ready;
    const { channelData, sampleRate, errors } = decoder.decode(bytes);
    decoder.free();
    expect(errors).toEqual([]);
    return stereo(channelData, sampleRate);
  },
  opus: async (bytes) => {
    const decoder = new OggOpusDecoder();
    await decoder.ready;
    const { channelData, sampleRate } = await decoder.decodeFile(bytes);
    decoder.free();
    return stereo(channelData, sampleRate);
  },
  flac: async (bytes) => {
    const decoder = new FLACDecoder();
    await decoder.ready;
    const { channelData, sampleRate } = await decoder.decodeFile(bytes);
    decoder.free();
    return stereo(channelData, sampleRate);
  },
  // Fraunhofer's decoder; the encoder is FFmpeg's own.
  aac: (bytes) => decodeSound(bytes, "aac", "libfdk_aac"),
  wav: async (bytes) => {
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    expect(new TextDecoder().decode(bytes.subarray(0, 16))).toMatch(/^RIFF....WAVEfmt /s);
    expect([20, 22, 32, 34].map((at) => view.getUint16(at, true))).toEqual([1, 2, 4, 16]);
    expect([4, 24, 28, 40].map((at) => view.getUint32(at, true))).toEqual([
      bytes.length - 8,
      RATE,
      4 * RATE,
      bytes.length - 44,
    ]);
    return fromPcm(bytes.subarray(44));
  },
  pcm: async (bytes) => fromPcm(bytes),
};

function stereo([left, right]: readonly Float32Array[], sampleRate: number): Stereo {
  if (left === undefined || right === undefined) throw new Error("not two channels");
  return { left, right, sampleRate };
}

function fromPcm(bytes: Uint8Array): Stereo {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const channel = (index: number): Float32Array =>
    Float32Array.from({ length: bytes.length / 4 }, (_, at) => view.getInt16(4 * at + 2 * index, true) / 32_768);
  return { left: channel(0), right: channel(1), sampleRate: RATE };
}

function power(samples: Float32Array): number {
  return samples.reduce((sum, sample) => sum + sample * sample, 0) / samples.length;
}

async function fault(job: Promise<unknown>): Promise<string> {
  const error = await job.then(
    () => null,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(MediaError);
  return (error as MediaError).fault;
}

describe.each(FORMATS)("music as %s", (format) => {
  const made = media.composeMusic({ ...wish, format });

  test("is opened by an independent decoder, in two channels, as long as is said of it", async () => {
    const { bytes, seconds } = await made;
    const { left, right, sampleRate } = await decoders[format](bytes);
    expect(seconds).toBe(4);
    expect(sampleRate).toBe(RATE);
    expect(right.length).toBe(left.length);
    // ADTS has no way to say where the sound begins and ends in its frames.
    const slack = format === "aac" ? 2 * 1_024 : 0;
    expect(left.length).toBeGreaterThanOrEqual(4 * RATE);
    expect(left.length).toBeLessThanOrEqual(4 * RATE + slack);
    expect(left).not.toEqual(right);
  });

  test("is as loud as music is, and nowhere too loud", async () => {
    const { left, right, sampleRate } = await decoders[format]((await made).bytes);
    // FFmpeg's meter, not ours.
    const loudness = await loudnessOf({ left, right, sampleRate });
    expect(loudness).toBeGreaterThan(-18);
    expect(loudness).toBeLessThan(-14.5);
    const peak = Math.max(
      ...[left, right].map((channel) => channel.reduce((most, one) => Math.max(most, Math.abs(one)), 0)),
    );
    expect(peak).toBeGreaterThan(0.2);
    expect(peak).toBeLessThan(0.97);
  });

  test("is probed as what it is", async () => {
    const { bytes } = await made;
    if (format === "pcm") return expect(bytes.length).toBe(4 * 4 * RATE);
    const facts = probeAudio(bytes);
    expect([facts.format, facts.channels, facts.sampleRate]).toEqual([format === "opus" ? "ogg" : format, 2, RATE]);
    expect(Math.abs(facts.seconds - 4)).toBeLessThan(0.06);
  });
});

describe("a piece", () => {
  test.each(["wav", "mp3", "opus", "aac", "flac"] as const)("as %s is the same for the same seed", async (format) => {
    const call = { ...wish, format };
    const [one, again] = await Promise.all([media.composeMusic(call), media.composeMusic(call)]);
    expect(Buffer.compare(again.bytes, one.bytes)).toBe(0);
  });

  test("is another for another seed or prompt", async () => {
    const [one, seed, prompt] = await Promise.all([
      media.composeMusic(wish),
      media.composeMusic({ ...wish, seed: 2 }),
      media.composeMusic({ ...wish, prompt: "techno" }),
    ]);
    expect(Buffer.compare(seed.bytes, one.bytes)).not.toBe(0);
    expect(Buffer.compare(prompt.bytes, one.bytes)).not.toBe(0);
  });

  test.each([3, 7.25, 30])("of %p seconds has exactly as many samples", async (seconds) => {
    const { bytes } = await media.composeMusic({ ...wish, seconds });
    expect(bytes.length).toBe(4 * seconds * RATE);
  });

  test("begins and ends in silence, and fades out", async () => {
    const { left } = fromPcm((await media.composeMusic({ ...wish, seconds: 8 })).bytes);
    const part = (from: number, to: number): number => power(left.subarray(from * RATE, to * RATE));
    expect(Math.abs(left[0] ?? 1)).toBeLessThan(0.001);
    expect(Math.abs(left.at(-1) ?? 1)).toBeLessThan(0.001);
    expect(part(7.9, 8)).toBeLessThan(part(3, 5) / 1_000);
    expect(part(7, 7.5)).toBeLessThan(part(6, 6.5));
  });

  test("of techno has a beat that ambient music has not", async () => {
    /** How much louder the loudest twentieths of a second are than the usual one, below 120 Hz. */
    const punch = async (prompt: string): Promise<number> => {
      const { left } = fromPcm((await media.composeMusic({ ...wish, prompt, seconds: 8 })).bytes);
      let low = 0;
      const bass = left.map((sample) => (low += 0.015 * (sample - low)));
      const powers = Array.from({ length: 120 }, (_, at) => power(bass.subarray(at * 2_400, (at + 1) * 2_400)));
      const sorted = powers.toSorted((one, other) => one - other);
      return (sorted[114] ?? 0) / (sorted[60] ?? 1);
    };
    const [techno, ambient] = [await punch("hard techno, 130 bpm"), await punch("ambient drone")];
    expect(techno).toBeGreaterThan(2 * ambient);
  });

  test("is sung where there are lyrics: the voice stands out from the rest", async () => {
    const lyrics = "Sing with me tonight\nunder silver light";
    const call = { ...wish, prompt: "calm piano, female voice", seconds: 8 };
    const [plain, sung] = [await media.composeMusic(call), await media.composeMusic({ ...call, lyrics })];
    const [before, after] = [fromPcm(plain.bytes), fromPcm(sung.bytes)];
    expect(sung.bytes.length).toBe(plain.bytes.length);
    // A voice is in the middle; strings and piano are on all sides.
    const focus = ({ left, right }: Stereo): number => {
      const middle = left.map((sample, at) => sample + (right[at] ?? 0));
      const sides = left.map((sample, at) => sample - (right[at] ?? 0));
      return power(middle) / power(sides);
    };
    expect(focus(after)).toBeGreaterThan(1.5 * focus(before));
  });

  test.each([
    ["nothing", "", ""],
    ["markup and arguments", "<svg/> -o /etc/passwd --help", "[Verse]\n<speak>-voice kal -o /out/x</speak>"],
    ["an emoji, half a character and Chinese", "😀\ud83d\u0000 日本の音楽", "你好 世界 😀\n\u0000\ud800"],
    ["words that objects inherit", "constructor __proto__ toString", "constructor __proto__"],
    ["more words than can be sung", "song ".repeat(4_000), "la ".repeat(40_000)],
    ["one endless word", "a".repeat(20_000), "a".repeat(20_000)],
  ])("is made of %s", async (_name, prompt, lyrics) => {
    const { bytes } = await media.composeMusic({ ...wish, prompt, lyrics, seconds: 3 });
    expect(bytes.length).toBe(4 * 3 * RATE);
    expect(power(fromPcm(bytes).left)).toBeGreaterThan(0.000_1);
  });

  test.each([2.9, 181, Number.NaN, Infinity])("of %p seconds is refused", async (seconds) => {
    expect(await fault(media.composeMusic({ ...wish, seconds }))).toBe("invalid");
  });

  test("is given up when its signal fires", async () => {
    const stop = new AbortController();
    const composing = media.composeMusic({ ...wish, seconds: 180 }, stop.signal);
    stop.abort();
    expect(await fault(composing)).toBe("aborted");
  });
});

describe("a style", () => {
  const style = (text: string, seed = 1): Style => chooseStyle(text, createRandom(seed), "music");

  test("follows the words of the prompt", () => {
    expect(style("a viennese waltz").beatsPerBar).toBe(3);
    expect(style("techno").groove).toBe("techno");
    expect(style("smooth jazz")).toMatchObject({ hasSevenths: true, bassline: "walk" });
    expect(style("rock without drums").groove).toBeNull();
    expect(style("pop with a trumpet").players.lead).toBe("brass");
    expect(style("solo violin").players).toMatchObject({ lead: "violin", bass: "violin", pad: null });
    expect(style("house, 124 bpm").tempo).toBe(124);
    expect(style("a tune in f sharp minor").key).toEqual({ tonic: 6, mode: "minor" });
    expect(style("a tune in bb major").key).toEqual({ tonic: 10, mode: "major" });
  });

  test("has moods: sad is minor and slower than happy, which is major", () => {
    for (let seed = 0; seed < 20; seed += 1) {
      const [sad, happy] = [style("sad pop", seed), style("happy pop", seed)];
      expect([sad.key.mode, happy.key.mode]).toEqual(["minor", "major"]);
      expect(style("calm piano", seed).tempo).toBeLessThan(style("fast piano", seed).tempo);
    }
  });

  test("of a soundtrack takes a house for a house, unless the prompt speaks of music", () => {
    expect(chooseStyle("a red house on a rock", createRandom(1), "soundtrack").groove).toBeNull();
    expect(chooseStyle("a red house, techno music", createRandom(1), "soundtrack").groove).toBe("techno");
  });
});

describe("a score", () => {
  const PROMPTS = ["waltz", "techno", "jazz", "lullaby", "8-bit", "epic", "reggae", "folk", "happy pop", "dark trap"];

  test("has parts that add up, whose last chord falls before the end", () => {
    for (const seconds of [3, 5, 12, 31, 75, 180]) {
      for (const tempo of [55, 90, 128, 175]) {
        for (const beats of [3, 4]) {
          const form = planForm(seconds, tempo, beats);
          expect(form.parts.reduce((sum, { bars }) => sum + bars, 0)).toBe(form.bars);
          expect(form.parts.every(({ bars }) => bars >= 1)).toBe(true);
          expect(form.bars * beats * form.beatSeconds).toBeCloseTo(form.endSeconds, 6);
          expect(form.endSeconds).toBeLessThan(seconds);
        }
      }
    }
  });

  test("keeps to its key, its range and its time", () => {
    for (const prompt of PROMPTS) {
      const style = chooseStyle(prompt, createRandom(7), "music");
      const form = planForm(40, style.tempo, style.beatsPerBar);
      const { notes, drums, bars } = writeScore(style, form, 7, false);
      const scale = new Set(Array.from({ length: 7 }, (_, step) => pitchOf(style.key, step) % 12));
      const inKey = notes.filter(({ pitch }) => scale.has(pitch % 12)).length / notes.length;
      // A leading note and a bass that walks are all that leaves it.
      expect(inKey).toBeGreaterThan(0.8);
      expect(notes.every(({ pitch }) => pitch >= 24 && pitch <= 96)).toBe(true);
      const end = bars.length * style.beatsPerBar;
      expect([...notes, ...drums].every(({ beat }) => beat >= 0 && beat <= end)).toBe(true);
      expect(new Set(notes.map(({ player }) => player)).size).toBeGreaterThanOrEqual(3);
    }
  });

  test("has a chorus that is known again", () => {
    const style = chooseStyle("happy pop", createRandom(3), "music");
    const form = planForm(120, style.tempo, style.beatsPerBar);
    const { notes, bars } = writeScore(style, form, 3, false);
    const starts = bars.filter(({ part, index }) => part.kind === "chorus" && index === 0).map(({ beat }) => beat);
    expect(starts.length).toBeGreaterThan(1);
    const tune = (start: number): string =>
      notes
        .filter(({ player, beat }) => player === "lead" && beat >= start && beat < start + 4 * style.beatsPerBar)
        .map(({ beat, pitch }) => `${beat - start}:${pitch}`)
        .join(" ");
    expect(tune(starts[1] ?? 0)).toBe(tune(starts[0] ?? 0));
    expect(tune(starts[0] ?? 0).length).toBeGreaterThan(20);
  });

  test("has the lyrics' words in their order, none before the other has ended, headings not among them", () => {
    const style = chooseStyle("happy pop", createRandom(3), "music");
    const form = planForm(40, style.tempo, style.beatsPerBar);
    const { bars } = writeScore(style, form, 3, true);
    const lyrics = "[Verse 1]\nHello darling, come away\n[Chorus]\nWe shall dance until the day";
    const words = setLyrics(lyrics, bars, style, form.beatSeconds, 57, 3);
    const first = words.slice(0, 10).map(({ text }) => text);
    expect(first).toEqual(["hello", "darling", "come", "away", "we", "shall", "dance", "until", "the", "day"]);
    words.forEach(({ beat, beats, pitch }, index) => {
      const before = words[index - 1];
      if (before !== undefined) expect(beat).toBeGreaterThanOrEqual(before.beat + before.beats - 0.001);
      expect(beats).toBeGreaterThan(0);
      expect(Math.abs(pitch - 57)).toBeLessThanOrEqual(12);
    });
    expect(words.find(({ text }) => text === "darling")?.syllables).toBe(2);
  });
});
