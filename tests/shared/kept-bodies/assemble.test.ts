import { expect, test } from "bun:test";

import { assembleStream, type AssembledStream } from "#shared/kept-bodies/assemble.ts";
import { TimeSlices } from "#shared/base/time-slices.ts";

const assemble = (events: readonly object[], end = ""): Promise<AssembledStream> => {
  const text = events.map((event) => `: comment\n\nevent: any\ndata: ${JSON.stringify(event)}\n\n`).join("");
  return assembleStream(text + end, new TimeSlices());
};

const chunk = (delta: object, more: object = {}): object => ({
  id: "chatcmpl-1",
  object: "chat.completion.chunk",
  created: 1,
  model: "m",
  choices: [{ index: 0, delta, finish_reason: null, ...more }],
});

test("chat chunks become a completion", async () => {
  const call = (index: number, part: object): object => ({ tool_calls: [{ index, ...part }] });
  const { value, isFailed } = await assemble(
    [
      chunk({ role: "assistant", content: "" }),
      chunk({ content: "Hel" }),
      chunk({ content: "lo" }),
      chunk(call(0, { id: "c0", type: "function", function: { name: "f", arguments: '{"a"' } })),
      chunk(call(1, { id: "c1", type: "function", function: { name: "g", arguments: "" } })),
      chunk(call(0, { function: { arguments: ":1}" } })),
      chunk({}, { finish_reason: "tool_calls" }),
      { ...chunk({}), choices: [], usage: { total_tokens: 3 } },
    ],
    "data: [DONE]\n\n",
  );
  expect(isFailed).toBe(false);
  expect(value).toEqual({
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "m",
    usage: { total_tokens: 3 },
    choices: [
      {
        index: 0,
        finish_reason: "tool_calls",
        message: {
          role: "assistant",
          content: "Hello",
          tool_calls: [
            { index: 0, id: "c0", type: "function", function: { name: "f", arguments: '{"a":1}' } },
            { index: 1, id: "c1", type: "function", function: { name: "g", arguments: "" } },
          ],
        },
      },
    ],
  });
});

test("a failed chat stream keeps its text and its error", async () => {
  const { value, isFailed } = await assemble([chunk({ content: "so far" }), { error: { code: "upstream_error" } }]);
  expect(isFailed).toBe(true);
  expect(value).toMatchObject({ choices: [{ message: { content: "so far" } }], error: { code: "upstream_error" } });
});

test("events of the Messages API become a message", async () => {
  const { value } = await assemble([
    { type: "message_start", message: { id: "msg_1", role: "assistant", content: [], usage: { input_tokens: 5 } } },
    { type: "content_block_start", index: 0, content_block: { type: "text", text: "" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "Hel" } },
    { type: "content_block_delta", index: 0, delta: { type: "text_delta", text: "lo" } },
    { type: "content_block_stop", index: 0 },
    { type: "content_block_start", index: 1, content_block: { type: "tool_use", id: "t", name: "f", input: {} } },
    { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: '{"a":' } },
    { type: "content_block_delta", index: 1, delta: { type: "input_json_delta", partial_json: "1}" } },
    { type: "content_block_stop", index: 1 },
    { type: "message_delta", delta: { stop_reason: "tool_use" }, usage: { output_tokens: 2 } },
    { type: "message_stop" },
  ]);
  expect(value).toEqual({
    id: "msg_1",
    role: "assistant",
    content: [
      { index: 0, type: "text", text: "Hello" },
      { index: 1, type: "tool_use", id: "t", name: "f", input: { a: 1 } },
    ],
    stop_reason: "tool_use",
    usage: { input_tokens: 5, output_tokens: 2 },
  });
});

test("events of the Responses API become the response object of their end", async () => {
  const failed = { id: "resp_1", status: "failed" };
  expect(
    await assemble([
      { type: "response.created", response: { id: "resp_1", status: "in_progress", error: null } },
      { type: "response.failed", response: failed },
    ]),
  ).toEqual({ value: failed, isFailed: true });
});

test("other streams become the list of their events, and an incomplete event stays a text", async () => {
  const { value, isFailed } = await assemble([{ status: "queued" }, { status: "completed" }], 'data: {"status": "q');
  expect(value).toEqual([{ status: "queued" }, { status: "completed" }, '{"status": "q']);
  expect(isFailed).toBe(false);
  expect((await assemble([{ status: "queued" }, { status: "failed" }])).isFailed).toBe(true);
  expect((await assemble([{ jsonrpc: "2.0", id: 1, result: { isError: true, content: [] } }])).isFailed).toBe(true);
});

test("an index without bounds adds no items without bounds", async () => {
  const { value } = await assemble([{ ...chunk({}), choices: [{ index: 10 ** 9, delta: { content: "x" } }] }]);
  expect((value as { choices: unknown[] }).choices).toHaveLength(1_024);
});

test("a delta cannot change the prototype of all objects", async () => {
  const delta = JSON.parse('{"content":"Hi","__proto__":{"isPolluted":true}}') as object;
  const { value } = await assemble([chunk(delta)]);
  expect(value).toMatchObject({ choices: [{ message: { content: "Hi" } }] });
  expect(Object.keys(Object.getPrototypeOf({}) as object)).toEqual([]);
});
