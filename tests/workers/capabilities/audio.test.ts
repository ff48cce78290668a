import { writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { describe, expect, test } from "bun:test";
import sharp from "sharp";

import { runCapability } from "./in-folder.ts";
import { refused } from "./refused.ts";
import { samplesOf, tone, wavOf } from "./wav.ts";

/** Three notes of 0.8 s, at 0 s, 1.4 s and 2.8 s; 3.6 s in all, in one channel at 44.1 kHz. */
const TUNE = { file_id: "file-sample-tune" } as const;
const RATE = 8_000;

const peakOf = (samples: Float64Array): number => samples.reduce((peak, one) => Math.max(peak, Math.abs(one)), 0);

/** Hertz, by the zeros that it crosses upwards. */
function pitchOf(samples: Float64Array): number {
  let crossed = 0;
  for (let at = 1; at < samples.length; at++) if ((samples[at - 1] ?? 0) < 0 && (samples[at] ?? 0) >= 0) crossed++;
  return (crossed * RATE) / samples.length;
}

const seconds = async (bytes: Uint8Array): Promise<number> => {
  const { output } = await runCapability("audio.probe", { audio: bytes });
  return Number(output?.["seconds"]);
};

test.each([
  ["mp3", "audio/mpeg"],
  ["m4a", "audio/mp4"],
  ["aac", "audio/aac"],
  ["opus", "audio/ogg"],
  ["ogg", "audio/ogg"],
  ["flac", "audio/flac"],
  ["wav", "audio/wav"],
  ["aiff", "audio/aiff"],
])("%s is written, with the same bytes each time, and read with its original length", async (format, mediaType) => {
  const [one, two] = [
    await runCapability("audio.convert", { audio: TUNE }, { format }),
    await runCapability("audio.convert", { audio: TUNE }, { format }),
  ];
  expect(one.files?.[0]).toMatchObject({ mediaType, name: `audio.${format}` });
  expect(Buffer.from(one.bytes()).equals(Buffer.from(two.bytes()))).toBe(true);
  const { output } = await runCapability("audio.probe", { audio: one.bytes() });
  expect(output?.["seconds"] as number).toBeCloseTo(3.6, 0);
  expect(output).toMatchObject({ channels: 1 });
});

describe("known results of", () => {
  const WAV = { format: "wav" } as const;
  const half = wavOf(2, tone(440));

  test("a piece: its samples equal those of the input", async () => {
    const made = await runCapability("audio.trim", { audio: half }, { start: 0.5, duration: 1 });
    const piece = samplesOf(made.bytes());
    expect(piece.length).toBe(RATE);
    expect(Array.from(piece)).toEqual(Array.from(samplesOf(half).slice(RATE / 2, RATE * 1.5)));
  });

  test("6.02 dB less: half of each sample", async () => {
    const made = await runCapability("audio.volume", { audio: half }, { gain: -6.0206, limiter: false });
    expect(peakOf(samplesOf(made.bytes()))).toBeCloseTo(0.25, 3);
  });

  test("20 dB more with the limiter: no peak above its limit", async () => {
    const made = await runCapability("audio.volume", { audio: half }, { gain: 20 });
    expect(peakOf(samplesOf(made.bytes()))).toBeLessThanOrEqual(0.985);
  });

  test("a fade: silence at first, half in its middle, full after it", async () => {
    const made = await runCapability("audio.fade", { audio: wavOf(2, tone(1_000)) }, { in: 1 });
    const samples = samplesOf(made.bytes());
    expect(peakOf(samples.slice(0, 80))).toBeLessThan(0.01);
    expect(peakOf(samples.slice(RATE / 2 - 40, RATE / 2 + 40))).toBeCloseTo(0.25, 1);
    expect(peakOf(samples.slice(RATE * 1.5))).toBeCloseTo(0.5, 2);
  });

  test("twice the speed: half as long at the same pitch", async () => {
    const made = await runCapability("audio.speed", { audio: half }, { rate: 2 });
    const samples = samplesOf(made.bytes());
    expect(samples.length / RATE).toBeCloseTo(1, 1);
    expect(Math.abs(pitchOf(samples) - 440)).toBeLessThan(9);
  });

  test("an octave higher: the original length", async () => {
    const made = await runCapability("audio.speed", { audio: half }, { pitch: 12 });
    const samples = samplesOf(made.bytes());
    expect(samples.length / RATE).toBeCloseTo(2, 1);
    expect(Math.abs(pitchOf(samples) - 880)).toBeLessThan(18);
  });

  test.each([1, 2])("a loudness of -20 LUFS, in %d passes: it measures as that", async (passes) => {
    const noisy = wavOf(6, (at) => tone(440, 0.08)(at) + tone(1_310, 0.05)(at));
    const made = await runCapability("audio.normalize", { audio: noisy }, { loudness: -20, passes });
    const { output } = await runCapability("audio.probe", { audio: made.bytes() }, { loudness: true });
    expect(Math.abs((output as { loudness: { integrated: number } }).loudness.integrated + 20)).toBeLessThan(1);
  });

  test("pauses: they are removed except the kept part of each", async () => {
    const made = await runCapability("audio.remove_silence", { audio: TUNE }, { ...WAV, keep: 0, min_silence: 0.3 });
    expect(await seconds(made.bytes())).toBeCloseTo(2.4, 0);
    const kept = await runCapability("audio.remove_silence", { audio: TUNE }, { ...WAV, keep: 0.2, min_silence: 0.3 });
    expect((await seconds(kept.bytes())) - (await seconds(made.bytes()))).toBeCloseTo(0.4, 1);
  });

  test("a pause at the end alone", async () => {
    const padded = wavOf(3, (at) => (at < 1 ? tone(440)(at) : at < 1.6 || at > 2 ? 0 : tone(440)(at)));
    const made = await runCapability("audio.remove_silence", { audio: padded }, { where: "edges", keep: 0 });
    expect(await seconds(made.bytes())).toBeCloseTo(2, 1);
  });

  test("noise: it is quieter, and the tone is not", async () => {
    let seed = 1;
    const noise = (): number => ((seed = (seed * 16_807) % 2_147_483_647) / 2_147_483_647 - 0.5) * 0.04;
    const noisy = wavOf(4, (at) => (at < 2 ? 0 : tone(440)(at)) + noise());
    const made = await runCapability("audio.denoise", { audio: noisy }, { strength: 30, noise_floor: -35 });
    const samples = samplesOf(made.bytes());
    const power = (from: number, to: number, of: Float64Array): number =>
      of.slice(from * RATE, to * RATE).reduce((sum, one) => sum + one * one, 0);
    expect(power(1, 2, samples)).toBeLessThan(power(1, 2, samplesOf(noisy)) / 4);
    expect(power(3, 4, samples)).toBeGreaterThan(power(3, 4, samplesOf(noisy)) / 2);
  });

  test("concatenated inputs: with a pause longer, faded shorter", async () => {
    const audios = [wavOf(1, tone(440)), wavOf(2, tone(880))];
    const of = async (params: object): Promise<number> =>
      seconds((await runCapability("audio.concat", { audios }, params)).bytes());
    expect(await of({})).toBeCloseTo(3, 2);
    expect(await of({ gap: 0.5 })).toBeCloseTo(3.5, 2);
    expect(await of({ crossfade: 0.5 })).toBeCloseTo(2.5, 2);
  });

  test("mixed inputs: their samples add up, the second from its time on", async () => {
    const audios = [wavOf(2, () => 0.25), wavOf(1, () => 0.5)];
    const params = { normalize: false, offsets: [0, 0.5], volumes: [0, -6.0206], channels: 1 };
    const samples = samplesOf((await runCapability("audio.mix", { audios }, params)).bytes());
    expect(samples.length).toBe(2 * RATE);
    const values = [0.25, 0.75, 1.25, 1.75].map((at) => Math.round((samples[at * RATE] ?? 0) * 100) / 100);
    expect(values).toEqual([0.25, 0.5, 0.5, 0.25]);
  });

  test("one channel in both: the original loudness", async () => {
    const made = await runCapability("audio.convert", { audio: half }, { ...WAV, channels: 2 });
    expect(peakOf(samplesOf(made.bytes()))).toBeCloseTo(0.5, 3);
  });

  test("pieces of one length", async () => {
    const made = await runCapability("audio.split", { audio: half }, { by: "length", length: 1.5, pack: "files" });
    expect(made.files?.length).toBe(2);
    const lengths = await Promise.all([0, 1].map((at) => seconds(made.bytes(at))));
    expect(lengths.map((one) => Math.round(one * 100) / 100)).toEqual([1.5, 0.5]);
  });

  test("the notes of a tune", async () => {
    const made = await runCapability(
      "audio.split",
      { audio: TUNE },
      { by: "silence", min_silence: 0.3, pack: "files" },
    );
    expect(made.files?.length).toBe(3);
  });

  test("a waveform: the requested width, high at loud parts", async () => {
    const made = await runCapability("audio.waveform", { audio: wavOf(2, (at) => (at < 1 ? 0.5 : 0)) }, { width: 100 });
    expect(made.output).toMatchObject({ width: 100, height: 200 });
    const { peaks } = made.output as { peaks: readonly number[] };
    expect(peaks.length).toBe(200);
    expect(peaks[50]).toBeCloseTo(0.5, 2);
    expect(peaks[150]).toBe(0);
  });

  test.each([1_000, 3_000])(
    "a spectrogram of a tone of %d Hz: its brightest row is that of its pitch",
    async (hertz) => {
      const params = { kind: "spectrogram", width: 64, height: 240, color: "white", background: "black" };
      const audio = wavOf(2, (at) => (at < 1 ? tone(hertz, 0.9)(at) : 0));
      const made = await runCapability("audio.waveform", { audio }, params);
      expect(made.output).toEqual({ width: 64, height: 240, highest_hz: 12_000 });
      const { data, info } = await sharp(made.bytes()).greyscale().raw().toBuffer({ resolveWithObject: true });
      const column = (x: number) => Array.from({ length: info.height }, (_, y) => data[y * info.width + x] ?? 0);
      const loud = column(16);
      expect(Math.abs(loud.indexOf(Math.max(...loud)) - 240 * (1 - hertz / 12_000))).toBeLessThanOrEqual(2);
      expect([Math.max(...loud) > 240, loud[20], Math.max(...column(56))]).toEqual([true, 0, 0]);
    },
  );

  test("a pipeline: each step on the output of the previous one", async () => {
    const operations = [
      { operation: "trim", params: { duration: 1 } },
      { operation: "speed", params: { rate: 2 } },
      { operation: "fade", params: { out: 0.25 } },
    ];
    const made = await runCapability("audio.pipeline", { audio: half }, { operations, output: WAV });
    const samples = samplesOf(made.bytes());
    expect(samples.length / RATE).toBeCloseTo(0.5, 1);
    expect(peakOf(samples.slice(-80))).toBeLessThan(0.05);
  });
});

describe("rejected:", () => {
  test("a start after the end", async () => {
    expect(await refused(runCapability("audio.trim", { audio: TUNE }, { start: 9 }))).toMatch(/^invalid: Expected params.start before the end at 3\.6/); // prettier-ignore
  });

  test("a start after the stop", async () => {
    expect(await refused(runCapability("audio.trim", { audio: TUNE }, { start: 2, end: 1 }))).toContain("params.start");
  });

  test("an end and a duration", async () => {
    expect(await refused(runCapability("audio.trim", { audio: TUNE }, { end: 1, duration: 1 }))).toContain("duration");
  });

  test("silence to amplify", async () => {
    expect(await refused(runCapability("audio.normalize", { audio: wavOf(2, () => 0) }))).toBe(
      "invalid: Expected audio of at least 0.4 s that is not entirely silent.",
    );
  });

  test("a number of volumes other than the inputs", async () => {
    expect(await refused(runCapability("audio.mix", { audios: [TUNE, TUNE] }, { volumes: [1] }))).toBe(
      "invalid: Expected params.volumes to have 2 values, got 1.",
    );
  });

  test("a step of a pipeline, by its position", async () => {
    const operations = [{ operation: "volume" }, { operation: "trim", params: { start: 9 } }];
    expect(await refused(runCapability("audio.pipeline", { audio: TUNE }, { operations }))).toMatch(
      /^invalid: Expected params\.operations\[1\]\.params\.start/,
    );
  });

  test("an image, a text, and a truncated container", async () => {
    const photo = { file_id: "file-sample-photo" };
    expect(await refused(runCapability("audio.trim", { audio: photo }, { duration: 1 }))).toMatch(/^unsupported: /);
    expect(await refused(runCapability("audio.probe", { audio: Buffer.from("no audio") }))).toMatch(/^unsupported: /);
    const m4a = (await runCapability("audio.convert", { audio: TUNE }, { format: "m4a" })).bytes();
    expect(await refused(runCapability("audio.trim", { audio: m4a.subarray(0, 40) }, { duration: 1 }))).toMatch(
      /^corrupt: /,
    );
  });

  test("a playlist that names a file of this machine", async () => {
    const secret = join(tmpdir(), "sluice-secret.wav");
    writeFileSync(secret, wavOf(1, tone(440)));
    for (const list of [`#EXTM3U\n#EXTINF:1,\nfile://${secret}\n`, `ffconcat version 1.0\nfile '${secret}'\n`]) {
      expect(await refused(runCapability("audio.probe", { audio: Buffer.from(list) }))).toMatch(/^unsupported: /);
    }
  });
});

test.each([
  [8_000, 1],
  [11_025, 2],
  [24_000, 1],
  [96_000, 2],
])("Vorbis is written with %i Hz in %i channels, at a supported rate", async (sample_rate, channels) => {
  for (const bitrate of [16, 320]) {
    const params = { format: "ogg", sample_rate, channels, bitrate };
    const { output } = await runCapability("audio.convert", { audio: TUNE }, params);
    expect(output).toMatchObject({ sample_rate: Math.min(48_000, sample_rate), channels });
  }
});

test("audio of silence only keeps its silence", async () => {
  const silence = wavOf(1, () => 0);
  expect(await refused(runCapability("audio.remove_silence", { audio: silence }))).toBe(
    "invalid: Expected audio louder than params.threshold somewhere, got none above -40 dB.",
  );
});
