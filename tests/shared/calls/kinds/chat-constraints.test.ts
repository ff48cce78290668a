import { describe, expect, test } from "bun:test";

import fc from "fast-check";

import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import { type CallBound, CHAT_DEFAULT_OUTPUT_TOKENS } from "#shared/calls/kinds/call-bound.ts";
import { chatInputTokensMax, checkChat, withinOutputLimit } from "#shared/calls/kinds/chat/constraints.ts";
import type { Model } from "#shared/calls/model.ts";
import type { ApiError, Code } from "#shared/base/errors.ts";
import { parsePrice, priceTokens } from "#shared/calls/pricing/price.ts";
import { NO_USAGE } from "#shared/calls/pricing/usage.ts";
import { BASE, build } from "#tests/shared/calls/catalogue/build-catalogue.ts";

const BASE_MODEL = build([BASE]).models.get("one");

/** A model that takes everything, at 1 nano-credit for an input token and 10 for one of output. */
function model(members: Partial<Model> = {}): Model {
  if (!BASE_MODEL) throw new Error("the test's own model is missing");
  return {
    ...BASE_MODEL,
    supports_tools: true,
    max_context_tokens: 1_000_000,
    max_output_tokens: 20_000,
    price: parsePrice({ unit: "per_token", input_per_million: "0.001", output_per_million: "0.01" }),
    allowed_params: { supported_inputs: ["text", "image", "audio", "file"] },
    ...members,
  };
}

function request(members: object = {}, ...parts: readonly object[]): ChatCompletionRequest {
  const content = parts.length === 0 ? "hello" : parts;
  return { model: "one", messages: [{ role: "user", content }], ...members } as ChatCompletionRequest;
}

/** Checks a request as the route does; returns the bound of a body that is this request. */
function check(value: ChatCompletionRequest, members?: Partial<Model>): CallBound & { bytes: number } {
  const bytes = Buffer.byteLength(JSON.stringify(value));
  return { ...checkChat(value, model(members), bytes), bytes };
}

const text = (value: string) => ({ type: "text", text: value });
const image = (url: string) => ({ type: "image_url", image_url: { url } });
const dataImage = (bytes: number) =>
  image(`data:image/png;base64,iVBORw0KGgo${"A".repeat(Math.ceil(Math.max(bytes, 9) / 3) * 4 - 11)}`);
const audio = (data: string) => ({ type: "input_audio", input_audio: { data, format: "wav" } });
const file = (members: object) => ({ type: "file", file: members });

describe("the hold of a text", () => {
  test("counts a token for every byte of the body, and the output limit", () => {
    const { holdNano, tokensMax, outputTokensMax, bytes } = check(request({ max_completion_tokens: 100 }));
    expect(outputTokensMax).toBe(100);
    expect(tokensMax).toBe(bytes + 100);
    expect(holdNano).toBe(BigInt(bytes + 10 * 100));
  });

  test("counts bytes, not characters", () => {
    const short = check(request({}, text("e".repeat(100))));
    const long = check(request({}, text("🙂".repeat(100))));
    expect(long.holdNano - short.holdNano).toBe(300n);
  });

  test("counts tools and every other member of the body", () => {
    const tools = [{ type: "function", function: { name: "f", parameters: {} } }];
    const { holdNano } = check(request({ max_tokens: 1, tools }));
    const plain = check(request({ max_tokens: 1 }));
    expect(holdNano - plain.holdNano).toBe(BigInt(Buffer.byteLength(`,"tools":${JSON.stringify(tools)}`)));
  });

  test("never counts more input than the model's context", () => {
    const { tokensMax, holdNano } = check(request({ max_tokens: 10 }, text("x".repeat(5_000))), { max_context_tokens: 1_000 }); // prettier-ignore
    expect(tokensMax).toBe(1_010);
    expect(holdNano).toBe(1_100n);
  });

  test("covers every usage that a provider may honestly report", () => {
    const rates = { unit: "per_token", input_per_million: "0.001", cached_input_per_million: "0.0001", cache_write_per_million: "0.00125", cache_write_1h_per_million: "0.002", output_per_million: "0.01" }; // prettier-ignore
    const price = parsePrice(rates);
    fc.assert(
      fc.property(
        fc.string({ maxLength: 200 }),
        fc.integer({ min: 1, max: 500 }),
        fc.array(fc.nat(1_000), { minLength: 4, maxLength: 4 }),
        (content, limit, shares) => {
          const { holdNano, bytes } = check(request({ max_tokens: limit }, text(content)), { price });
          // Any division of at most one token a byte, and the whole output limit.
          const total = Math.max(
            1,
            shares.reduce((sum, share) => sum + share, 0),
          );
          const [input = 0, cachedInput = 0, cacheWrite5m = 0, cacheWrite1h = 0] = shares.map((share) =>
            Math.floor((share * bytes) / total),
          );
          const usage = { ...NO_USAGE, input, cachedInput, cacheWrite5m, cacheWrite1h, output: limit };
          expect(holdNano).toBeGreaterThanOrEqual(priceTokens(price, usage));
        },
      ),
    );
  });

  test("of a price per request is that price", () => {
    const price = parsePrice({ unit: "per_request", request_price: "2" });
    expect(check(request({ n: 3 }), { price }).holdNano).toBe(2_000_000_000n);
  });
});

describe("the output limit", () => {
  test.each<[string, object, number, boolean]>([
    ["none: the service's default", {}, CHAT_DEFAULT_OUTPUT_TOKENS, true],
    ["null is none", { max_completion_tokens: null, max_tokens: null }, CHAT_DEFAULT_OUTPUT_TOKENS, true],
    ["the newer name", { max_completion_tokens: 7 }, 7, false],
    ["the older name", { max_tokens: 8 }, 8, false],
    ["the newer one wins", { max_completion_tokens: 7, max_tokens: 8 }, 7, false],
    ["null gives way to the older name", { max_completion_tokens: null, max_tokens: 8 }, 8, false],
    ["the most the model writes", { max_tokens: 20_000 }, 20_000, false],
    ["more than the model writes is lowered", { max_completion_tokens: 20_001 }, 20_000, false],
    ["more under the older name is lowered", { max_tokens: 2_000_000_000 }, 20_000, false],
    ["more under the name that loses changes nothing", { max_completion_tokens: 5, max_tokens: 20_001 }, 5, false],
    ["more for each of several answers", { max_tokens: 20_001, n: 2 }, 40_000, false],
    ["times the answers asked for", { max_tokens: 5, n: 4 }, 20, false],
    ["times the answers asked for, without a limit", { n: 2 }, 2 * CHAT_DEFAULT_OUTPUT_TOKENS, true],
    ["one answer when n is null", { max_tokens: 5, n: null }, 5, false],
  ])("%s", (_name, members, outputTokensMax, mayExceed) => {
    expect(check(request(members))).toMatchObject({ outputTokensMax, mayExceed });
  });

  test("defaults to the model's maximum output, when that is less", () => {
    expect(check(request(), { max_output_tokens: 100 })).toMatchObject({ outputTokensMax: 100, mayExceed: true });
  });
});

describe("a request within the output limit of its model", () => {
  test.each<[string, object, object]>([
    ["lowers both names", { max_completion_tokens: 30_000, max_tokens: 40_000 }, { max_completion_tokens: 20_000, max_tokens: 20_000 }], // prettier-ignore
    ["keeps a lower limit", { max_completion_tokens: 5, max_tokens: 40_000 }, { max_completion_tokens: 5, max_tokens: 20_000 }], // prettier-ignore
    ["keeps null", { max_completion_tokens: null, max_tokens: 40_000 }, { max_completion_tokens: null, max_tokens: 20_000 }], // prettier-ignore
  ])("%s", (_name, members, lowered) => {
    expect(withinOutputLimit(request(members), model())).toEqual({ ...request(members), ...lowered });
  });

  test("is the request itself when nothing is lowered", () => {
    for (const members of [{}, { max_tokens: 20_000 }, { max_completion_tokens: null }]) {
      const asked = request(members);
      expect(withinOutputLimit(asked, model())).toBe(asked);
    }
  });
});

describe("the hold of an image", () => {
  test("counts the model's bound for it, not its bytes", () => {
    const one = check(request({ max_tokens: 1 }, text("?"), dataImage(300_000)), { tokens_per_image_max: 1_000 });
    expect(one.holdNano).toBeLessThan(1_300n);
    expect(one.holdNano).toBeGreaterThan(1_000n);
    const two = check(request({ max_tokens: 1 }, text("?"), dataImage(300_000), dataImage(300_000)), { tokens_per_image_max: 1_000 }); // prettier-ignore
    expect(two.tokensMax - one.tokensMax).toBeGreaterThanOrEqual(1_000);
    expect(two.tokensMax - one.tokensMax).toBeLessThan(1_100);
  });

  test("counts a generous bound if the catalogue has none", () => {
    const { tokensMax } = check(request({ max_tokens: 1 }, image("https://example.com/a.png")));
    expect(tokensMax).toBeGreaterThan(4_096);
  });

  test("uses the price of images, if there is one", () => {
    const price = parsePrice({ unit: "per_token", input_per_million: "0.001", image_input_per_million: "0.1" });
    const plain = check(request({ max_tokens: 1 }), { price }).holdNano;
    const { holdNano } = check(request({ max_tokens: 1 }, image("https://example.com/a.png")), { price });
    expect(holdNano).toBeGreaterThan(100n * 4_096n);
    expect(plain).toBeLessThan(100n);
  });
});

describe("the hold of input that only the provider can measure", () => {
  test.each<[string, object]>([
    ["a recording", audio("UklGRg==")],
    ["a file", file({ file_data: "data:application/pdf;base64,JVBERg==", filename: "a.pdf" })],
    ["a file elsewhere", file({ file_url: "https://example.com/a.pdf" })],
  ])("%s may fill the model's context", (_name, part) => {
    expect(check(request({ max_tokens: 1 }, part)).tokensMax).toBe(1_000_001);
  });

  test("uses the price of audio, if there is one, for input and output", () => {
    const price = parsePrice({ unit: "per_token", input_per_million: "0.001", output_per_million: "0.01", audio_input_per_million: "0.1", audio_output_per_million: "1" }); // prettier-ignore
    const members = { price, max_context_tokens: 10 };
    expect(check(request({ max_tokens: 1 }, audio("UklGRg==")), members).holdNano).toBe(10n * 100n + 10n);
    for (const type of ["audio/wav", "video/mp4"]) {
      const sounding = file({ file_data: `data:${type};base64,UklGRg==` });
      expect(check(request({ max_tokens: 1 }, sounding), members).holdNano).toBe(10n * 100n + 10n);
    }
    expect(check(request({ max_tokens: 1, modalities: ["text", "audio"] }), members).holdNano).toBe(10n + 1_000n);
  });
});

/** The refusal; fails when there is none. */
function refusal(value: ChatCompletionRequest, members?: Partial<Model>): ApiError {
  try {
    check(value, members);
  } catch (error) {
    return error as ApiError;
  }
  throw new Error("it was accepted");
}

const TEXT_ONLY = { allowed_params: { supported_inputs: ["text"] } };
const SMALL_IMAGES = { allowed_params: { supported_inputs: ["text", "image"], max_image_size_bytes: 1_000 } };

describe("a rejection", () => {
  test.each<[string, ChatCompletionRequest, Partial<Model>, Code, string]>([
    ["streaming", request({ stream: true }), { supports_streaming: false }, "unsupported_value", "stream"],
    [
      "tools",
      request({ tools: [{ type: "function", function: { name: "f" } }] }),
      { supports_tools: false },
      "unsupported_value",
      "tools",
    ],
    [
      "JSON mode",
      request({ response_format: { type: "json_object" } }),
      { supports_json: false },
      "unsupported_value",
      "response_format",
    ],
    [
      "JSON by schema",
      request({ response_format: { type: "json_schema", json_schema: { name: "a" } } }),
      { supports_json: false },
      "unsupported_value",
      "response_format",
    ],
    ["too many answers", request({ n: 3 }), { allowed_params: { max_n: 2 } }, "unsupported_value", "n"],
    [
      "sound",
      request({}, text("?"), audio("UklGRg==")),
      TEXT_ONLY,
      "audio_not_supported_by_model",
      "messages[0].content[1]",
    ],
    [
      "a document that is too large",
      request({}, file({ file_data: `data:application/pdf;base64,${"A".repeat(2_000)}` })),
      { allowed_params: { supported_inputs: ["text", "file"], max_pdf_size_bytes: 1_000 } },
      "unsupported_value",
      "messages[0].content[0].file.file_data",
    ],
    [
      "sound that is too large",
      request({}, audio("A".repeat(2_000))),
      { allowed_params: { supported_inputs: ["text", "audio"], max_audio_size_bytes: 1_000 } },
      "unsupported_value",
      "messages[0].content[0].input_audio.data",
    ],
    [
      "too many files",
      request({}, ...[1, 2, 3].map(() => file({ file_data: "data:application/pdf;base64,AA==" }))),
      { allowed_params: { supported_inputs: ["text", "file"], max_files: 2 } },
      "unsupported_value",
      "messages[0].content[2]",
    ],
    [
      "no picture where the model needs one",
      request({}, text("?"), audio("UklGRg==")),
      { allowed_params: { supported_inputs: ["text", "image", "audio"], requires_input_image: true } },
      "missing_required_parameter",
      "messages",
    ],
    [
      "no sound where the model needs it",
      request({}, text("?"), dataImage(3)),
      { allowed_params: { supported_inputs: ["text", "image", "audio"], requires_input_audio: true } },
      "missing_required_parameter",
      "messages",
    ],
    [
      "sound in a file",
      request({}, text("?"), file({ file_data: "data:audio/wav;base64,AA==" })),
      { allowed_params: { supported_inputs: ["text", "file"] } },
      "audio_not_supported_by_model",
      "messages[0].content[1]",
    ],
    ...["https://example.com/a.mp3?x=1", "https://example.com/A.WAV", "data:audio/mpeg;base64,SUQz"].flatMap(
      (address): [string, ChatCompletionRequest, Partial<Model>, Code, string][] => [
        [
          `sound in a file at ${address}`,
          request({}, file(address.startsWith("data:") ? { file_data: address } : { file_url: address })),
          { allowed_params: { supported_inputs: ["text", "file"] } },
          "audio_not_supported_by_model",
          "messages[0].content[0]",
        ],
        [
          `sound in place of a picture at ${address}`,
          request({}, image(address)),
          { allowed_params: { supported_inputs: ["text", "image"] } },
          "audio_not_supported_by_model",
          "messages[0].content[0]",
        ],
      ],
    ),
    [
      "sound at an address in place of the data",
      request({}, file({ file_data: "https://example.com/talk.m4a" })),
      { allowed_params: { supported_inputs: ["text", "file"] } },
      "audio_not_supported_by_model",
      "messages[0].content[0]",
    ],
    ["a picture", request({}, dataImage(3)), TEXT_ONLY, "image_not_supported_by_model", "messages[0].content[0]"],
    [
      "a file",
      request({}, file({ file_data: "data:a/b;base64,AA==" })),
      TEXT_ONLY,
      "unsupported_value",
      "messages[0].content[0]",
    ],
    [
      "a picture where nothing is declared",
      request({}, dataImage(3)),
      { allowed_params: {} },
      "image_not_supported_by_model",
      "messages[0].content[0]",
    ],
    [
      "too large a picture",
      request({}, dataImage(1_200)),
      SMALL_IMAGES,
      "unsupported_value",
      "messages[0].content[0].image_url.url",
    ],
    [
      "a data URL that is none",
      request({}, image("data:image/png,AAAA")),
      {},
      "unsupported_value",
      "messages[0].content[0].image_url.url",
    ],
    [
      "a data URL without a type",
      request({}, image("data:;base64,AAAA")),
      {},
      "unsupported_value",
      "messages[0].content[0].image_url.url",
    ],
    ...["video/mp4", "audio/wav", "application/pdf", "text/plain"].map(
      (type): [string, ChatCompletionRequest, Partial<Model>, Code, string] => [
        `${type} as a picture`,
        request({}, image(`data:${type};base64,AAAA`)),
        {},
        "unsupported_value",
        "messages[0].content[0].image_url.url",
      ],
    ),
    [
      "a picture inside",
      request({}, image("https://169.254.169.254/a.png")),
      {},
      "unsafe_url",
      "messages[0].content[0].image_url.url",
    ],
    [
      "a file inside",
      request({}, file({ file_url: "http://localhost/a.pdf" })),
      {},
      "unsafe_url",
      "messages[0].content[0].file.file_url",
    ],
    [
      "a file that is no data URL",
      request({}, file({ file_data: "JVBERg==" })),
      {},
      "unsupported_value",
      "messages[0].content[0].file.file_data",
    ],
  ])("of %s names code and parameter", (_name, value, members, code, param) => {
    expect(refusal(value, members)).toMatchObject({ code, param, status: 400 });
  });

  test.each(["aGVsbG8=", "QQ==", "JVBERi0xLjQ=", "////", "eyJhIjoxfQ=="])(
    "of an image whose data %j has another signature comes before a provider is called",
    (data) => {
      const fault = refusal(request({}, image(`data:image/png;base64,${data}`)));
      expect(fault).toMatchObject({ code: "unprocessable_input", param: "messages[0].content[0].image_url.url" });
      expect(fault.message).not.toContain(data);
    },
  );

  test.each(["iVBORw0KGgo=", "/9j/4AAQSkZJRg==", "R0lGODlhAQABAAAAACw=", "UklGRhoAAABXRUJQVlA4TA==", "iVBO\nRw0KGgo="])(
    "is not returned for an image that starts with %j",
    (data) => {
      expect(() => check(request({}, image(`data:image/png;base64,${data}`)))).not.toThrow();
    },
  );

  test("of a missing stored file names it", () => {
    const error = refusal(request({}, file({ file_id: "file-abc" })));
    expect(error).toMatchObject({ code: "file_not_found", param: "messages[0].content[0].file.file_id", status: 404 });
  });

  test("names the invalid message and block, at every position", () => {
    const messages = [
      { role: "system", content: "Be brief" },
      { role: "user", content: [text("a"), text("b")] },
      { role: "assistant", content: null },
      { role: "user", content: [text("a"), dataImage(3)] },
    ];
    expect(refusal(request({ messages }), TEXT_ONLY).param).toBe("messages[3].content[1]");
  });

  const tools = [{ type: "function", function: { name: "get_weather" } }];
  const allowed = (...names: string[]) => ({
    type: "allowed_tools",
    allowed_tools: { mode: "auto", tools: names.map((name) => ({ type: "function", function: { name } })) },
  });
  const named = (name: string) => ({ type: "function", function: { name } });
  test.each<[string, ChatCompletionRequest, string, string]>([
    [
      "a choice of a tool that is not there",
      request({ tools, tool_choice: named("get_time") }),
      "tool_choice.function.name",
      'Expected the name of one of the tools (get_weather), got "get_time".',
    ],
    [
      "a choice of a tool where there is none",
      request({ tool_choice: named("get_time") }),
      "tool_choice",
      "Expected tools for a tool_choice of function, got none.",
    ],
    [
      "an allowed tool that is not there",
      request({ tools, tool_choice: allowed("get_weather", "get_time") }),
      "tool_choice.allowed_tools.tools[1]",
      'Expected the name of one of the tools (get_weather), got "get_time".',
    ],
    [
      "a call demanded where there is no tool",
      request({ tools: [], tool_choice: "required" }),
      "tool_choice",
      "Expected tools for a tool_choice of required, got none.",
    ],
    [
      "an answer in sound of a model that only writes",
      request({ modalities: ["text", "audio"], audio: { voice: "alloy", format: "wav" } }),
      "modalities",
      'This model returns text only: expected modalities to be ["text"], got text, audio.',
    ],
    [
      "tools and their forerunner at once",
      request({ tools, functions: [{ name: "f" }] }),
      "functions",
      "Expected tools or functions, got both.",
    ],
    [
      "a choice of an absent function",
      request({ functions: [{ name: "f" }], function_call: { name: "g" } }),
      "function_call.name",
      'Expected the name of one of the tools (f), got "g".',
    ],
    [
      "a choice of functions in another word",
      request({ functions: [{ name: "f" }], function_call: "required" }),
      "function_call",
      'Expected function_call to be none, auto or a name, got "required".',
    ],
    [
      "a choice of a function where there is none",
      request({ function_call: { name: "g" } }),
      "function_call",
      "Expected functions for a function_call, got none.",
    ],
    [
      "a picture that is a film",
      request({}, image("data:video/mp4;base64,AAAA")),
      "messages[0].content[0].image_url.url",
      "Expected an image in a data URL, data:image/<type>;base64,<data>, got video/mp4.",
    ],
  ])("of %s contains the expected and the actual value", (_name, value, param, message) => {
    expect(refusal(value)).toMatchObject({ code: "unsupported_value", param, message });
  });

  test("of a choice is not returned if its tool exists, or nothing is required", () => {
    for (const tool_choice of [named("get_weather"), allowed("get_weather"), "required", "auto", "none"])
      check(request({ tools, tool_choice }));
    for (const tool_choice of ["auto", "none"]) check(request({ tool_choice }));
  });

  test("contains the expected and the actual value, without data", () => {
    expect(refusal(request({ stream: true }), { supports_streaming: false }).message).toBe(
      "This model cannot stream; set stream to false.",
    );
    expect(refusal(request({ tools }), { supports_tools: false }).message).toBe(
      "This model cannot call tools; remove tools.",
    );
    expect(refusal(request({ service_tier: "priority" })).message).toEndWith(
      'got "priority". Other tiers have no price for this model.',
    );
    const error = refusal(request({}, image(`data:image/png,${"secret".repeat(10)}`)));
    expect(error.message).not.toContain("secret");
    expect(refusal(request({ n: 3 }), { allowed_params: { max_n: 2 } }).message).toContain("at most 2");
  });
});

describe("a request within the model's limits", () => {
  test.each<[string, ChatCompletionRequest, Partial<Model>]>([
    ["a picture by address", request({}, image("https://example.com/a.png")), {}],
    ["a picture as data", request({}, dataImage(900)), SMALL_IMAGES],
    ["a data URL in capitals", request({}, image("DATA:image/png;base64,iVBORw0KGgo=")), {}],
    ["a data URL with parameters", request({}, image("data:image/svg+xml;charset=utf-8;base64,PHN2Zz48L3N2Zz4=")), {}],
    ["no stream from a model that has none", request({ stream: false }), { supports_streaming: false }],
    ["no tools of a model that has none", request({ tools: [] }), { supports_tools: false }],
    ["plain text of a model without JSON", request({ response_format: { type: "text" } }), { supports_json: false }],
    ["JSON of a model of which nobody knows", request({ response_format: { type: "json_object" } }), {}],
    ["as many answers as it makes", request({ n: 2 }), { allowed_params: { max_n: 2 } }],
    ["text alone of a model for text", request({}, text("a"), { type: "refusal", refusal: "no" }), TEXT_ONLY],
  ])("%s is accepted", (_name, value, members) => {
    expect(check(value, members).holdNano).toBeGreaterThan(0n);
  });
});

test("the messages of a call count at most their text and its images, and unknown media as any number", () => {
  const body = { ...request({}, text("hello"), dataImage(3_000)), model: "m" };
  const bytes = Buffer.byteLength(JSON.stringify(body));
  const most = chatInputTokensMax(body, model({ tokens_per_image_max: 700 }), bytes);
  expect(most).toBeGreaterThan(700);
  expect(most).toBeLessThan(1_000);
  const opaque = request({}, file({ file_data: "data:application/pdf;base64,AA==" }));
  expect(chatInputTokensMax(opaque, model({}), 100)).toBe(model({}).max_context_tokens);
});
