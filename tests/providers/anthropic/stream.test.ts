import { describe, expect, test } from "bun:test";

import { NO_USAGE, type TokenUsage } from "#shared/calls/pricing/usage.ts";
import { createReader } from "#workers/providers/anthropic/stream.ts";
import type { ChatDelta } from "#workers/providers/provider.ts";
import { chatCall, gather, type Gathered } from "#tests/providers/engine/calls.ts";

const start = { type: "message_start", message: { id: "m", usage: { input_tokens: 3, output_tokens: 1 } } };
const open = (index: number, content_block: object) => ({ type: "content_block_start", index, content_block });
const add = (index: number, delta: object) => ({ type: "content_block_delta", index, delta });
const close = (index: number) => ({ type: "content_block_stop", index });
const finish = (stop_reason: string, output = 2) => ({
  type: "message_delta",
  delta: { stop_reason },
  usage: { output_tokens: output },
});
const use = (id: string, input: unknown = {}) => ({ type: "tool_use", id, name: "f", input });

function* deltasOf(events: Iterable<object>): Generator<ChatDelta> {
  const reader = createReader(chatCall());
  for (const event of events) {
    const delta = reader.read({ event: "", data: JSON.stringify(event) });
    if (delta === "done") break;
    if (delta !== undefined) yield delta;
  }
  reader.end();
}

const read = (...events: readonly object[]): Promise<Gathered> => gather(deltasOf([start, ...events]));

describe("a stream of blocks", () => {
  test("without their ends returns their remaining content", async () => {
    const gathered = await read(
      open(0, { type: "thinking", thinking: "", signature: "" }),
      add(0, { type: "thinking_delta", thinking: "Hm." }),
      add(0, { type: "signature_delta", signature: "c2ln" }),
      open(1, use("a")),
      open(2, use("b")),
      add(2, { type: "input_json_delta", partial_json: '{"x":1}' }),
      finish("tool_use"),
    );
    expect(gathered).toMatchObject({
      error: undefined,
      thinking: [{ type: "thinking", thinking: "Hm.", signature: "c2ln" }],
      calls: [
        { id: "a", arguments: "{}" },
        { id: "b", arguments: '{"x":1}' },
      ],
      finish: ["tool_calls"],
    });
  });

  test("that start with content return it once", async () => {
    const gathered = await read(
      open(0, { type: "text", text: "Hello" }),
      add(0, { type: "text_delta", text: " there" }),
      close(0),
      open(1, use("a", { x: 1 })),
      close(1),
      close(1),
      finish("end_turn"),
    );
    expect(gathered).toMatchObject({ text: "Hello there", calls: [{ arguments: '{"x":1}' }], finish: ["tool_calls"] });
  });

  test("with unsigned thinking shows it, and returns no signature", async () => {
    const gathered = await read(
      open(0, { type: "thinking", thinking: "Hm." }),
      close(0),
      open(1, { type: "text", text: "Four." }),
      finish("end_turn"),
    );
    expect(gathered).toMatchObject({ text: "Four.", reasoning: "Hm.", thinking: [] });
  });

  test("of unknown types returns nothing", async () => {
    const gathered = await read(
      { type: "novelty" },
      open(0, { type: "novelty" }),
      add(0, { type: "input_json_delta", partial_json: "{" }),
      add(0, { type: "novelty_delta" }),
      add(7, { type: "signature_delta", signature: "x" }),
      close(0),
      finish("end_turn"),
    );
    expect(gathered).toMatchObject({ text: "", calls: [], finish: ["stop"], error: undefined });
    expect(gathered.deltas).toHaveLength(2);
  });

  test("with an unknown stop reason fails, regardless of its content", async () => {
    for (const reason of ["novelty", "toString"]) {
      const gathered = await read(open(0, { type: "text", text: "Hi" }), finish(reason));
      expect(gathered).toMatchObject({ text: "Hi", finish: [] });
      expect(gathered.error).toMatchObject({ kind: "failed", detail: `unknown stop reason ${reason}` });
    }
    expect((await read(open(0, { type: "text", text: "Hi" }), finish("pause_turn"))).finish).toEqual(["stop"]);
  });

  test("numbers its thinking and contains the position of each block of it", async () => {
    const sealed = (index: number, signature: string) => [
      open(index, { type: "thinking", thinking: "", signature: "" }),
      add(index, { type: "thinking_delta", thinking: "Hm." }),
      add(index, { type: "signature_delta", signature }),
      close(index),
    ];
    const { thinking, error } = await read(
      ...sealed(0, "s1"),
      open(1, { type: "text", text: "" }),
      add(1, { type: "text_delta", text: "I look. " }),
      close(1),
      ...sealed(2, "s2"),
      open(3, use("a")),
      close(3),
      // Never closed: it comes with the end.
      open(4, { type: "redacted_thinking", data: "d" }),
      finish("tool_use"),
    );
    expect(error).toBeUndefined();
    expect(thinking).toEqual([
      { type: "thinking", thinking: "Hm.", signature: "s1", index: 0 },
      { type: "thinking", thinking: "Hm.", signature: "s2", index: 1, after: { characters: 8, tool_calls: 0 } },
      { type: "redacted_thinking", data: "d", index: 2, after: { characters: 8, tool_calls: 1 } },
    ]);
  });

  test("names the matched stop text", async () => {
    const met = { ...finish("stop_sequence"), delta: { stop_reason: "stop_sequence", stop_sequence: "END" } };
    const { deltas } = await read(open(0, { type: "text", text: "Hi" }), met);
    expect(deltas.at(-1)?.choices[0]).toMatchObject({ finish_reason: "stop", stop_sequence: "END" });
    const unmet = await read({ ...finish("end_turn"), delta: { stop_reason: "end_turn", stop_sequence: null } });
    expect(unmet.deltas.at(-1)?.choices[0]).not.toHaveProperty("stop_sequence");
  });

  test.each<[string, unknown, Partial<TokenUsage> | undefined]>([
    [
      "with what was read from and written to the cache",
      {
        input_tokens: 3,
        cache_read_input_tokens: 2_000,
        cache_creation_input_tokens: 300,
        cache_creation: { ephemeral_5m_input_tokens: 100, ephemeral_1h_input_tokens: 200 },
        output_tokens: 5,
      },
      { input: 3, cachedInput: 2_000, cacheWrite5m: 100, cacheWrite1h: 200 },
    ],
    ["but nothing it does not know", { input_tokens: 0, output_tokens: 5 }, undefined],
    ["but nothing that cannot be true", { input_tokens: -3, output_tokens: 5 }, undefined],
    ["but nothing that is no report", undefined, undefined],
  ])(
    "reports its input with its first delta, %s, so that an interrupted one is settled with it",
    async (_name, usage, input) => {
      const { deltas } = await gather(deltasOf([{ type: "message_start", message: { id: "m", usage } }]));
      expect(deltas).toHaveLength(1);
      expect(deltas[0]?.choices[0]).toMatchObject({ delta: { role: "assistant" } });
      expect(deltas[0]?.inputUsage).toEqual(input === undefined ? undefined : { ...NO_USAGE, ...input });
      // It is no report of the whole, and must not pass for one.
      expect(deltas[0]).not.toHaveProperty("usage");
    },
  );

  test("that ends twice has ended once, and the last report counts", async () => {
    const gathered = await read(open(0, { type: "text", text: "Hi" }), finish("end_turn"), finish("max_tokens", 9));
    expect(gathered).toMatchObject({ finish: ["stop"], usage: { input: 3, output: 9 } });
  });

  test("with thinking only before a refusal is filtered, since it was delivered", async () => {
    const gathered = await read(open(0, { type: "thinking", thinking: "Hm." }), close(0), finish("refusal"));
    expect(gathered).toMatchObject({ reasoning: "Hm.", finish: ["content_filter"], error: undefined });
    const hidden = await read(open(0, { type: "redacted_thinking", data: "eA==" }), close(0), finish("refusal"));
    expect(hidden.error?.kind).toBe("refused");
  });

  test("without end fails, for calls and for hidden thinking", async () => {
    function* calls(): Generator<object> {
      for (let index = 0; ; index += 1) yield open(index, use(`t${index}`));
    }
    function* signature(): Generator<object> {
      yield open(0, { type: "thinking", thinking: "" });
      for (;;) yield add(0, { type: "signature_delta", signature: "s".repeat(8 * 1_048_576) });
    }
    function* redacted(): Generator<object> {
      const data = "d".repeat(8 * 1_048_576);
      // Beyond the bound, and not forever: without one, memory would end before the test.
      for (let index = 0; index < 10; index += 1) yield open(index, { type: "redacted_thinking", data });
      yield finish("end_turn");
    }
    for (const endless of [calls(), signature(), redacted()]) {
      const { error, finish: reasons } = await gather(deltasOf(endless));
      expect(error?.kind).toBe("failed");
      expect(reasons).toEqual([]);
    }
  });
});
