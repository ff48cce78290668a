/** Tests the length of recordings whose file states none, or states the length of a part. The price follows this length. */
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, test } from "bun:test";

import { probeAudio } from "#shared/media/probe/probe.ts";
import { runFilterGraph } from "#workers/children/filter-graph.ts";
import { copyPackets } from "#workers/children/remux.ts";

import { runCapability, type TestInputs } from "./in-folder.ts";
import { refused } from "./refused.ts";
import { samplesOf, tone, wavOf } from "./wav.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-lengths-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const encoded = async (format: string, seconds: number, hertz: number, shape: object): Promise<Uint8Array> =>
  (await runCapability("audio.convert", { audio: wavOf(seconds, tone(hertz), shape) }, { format })).bytes();
const secondsOf = async (audio: Uint8Array): Promise<unknown> =>
  (await runCapability("audio.probe", { audio })).output?.["seconds"];

/** Pitch of a WAV in one channel at 48 kHz, by how often its curve crosses zero. */
function pitchOf(wav: Uint8Array, from: number, until: number): number {
  const samples = samplesOf(wav).subarray(from * 48_000, until * 48_000);
  const crossed = samples.filter((one, at) => at > 0 && one < 0 !== (samples[at - 1] ?? 0) < 0).length;
  return crossed / 2 / (until - from);
}

describe.each<[string, string, object, string, object]>([
  ["Opus", "opus", { rate: 48_000 }, "opus", { rate: 48_000 }],
  ["Opus in one channel, then in two", "opus", { rate: 48_000 }, "opus", { rate: 48_000, channels: 2 }],
  ["Vorbis of two sample rates", "ogg", { rate: 44_100 }, "ogg", { rate: 22_050 }],
  ["Vorbis, then Opus", "ogg", { rate: 44_100, channels: 2 }, "opus", { rate: 48_000 }],
])("a chained Ogg file of %s", (_, oneFormat, oneShape, otherFormat, otherShape) => {
  const chain = (async () =>
    Buffer.concat([await encoded(oneFormat, 2, 440, oneShape), await encoded(otherFormat, 3, 880, otherShape)]))();

  test("has the length of all of its recordings, by both of our probes", async () => {
    expect(await secondsOf(await chain)).toBe(5);
    expect(probeAudio(await chain).seconds).toBeCloseTo(5, 3);
  });

  test("is converted completely", async () => {
    const wav = { format: "wav", channels: 1, sample_rate: 48_000 };
    const made = await runCapability("audio.convert", { audio: await chain }, wav);
    expect(made.output).toMatchObject({ seconds: 5 });
    expect(Math.abs(pitchOf(made.bytes(), 0.1, 1.9) - 440)).toBeLessThan(3);
    expect(Math.abs(pitchOf(made.bytes(), 2.1, 4.9) - 880)).toBeLessThan(3);
    const piece = await runCapability("audio.trim", { audio: await chain }, { ...wav, start: 3, duration: 1 });
    expect(piece.output).toMatchObject({ seconds: 1 });
    expect(Math.abs(pitchOf(piece.bytes(), 0.1, 0.9) - 880)).toBeLessThan(3);
  });
});

describe("a chained Ogg file", () => {
  const chain = (async () => {
    const one = await encoded("opus", 1, 440, { rate: 48_000 });
    return Buffer.concat([one, one, one]);
  })();
  const clip = { file_id: "file-sample-clip" } as const;

  test("has the length of the whole in every operation", async () => {
    const audio = await chain;
    expect((await runCapability("audio.fade", { audio }, { out: 3, format: "wav" })).output).toMatchObject({
      seconds: 3,
    });
    const joined = await runCapability("audio.concat", { audios: [audio, audio] }, { crossfade: 2, format: "wav" });
    expect(joined.output).toMatchObject({ seconds: 4 });
    expect((await runCapability("audio.split", { audio }, { length: 1, format: "wav" })).output).toMatchObject({
      parts: 3,
    });
    const cut = await runCapability("video.set_audio", { video: clip, audio }, { length: "shortest" });
    expect(cut.output).toMatchObject({ seconds: 3 });
  });

  test("is rejected if its recordings would have to be copied or repeated", async () => {
    const audio = await chain;
    const refusal = (id: string, input: TestInputs, params: object) => refused(runCapability(id, input, params));
    expect(await refusal("audio.trim", { audio }, { mode: "copy", duration: 1 })).toMatch(
      /params\.mode exact .* chained/,
    );
    expect(await refusal("audio.tag", { audio }, { title: "x" })).toMatch(/got an Ogg file of 3 chained recordings/);
    expect(await refusal("video.set_audio", { video: clip, audio }, { loop: true })).toMatch(/one recording to repeat/);
  });

  test("of more recordings than 256 is rejected", async () => {
    const audio = Buffer.from(await chain);
    const first = audio.subarray(0, audio.indexOf("OggS", 1));
    const next = Buffer.from(first);
    next[5] = 0;
    const many = Buffer.concat(Array<Buffer>(257).fill(Buffer.concat([first, next])));
    expect(await refused(runCapability("audio.probe", { audio: many }))).toMatch(/^too_large: .*at most 256 chained/);
  });
});

describe("a file that does not state its length is counted:", () => {
  test("FLAC written to a pipe", async () => {
    const flac = Buffer.from(await encoded("flac", 2, 440, { rate: 44_100 }));
    // The total of samples, 36 bits of STREAMINFO.
    flac[21] = (flac[21] ?? 0) & 0xf0;
    flac.fill(0, 22, 26);
    expect(await secondsOf(flac)).toBe(2);
    expect((await runCapability("audio.split", { audio: flac }, { length: 1 })).output).toMatchObject({ parts: 2 });
  });

  test("WebM recorded by a browser", async () => {
    const source = join(folder, "source.opus");
    writeFileSync(source, await encoded("opus", 2, 440, { rate: 48_000 }));
    const path = join(folder, "live.webm");
    await copyPackets({
      source: { path: source, container: "ogg" },
      kinds: ["audio"],
      output: { path, muxer: "webm", options: { live: "1" } },
    });
    expect(Number(await secondsOf(readFileSync(path)))).toBeCloseTo(2, 1);
  });

  test("WebM with images", async () => {
    const path = join(folder, "live-pictures.webm");
    await runFilterGraph({
      graph: "color=s=64x64:r=10:d=2[v]",
      streams: [{ label: "v", encoder: "libvpx", options: { "cpu-used": "8", deadline: "realtime" } }],
      output: { path, muxer: "webm", options: { live: "1" } },
      secondsMax: 10,
    });
    const { output } = await runCapability("video.probe", { video: readFileSync(path) });
    expect(Number(output?.["seconds"])).toBeCloseTo(2, 1);
  });
});
