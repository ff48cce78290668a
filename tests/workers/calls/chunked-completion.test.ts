import { expect, test } from "bun:test";

import { ChunkedCompletion } from "#workers/calls/chunked-completion.ts";

const chunk = (choices: object[], more: object = {}) =>
  `data: ${JSON.stringify({ id: "c", object: "chat.completion.chunk", created: 1, model: "m", choices, ...more })}\n\n`;
const delta = (one: object, finish_reason: string | null = null) => ({ index: 0, delta: one, finish_reason });

test("chunks of text are the completion that they are pieces of", () => {
  const completion = new ChunkedCompletion();
  expect(
    completion.add(chunk([delta({ role: "assistant", content: "one " })]) + chunk([delta({ content: "two" })])),
  ).toBe("one two");
  expect(completion.add(chunk([delta({}, "stop")], { usage: null }))).toBe("");
  completion.add(`${chunk([], { usage: { total_tokens: 3 } })}data: [DONE]\n\n`);
  expect(completion.whole()).toEqual({
    id: "c",
    object: "chat.completion",
    created: 1,
    model: "m",
    choices: [{ index: 0, message: { role: "assistant", content: "one two", refusal: null }, finish_reason: "stop" }],
    usage: { total_tokens: 3 },
  });
});

test("pieces of tool calls go together by their place, and of other members texts go on", () => {
  const completion = new ChunkedCompletion();
  const call = (index: number, more: object) => delta({ tool_calls: [{ index, ...more }] });
  completion.add(
    chunk([call(0, { id: "a", type: "function", function: { name: "find", arguments: '{"q":' } })]) +
      chunk([call(1, { id: "b", type: "function", function: { name: "send", arguments: "{}" } })]) +
      chunk([call(0, { function: { arguments: '"tea"}' } })]) +
      chunk([delta({ reasoning_content: "be" })]) +
      chunk([delta({ reasoning_content: "cause" }, "tool_calls")]),
  );
  expect(completion.whole()["choices"]).toEqual([
    {
      index: 0,
      message: {
        role: "assistant",
        content: null,
        refusal: null,
        reasoning_content: "because",
        tool_calls: [
          { id: "a", type: "function", function: { name: "find", arguments: '{"q":"tea"}' } },
          { id: "b", type: "function", function: { name: "send", arguments: "{}" } },
        ],
      },
      finish_reason: "tool_calls",
    },
  ]);
});
