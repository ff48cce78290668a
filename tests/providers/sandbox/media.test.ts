/** Content blocks that are not text: what the answer says of them, what they cost, which are rejected. */
import { expect, test } from "bun:test";
import sharp from "sharp";

import { imageTokens, SANDBOX_IMAGE_TOKENS_MAX } from "#workers/providers/sandbox/request.ts";

import { ask, type Body, callOf, failureOf, sandbox, textOf, usageOf } from "./calls.ts";

const dataUrl = (bytes: Uint8Array | string, type = "image/png"): string =>
  `data:${type};base64,${Buffer.from(bytes as string).toString("base64")}`;
const imageOf = (format: "png" | "jpeg" | "gif" | "webp"): Promise<Buffer> =>
  sharp({ create: { width: 64, height: 48, channels: 3, background: "red" } }).toFormat(format).toBuffer(); // prettier-ignore
const PNG = dataUrl(await imageOf("png"));

function image(url: unknown, more: Body = {}): Body {
  return { type: "image_url", image_url: { url, ...more } };
}

test.each([
  ["PNG", "png"],
  ["JPEG", "jpeg"],
  ["GIF", "gif"],
  ["WebP", "webp"],
] as const)("reads the size of a %s, for every declared type", async (name, format) => {
  expect(await textOf(ask([image(dataUrl(await imageOf(format)))]))).toContain(`a 64×48 ${name} image`);
});

const REJECTED: readonly (readonly [what: string, part: Body, param: string])[] = [
  ["base64 that is none", image("data:image/png;base64,@@@"), "image_url.url"],
  ["a data URL without data", image("data:image/png"), "image_url.url"],
  ["an image that is none", image(dataUrl("hello world, hello world")), "image_url.url"],
  ["an empty image", image(dataUrl("")), "image_url.url"],
  ["an image of no width", image(dataUrl("GIF89a\0\0\x01\0")), "image_url.url"],
  ["another scheme", image("file:///etc/passwd"), "image_url.url"],
  ["an image without address", { type: "image_url" }, "image_url.url"],
  ["audio that is none", { type: "input_audio", input_audio: { data: "***", format: "wav" } }, "input_audio.data"],
  ["empty audio", { type: "input_audio", input_audio: { data: "", format: "wav" } }, "input_audio.data"],
  ["a file that is no data URL", { type: "file", file: { file_data: "JVBERi0=" } }, "file.file_data"],
  ["a stored file", { type: "file", file: { file_id: "f-1" } }, "file.file_id"],
];

test.each(REJECTED)("rejects %s and names its position", async (_, part, param) => {
  const failure = await failureOf(sandbox.complete(callOf(ask([{ type: "text", text: "hi" }, part]))));
  expect(failure).toMatchObject({ name: "ProviderError", kind: "rejected", code: "unsupported_value" });
  expect(failure.param).toBe(`messages[0].content[1].${param}`);
});

test("names only the host of an address", async () => {
  const answer = await textOf(ask([image("https://user:secret@images.example.com/private/cat.png?token=1")]));
  expect(answer).toContain("an image at images.example.com");
  expect(answer).not.toMatch(/secret|token/);
});

test("names and measures files and audio, and reads the start of a text", async () => {
  const file = (file_data: string): Body => ask([{ type: "file", file: { filename: "notes.txt", file_data } }]);
  const pdf = file(dataUrl("%PDF-1.7", "application/pdf"));
  expect(await textOf(pdf)).toContain("the file notes.txt (application/pdf, 8 bytes)");
  const text = file("data:,Call%20me%20Ishmael.");
  const start = 'the file notes.txt (text/plain, 16 bytes), which begins with "Call me Ishmael."';
  expect(await textOf(text)).toContain(start);
  const audio = ask([{ type: "input_audio", input_audio: { data: btoa("RIFF0000WAVE"), format: "wav" } }]);
  expect(await textOf(audio)).toContain("an audio file (wav, 12 bytes)");
});

test("answers a dictated text about an image", async () => {
  expect(await textOf(ask([image(PNG), { type: "text", text: "Say hello" }]))).toBe("hello");
});

test("counts images by the tiles that OpenAI publishes", () => {
  expect(imageTokens(64, 48, false)).toBe(85 + 170);
  expect(imageTokens(1_024, 1_024, false)).toBe(85 + 170 * 4);
  expect(imageTokens(2_048, 4_096, false)).toBe(85 + 170 * 6);
  expect(imageTokens(2_048, 4_096, true)).toBe(85);
  expect(imageTokens(2_048, 768, false)).toBe(SANDBOX_IMAGE_TOKENS_MAX);
  expect(imageTokens(100_000, 9_999, false)).toBeLessThanOrEqual(SANDBOX_IMAGE_TOKENS_MAX);
});

test.each([
  ["an image", image(PNG), 255],
  ["an image in low detail", image(PNG, { detail: "low" }), 85],
  ["an image behind an address", image("http://example.com/a.png"), 765],
  ["audio", { type: "input_audio", input_audio: { data: btoa("x".repeat(3_201)), format: "mp3" } }, 3],
  ["a document", { type: "file", file: { file_data: dataUrl("%PDF", "application/pdf") } }, 250],
  ["a text", { type: "file", file: { file_data: "data:text/plain,one%20two%20three" } }, 3],
] as const)("charges %s as input", async (_, part, tokens) => {
  const inputOf = async (...parts: readonly Body[]): Promise<number> =>
    (await usageOf(ask([{ type: "text", text: "hi" }, ...parts]))).input;
  expect((await inputOf(part)) - (await inputOf())).toBe(tokens);
});
