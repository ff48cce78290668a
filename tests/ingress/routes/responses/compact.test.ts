import { expect, test } from "bun:test";

import { compactionOf, transcriptOf } from "#ingress/routes/responses/compact.ts";
import { UNREADABLE_SUMMARY } from "#ingress/routes/responses/foreign-items.ts";
import { inputPlace, readingItems } from "#ingress/routes/responses/items.ts";
import { responseOf } from "#ingress/core/response-object.ts";
import type { ModelResponse } from "#schemas/generated/types.ts";
import { newId } from "#shared/base/ids.ts";
import { runWhole } from "#shared/base/time-slices.ts";
import { openSummary, sealSummary } from "#shared/responses/sealed.ts";

test("a transcript contains each side's messages, calls and results, and names parts without text", () => {
  const items = runWhole(
    readingItems([
      { type: "compaction", encrypted_content: sealSummary("They met.") },
      {
        role: "user",
        content: [
          { type: "input_text", text: "Look." },
          { type: "input_image", file_id: "file-1" },
        ],
      },
      { type: "reasoning", summary: [{ type: "summary_text", text: "Hm" }] },
      { role: "assistant", content: [{ type: "output_text", text: "I do." }] },
      { type: "function_call", call_id: "a", name: "f", arguments: "{}" },
      { type: "function_call_output", call_id: "a", output: [{ type: "input_text", text: "18" }] },
      { type: "sluice_call", call_id: "b", name: "g", arguments: "{}", output: "19" },
      { type: "function_call", call_id: "c", namespace: "crm", name: "h", arguments: "{}" },
      { type: "tool_search_call", call_id: "d", execution: "client", arguments: { query: "mail" } },
      { type: "tool_search_output", call_id: "d", tools: [{ type: "function", name: "send" }] },
      { type: "web_search_call", id: "ws_1", action: { type: "search", query: "weather" } },
      { type: "agent_reasoning", text: "Hm" },
      { type: "compaction", encrypted_content: "gAAAA" },
    ]),
  ).map((item, at) => ({ item, from: inputPlace(at) }));
  expect(transcriptOf(items, "Be brief.").item).toEqual({
    type: "message",
    role: "user",
    content: [
      "Instructions: Be brief.",
      "Earlier: They met.",
      "user: Look.\n[picture]",
      "assistant: I do.",
      "Assistant called f: {}",
      "Result: 18",
      "Assistant called g: {}",
      "Result: 19",
      "Assistant called h of crm: {}",
      'Assistant searched for tools: {"query":"mail"}',
      "Result: These tools can be called now: send.",
      'Assistant called web_search: {"type":"search","query":"weather"}\n\nResult: The result is not part of this conversation.',
      `Earlier: ${UNREADABLE_SUMMARY}`,
    ].join("\n\n"),
  });
});

test("a compaction is the summary of the model, and an empty one is a failure", () => {
  const usage = { input_tokens: 1, input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 }, output_tokens: 1, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 2 }; // prettier-ignore
  const of = (text: string): ModelResponse => ({
    ...responseOf({ model: "m", input: "x" }, newId(), 1),
    usage,
    output: [{ id: "msg_1", type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text, annotations: [], logprobs: [] }] }], // prettier-ignore
  });
  const { output } = compactionOf(of("They met."));
  expect(output.map(({ encrypted_content }) => openSummary(encrypted_content))).toEqual(["They met."]);
  expect(() => compactionOf(of(" "))).toThrow("no summary");
});
