/** Audio at its edges: times to the sample, loudness of what is heard, and pieces that are too short. */
import { describe, expect, test } from "bun:test";
import sharp from "sharp";

import { storm } from "#tests/support/storm.ts";

import { runCapability } from "./in-folder.ts";
import { refused } from "./refused.ts";
import { samplesOf, tone, wavOf } from "./wav.ts";

const RATE = 44_100;
const WAV = { format: "wav" } as const;
const TONE = wavOf(2, tone(440), { rate: RATE });
const CLICK = wavOf(2, (at) => (at >= 1 && at < 1.0005 ? 0.9 : 0.0001 * Math.sin(at * 9_999)), { rate: RATE });

const made = async (id: string, audio: Uint8Array, params: object): Promise<Uint8Array> =>
  (await runCapability(`audio.${id}`, { audio }, { ...WAV, ...params })).bytes();
/** Seconds of a WAV in one channel. */
const lengthOf = (wav: Uint8Array, rate = RATE): number => samplesOf(wav).length / rate;
const loudness = async (audio: Uint8Array): Promise<number> => {
  const { output } = await runCapability("audio.probe", { audio }, { loudness: true });
  return (output as { loudness: { integrated: number } }).loudness.integrated;
};

test.each<[string, object]>([
  ["volume", { gain: 0 }],
  ["denoise", {}],
  ["normalize", { passes: 1 }],
])("%s shifts nothing in time", async (id, params) => {
  const samples = samplesOf(await made(id, CLICK, params));
  let loudest = 0;
  for (const [at, one] of samples.entries()) if (Math.abs(one) > Math.abs(samples[loudest] ?? 0)) loudest = at;
  expect(Math.abs(loudest / RATE - 1)).toBeLessThan(0.001);
  expect(samples.length).toBe(2 * RATE);
});

test.each([
  [0.25, 0],
  [4, 0],
  [1, 7],
  [0.5, -12],
])("a rate of %d and a pitch of %d give the computed length, for any short input", async (rate, pitch) => {
  for (const seconds of [0.01, 2]) {
    const samples = samplesOf(await made("speed", wavOf(seconds, tone(440), { rate: RATE }), { rate, pitch }));
    expect(Math.abs(samples.length / RATE - seconds / rate)).toBeLessThan(0.0001);
    expect(samples.reduce((peak, one) => Math.max(peak, one), 0)).toBeGreaterThan(0.1);
  }
});

describe("loudness is that of the written channels:", () => {
  const of = (channels: number) => wavOf(3, tone(440, 0.2), { rate: 48_000, channels });
  const other = [
    [1, 2],
    [2, 1],
    [6, 2],
  ];
  test.each([[6, 1], ...storm([], other)])("%d to %d", async (from, channels) => {
    const bytes = await made("normalize", of(from), { channels });
    expect(Math.abs((await loudness(bytes)) + 16)).toBeLessThan(0.3);
    const operations = [{ operation: "normalize" }];
    const piped = await runCapability("audio.pipeline", { audio: of(from) }, { operations, output: { ...WAV, channels } }); // prettier-ignore
    expect(Math.abs((await loudness(piped.bytes())) + 16)).toBeLessThan(0.3);
  });

  test("many channels have equal loudness in a format of other samples", async () => {
    const [one, other] = [await made("convert", of(6), {}), await made("convert", of(6), { format: "m4a" })];
    expect(Math.abs((await loudness(one)) - (await loudness(other)))).toBeLessThan(0.7);
  });
});

test("times start with the first sample, also in an MP3 with a later start", async () => {
  const artwork = await sharp({ create: { width: 9, height: 9, channels: 3, background: "red" } }).png().toBuffer(); // prettier-ignore
  const mp3 = await made("convert", TONE, { format: "mp3" });
  const audio = (await runCapability("audio.tag", { audio: mp3, artwork }, { title: "Tone" })).bytes();
  expect(lengthOf(await made("trim", audio, { duration: 0.5 }))).toBe(0.5);
  const { output } = await runCapability("audio.convert", { audio }, WAV);
  expect(output).toMatchObject({ seconds: 2 });
});

test("a copy of an MP3 is complete at its end", async () => {
  const audio = await made("convert", TONE, { format: "mp3" });
  const copy = await runCapability("audio.trim", { audio }, { start: 0.5, mode: "copy" });
  const { start } = copy.output as { start: number };
  expect(Math.abs(lengthOf(await made("convert", copy.bytes(), {})) - (2 - start))).toBeLessThan(0.03);
});

test("the reported rate is the written one", async () => {
  for (const sample_rate of [9_001, 50_000]) {
    const written = await runCapability("audio.convert", { audio: TONE }, { format: "m4a", sample_rate });
    const probed = await runCapability("audio.probe", { audio: written.bytes() });
    expect(probed.output?.["sample_rate"]).toBe(written.output?.["sample_rate"]);
  }
});

test("a duplicate time splits once, in any order", async () => {
  const params = { by: "times", times: [1.5, 0.5, 0.5], pack: "files", ...WAV };
  const split = await runCapability("audio.split", { audio: TONE }, params);
  expect(split.output).toEqual({ parts: 3, times: [0.5, 1.5] });
  expect([0, 1, 2].map((at) => lengthOf(split.bytes(at)))).toEqual([0.5, 1, 0.5]);
});

describe("rejected:", () => {
  test.each<[string, string, object, string]>([
    ["a fade in", "fade", { in: 5 }, "invalid: Expected params.in to be at most 2, the seconds of the audio, got 5."],
    [
      "a fade out",
      "fade",
      { out: 5 },
      "invalid: Expected params.out to be at most 2, the seconds of the audio, got 5.",
    ],
    ["a cut", "split", { by: "times", times: [9] }, "invalid: Expected params.times before the end at 2 s, got 9."],
  ])("%s after the end", async (_name, id, params, said) => {
    expect(await refused(runCapability(`audio.${id}`, { audio: TONE }, params))).toBe(said);
  });

  test("a crossfade longer than its inputs", async () => {
    const audios = [TONE, wavOf(0.25, tone(440), { rate: RATE }), TONE];
    expect(await refused(runCapability("audio.concat", { audios }, { crossfade: 0.5 }))).toBe(
      "invalid: Expected params.crossfade to be at most 0.25 s, as long as the shortest audio, got 0.5.",
    );
  });

  test("loudness of an input that is too short", async () => {
    const audio = wavOf(0.01, tone(440), { rate: RATE });
    expect(await refused(runCapability("audio.normalize", { audio }))).toContain("0.4 s");
  });

  test("a copy of a piece that is too short to be audible", async () => {
    const audio = await made("convert", TONE, { format: "mp3" });
    const work = runCapability("audio.trim", { audio }, { duration: 0.01, mode: "copy" });
    expect(await refused(work)).toContain("params.mode exact");
  });
});
