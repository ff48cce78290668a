import { describe, expect, test } from "bun:test";

import { validate } from "#shared/json/contracts.ts";
import { NO_USAGE } from "#shared/calls/pricing/usage.ts";
import { CREDITS_PLACE } from "#workers/calls/credits-place.ts";
import { inOldForm } from "#workers/calls/chat/legacy-functions.ts";
import { createRendering, gathering, openAiUsage } from "#workers/calls/chat/render.ts";

const JOB = "0199a5b2-7e1d-7000-8000-00000000000a";

const open = (includeUsage = false, model = "our-slug") =>
  createRendering({ jobId: JOB, model, createdS: 1_700_000_000, includeUsage });

const choice = (content: string) => ({ index: 0, delta: { content }, finish_reason: null });

const STREAM_END = "data: [DONE]\n\n";

/** The usage chunk of a stream that went well; fails when the end mark does not follow it. */
function usageChunk(end: string): string {
  expect(end.endsWith(STREAM_END)).toBe(true);
  return end.slice(0, -STREAM_END.length);
}

/** The JSON of one event; fails when it is not exactly one event. */
function read(event: string): Record<string, unknown> {
  expect(event).toMatch(/^data: [^\n]*\n\n$/);
  return JSON.parse(event.slice("data: ".length)) as Record<string, unknown>;
}

const USAGE = { ...NO_USAGE, input: 10, cachedInput: 5, cacheWrite5m: 2, cacheWrite1h: 1, output: 8, reasoning: 3 };

describe("the chunks of a stream", () => {
  test("all carry the same id, time and model", () => {
    const rendering = open(true);
    const chunks = [
      read(rendering.chunk({ choices: [choice("a")] })),
      read(rendering.chunk({ choices: [choice("b")], extra: { system_fingerprint: "fp" } })),
      read(usageChunk(rendering.end(USAGE))),
    ];
    for (const chunk of chunks) {
      expect(chunk).toMatchObject({
        id: `chatcmpl-${JOB.replaceAll("-", "")}`,
        object: "chat.completion.chunk",
        created: 1_700_000_000,
        model: "our-slug",
      });
      expect(validate("ChatCompletionChunk", chunk)).toBeNull();
    }
  });

  test("contain `usage: null` when the client requested usage, and otherwise no usage", () => {
    expect(read(open(true).chunk({ choices: [choice("a")] }))["usage"]).toBeNull();
    expect(read(open(false).chunk({ choices: [choice("a")] }))).not.toHaveProperty("usage");
  });

  test("keep the choices and other members unchanged", () => {
    const choices = [{ ...choice('quote " and \n newline 🙂'), logprobs: { content: [] } }];
    const chunk = read(open().chunk({ choices, extra: { service_tier: "default", system_fingerprint: "fp" } }));
    expect(chunk).toMatchObject({ choices, service_tier: "default", system_fingerprint: "fp" });
  });

  test("end with a chunk that has no choices, and with the end mark", () => {
    expect(read(usageChunk(open(true).end(USAGE)))).toMatchObject({ choices: [], usage: { prompt_tokens: 18 } });
    expect(open(false).end(USAGE)).toBe(STREAM_END);
  });
});

describe("a plain answer", () => {
  test("is OpenAI's object, under our id and the model's slug", () => {
    const choices = [{ index: 0, message: { role: "assistant", content: "hi" }, finish_reason: "stop" }];
    const completion = JSON.parse(
      open(false, 'a "quoted" slug').completion({ choices, usage: null, extra: { service_tier: "flex" } }, USAGE),
    ) as Record<string, unknown>;
    expect(completion).toMatchObject({
      id: `chatcmpl-${JOB.replaceAll("-", "")}`,
      object: "chat.completion",
      created: 1_700_000_000,
      model: 'a "quoted" slug',
      choices,
      service_tier: "flex",
    });
    expect(validate("ChatCompletion", completion)).toBeNull();
  });

  test("has OpenAI's buckets: totals include their details", () => {
    expect(openAiUsage({ ...USAGE, audioInput: 4, imageInput: 6, audioOutput: 2, imageOutput: 1 })).toEqual({
      prompt_tokens: 28,
      completion_tokens: 11,
      total_tokens: 39,
      prompt_tokens_details: { cached_tokens: 5, cache_write_tokens: 3, audio_tokens: 4 },
      completion_tokens_details: { reasoning_tokens: 3, audio_tokens: 2 },
      credits: CREDITS_PLACE,
    });
  });
});

describe("a stream that is stored completely", () => {
  const piece = (delta: object, finish_reason: string | null = null) => ({
    choices: [{ index: 0, delta, finish_reason }],
  });
  const call = (index: number, more: object) => piece({ tool_calls: [{ index, ...more }] });
  const whole = (end: string): object => {
    const completion = JSON.parse(end) as object;
    expect(validate("ChatCompletion", completion)).toBeNull();
    return completion;
  };

  test("is published as the text of its first choice, and ends as the completion of its pieces", () => {
    const rendering = gathering(open());
    const other = { choices: [{ index: 1, delta: { content: "uno" }, finish_reason: "length" }] };
    expect([
      rendering.chunk(piece({ role: "assistant", content: "" })),
      rendering.chunk(piece({ content: "one " })),
      rendering.chunk({ ...piece({ content: "two" }), extra: { service_tier: "flex" } }),
      rendering.chunk(other),
      rendering.chunk(piece({}, "stop")),
    ]).toEqual([undefined, "one ", "two", undefined, undefined]);
    const message = { role: "assistant", refusal: null };
    expect(whole(rendering.end(USAGE))).toEqual({
      id: `chatcmpl-${JOB.replaceAll("-", "")}`,
      object: "chat.completion",
      created: 1_700_000_000,
      model: "our-slug",
      choices: [
        { index: 0, message: { ...message, content: "one two" }, finish_reason: "stop" },
        { index: 1, message: { ...message, content: "uno" }, finish_reason: "length" },
      ],
      usage: openAiUsage(USAGE),
      service_tier: "flex",
    });
  });

  const CALLS = [
    call(0, { id: "a", type: "function", function: { name: "find", arguments: '{"q":' } }),
    call(1, { id: "b", type: "function", function: { name: "send", arguments: "{}" } }),
    call(0, { function: { arguments: '"tea"}' } }),
    piece({ reasoning_content: "be" }),
    piece({ reasoning_content: "cause" }, "tool_calls"),
  ];

  test("joins the pieces of tool calls by their index, and of other members as texts", () => {
    const rendering = gathering(open());
    expect(CALLS.map((one) => rendering.chunk(one))).toEqual(CALLS.map(() => undefined));
    const message = {
      role: "assistant",
      content: null,
      refusal: null,
      reasoning_content: "because",
      tool_calls: [
        { id: "a", type: "function", function: { name: "find", arguments: '{"q":"tea"}' } },
        { id: "b", type: "function", function: { name: "send", arguments: "{}" } },
      ],
    };
    expect(whole(rendering.end(USAGE))).toMatchObject({
      choices: [{ index: 0, message, finish_reason: "tool_calls" }],
    });
  });

  test("has its first call complete if functions were requested", () => {
    const rendering = gathering(inOldForm(open()));
    for (const one of CALLS) rendering.chunk(one);
    const message = { function_call: { name: "find", arguments: '{"q":"tea"}' } };
    expect(whole(rendering.end(USAGE))).toMatchObject({ choices: [{ message, finish_reason: "function_call" }] });
  });
});
