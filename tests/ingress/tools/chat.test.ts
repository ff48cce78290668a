/** Turns of chat as pieces of a stream, from a model that is played. */
import { afterEach, expect, test } from "bun:test";

import type { ChatCompletionChunk } from "#schemas/generated/types.ts";
import { createApp } from "#ingress/app.ts";
import { type FakeContext, fakeContext, KEY } from "#tests/ingress/fake-context.ts";
import { BASE, build } from "#tests/shared/calls/catalogue/build-catalogue.ts";

let fakes: FakeContext | undefined;
afterEach(() => fakes?.close());

type Delta = Readonly<Record<string, unknown>>;

const CALL = {
  index: 0,
  id: "call_1",
  type: "function",
  function: { name: "code_regex", arguments: '{"inp' },
  extra_content: { signature: "s" },
};
const REST = { index: 0, function: { arguments: 'ut":{}}' } };

function streamOf(deltas: readonly Delta[], finish: string, end = "data: [DONE]\n\n"): Response {
  const head = { id: `chatcmpl-${finish}`, object: "chat.completion.chunk", created: deltas.length, model: "one" };
  const chunks: object[] = deltas.map((delta) => ({ ...head, choices: [{ index: 0, delta, finish_reason: null }] }));
  chunks.push({ ...head, choices: [{ index: 0, delta: {}, finish_reason: finish }] });
  chunks.push({ ...head, choices: [], usage: { total_tokens: 3, prompt_tokens_details: { cached_tokens: 1 } } });
  const text = chunks.map((chunk) => `: still here\n\ndata: ${JSON.stringify(chunk)}\n\n`).join("");
  return new Response(text + end, { headers: { "content-type": "text/event-stream", "x-model-used": "one" } });
}

async function ask(turns: readonly Response[], more = "") {
  let asked = 0;
  const made = fakeContext({
    catalogue: build([
      `${BASE}\npresets: [{ name: standard, requests_per_minute: 120, daily_tokens: null }]\n`.replace(
        "supports_chat: true",
        "supports_chat: true\n    supports_tools: true",
      ),
    ]),
    relay: () => turns[asked++] ?? Response.json({}),
    bodyBytesMax: 1_000_000,
  });
  fakes = made;
  const app = createApp(made.context);
  const run = made.context.routes.get("runCapability");
  if (!run) throw new Error("there is no such route");
  const result = { capability: "code.regex", output: { matches: [] }, files: [] };
  made.context.routes.set("runCapability", { ...run, handle: () => Response.json(result) });
  const answer = await app.handle(
    new Request("http://sluice/v1/chat/completions", {
      method: "POST",
      headers: { authorization: `Bearer ${KEY}`, "content-type": "application/json" },
      body: `{"model":"one","messages":[{"role":"user","content":"hi"}],"stream":true,"stream_options":{"include_usage":true},
        "tools":[{"type":"sluice","capabilities":["code.regex"]}]${more}}`,
    }),
  );
  const text = await answer.text();
  const frames = text.split("\n\n").filter((frame) => frame.startsWith("data: {"));
  const chunks = frames.map((frame) => JSON.parse(frame.slice(6)) as ChatCompletionChunk);
  const sent = made.sent.map(({ text: request, head }) => ({
    text: request,
    head,
    body: JSON.parse(request) as Delta,
  }));
  return { answer, text, chunks, sent, made };
}

test("a turn returns to the model unchanged: text, thinking, and calls joined from their pieces", async () => {
  const thinking = { type: "thinking", thinking: "Hm", signature: "s" };
  const first = [
    { role: "assistant", content: "" },
    { reasoning_content: "H" },
    { reasoning_content: "m", thinking_blocks: [thinking] },
    { content: "Let me " },
    { content: "look." },
    { tool_calls: [CALL] },
    { tool_calls: [REST] },
  ];
  const { chunks, sent, made } = await ask([
    streamOf(first, "tool_calls"),
    streamOf([{ role: "assistant", content: "" }, { content: "It is " }, { content: "so." }], "stop"),
  ]);
  const { index: _index, ...call } = { ...CALL, function: { name: "code_regex", arguments: '{"input":{}}' } };
  expect(sent[1]?.body["messages"]).toEqual([
    { role: "user", content: "hi" },
    {
      role: "assistant",
      content: "Let me look.",
      reasoning_content: "Hm",
      thinking_blocks: [thinking],
      tool_calls: [call],
    },
    { role: "tool", tool_call_id: "call_1", content: '{"output":{"matches":[]}}' },
  ]);
  const deltas = chunks.flatMap(({ choices }) => choices.map(({ delta }) => delta));
  expect(deltas.map(({ content }) => content ?? "").join("")).toBe("Let me look.\n\nIt is so.");
  expect(deltas.filter(({ role }) => role !== undefined)).toHaveLength(1);
  expect(JSON.stringify(deltas)).not.toContain("tool_calls");
  expect(new Set(chunks.map(({ id }) => id))).toEqual(new Set(["chatcmpl-tool_calls"]));
  expect(chunks.at(-1)?.usage).toEqual({
    total_tokens: 6,
    prompt_tokens_details: { cached_tokens: 2 },
    credits: 0,
  } as never);
  // Two turns and a run.
  expect(made.counted).toHaveLength(2);
  expect(made.authorizations).toHaveLength(3);
});

test("integers beyond a double reach the model by their digits", async () => {
  const { sent } = await ask([streamOf([{ content: "yes" }], "stop")], ',"seed":9007199254740993');
  expect(sent[0]?.text).toContain('"seed":9007199254740993');
});

test("turns keep their prompt cache", async () => {
  const { sent } = await ask([streamOf([{ tool_calls: [CALL] }, { tool_calls: [REST] }], "tool_calls"), streamOf([{ content: "yes" }], "stop")]); // prettier-ignore
  const [first, second] = sent.map(({ head }) => head);
  expect(first?.affinity).toBe(first?.job_id ?? "none");
  expect(second?.affinity).toBe(first?.affinity ?? "none");
  expect(second?.job_id).not.toBe(first?.job_id ?? "");
});

test("a truncated call is not run", async () => {
  const { chunks, sent } = await ask([streamOf([{ tool_calls: [CALL] }], "length")]);
  expect(sent).toHaveLength(1);
  expect(chunks.flatMap(({ choices }) => choices.flatMap(({ finish_reason: reason }) => reason ?? []))).toEqual([
    "length",
  ]);
});

test.each([
  [
    "an error within it",
    'data: {"error":{"message":"Away.","type":"server_error","code":"upstream_error","param":null}}\n\n',
    "upstream_error",
  ],
  ["its end missing", "", "internal_error"],
])("a turn with %s ends the stream with an error", async (_what, end, code) => {
  const { chunks, text } = await ask([streamOf([{ content: "I" }], "stop", end)]);
  expect(chunks.at(-1)).toMatchObject({ error: { code } });
  expect(text).not.toContain("[DONE]");
});
