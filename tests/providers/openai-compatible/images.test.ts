import { describe, expect, test } from "bun:test";

import { NO_USAGE } from "#shared/calls/pricing/usage.ts";
import type { Artifact, ImageEditInput, ImageInput, MediaCall } from "#workers/providers/media.ts";
import { createOpenAiImages } from "#workers/providers/openai-compatible/images.ts";

import { type Behaviour, jsonReply, ok, type ReplyBehaviour } from "../engine/behaviour.ts";
import { direct, failureOf, mediaCall, useServers } from "../engine/calls.ts";
import { EDIT, EVERYTHING, MASK } from "../image-calls.ts";
import { type ErrorName, ERRORS } from "./errors.ts";
import { MOCK_IMAGE_TOKENS } from "./images.ts";
import { startOpenAiServer } from "./server.ts";
import { pngOf, pngSize } from "#tests/support/png.ts";

const own = useServers();

function start(...behaviours: readonly Behaviour[]) {
  const server = own(startOpenAiServer({ apiKey: "sk-ours" }));
  server.next(...behaviours);
  const { images, imageEdits } = createOpenAiImages({
    baseUrl: server.url,
    headers: { authorization: "Bearer sk-ours" },
  });
  return {
    server,
    make: (input: Partial<ImageInput> = {}, call: Partial<MediaCall<ImageInput>> = {}) =>
      direct(images).run(mediaCall({ prompt: "a sea otter", n: 1, ...input }, call)),
    edit: (input: Partial<ImageEditInput> = {}, call: Partial<MediaCall<ImageEditInput>> = {}) =>
      direct(imageEdits).run(mediaCall({ ...EDIT, ...input }, call)),
  };
}

const bytesOf = (artifact: Artifact | undefined): Uint8Array => {
  if (artifact && "bytes" in artifact) return artifact.bytes;
  throw new Error("no bytes");
};

const OLDER = {
  fields: { n: "n", size: "size", quality: "quality", style: "style" },
  adapt: (body: Record<string, unknown>) => void (body["response_format"] = "b64_json"),
};

describe("a generated image", () => {
  test("is requested with the parameters of the gpt-image models only", async () => {
    const { server, make } = start();
    await make({ ...EVERYTHING, n: 2 }, { sourceModel: "gpt-image-2" });
    expect(server.requests[0]?.path).toBe("/v1/images/generations");
    expect(server.requests[0]?.body).toEqual({
      model: "gpt-image-2",
      prompt: "a sea otter",
      n: 2,
      size: "1536x1024",
      quality: "high",
      background: "opaque",
      output_format: "webp",
      output_compression: 80,
      moderation: "low",
      user: "someone",
    });
  });

  test("is requested with the parameters that a source declares, changed by it last", async () => {
    const { server, make } = start();
    const { output } = await make({ ...EVERYTHING, quality: "hd" }, { sourceModel: "dall-e-3", ...OLDER });
    expect(server.requests[0]?.body).toEqual({
      model: "dall-e-3",
      prompt: "a sea otter",
      n: 1,
      size: "1536x1024",
      quality: "hd",
      style: "vivid",
      response_format: "b64_json",
    });
    expect(pngSize(bytesOf(output[0]))).toEqual([1_536, 1_024]);
  });

  test("is returned with unchanged bytes, their type, and the cost", async () => {
    const { make } = start();
    const { output, usage } = await make({ n: 2, size: "64x48" });
    expect(output.map((artifact) => "contentType" in artifact && artifact.contentType)).toEqual([
      "image/png",
      "image/png",
    ]);
    expect(Buffer.from(bytesOf(output[1])).equals(pngOf(64, 48, [40, 120, 200]))).toBeTrue();
    expect(usage).toEqual({
      images: 2,
      tokens: { ...NO_USAGE, input: MOCK_IMAGE_TOKENS.text, imageOutput: 2 * MOCK_IMAGE_TOKENS.output },
    });
  });

  test("is returned as an address if the server stores it", async () => {
    const { make } = start();
    const { output, usage } = await make({}, { sourceModel: "dall-e-3", fields: {} });
    expect(output).toEqual([{ url: "https://pictures.example/0.png?sig=x" }]);
    expect(usage).toEqual({ images: 1 });
  });

  test("is charged at most as requested", async () => {
    const data = Array.from({ length: 3 }, () => ({ b64_json: pngOf(1, 1).toString("base64") }));
    const { make } = start(ok({ data }));
    const { output, usage } = await make({ n: 2 });
    expect([output.length, usage.images]).toEqual([2, 2]);
  });

  test("is aborted with its caller: the socket is closed", async () => {
    const { server, make } = start("hang");
    const controller = new AbortController();
    const failing = failureOf(make({}, { signal: controller.signal }));
    const call = await server.received(1);
    controller.abort();
    expect((await failing).kind).toBe("aborted");
    await call.finished;
    expect(call.closedByClientAt).not.toBeNull();
  });
});

test("several images of a source without a count field are an error of the catalogue", async () => {
  const { server, make, edit } = start();
  for (const call of [make({ n: 2 }, { fields: {} }), edit({ n: 2 }, { fields: { image: "image[]" } })]) {
    expect((await failureOf(call)).kind).toBe("misconfigured");
  }
  expect(server.requests).toEqual([]);
});

describe("an edited image", () => {
  test("is sent as a form with its mask, without the internal fields of an edit", async () => {
    const { server, edit } = start();
    const { output, usage } = await edit({
      ...EVERYTHING,
      mask: MASK,
      prompt: "give it a hat",
      n: 2,
      size: "1024x1536",
    });
    expect(server.requests[0]?.path).toBe("/v1/images/edits");
    expect(server.requests[0]?.body).toEqual({
      model: "m",
      prompt: "give it a hat",
      n: "2",
      size: "1024x1536",
      output_format: "webp",
      output_compression: "80",
      input_fidelity: "high",
      moderation: "low",
      user: "someone",
      "image[]": { filename: "image.jpeg", contentType: "image/jpeg", bytes: Buffer.from(EDIT.image.bytes) },
      mask: { filename: "mask.png", contentType: "image/png", bytes: pngOf(2, 2) },
    });
    expect(output).toHaveLength(2);
    expect(usage.tokens).toMatchObject({ input: MOCK_IMAGE_TOKENS.text, imageInput: MOCK_IMAGE_TOKENS.inputImage });
  });

  test("is changed by its source last, files included", async () => {
    const { server, edit } = start();
    const adapt = (body: Record<string, unknown>): void => {
      delete body["mask"];
      body["quality"] = "low";
    };
    await edit({ mask: MASK }, { adapt });
    expect(server.requests[0]?.body).not.toHaveProperty("mask");
    expect(server.requests[0]?.body).toMatchObject({ quality: "low" });
  });

  test("requires a source with a declared field for images", async () => {
    const { server, edit } = start();
    expect((await failureOf(edit({}, { fields: { n: "n" } }))).kind).toBe("misconfigured");
    expect(server.requests).toEqual([]);
  });
});

describe("an answer", () => {
  test("without an image in its list is a failure: none was generated", async () => {
    const { make } = start(ok({ data: [] }));
    expect(await failureOf(make())).toMatchObject({ kind: "failed", isUnsent: false });
  });

  test("with one unreadable image returns the others", async () => {
    const good = { b64_json: pngOf(9, 9).toString("base64") };
    const { make } = start(ok({ data: [good, { b64_json: "***" }, good] }));
    const { output, usage } = await make({ n: 3 });
    expect(output).toHaveLength(2);
    expect(usage).toMatchObject({ images: 2 });
  });

  test.each([
    ["no JSON", "<html>"],
    ["nothing", {}],
    ["a picture that is none", { data: [null] }],
    ["an empty picture", { data: [{ b64_json: "" }] }],
    ["base64 that is none", { data: [{ b64_json: "***" }] }],
    ["bytes that are no picture", { data: [{ b64_json: "aGVsbG8=" }] }],
    ["an address that is none", { data: [{ url: "file:///etc/passwd" }] }],
  ])("with %s is unreadable, so its content and cost are unknown", async (_what, body) => {
    const { make } = start(ok(body));
    expect(await failureOf(make())).toMatchObject({ kind: "unknown", isUnsent: false });
  });

  test.each([
    ["cut", { ...ok({ data: [{ b64_json: pngOf(9, 9).toString("base64") }] }), cut: { afterBytes: 20, how: "fin" } }],
    ["reset", "reset"],
    ["endless", { kind: "huge", bytes: 80 * 1_048_576 }],
  ] as const satisfies readonly (readonly [string, Behaviour])[])(
    "that is %s is lost, and a possibly charged request is not repeated, generated or edited",
    async (_what, behaviour) => {
      const { server, make, edit } = start(behaviour, behaviour);
      expect(await failureOf(make())).toMatchObject({ kind: "unknown", isUnsent: false });
      expect(await failureOf(edit())).toMatchObject({ kind: "unknown", isUnsent: false });
      expect(server.requests).toHaveLength(2);
    },
  );

  test("that is a redirect is a failure", async () => {
    const { make } = start({
      status: 302,
      headers: { location: "http://127.0.0.1:1/" },
      body: "",
    });
    expect((await failureOf(make())).kind).toBe("failed");
  });

  test("to a request that was never sent is a failure, and may be retried", async () => {
    const { server, make } = start();
    server.close();
    expect(await failureOf(make())).toMatchObject({ kind: "failed", isUnsent: true });
  });

  test.each([[{ input_tokens: -1, output_tokens: 5 }], [{ input_tokens: 0, output_tokens: 0 }], [null], ["many"]])(
    "that reports %j has no usage",
    async (usage) => {
      const { make } = start(ok({ data: [{ b64_json: pngOf(1, 1).toString("base64") }], usage }));
      expect((await make()).usage).toEqual({ images: 1 });
    },
  );

  test("separates text from images if the report does", async () => {
    const usage = {
      input_tokens: 50,
      output_tokens: 100,
      input_tokens_details: { text_tokens: 20, image_tokens: 30, cached_tokens: 5 },
      output_tokens_details: { text_tokens: 40, image_tokens: 60 },
    };
    const { make } = start(ok({ data: [{ b64_json: pngOf(1, 1).toString("base64") }], usage }));
    expect((await make()).usage.tokens).toEqual({
      ...NO_USAGE,
      cachedInput: 5,
      imageInput: 30,
      input: 15,
      imageOutput: 60,
      output: 40,
    });
  });
});

describe("an error", () => {
  test.each([
    ["content-policy", "refused"],
    ["bad-request", "rejected"],
    ["too-large", "rejected"],
    ["unauthorized", "misconfigured"],
    ["quota", "misconfigured"],
    ["model-not-found", "misconfigured"],
    ["rate-limit", "busy"],
    ["overloaded", "busy"],
    ["server-error", "failed"],
  ] as const satisfies readonly (readonly [ErrorName, string])[])("%s is %s", async (name, kind) => {
    const { make } = start(ERRORS[name]);
    expect((await failureOf(make())).kind).toBe(kind);
  });

  const error = (code: string | null, param: string | null, type = "invalid_request_error"): ReplyBehaviour =>
    jsonReply(400, { error: { message: "vendor words", type, param, code } });

  test.each([
    ["moderation_blocked", null, "refused", undefined, null],
    // We decide what is sent: a field the source does not know is ours to mend, and another source may do.
    ["unknown_parameter", "response_format", "misconfigured", undefined, null],
    ["invalid_image_file", "image", "rejected", "unprocessable_input", "image_base64"],
    ["invalid_image_format", null, "rejected", "unprocessable_input", "image_base64"],
    ["image_parse_error", "mask", "rejected", "unprocessable_input", "mask_base64"],
    ["unsupported_value", "size", "rejected", "unsupported_value", "size"],
    [null, "mask", "rejected", undefined, "mask_base64"],
    [null, "image[0]", "rejected", undefined, "image_base64"],
    [null, "prompt", "rejected", undefined, "prompt"],
  ] as const)("of code %p about %p is %s, %p of %p", async (code, param, kind, clientCode, clientParam) => {
    const { edit } = start(error(code, param));
    const failure = await failureOf(edit());
    expect([failure.kind, failure.code, failure.param]).toEqual([kind, clientCode, clientParam]);
    expect(failure.say ?? "").not.toContain("vendor");
  });

  test("inside a 200 is that error", async () => {
    const { make } = start(ok(ERRORS["content-policy"].body));
    expect((await failureOf(make())).kind).toBe("refused");
  });
});
