/** Several operations on one video, in one graph with one encode. */
import { describe, expect, test } from "bun:test";
import sharp from "sharp";

import { runCapability, type TestInput } from "./in-folder.ts";
import { refused } from "./refused.ts";
import { CLIP, clipOf, LOSSLESS, pixelsOf, probe, soundOf } from "./video-clips.ts";

const PHOTO = { file_id: "file-sample-photo" } as const;
const TUNE = { file_id: "file-sample-tune" } as const;
const LINES = { text: "1\n00:00:00,000 --> 00:00:01,000\nThree boxes of tea\n" } as const;
const ASSETS = { logo: PHOTO, lines: LINES, tune: TUNE };

type Steps = readonly { readonly operation: string; readonly params?: Readonly<Record<string, unknown>> }[];
const pipeline = (operations: Steps, output: object = {}, assets: Readonly<Record<string, TestInput>> = ASSETS) =>
  runCapability("video.pipeline", { video: CLIP, assets }, { operations, output });

const MEMBERS: Readonly<Record<string, string>> = { watermark: "logo", subtitle: "subtitles", set_audio: "audio" };

/** The single capabilities, one after the other, none losing a pixel. */
async function inTurn(steps: Steps): Promise<Uint8Array> {
  let video: Uint8Array | typeof CLIP = CLIP;
  for (const { operation, params: given = {} } of steps) {
    const { asset, ...params } = given;
    const second = asset === undefined ? {} : { [MEMBERS[operation] ?? ""]: ASSETS[asset as keyof typeof ASSETS] };
    video = (await runCapability(`video.${operation}`, { video, ...second }, { ...params, ...LOSSLESS })).bytes();
  }
  return video as Uint8Array;
}

test.each<[string, Steps]>([
  [
    "all that change the picture",
    [
      { operation: "trim", params: { start: 0.4, end: 1.6 } },
      { operation: "crop", params: { width: 241, height: 170, gravity: "west" } },
      { operation: "resize", params: { width: 200, height: 200, background: "navy" } },
      { operation: "watermark", params: { asset: "logo", scale: 30, opacity: 0.6, end: 0.5 } },
      { operation: "rotate", params: { angle: 90 } },
      { operation: "text", params: { text: "tea: 100%", size: 24, start: 0.2 } },
      { operation: "subtitle", params: { asset: "lines", size: 14 } },
    ],
  ],
  [
    "the order counts: words are turned and made smaller with the picture",
    [
      { operation: "text", params: { text: "tea", size: 40 } },
      { operation: "speed", params: { rate: 2, reverse: true } },
      { operation: "resize", params: { aspect_ratio: "1:1", fit: "cover" } },
      { operation: "rotate", params: { angle: 180 } },
      { operation: "set_audio", params: { asset: "tune", mode: "mix" } },
      { operation: "trim", params: { duration: 1 } },
    ],
  ],
])(
  "equals the single capabilities, one after the other: %s",
  async (_name, steps) => {
    const [one, other] = [await pipeline(steps, LOSSLESS), await inTurn(steps)];
    const [seen, wanted] = [await pixelsOf(one.bytes()), await pixelsOf(other)];
    expect(seen.length).toBe(wanted.length);
    expect(Buffer.compare(seen, wanted)).toBe(0);
  },
  20_000,
);

test("writes the same bytes each time, from a GIF too, and is encoded once", async () => {
  const video = await clipOf("testsrc2=s=64x48:r=10:d=1[v]", { kind: "gif" });
  const operations = [
    { operation: "resize", params: { width: 48 } },
    { operation: "set_audio", params: { asset: "tune" } },
  ];
  const run = () =>
    runCapability("video.pipeline", { video, assets: { tune: TUNE } }, { operations, output: { format: "webm" } });
  const [one, two] = [await run(), await run()];
  expect(Buffer.compare(one.bytes(), two.bytes())).toBe(0);
  expect(await probe(one.bytes())).toMatchObject({ width: 48, video_codec: "vp9", audio: { codec: "opus" } });
  expect((await soundOf(one.bytes(), 0, 0.5)).peak).toBeGreaterThan(0.1);
});

describe("names the position of an error:", () => {
  const first = { operation: "trim", params: { duration: 1 } };

  test.each<[string, object, string]>([
    [
      "a wrong value",
      { operation: "resize", params: { width: 5 } },
      "params.operations[1].params.width must be at least 16, got 5.",
    ],
    [
      "a wrong type",
      { operation: "crop", params: { width: "x", height: 20 } },
      "params.operations[1].params.width must be a whole number, got a string of 1 character.",
    ],
    [
      "an unknown param",
      { operation: "resize", params: { widht: 64 } },
      "params.operations[1].params.widht is not a known parameter. Did you mean width?",
    ],
    [
      "a param that is missing",
      { operation: "text", params: {} },
      "Missing required parameter: params.operations[1].params.text.",
    ],
    ["params that are missing", { operation: "crop" }, "Missing required parameter: params.operations[1].params."],
    [
      "no second input",
      { operation: "watermark", params: {} },
      "Missing required parameter: params.operations[1].params.asset.",
    ],
    [
      "a mode that copies",
      { operation: "trim", params: { mode: "copy" } },
      "params.operations[1].params.mode is not a known parameter. Expected start, end or duration.",
    ],
    [
      "an operation that there is not",
      { operation: "mirror", params: {} },
      'params.operations[1].operation must be one of trim, resize, crop, rotate, speed, watermark, text, subtitle, set_audio, got "mirror".',
    ],
    [
      "a rule between params",
      { operation: "trim", params: { start: 2, end: 1 } },
      "Expected params.operations[1].params.end above params.operations[1].params.start, got 1 and 2.",
    ],
    [
      "two ways to say one",
      { operation: "trim", params: { end: 1, duration: 1 } },
      "Expected one of params.operations[1].params.end, params.operations[1].params.duration, got several.",
    ],
    [
      "a start behind what is left",
      { operation: "trim", params: { start: 2 } },
      "Expected params.operations[1].params.start before the end at 1 s, got 2.",
    ],
    [
      "an asset that there is not",
      { operation: "subtitle", params: { asset: "none" } },
      "Expected params.operations[1].params.asset to name a member of input.assets, got none.",
    ],
    [
      "an asset that is needed",
      { operation: "set_audio", params: {} },
      "Expected params.operations[1].params.asset with params.operations[1].params.mode replace, got none.",
    ],
  ])("%s", async (_name, step, said) => {
    expect(await refused(pipeline([first, step as Steps[number]]))).toEndWith(said);
  });

  test("a size over the limit between two steps", async () => {
    const steps = [
      { operation: "resize", params: { width: 4_096, height: 4_096 } },
      { operation: "resize", params: { width: 64 } },
    ];
    expect(await refused(pipeline(steps))).toBe(
      "too_large: Expected video of at most 4096 × 2304 pixels, got 4096 × 4096.",
    );
  });

  test("an asset of another kind", async () => {
    const png = await sharp({ create: { width: 8, height: 8, channels: 3, background: "red" } })
      .png()
      .toBuffer();
    const steps = [{ operation: "set_audio", params: { asset: "tune" } }];
    expect(await refused(pipeline(steps, {}, { tune: png }))).toStartWith("unsupported: ");
  });

  test("a codec that the format does not support", async () => {
    expect(await refused(pipeline([first], { format: "webm", video_codec: "h264" }))).toContain(
      "params.output.video_codec",
    );
  });
});
