import { describe, expect, test } from "bun:test";
import fc from "fast-check";

import { responseOf } from "#ingress/core/response-object.ts";
import { convertTools, renamedTools } from "#ingress/routes/responses/declared-tools.ts";
import type { ModelResponse, ResponsesRequest } from "#schemas/generated/types.ts";
import { NO_USAGE, type TokenUsage } from "#shared/calls/pricing/usage.ts";
import { parse } from "#shared/json/contracts.ts";
import { openSealed } from "#shared/responses/sealed.ts";
import { toFunctionName } from "#shared/responses/tool-names.ts";
import { createResponsesRendering } from "#workers/calls/chat/responses-render.ts";
import { continuedRendering } from "#workers/calls/chat/rescue.ts";
import { ProviderError } from "#workers/providers/provider.ts";

import { readStream } from "./responses-stream-grammar.ts";

const JOB = "0199a5b2-7e1d-7000-8000-00000000000a";
const ID = JOB.replaceAll("-", "");
const USAGE: TokenUsage = { ...NO_USAGE, input: 10, cachedInput: 5, cacheWrite5m: 2, output: 8, reasoning: 3 };

type Delta = Record<string, unknown>;

/** Rendered as a call with these members is. */
function open(body: Partial<ResponsesRequest> = {}, logprobs = false) {
  const asked = { model: "asked", input: "hi", ...body };
  const response = responseOf(asked, JOB, 1_000);
  const renamed = renamedTools(convertTools(body.tools ?? [], []).tools);
  return createResponsesRendering({ response, renamed, model: "our-slug", logprobs });
}

/** The whole response that a stream of deltas comes to. */
function play(deltas: readonly Delta[], finish = "stop", body: Partial<ResponsesRequest> = {}, logprobs = false) {
  const rendering = open(body, logprobs);
  let text = "";
  for (const { logprobs: tokens = null, ...delta } of deltas) {
    text += rendering.chunk({ choices: [{ index: 0, delta, logprobs: tokens, finish_reason: null }] });
  }
  text += rendering.chunk({ choices: [{ index: 0, delta: {}, finish_reason: finish }] });
  return readStream(text + rendering.end(USAGE));
}

function plain(message: Delta, finish = "stop", body: Partial<ResponsesRequest> = {}, more: Delta = {}): ModelResponse {
  const choice = { index: 0, message, finish_reason: finish, ...more };
  const text = open(body, true).completion({ choices: [choice], usage: null }, USAGE);
  return parse("ModelResponse", JSON.parse(text));
}

const LONG = "n".repeat(70);
const call = (index: number, args: string, head?: { id?: string; name: string }): Delta => ({
  tool_calls: [{ index, ...(head?.id === undefined ? {} : { id: head.id }), function: { ...(head === undefined ? {} : { name: head.name }), arguments: args } }], // prettier-ignore
});
const message = (at: number, text: string, status = "completed") => ({
  id: `msg_${ID}_${at}`,
  type: "message",
  role: "assistant",
  status,
  content: [{ type: "output_text", text, annotations: [], logprobs: [] }],
});
const functionCall = (at: number, id: string, name: string, args: string, status = "completed") => ({
  id: `fc_${ID}_${at}`,
  type: "function_call",
  status,
  call_id: id,
  name,
  arguments: args,
});

describe("a plain answer", () => {
  test("is the object of the call under its id, with every member, the model that served it and the usage", () => {
    const response = plain({ role: "assistant", content: "hi" });
    expect(response).toMatchObject({
      id: `resp_${ID}`,
      object: "response",
      created_at: 1_000,
      completed_at: expect.any(Number) as number,
      status: "completed",
      model: "our-slug",
      error: null,
      incomplete_details: null,
      output: [message(0, "hi")],
      usage: {
        input_tokens: 17,
        input_tokens_details: { cached_tokens: 5, cache_write_tokens: 2 },
        output_tokens: 8,
        output_tokens_details: { reasoning_tokens: 3 },
        total_tokens: 25,
      },
      text: { format: { type: "text" }, verbosity: "medium" },
      tools: [],
      tool_choice: "auto",
      metadata: {},
      store: true,
    });
  });

  test.each([
    ["length", "max_output_tokens"],
    ["content_filter", "content_filter"],
  ])("that ended because of %s is incomplete, as is its last item", (finish, reason) => {
    const expected = { status: "incomplete", completed_at: null, incomplete_details: { reason } };
    expect(plain({ content: "ha" }, finish)).toMatchObject({ ...expected, output: [message(0, "ha", "incomplete")] });
    expect(play([{ content: "ha" }], finish).response).toMatchObject({ ...expected, output: [message(0, "ha", "incomplete")] }); // prettier-ignore
  });
});

/** Each as deltas, as a message, and the output of both. */
const ANSWERS: readonly (readonly [string, Partial<ResponsesRequest>, readonly Delta[], Delta, unknown[]])[] = [
  ["a text", {}, [{ role: "assistant", content: "" }, { content: "a " }, { content: "b" }], { content: "a b" }, [message(0, "a b")]], // prettier-ignore
  ["nothing", {}, [], { content: "" }, []],
  [
    "a text and a refusal",
    {},
    [{ content: "Well. " }, { refusal: "No" }, { refusal: "!" }],
    { content: "Well. ", refusal: "No!" },
    [{ ...message(0, "Well. "), content: [...message(0, "Well. ").content, { type: "refusal", refusal: "No!" }] }],
  ],
  [
    "reasoning as content",
    {},
    [{ reasoning_content: "Hm" }, { reasoning_content: "…" }, { content: "Yes" }],
    { reasoning_content: "Hm…", content: "Yes" },
    [
      { id: `rs_${ID}_0`, type: "reasoning", status: "completed", summary: [], content: [{ type: "reasoning_text", text: "Hm…" }] }, // prettier-ignore
      message(1, "Yes"),
    ],
  ],
  [
    "reasoning as a summary where one was asked for",
    { reasoning: { summary: "auto" } },
    [{ reasoning: "Hm" }, { reasoning: "…" }],
    { reasoning: "Hm…" },
    [{ id: `rs_${ID}_0`, type: "reasoning", status: "completed", summary: [{ type: "summary_text", text: "Hm…" }], content: [] }], // prettier-ignore
  ],
  [
    "text, then calls whose pieces are mixed",
    {},
    [
      { content: "Both." },
      call(0, "", { id: "a", name: "f" }),
      call(1, '{"x"', { id: "b", name: "g" }),
      call(0, '{"y":'),
      call(1, ":1}"),
      call(0, "2}"),
    ],
    {
      content: "Both.",
      tool_calls: [
        { id: "a", function: { name: "f", arguments: '{"y":2}' } },
        { id: "b", function: { name: "g", arguments: '{"x":1}' } },
      ],
    },
    [message(0, "Both."), functionCall(1, "a", "f", '{"y":2}'), functionCall(2, "b", "g", '{"x":1}')],
  ],
  [
    "a call without an id",
    {},
    [call(0, "{}", { name: "f" })],
    { tool_calls: [{ function: { name: "f", arguments: "{}" } }] },
    [functionCall(0, `call_${ID}_0`, "f", "{}")],
  ],
  [
    "a custom tool's call, and one whose text is none",
    { tools: [{ type: "custom", name: "patch" }] },
    [
      call(0, '{"input":"*** \\"a\\"', { id: "a", name: "patch" }),
      call(0, '\\n"}'),
      call(1, "plain", { id: "b", name: "patch" }),
    ],
    {
      tool_calls: [
        { id: "a", function: { name: "patch", arguments: '{"input":"*** \\"a\\"\\n"}' } },
        { id: "b", function: { name: "patch", arguments: "plain" } },
      ],
    },
    [
      {
        id: `ctc_${ID}_0`,
        type: "custom_tool_call",
        status: "completed",
        call_id: "a",
        name: "patch",
        input: '*** "a"\n',
      },
      { id: `ctc_${ID}_1`, type: "custom_tool_call", status: "completed", call_id: "b", name: "patch", input: "plain" },
    ],
  ],
  [
    "calls of tools in namespaces, one with a long name, and of a search for tools",
    { tools: [{ type: "namespace", name: "crm", tools: [{ type: "function", name: "f" }, { type: "custom", name: LONG }] }, { type: "tool_search", execution: "client" }] }, // prettier-ignore
    [
      call(0, '{"a":1}', { id: "a", name: "crm__f" }),
      call(1, '{"input":"x"}', { id: "b", name: toFunctionName({ namespace: "crm", name: LONG }) }),
      call(2, '{"query":', { id: "c", name: "tool_search" }),
      call(2, '"mail"}'),
      call(3, "no JSON", { id: "d", name: "tool_search" }),
    ],
    {
      tool_calls: [
        { id: "a", function: { name: "crm__f", arguments: '{"a":1}' } },
        { id: "b", function: { name: toFunctionName({ namespace: "crm", name: LONG }), arguments: '{"input":"x"}' } },
        { id: "c", function: { name: "tool_search", arguments: '{"query":"mail"}' } },
        { id: "d", function: { name: "tool_search", arguments: "no JSON" } },
      ],
    },
    [
      { ...functionCall(0, "a", "f", '{"a":1}'), namespace: "crm" },
      { id: `ctc_${ID}_1`, type: "custom_tool_call", status: "completed", call_id: "b", name: LONG, namespace: "crm", input: "x" }, // prettier-ignore
      { id: `tsc_${ID}_2`, type: "tool_search_call", status: "completed", call_id: "c", execution: "client", arguments: { query: "mail" } }, // prettier-ignore
      { id: `tsc_${ID}_3`, type: "tool_search_call", status: "completed", call_id: "d", execution: "client", arguments: "no JSON" }, // prettier-ignore
    ],
  ],
  [
    "a citation",
    {},
    [{ content: "See." }, { annotations: [{ type: "url_citation", url_citation: { url: "https://a.example", title: "A", start_index: 0, end_index: 3 } }] }], // prettier-ignore
    { content: "See.", annotations: [{ type: "url_citation", url_citation: { url: "https://a.example", title: "A", start_index: 0, end_index: 3 } }] }, // prettier-ignore
    [
      {
        ...message(0, "See."),
        content: [
          {
            type: "output_text",
            text: "See.",
            annotations: [{ type: "url_citation", url: "https://a.example", title: "A", start_index: 0, end_index: 3 }],
            logprobs: [],
          },
        ],
      },
    ],
  ],
];

describe("an answer of", () => {
  test.each(ANSWERS)("%s is equal streamed and plain", (_name, body, deltas, whole, output) => {
    expect(plain(whole, "stop", body).output as unknown[]).toEqual(output);
    expect(play(deltas, "stop", body).response.output as unknown[]).toEqual(output);
  });

  test("consecutive calls are closed before the next starts", () => {
    const { events } = play(
      [call(0, "{}", { id: "a", name: "f" }), call(1, "{}", { id: "b", name: "f" })],
      "tool_calls",
    );
    const kinds = events.flatMap((event) =>
      "output_index" in event ? [`${event.type} ${Number(event.output_index)}`] : [],
    );
    expect(kinds.indexOf("response.output_item.done 0")).toBeLessThan(kinds.indexOf("response.output_item.added 1"));
  });

  test("a call that continues after its end, or has no name, fails", () => {
    const late = [call(0, "{}", { id: "a", name: "f" }), { content: "b" }, call(0, "{}")];
    expect(() => play(late)).toThrow(ProviderError);
    expect(() => play([call(0, "{}")])).toThrow(ProviderError);
    expect(() => plain({ tool_calls: [{ function: { arguments: "{}" } }] })).toThrow(ProviderError);
  });

  test("a truncated call is incomplete with its received part", () => {
    const cut = [call(0, '{"x":', { id: "a", name: "f" })];
    expect(play(cut, "length").response.output as unknown[]).toEqual([
      functionCall(0, "a", "f", '{"x":', "incomplete"),
    ]);
  });

  test("log probabilities are beside their text, on request", () => {
    const token = {
      token: "a",
      logprob: -0.5,
      bytes: [97],
      top_logprobs: [{ token: "a", logprob: -0.5, bytes: [97] }],
    };
    const deltas = [{ content: "a", logprobs: { content: [token] } }];
    const logprobsIn = ({ output }: ModelResponse): unknown =>
      output[0]?.type === "message" && output[0].content[0]?.type === "output_text" && output[0].content[0].logprobs;
    expect(logprobsIn(play(deltas, "stop", {}, true).response)).toEqual([token]);
    expect(logprobsIn(play(deltas).response)).toEqual([]);
    expect(logprobsIn(plain({ content: "a" }, "stop", {}, { logprobs: { content: [token] } }))).toEqual([token]);
  });
});

describe("Claude's signed thinking", () => {
  const thought = (text: string) => ({ type: "thinking", thinking: text, signature: `signed ${text}` });
  const deltas = [
    { reasoning_content: "One" },
    { thinking_blocks: [thought("One")] },
    { content: "So." },
    { thinking_blocks: [thought("Two"), { type: "redacted_thinking", data: "ZGF0YQ==" }] },
    call(0, "{}", { id: "a", name: "f" }),
  ];
  const message = {
    content: "So.",
    reasoning_content: "One",
    thinking_blocks: [
      thought("One"),
      { ...thought("Two"), after: { characters: 3, tool_calls: 0 } },
      { type: "redacted_thinking", data: "ZGF0YQ==", after: { characters: 3, tool_calls: 0 } },
    ],
    tool_calls: [{ id: "a", function: { name: "f", arguments: "{}" } }],
  };

  test.each([
    ["streamed", () => play(deltas).response],
    ["whole", () => plain(message)],
  ])("is one item for each block, at its position, which contains the block for its source, %s", (_name, answer) => {
    const { output } = answer();
    expect(output.map(({ type }) => type)).toEqual(["reasoning", "message", "reasoning", "reasoning", "function_call"]);
    const blocks = output.flatMap((item) => (item.type === "reasoning" ? [openSealed(item.encrypted_content)] : []));
    expect(blocks).toEqual([thought("One"), thought("Two"), { type: "redacted_thinking", data: "ZGF0YQ==" }]);
    const texts = output.flatMap((item) =>
      item.type === "reasoning" ? [(item.content ?? []).map(({ text }) => text)] : [],
    );
    expect(texts).toEqual([["One"], ["Two"], []]);
  });
});

test("a stream that another model continues is one message of the first one", () => {
  const rendering = open();
  const delta = (content: string, finish_reason: string | null = null) => ({ choices: [{ index: 0, delta: { role: "assistant", content }, finish_reason }] }); // prettier-ignore
  let text = rendering.chunk(delta("A spider has eight "));
  const continued = continuedRendering(rendering, "A spider has eight ", "");
  for (const content of ["eight legs", "."]) text += continued.chunk(delta(content)) ?? "";
  text += continued.chunk({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] }) ?? "";
  const { response } = readStream(text + continued.end(USAGE));
  expect(response.model).toBe("our-slug");
  expect(response.output).toHaveLength(1);
});

test("a stream keeps its grammar for any pieces", () => {
  const piece = fc.oneof(
    fc.record({ content: fc.string({ maxLength: 4 }) }),
    fc.record({ refusal: fc.string({ maxLength: 4 }) }),
    fc.record({ reasoning_content: fc.string({ maxLength: 4 }) }),
    fc.record({ thinking_blocks: fc.constant([{ type: "thinking", thinking: "x", signature: "s" }]) }),
    fc.nat(2).map((index) => call(index, "", { id: `c${index}`, name: index === 2 ? "patch" : "f" })),
    fc.nat(2).map((index) => call(index, "{", { id: `c${index}`, name: index === 2 ? "patch" : "f" })),
  );
  const finishes = fc.constantFrom("stop", "length", "tool_calls", "content_filter");
  const summaries = fc.constantFrom("auto" as const, null);
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 20 }), finishes, summaries, (deltas, finish, summary) => {
      play(deltas, finish, { reasoning: { summary }, tools: [{ type: "custom", name: "patch" }] });
    }),
  );
});
