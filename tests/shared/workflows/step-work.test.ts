/** Params of steps against what they call, as far as they are known when a definition is written. */
import { describe, expect, test } from "bun:test";

import { renamed } from "#shared/workflows/step-work.ts";

import { read, refusal } from "./definitions.ts";

const inputs = {
  n: { type: "integer" },
  text: { type: "string" },
  list: { type: "array" },
  any: { type: "object" },
};
const OPEN = "${{ inputs.any }}";
const IN_PART = "a${{ inputs.text }}b";
const messages = [{ role: "user", content: OPEN }];

const model = (slug: string, params: object) => ({
  inputs,
  steps: [{ id: "a", type: "model", model: slug, params }],
});
const resize = (input: unknown, params: object) => ({
  inputs,
  steps: [{ id: "a", type: "image.resize", input, params }],
});
const photo = { image: { file_id: OPEN } };

describe("params of a model's call", () => {
  test.each<[string, object]>([
    ["all of whose members are open", model("sandbox-chat", { messages: OPEN, temperature: OPEN, stop: OPEN })],
    ["with a part of a message open", model("sandbox-chat", { messages: [{ role: OPEN, content: [OPEN] }], n: 1 })],
    ["with an object of a message open", model("sandbox-chat", { messages: [{ role: "user", content: [{ type: "image_url", image_url: OPEN }] }] })], // prettier-ignore
    ["with a choice of which a part is open", model("sandbox-image", { prompt: OPEN, size: "${{ inputs.n }}x512", quality: OPEN })], // prettier-ignore
    ["with a choice of the contract of which a part is open", model("sandbox-image", { prompt: "x", response_format: IN_PART })], // prettier-ignore
    ["whose text is longer than the value may be", model("sandbox-image", { prompt: "x", size: "${{ inputs.text }}".repeat(4) })], // prettier-ignore
    ["that change a stored image", model("sandbox-image", { prompt: "x", image_file_id: OPEN })],
    ["that change an image in base64", model("sandbox-image", { prompt: "x", image_base64: "AAAA" })],
    ["of an upscaling model", model("sandbox-upscale", { prompt: "x", image_file_id: "file-1" })],
    ["of a model that only redraws", model("sandbox-image-redraw", { prompt: "x", image_file_id: OPEN, strength: 0.5 })], // prettier-ignore
    ["of a model that needs an open value", model("sandbox-image-redraw", { prompt: "x", image_file_id: "f", strength: OPEN })], // prettier-ignore
    ["of a transcription", model("sandbox-stt", { file_id: OPEN })],
    ["of a transcription with times", model("sandbox-stt", { file_id: OPEN, response_format: "verbose_json" })],
    ["of an answer whose form is open", model("sandbox-stt", { file_id: OPEN, response_format: OPEN })],
    ["with a stored file", model("sandbox-chat", { messages: [{ role: "user", content: [{ type: "file", file: { file_id: "file-1" } }] }] })], // prettier-ignore
    ["of embeddings", model("sandbox-embed", { input: OPEN })],
    ["of a mesh", model("sandbox-3d", { image_url: OPEN })],
  ])("are accepted: %s", (_name, definition) => {
    expect(read(definition).steps).toHaveLength(1);
  });

  test.each<[string, object, string]>([
    ["beside an open place", model("sandbox-chat", { messages: OPEN, temperature: 9 }), "params.temperature"],
    ["beside two open places", model("sandbox-chat", { messages, temperature: OPEN, n: OPEN, top_p: "1" }), "params.top_p"], // prettier-ignore
    ["in the message with the open place", model("sandbox-chat", { messages: [{ role: "usr", content: OPEN }] }), "params.messages[0].role"], // prettier-ignore
    ["that is missing beside an open place", model("sandbox-chat", { messages: [{ content: OPEN }] }), "params.messages[0].role"], // prettier-ignore
    [
      "of the type of what holds an open place",
      model("sandbox-chat", { messages: { content: OPEN } }),
      "params.messages",
    ],
    ["of the type of a text of which a part is open", model("sandbox-chat", { messages, n: IN_PART }), "params.n"],
    ["of the type of a text that is open, beside others", model("sandbox-image", { prompt: OPEN, n: IN_PART }), "params.n"], // prettier-ignore
    ["that the model has no size for", model("sandbox-image", { prompt: "x", size: "1x1" }), "params.size"],
    ["that is more than the model makes", model("sandbox-image", { prompt: OPEN, n: 99 }), "params.n"],
    ["of an answer as subtitles", model("sandbox-stt", { file_id: OPEN, response_format: "srt" }), "params.response_format"], // prettier-ignore
    ["of an answer in base64", model("sandbox-image", { prompt: OPEN, response_format: "b64_json" }), "params.response_format"], // prettier-ignore
    ["of music in base64", model("sandbox-music", { prompt: "x", response_format: "b64_json" }), "params.response_format"], // prettier-ignore
    ["that an edit needs", model("sandbox-image-redraw", { prompt: "x", image_file_id: "f" }), "params.strength"],
    ["that an upscaling model needs", model("sandbox-upscale", { prompt: "x" }), "params.image_base64"],
    ["of a transcription without audio", model("sandbox-stt", { prompt: OPEN }), "params.file"],
    ["of a transcription of two", model("sandbox-stt", { audio_base64: "AAAA", file_id: "f" }), "params.file_id"],
    ["behind many open places", model("sandbox-chat", { messages, logit_bias: Object.fromEntries(Array.from({ length: 500 }, (_, at) => [at, OPEN])), n: 0 }), "params.n"], // prettier-ignore
    ["of a model that changes no images", model("sandbox-image-megapixels", { prompt: "x", image_file_id: "f" }), "model"], // prettier-ignore
    ["of an image of words that the model does not see", model("sandbox-documents", { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: "https://example.org/a.png" } }] }] }), "params.messages[0].content[0]"], // prettier-ignore
  ])("are rejected with the path of an error %s", (_name, definition, place) => {
    expect(refusal(definition)[0]).toBe(`definition.steps[0].${place}`);
  });
});

describe("the input of a capability", () => {
  test.each<[string, object]>([
    ["with an open input", resize({ image: OPEN }, { width: 1 })],
    ["with a rule that an open place may keep", resize(photo, { width: OPEN })],
    [
      "with a pattern and a text of which a part is open",
      resize(photo, { width: 1, background: "#${{ inputs.text }}" }),
    ],
  ])("is accepted: %s", (_name, definition) => {
    expect(read(definition).steps).toHaveLength(1);
  });

  test.each<[string, object, string]>([
    ["beside an open input", resize({ image: OPEN }, { width: "1" }), "params.width"],
    ["beside open params", resize({ image: { file_id: 1 } }, { width: OPEN }), "input.image.file_id"],
    ["of a rule that no open place can mend", resize(photo, { fit: OPEN }), "params.width"],
    ["of the type of a text of which a part is open", resize(photo, { width: IN_PART }), "params.width"],
    [
      "of two sources beside an open place",
      resize({ image: { file_id: "f", url: "u" } }, { width: OPEN }),
      "input.image",
    ],
  ])("is rejected with the path of an error %s", (_name, definition, place) => {
    expect(refusal(definition)[0]).toBe(`definition.steps[0].${place}`);
  });
});

test("a sentence names the path at every position of the param", () => {
  expect(renamed("a.b must be a.b or a.bc, not xa.b.", "a.b", "c.a.b")).toBe("c.a.b must be c.a.b or a.bc, not xa.b.");
  expect(refusal(model("sandbox-chat", { messages: [{ role: "user" }] }))[1]).toBe(
    "Missing required parameter: definition.steps[0].params.messages[0].content.",
  );
  expect(refusal(resize(photo, { fit: "fill" }))[1]).toBe(
    "Expected at least one of definition.steps[0].params.width, definition.steps[0].params.height, got none.",
  );
});
