/** Audio that cannot be decoded, or not here: every capability says the same of it. Loudness that was asked for and what came. */
import { beforeAll, describe, expect, test } from "bun:test";

import { wav } from "#tests/support/hostile-files/sounds.ts";
import { createOggWriter } from "#tests/support/ogg.ts";

import { runCapability } from "./in-folder.ts";
import { refused } from "./refused.ts";
import { samplesOf, tone, wavOf } from "./wav.ts";

const TONE = wavOf(2, tone(440), { rate: 44_100 });
const OPERATIONS: readonly (readonly [string, object])[] = [
  ["convert", { format: "wav" }],
  ["trim", { start: 0.1 }],
  ["normalize", {}],
  ["normalize", { passes: 1 }],
  ["fade", { out: 0.5 }],
  ["speed", { rate: 2 }],
  ["remove_silence", {}],
  ["split", { by: "silence" }],
  ["probe", { loudness: true }],
  ["waveform", {}],
  ["pipeline", { operations: [{ operation: "normalize" }] }],
];

describe.each(OPERATIONS)("audio.%s %j", (id, params) => {
  let cut: Uint8Array;
  beforeAll(async () => {
    const whole = (await runCapability("audio.convert", { audio: TONE }, { format: "aac" })).bytes();
    cut = whole.subarray(0, Math.floor(whole.length * 0.6));
  });

  test("rejects truncated audio, and random bytes, as undecodable", async () => {
    const flac = (await runCapability("audio.convert", { audio: TONE }, { format: "flac" })).bytes();
    const noise = Uint8Array.from(flac, (byte, at) => (at < 8_192 ? byte : ((at * 2_654_435_761) >>> 13) & 255));
    for (const audio of [cut, noise]) {
      expect(await refused(runCapability(`audio.${id}`, { audio }, params))).toMatch(
        /^corrupt: (?:The audio cannot be decoded|No part of the audio can be decoded)\.$/,
      );
    }
  });

  test("rejects an unsupported codec by its name, and lists the supported ones", async () => {
    for (const [audio, codec] of [
      [speex(), "speex"],
      [
        wav({ code: 0x31, bits: 0, blockBytes: 65, byteRate: 1_625, extension: [2, 0, 64, 1] }, Buffer.alloc(65 * 50)),
        "gsm_ms",
      ],
    ] as const) {
      expect(await refused(runCapability(`audio.${id}`, { audio }, params))).toBe(
        `unsupported: Expected audio in AAC, AC-3, ALAC, FLAC, MP3, Opus, PCM or Vorbis, got ${codec}.`,
      );
    }
  });
});

test("facts of an unsupported codec are read, and its tags are written", async () => {
  expect((await runCapability("audio.probe", { audio: speex() })).output).toMatchObject({
    codec: "speex",
    sample_rate: 8_000,
  });
  const tagged = await runCapability("audio.tag", { audio: speex() }, { title: "Tea" });
  expect((await runCapability("audio.probe", { audio: tagged.bytes() })).output).toMatchObject({ codec: "speex" });
});

test.each([
  ["A-law", 6, (loud: boolean) => (loud ? 0xaa : 0xd5)],
  ["µ-law", 7, (loud: boolean) => (loud ? 0x80 : 0xff)],
] as const)("%s is decoded", async (_name, tag, byteOf) => {
  const sound = Uint8Array.from({ length: 8_000 }, (_, at) => byteOf(at >= 4_000));
  const audio = wav({ code: tag, bits: 8, extension: [2, 0, 64, 1] }, sound);
  const samples = samplesOf((await runCapability("audio.convert", { audio }, { format: "wav" })).bytes());
  expect(samples.length).toBe(8_000);
  expect([Math.abs(samples[100] ?? 1) < 0.01, Math.abs(samples[7_900] ?? 0) > 0.9]).toEqual([true, true]);
});

describe("normalized audio", () => {
  const breathing = (at: number): number => tone(440, Math.floor(at) % 2 === 0 ? 0.1 : 0.05)(at);
  const even = wavOf(8, breathing, { rate: 48_000 });
  /** Short clicks leave no room for the gain that the rest needs. */
  const uneven = wavOf(8, (at) => (at % 1 < 0.001 ? 0.9 : breathing(at)), { rate: 48_000 });

  test("reports its loudness, and whether one gain was enough", async () => {
    for (const [audio, mode] of [
      [even, "linear"],
      [uneven, "dynamic"],
    ] as const) {
      const made = await runCapability("audio.normalize", { audio }, { format: "wav" });
      expect(made.output).toMatchObject({ loudness: { mode } });
      const told = (made.output as { loudness: Loudness }).loudness;
      const { loudness: heard } = (await runCapability("audio.probe", { audio: made.bytes() }, { loudness: true })).output as { loudness: Loudness }; // prettier-ignore
      expect(Math.abs(told.integrated - heard.integrated)).toBeLessThan(0.5);
      expect(Math.abs(told.true_peak - heard.true_peak)).toBeLessThan(0.5);
    }
  });

  test("reports the same as a step, and nothing for silence", async () => {
    // What the last one came to, whatever another one printed before it.
    const operations = [{ operation: "normalize", params: { loudness: -30 } }, { operation: "normalize" }];
    const piped = await runCapability("audio.pipeline", { audio: uneven }, { operations, output: { format: "wav" } });
    expect(piped.output).toMatchObject({ loudness: { mode: "dynamic" } });
    expect((piped.output as { loudness: Loudness }).loudness.integrated).toBeGreaterThan(-18);
    const silent = await runCapability(
      "audio.normalize",
      { audio: wavOf(2, () => 0, { rate: 48_000 }) },
      { passes: 1 },
    );
    expect(silent.output).toMatchObject({ loudness: { integrated: null, true_peak: null } });
  });

  interface Loudness {
    readonly integrated: number;
    readonly true_peak: number;
  }
});

/** Speex in Ogg: its head, its comments, and packets of nothing. */
function speex(): Uint8Array {
  const ogg = createOggWriter();
  const head = Buffer.alloc(80);
  head.write("Speex   1.2", 0, "latin1");
  const facts = [1, 80, 8_000, 0, 4, 1, -1, 160, 0, 1] as const;
  for (const [at, value] of facts.entries()) head.writeInt32LE(value, 28 + at * 4);
  ogg.packet(head, 0n, { endsPage: true });
  ogg.packet(Buffer.from("\u0004\0\0\0test\0\0\0\0", "latin1"), 0n, { endsPage: true });
  for (let at = 1; at <= 50; at++) ogg.packet(Buffer.alloc(20, at), BigInt(at * 160), { isLast: at === 50 });
  return ogg.finish();
}
