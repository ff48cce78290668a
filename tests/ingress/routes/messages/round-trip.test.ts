/** A turn of Claude's that a client of the Messages API gets and sends back, through everything that lies between. */
import { describe, expect, test } from "bun:test";

import { chatRequestOf } from "#ingress/routes/messages/translate.ts";
import { parse } from "#shared/json/contracts.ts";
import { NO_USAGE } from "#shared/calls/pricing/usage.ts";
import { chatCall } from "#tests/providers/engine/calls.ts";
import { readStream } from "#tests/workers/calls/chat/anthropic-stream-grammar.ts";
import { createAnthropicRendering } from "#workers/calls/chat/anthropic-render.ts";
import { messageResult } from "#workers/providers/anthropic/answer.ts";
import { messagesRequest } from "#workers/providers/anthropic/request.ts";
import { createReader } from "#workers/providers/anthropic/stream.ts";
import { chatRequest } from "#workers/providers/openai-compatible/request.ts";
import type { JsonRequest } from "#workers/providers/http.ts";

type Members = Record<string, unknown>;

const thought = (signature: string) => ({ type: "thinking", thinking: `Hm ${signature}.`, signature });
const said = (text: string) => ({ type: "text", text });
const use = (id: string) => ({ type: "tool_use", id, name: "f", input: { city: "Zürich 🏞️" } });

/** Content that Anthropic refuses when one of its signed blocks comes back in another place. */
const CONTENT = [
  thought("s1"),
  said("I look 🙂 up.\n\n"),
  thought("s2"),
  { type: "redacted_thinking", data: "ZGF0YQ==" },
  said("Both."),
  use("a"),
  thought("s3"),
  use("b"),
];

const rendering = () => createAnthropicRendering({ jobId: "0199a5b2", model: "our-slug", stops: [] });

function plainContent(): unknown {
  const usage = { input_tokens: 1, output_tokens: 1 };
  const result = messageResult(JSON.stringify({ content: CONTENT, stop_reason: "tool_use", usage }), chatCall());
  return (JSON.parse(rendering().completion(result, NO_USAGE)) as Members)["content"];
}

function streamedContent(): unknown {
  const reader = createReader(chatCall());
  const stream = rendering();
  let text = "";
  const tell = (event: object): void => {
    const delta = reader.read({ event: "", data: JSON.stringify(event) });
    if (delta !== undefined && delta !== "done") text += stream.chunk(delta);
  };
  tell({ type: "message_start", message: { id: "m" } });
  for (const [index, block] of CONTENT.entries()) {
    tell({ type: "content_block_start", index, content_block: block });
    tell({ type: "content_block_stop", index });
  }
  tell({ type: "message_delta", delta: { stop_reason: "tool_use" } });
  return readStream(text + stream.end(NO_USAGE)).content.map((block) =>
    typeof block["input"] === "string" ? { ...block, input: JSON.parse(block["input"]) as unknown } : block,
  );
}

/** Makes the request in which a client sends the turn back, with the results of its calls. */
function nextRequest(content: unknown, more: object = {}) {
  const results = ["a", "b"].map((id) => ({ type: "tool_result", tool_use_id: id, content: "18" }));
  const messages = [
    { role: "user", content: "How warm?" },
    { role: "assistant", content },
    { role: "user", content: results },
  ];
  return chatRequestOf(parse("MessagesRequest", { model: "m", max_tokens: 100, messages, ...more })).request;
}

const bodyOf = ({ body }: JsonRequest): Members => JSON.parse(body) as Members;
const messagesIn = (body: Members) => body["messages"] as Members[];

describe("a turn with thinking between its text and its calls", () => {
  test.each<[string, () => unknown]>([
    ["plain", plainContent],
    ["streamed", streamedContent],
  ])("reaches a client as Claude wrote it, %s", (_name, content) => {
    expect(content()).toEqual(CONTENT);
  });

  test("returns to Claude unchanged, also with text after a call", () => {
    for (const content of [CONTENT, [thought("s1"), use("a"), said("And:"), thought("s2"), use("b")]]) {
      const body = bodyOf(messagesRequest(chatCall(nextRequest(content)), false));
      expect(messagesIn(body)[1]?.["content"]).toEqual(content);
    }
  });

  test("reaches other families without the parts that only Claude supports", () => {
    const request = nextRequest(CONTENT, { output_config: { effort: "low" } });
    const body = bodyOf(chatRequest(chatCall(request), false));
    expect(body).not.toHaveProperty("effort_only");
    expect(body["reasoning_effort"]).toBe("low");
    expect(Object.keys(messagesIn(body)[1] ?? {}).toSorted()).toEqual(["content", "role", "tool_calls"]);
  });
});

test("effort alone requests no thinking of Claude, thinking alone the default amount", () => {
  const read = (more: object): Members => {
    const { thinking, output_config } = bodyOf(messagesRequest(chatCall(nextRequest(CONTENT, more)), false));
    return { thinking: (thinking as Members | undefined)?.["type"], ...(output_config as Members | undefined) };
  };
  expect(read({ output_config: { effort: "low" } })).toEqual({ thinking: undefined, effort: "low" });
  expect(read({ thinking: { type: "adaptive" } })).toEqual({ thinking: "adaptive", effort: "high" });
});
