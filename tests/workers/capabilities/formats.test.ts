/** Formats that few tools write any more, or that only some do: each is detected, probed, read and refused as the usual ones are. */
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";

import { afterAll, describe, expect, test } from "bun:test";
import sharp from "sharp";

import { settleMediaType } from "#shared/files/media-type.ts";
import { hostileFiles } from "#tests/support/hostile-files/corpus.ts";
import { bmpOf } from "#tests/support/hostile-files/pictures.ts";
import { runFilterGraph } from "#workers/children/filter-graph.ts";

import { runCapability } from "./in-folder.ts";
import { refused } from "./refused.ts";
import { samplesOf } from "./wav.ts";

const folder = mkdtempSync(join(tmpdir(), "sluice-formats-"));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

let made = 0;
/** Two seconds of a tone, and of red where there is an encoder of pictures. */
async function mediaOf(muxer: string, video: string | undefined, audio: string): Promise<Uint8Array> {
  const path = join(folder, `made-${++made}`);
  const picture = "color=red:s=64x48:r=25:d=2[v];";
  await runFilterGraph({
    graph: `${video === undefined ? "" : picture}sine=f=440:d=2:r=44100,volume=8[a]`,
    streams: [
      ...(video === undefined ? [] : [{ label: "v", encoder: video }]),
      { label: "a", encoder: audio, options: audio.startsWith("pcm") ? {} : { b: "192k" } },
    ],
    output: { path, muxer },
    secondsMax: 10,
  });
  return readFileSync(path);
}

const typeOf = (bytes: Uint8Array): Promise<string> => settleMediaType(bytes, undefined, "");

describe.each([
  ["video/mp2t", "mpegts", "libx264", "aac"],
  ["video/mp2t", "mpegts", "mpeg2video", "ac3"],
  ["video/x-flv", "flv", "libx264", "aac"],
  ["video/x-flv", "flv", "flv", "libmp3lame"],
] as const)("%s of %s with %s and %s", (type, muxer, video, audio) => {
  const clip = mediaOf(muxer, video, audio);

  test("is detected, probed, converted and rendered", async () => {
    expect(await typeOf(await clip)).toBe(type);
    const probe = await runCapability("video.probe", { video: await clip }, { count_frames: true });
    expect(probe.output).toMatchObject({ width: 64, height: 48, audio: { sample_rate: 44_100 } });
    expect(Math.abs(Number(probe.output?.["seconds"]) - 2)).toBeLessThan(0.15);
    const mp4 = await runCapability(
      "video.trim",
      { video: await clip },
      { start: 0.5, duration: 1, preset: "ultrafast" },
    );
    expect(mp4.output).toMatchObject({ format: "mp4", seconds: 1, audio_codec: "aac" });
    const still = await runCapability(
      "video.thumbnail",
      { video: await clip },
      { mode: "time", time: 1, format: "png" },
    );
    const [red = 0, green = 255] = await sharp(still.bytes()).raw().toBuffer();
    expect([red > 200, green < 60]).toEqual([true, true]);
  });

  test("returns its audio", async () => {
    const sound = await runCapability("video.extract_audio", { video: await clip }, { format: "wav" });
    expect(pitchOf(sound.bytes(), 44_100)).toBeCloseTo(440, -1);
  });
});

test("audio that cannot be decoded is named", async () => {
  const video = await mediaOf("mpegts", "mpeg2video", "mp2");
  const { output } = await runCapability("video.trim", { video }, { duration: 1, preset: "ultrafast" });
  expect(output).toMatchObject({
    audio_codec: null,
    notes: ["Audio track 1 (mp2) was dropped, because its codec cannot be decoded."],
  });
  expect(await refused(runCapability("audio.convert", { audio: video }, { format: "wav" }))).toMatch(
    /^unsupported: .*mp2/,
  );
});

function pitchOf(wav: Uint8Array, rate: number): number {
  const samples = samplesOf(wav).subarray(rate / 2, rate * 1.5);
  return samples.filter((one, at) => at > 0 && one < 0 !== (samples[at - 1] ?? 0) < 0).length / 2;
}

test.each([
  ["audio/x-caf", "caf", "pcm_s16be", "wav"],
  ["audio/x-caf", "caf", "alac", "wav"],
  ["audio/ac3", "ac3", "ac3", "m4a"],
  ["audio/eac3", "eac3", "eac3", "m4a"],
] as const)(
  "%s of %s with %s is detected, probed and converted, to %s by default",
  async (type, muxer, codec, usual) => {
    const audio = await mediaOf(muxer, undefined, codec);
    expect(await typeOf(audio)).toBe(type);
    const probe = await runCapability("audio.probe", { audio });
    expect(probe.output).toMatchObject({ codec, sample_rate: 44_100 });
    expect(Math.abs(Number(probe.output?.["seconds"]) - 2)).toBeLessThan(0.1);
    const wav = await runCapability("audio.convert", { audio }, { format: "wav" });
    expect(pitchOf(wav.bytes(), 44_100)).toBeCloseTo(440, -1);
    expect((await runCapability("audio.volume", { audio }, { gain: -3 })).output).toMatchObject({ format: usual });
  },
);

describe("BMP", () => {
  test.each([24, 32] as const)("of %d bits is detected, and read by operations of every kind", async (bits) => {
    const image = bmpOf(30, 20, bits);
    expect(await typeOf(image)).toBe("image/bmp");
    expect((await runCapability("image.metadata", { image })).output).toMatchObject({ width: 30, height: 20 });
    const png = await runCapability("image.convert", { image }, { format: "png" });
    const { data, info } = await sharp(png.bytes()).removeAlpha().raw().toBuffer({ resolveWithObject: true });
    expect([info.width, info.height, ...data.subarray(0, 3)]).toEqual([30, 20, 0x33, 0x66, 0x99]);
    expect((await runCapability("document.images_to_pdf", { images: [image, image] })).output).toMatchObject({
      pages: 2,
    });
    const montage = await runCapability("image.montage", { images: [image, image] });
    expect((await sharp(montage.bytes()).metadata()).format).toBe("png");
  });

  test("is rejected by its size before it is decoded", async () => {
    const image = bmpOf(30_000, 30_000, 24, { pixels: Buffer.alloc(64) });
    expect(await refused(runCapability("image.metadata", { image }))).toMatch(/^too_large: .* got 900000000\.$/);
  });

  test("is archived unchanged", async () => {
    const image = bmpOf(3, 2, 24);
    const packed = await runCapability("archive.create", { files: [image] });
    const opened = await runCapability("archive.extract", { archive: packed.bytes() });
    expect(Buffer.compare(opened.bytes(), image)).toBe(0);
  });

  test("is not confused with a text that starts with its letters", async () => {
    for (const text of ["BMW cars and bikes are made in Munich.", `BM${"\n".repeat(80)}`]) {
      expect(await typeOf(Buffer.from(text))).toBe("text/plain");
    }
    expect(await typeOf(Buffer.from("G".repeat(400)))).toBe("text/plain");
  });
});

/** `tea/green.txt` and `black.txt`, by GNU tar 1.35, xz 5.4 and bzip2 1.0.8. */
const TARS = {
  "tar.xz":
    "/Td6WFoAAATm1rRGAgAhARwAAAAQz1jM4Cf/AI5dADoZSERt2hAC7TlUyarG1iXDIzNUqlAhGlLGJW022H5m/N8+By9eoH2kpEY2i/MPlGJec6jl/qMdrCET1dZgsunCKDqZCD8HgjwE4L61U4oSOFZRMEXWeLwo3NDLIhxAX/1Mxc9Ltfudu1OPpFYldiw7o4N84PDBkKnyhjWRoj1Ts/HTIvIt9xum80uLAAAAAAABJWhW5Q24yAABqgGAUAAAbldXx7HEZ/sCAAAAAARZWg==",
  "tar.bz2":
    "QlpoOTFBWSZTWR+REKgAAMn7hMmQAUBAAf+ACIR6jZ5AAACAiCAAlISVT2RTTIHqGjaI0epoBFKjJo9EHpGQABtSnxLbiedqNUCsaBAb5xeWSG6ohk2DtYRBAF5zYHVVBO+REkhIpTGxJYRVIKbM0zgWzxk/YtG1JZnowX39zGOpIjlUqORFoKxaG1e3JraENH9syKMySIfxdyRThQkB+REKgA==",
} as const;

describe.each([
  ["tar.xz", "application/x-xz", "xz"],
  ["tar.bz2", "application/x-bzip2", "bzip2"],
] as const)("%s", (format, type, stream) => {
  const archive = Buffer.from(TARS[format], "base64");

  test("is detected, listed, extracted and decompressed", async () => {
    expect(await typeOf(archive)).toBe(type);
    const listed = await runCapability("archive.list", { archive });
    expect(listed.output).toMatchObject({ format, count: 3, bytes: 12 });
    const extracted = await runCapability("archive.extract", { archive });
    expect(extracted.files?.map(({ name }) => name)).toEqual(["tea_green.txt", "black.txt"]);
    expect(Buffer.from(extracted.bytes(0)).toString()).toBe("green\n");
    const tar = await runCapability("archive.decompress", { file: archive });
    expect(tar.output).toEqual({ format: stream, bytes: 10_240 });
    expect((await runCapability("archive.list", { archive: tar.bytes() })).output).toMatchObject({
      format: "tar",
      count: 3,
    });
  });

  test("is rejected when it is truncated", async () => {
    for (const cut of [archive.subarray(0, -40), archive.subarray(0, 20)]) {
      expect(await refused(runCapability("archive.extract", { archive: cut }))).toStartWith("corrupt: ");
      expect(await refused(runCapability("archive.decompress", { file: cut }))).toStartWith("corrupt: ");
    }
  });
});

const HOSTILE = /BMP|MPEG-TS|FLV|CAF|AC-3|xz|bzip2/;

describe("hostile files of these formats are rejected by their type:", () => {
  const ids = { picture: ["image.resize", "image"], sound: ["audio.convert", "audio"], film: ["video.trim", "video"], archive: ["archive.extract", "archive"] } as const; // prettier-ignore
  const params = { picture: { width: 10 }, sound: { format: "wav" }, film: { duration: 1 }, archive: {} } as const;
  const all = (Object.keys(ids) as (keyof typeof ids)[]).flatMap((category) =>
    hostileFiles(category).flatMap(([name, make]) => (HOSTILE.test(name) ? [[name, category, make] as const] : [])),
  );
  test.each(all)("%s", async (_name, category, make) => {
    const [id, member] = ids[category];
    expect(await refused(runCapability(id, { [member]: await make() }, params[category]))).toMatch(
      /^(?:corrupt|too_large|unsupported): /,
    );
  });
});
