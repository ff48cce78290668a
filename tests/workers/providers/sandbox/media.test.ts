import { expect, test } from "bun:test";

import { readImageHeader } from "#shared/media/image-header.ts";
import { imageTokens, SANDBOX_IMAGE_TOKENS_MAX } from "#workers/providers/sandbox/media.ts";

import { ask, type Body, callOf, failureOf, sandbox, textOf, usageOf } from "./calls.ts";

type Bytes = readonly number[];

const u16 = (value: number): Bytes => [value >> 8, value & 255];
const u32 = (value: number): Bytes => [...u16(value >>> 16), ...u16(value & 0xffff)];
const le = (bytes: Bytes): Bytes => bytes.toReversed();
const hex = (value: string): Bytes => [...Buffer.from(value.replaceAll(" ", ""), "hex")];
const text = (value: string): Bytes => [...Buffer.from(value, "latin1")];
const riff = (chunk: string, rest: Bytes): Bytes => [
  ...text("RIFF"),
  0,
  0,
  0,
  0,
  ...text(`WEBP${chunk}`),
  0,
  0,
  0,
  0,
  ...rest,
];

const IMAGES: readonly (readonly [format: string, bytes: Bytes])[] = [
  ["PNG", [0x89, ...text("PNG\r\n\x1a\n"), 0, 0, 0, 13, ...text("IHDR"), ...u32(64), ...u32(48), 8, 6]],
  ["GIF", [...text("GIF89a"), ...le(u16(64)), ...le(u16(48)), 0]],
  ["GIF", [...text("GIF87a"), ...le(u16(64)), ...le(u16(48)), 0]],
  // A comment and a Huffman table come before the frame header, one marker is padded, the frame is progressive.
  ["JPEG", hex("ffd8 fffe0004ffc0 ffffc4000301 ffc2001108 0030 0040 03")],
  ["WebP", riff("VP8 ", [0, 0, 0, 0x9d, 0x01, 0x2a, ...le(u16(64)), ...le(u16(48))])],
  ["WebP", riff("VP8L", [0x2f, 63, (47 << 6) & 255, 47 >> 2, 0])],
  ["WebP", riff("VP8X", [0, 0, 0, 0, 63, 0, 0, 47, 0, 0])],
];

function dataUrl(bytes: Bytes, type = "image/png"): string {
  return `data:${type};base64,${Buffer.from(bytes).toString("base64")}`;
}

function picture(url: unknown, more: Body = {}): Body {
  return ask([
    { type: "text", text: "What is this?" },
    { type: "image_url", image_url: { url, ...more } },
  ]);
}

test.each(IMAGES)("reads the size of a %s", async (format, bytes) => {
  expect(readImageHeader(Uint8Array.from(bytes))).toEqual({ format: format as "PNG", width: 64, height: 48 });
  // What the data URL claims does not matter.
  expect(await textOf(picture(dataUrl(bytes)))).toContain(`a 64×48 ${format} image`);
});

test.each(IMAGES)("takes no %s whose header is cut off anywhere", (_, bytes) => {
  for (let length = 0; length < 10; length += 1)
    expect(readImageHeader(Uint8Array.from(bytes.slice(0, length)))).toBeNull();
});

const PNG = dataUrl(IMAGES[0]?.[1] ?? []);

const REJECTED: readonly (readonly [what: string, part: Body, param: string])[] = [
  ["base64 that is none", { type: "image_url", image_url: { url: "data:image/png;base64,@@@" } }, "image_url.url"],
  ["a data URL without data", { type: "image_url", image_url: { url: "data:image/png" } }, "image_url.url"],
  [
    "a picture that is none",
    { type: "image_url", image_url: { url: dataUrl(text("hello world, hello world")) } },
    "image_url.url",
  ],
  ["an empty picture", { type: "image_url", image_url: { url: dataUrl([]) } }, "image_url.url"],
  [
    "a picture of no width",
    { type: "image_url", image_url: { url: dataUrl([...text("GIF89a"), 0, 0, 1, 0]) } },
    "image_url.url",
  ],
  ["another scheme", { type: "image_url", image_url: { url: "file:///etc/passwd" } }, "image_url.url"],
  ["a picture without address", { type: "image_url" }, "image_url.url"],
  [
    "a recording that is none",
    { type: "input_audio", input_audio: { data: "***", format: "wav" } },
    "input_audio.data",
  ],
  ["an empty recording", { type: "input_audio", input_audio: { data: "", format: "wav" } }, "input_audio.data"],
  [
    "a file that is no data URL",
    { type: "file", file: { file_data: "JVBERi0=", filename: "a.pdf" } },
    "file.file_data",
  ],
  ["a stored file", { type: "file", file: { file_id: "f-1" } }, "file.file_id"],
];

test.each(REJECTED)("rejects %s and says where it stands", async (_, part, param) => {
  const failure = await failureOf(sandbox.complete(callOf(ask([{ type: "text", text: "hi" }, part]))));
  expect(failure).toMatchObject({ name: "ProviderError", kind: "rejected", code: "unsupported_value" });
  expect(failure.param).toBe(`messages[0].content[1].${param}`);
});

test("names the host of an address and nothing else of it", async () => {
  const answer = await textOf(picture("https://user:secret@images.example.com/private/cat.png?token=1"));
  expect(answer).toContain("an image at images.example.com");
  expect(answer).not.toContain("secret");
  expect(answer).not.toContain("token");
});

test("names and measures a file, and reads the beginning of a text", async () => {
  const file = (type: string, data: string): Body =>
    ask([{ type: "file", file: { filename: "notes.txt", file_data: `data:${type};base64,${btoa(data)}` } }]);
  expect(await textOf(file("application/pdf", "%PDF-1.7"))).toContain("the file notes.txt (application/pdf, 8 bytes)");
  expect(await textOf(file("text/plain", "Call me Ishmael."))).toContain(
    'the file notes.txt (text/plain, 16 bytes), which begins with "Call me Ishmael."',
  );
  const percent = ask([{ type: "file", file: { file_data: "data:,two%20words" } }]);
  expect(await textOf(percent)).toContain('the file (text/plain, 9 bytes), which begins with "two words"');
});

test("names format and size of a recording", async () => {
  const body = ask([{ type: "input_audio", input_audio: { data: btoa("RIFF0000WAVE"), format: "wav" } }]);
  expect(await textOf(body)).toContain("a recording (wav, 12 bytes)");
});

test("still says what it is asked to say about a picture", async () => {
  expect(
    await textOf(
      ask([
        { type: "image_url", image_url: { url: PNG } },
        { type: "text", text: "Say hello" },
      ]),
    ),
  ).toBe("hello");
});

test("counts pictures by the tiles OpenAI publishes", () => {
  expect(imageTokens(64, 48, false)).toBe(85 + 170);
  expect(imageTokens(1_024, 1_024, false)).toBe(85 + 170 * 4);
  expect(imageTokens(2_048, 4_096, false)).toBe(85 + 170 * 6);
  expect(imageTokens(2_048, 4_096, true)).toBe(85);
  expect(imageTokens(512, 512, false)).toBe(85 + 170);
  for (const side of [1, 511, 513, 768, 2_047, 2_048, 2_049, 100_000]) {
    for (const other of [1, 512, 768, 2_048, 9_999])
      expect(imageTokens(side, other, false)).toBeLessThanOrEqual(SANDBOX_IMAGE_TOKENS_MAX);
  }
  expect(imageTokens(2_048, 768, false)).toBe(SANDBOX_IMAGE_TOKENS_MAX);
});

test("bills pictures, recordings and files as input", async () => {
  const input = async (...parts: readonly Body[]): Promise<number> => {
    return (await usageOf(ask([{ type: "text", text: "hi" }, ...parts]))).input;
  };
  const base = await input();
  expect((await input({ type: "image_url", image_url: { url: PNG } })) - base).toBe(255);
  expect((await input({ type: "image_url", image_url: { url: PNG, detail: "low" } })) - base).toBe(85);
  expect((await input({ type: "image_url", image_url: { url: "http://example.com/a.png" } })) - base).toBe(765);
  const audio = btoa("x".repeat(3_201));
  expect((await input({ type: "input_audio", input_audio: { data: audio, format: "mp3" } })) - base).toBe(3);
  expect(
    (await input({ type: "file", file: { file_data: `data:application/pdf;base64,${btoa("%PDF")}` } })) - base,
  ).toBe(250);
  expect((await input({ type: "file", file: { file_data: "data:text/plain,one%20two%20three" } })) - base).toBe(3);
});
