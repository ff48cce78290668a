import { describe, expect, test } from "bun:test";

import { createGemini } from "#workers/providers/gemini/index.ts";
import type { Artifact, ImageEditInput, ImageInput, MediaCall } from "#workers/providers/media.ts";

import { type Behaviour, ok } from "../engine/behaviour.ts";
import { direct, failureOf, mediaCall, usageOf, useServers } from "../engine/calls.ts";
import { type ErrorName, ERRORS } from "./errors.ts";
import { MOCK_PICTURE } from "./images.ts";
import { type GeminiServer, startGeminiServer } from "./server.ts";
import { EDIT, EVERYTHING, MASK } from "../image-calls.ts";
import { pngOf } from "#tests/support/png.ts";

const own = useServers();

function start(...behaviours: readonly Behaviour[]) {
  const server = own(startGeminiServer({ apiKey: "key-ours" }));
  server.next(...behaviours);
  const { images, imageEdits } = createGemini({ baseUrl: server.url, headers: { "x-goog-api-key": "key-ours" } });
  return {
    server,
    make: (input: Partial<ImageInput> = {}, call: Partial<MediaCall<ImageInput>> = {}) =>
      direct(images).run(mediaCall({ prompt: "a sea otter", n: 1, ...input }, { sourceModel: "painter", ...call })),
    edit: (input: Partial<ImageEditInput> = {}) =>
      direct(imageEdits).run(mediaCall({ ...EDIT, ...input }, { sourceModel: "painter" })),
  };
}

const PICTURE: Artifact = { bytes: Uint8Array.from(pngOf(32, 16)), contentType: "image/png" };

interface Sent {
  readonly generationConfig: Readonly<Record<string, unknown>>;
  readonly contents: unknown;
}
const bodiesOf = (server: GeminiServer): readonly Sent[] => server.requests.map(({ body }) => body as Sent);

describe("an image", () => {
  test("is requested with a ratio and a size, and only with Gemini's parameters", async () => {
    const { server, make } = start();
    const { output, usage } = await make(EVERYTHING);
    expect(server.requests.map(({ path }) => path)).toEqual(["/v1beta/models/painter:generateContent"]);
    expect(bodiesOf(server)).toEqual([
      {
        contents: [{ role: "user", parts: [{ text: "a sea otter" }] }],
        generationConfig: {
          responseModalities: ["IMAGE"],
          imageConfig: { aspectRatio: "16:9", imageSize: "2K" },
          seed: 7,
        },
      },
    ]);
    expect(output).toEqual([PICTURE]);
    expect(usage).toEqual({
      images: 1,
      tokens: usageOf({ input: MOCK_PICTURE.prompt, imageOutput: MOCK_PICTURE.picture }),
    });
  });

  test("is requested without defaults, and changed by its source last", async () => {
    const { server, make } = start();
    await make({}, { adapt: (body) => (body["safetySettings"] = []) });
    expect(server.requests[0]?.body).toEqual({
      contents: [{ role: "user", parts: [{ text: "a sea otter" }] }],
      generationConfig: { responseModalities: ["IMAGE"] },
      safetySettings: [],
    });
  });

  test("uses the fields that its source names", async () => {
    const { server, make } = start();
    await make(EVERYTHING, { fields: { aspect_ratio: "imageConfig.aspectRatio" } });
    expect(bodiesOf(server)[0]?.generationConfig).toEqual({
      responseModalities: ["IMAGE"],
      imageConfig: { aspectRatio: "16:9" },
    });
  });

  test("with a mask is not edited as a whole", async () => {
    const { server, edit } = start();
    const refused = { kind: "rejected", code: "unsupported_value", param: "mask_base64", isUnsent: true };
    expect(await failureOf(edit({ mask: MASK }))).toMatchObject(refused);
    expect(server.requests).toEqual([]);
  });

  test("to edit is sent along", async () => {
    const { server, edit } = start();
    const { usage } = await edit({ aspectRatio: "1:1" });
    expect(bodiesOf(server)).toEqual([
      {
        contents: [
          {
            role: "user",
            parts: [
              { text: EDIT.prompt },
              {
                inlineData: { mimeType: "image/jpeg", data: Buffer.from(EDIT.image.bytes).toString("base64") },
              },
            ],
          },
        ],
        generationConfig: { responseModalities: ["IMAGE"], imageConfig: { aspectRatio: "1:1" } },
      },
    ]);
    expect(usage.tokens?.imageInput).toBe(MOCK_PICTURE.inputImage);
  });

  test("is returned without the drafts in thoughts, which are charged as text", async () => {
    const { make } = start({ thoughts: "First the water." });
    const { output, usage } = await make();
    expect(output).toEqual([PICTURE]);
    expect(usage.tokens).toMatchObject({ output: MOCK_PICTURE.thoughts, imageOutput: MOCK_PICTURE.picture });
  });
});

describe("several images", () => {
  test("are concurrent calls, each with its own seed, and their costs are summed", async () => {
    const { server, make } = start();
    const { output, usage } = await make({ n: 3, seed: 2_147_483_647 });
    expect(output).toEqual([PICTURE, PICTURE, PICTURE]);
    expect(new Set(bodiesOf(server).map(({ generationConfig }) => generationConfig["seed"]))).toEqual(
      new Set([2_147_483_647, -2_147_483_648, -2_147_483_647]),
    );
    expect(usage).toEqual({
      images: 3,
      tokens: usageOf({ input: 3 * MOCK_PICTURE.prompt, imageOutput: 3 * MOCK_PICTURE.picture }),
    });
  });

  test("have an unknown cost if one of them reports none", async () => {
    const { make } = start({}, { usage: "missing" });
    expect((await make({ n: 2 })).usage).toEqual({ images: 2 });
  });

  test.each<[string, Behaviour]>([
    ["was filtered", { finishReason: "IMAGE_SAFETY" }],
    ["was too much", ERRORS["rate-limit"]],
    ["was lost", "reset"],
  ])("are delivered and charged without the one that %s", async (_what, behaviour) => {
    const { server, make } = start({}, behaviour, {});
    const { output, usage } = await make({ n: 3 });
    expect(output).toEqual([PICTURE, PICTURE]);
    expect(usage).toEqual({
      images: 2,
      tokens: usageOf({ input: 2 * MOCK_PICTURE.prompt, imageOutput: 2 * MOCK_PICTURE.picture }),
    });
    expect(server.requests).toHaveLength(3);
  });

  test("without any result report the first reason", async () => {
    const { server, make } = start(...Array.from({ length: 3 }, () => ERRORS["rate-limit"]));
    expect(await failureOf(make({ n: 3 }))).toMatchObject({ kind: "busy" });
    expect(server.requests).toHaveLength(3);
  });

  test("without any result, one of them possibly charged, have an unknown outcome", async () => {
    const { make } = start(ERRORS["rate-limit"], { finishReason: "IMAGE_SAFETY" }, ERRORS.deadline);
    expect(await failureOf(make({ n: 3 }))).toMatchObject({ kind: "unknown", isUnsent: false });
  });

  test("are delivered without an unfinished one at their deadline", async () => {
    const { server, make } = start({}, "hang", {});
    const { output } = await make({ n: 3 }, { signal: AbortSignal.timeout(1_000) });
    expect(output).toEqual([PICTURE, PICTURE]);
    expect(server.requests).toHaveLength(3);
  });

  test("are aborted with their caller", async () => {
    const { server, make } = start("hang", "hang");
    const controller = new AbortController();
    const failing = failureOf(make({ n: 2 }, { signal: controller.signal }));
    await server.received(2);
    controller.abort();
    expect((await failing).kind).toBe("aborted");
  });
});

describe("an answer without an image", () => {
  test.each<[string, Behaviour, string]>([
    ["a blocked prompt", { blockReason: "PROHIBITED_CONTENT" }, "refused"],
    ["a filtered picture", { finishReason: "IMAGE_SAFETY" }, "refused"],
    ["a picture known from elsewhere", { finishReason: "IMAGE_RECITATION" }, "refused"],
    ["words in its place", { text: "I would rather not paint that." }, "refused"],
    ["no picture for no reason", { finishReason: "NO_IMAGE" }, "failed"],
    ["nothing", ok({}), "failed"],
    ["an end without parts", ok({ candidates: [{ finishReason: "STOP" }] }), "failed"],
    ["no JSON", ok("<html>"), "unknown"],
    [
      "bytes that are no picture",
      ok({
        candidates: [{ content: { parts: [{ inlineData: { mimeType: "image/png", data: "aGVsbG8=" } }] } }],
      }),
      "unknown",
    ],
    [
      "base64 that is none",
      ok({ candidates: [{ content: { parts: [{ inlineData: { mimeType: "image/png", data: "*" } }] } }] }),
      "unknown",
    ],
    ["a cut", { status: 200, body: "{}", cut: { afterBytes: 1, how: "fin" } }, "unknown"],
    ["a reset", "reset", "unknown"],
  ])("%s is reported with its class", async (_what, behaviour, kind) => {
    const { make } = start(behaviour);
    expect(await failureOf(make())).toMatchObject({ kind, isUnsent: false });
  });
});

describe("an error", () => {
  test.each([
    ["invalid-argument", "rejected"],
    ["key-invalid", "misconfigured"],
    ["precondition", "misconfigured"],
    ["not-found", "misconfigured"],
    ["rate-limit", "busy"],
    ["internal", "failed"],
    ["deadline", "unknown"],
  ] as const satisfies readonly (readonly [ErrorName, string])[])("%s is %s", async (name, kind) => {
    const { make } = start(ERRORS[name]);
    expect((await failureOf(make())).kind).toBe(kind);
  });

  test("about a sent image is the caller's error", async () => {
    const error = { code: 400, status: "INVALID_ARGUMENT", message: "Unable to process input image. Please retry." };
    const { edit } = start({ status: 400, body: JSON.stringify({ error }) });
    expect(await failureOf(edit())).toMatchObject({
      kind: "rejected",
      code: "unprocessable_input",
      param: "image_base64",
    });
  });
});
