import { describe, expect, test } from "bun:test";

import { buildCatalogue } from "#shared/calls/catalogue/build.ts";
import { loadOurLayers } from "#shared/calls/catalogue/load.ts";
import { mergeLayers } from "#shared/calls/catalogue/merge.ts";
import { EVERYTHING_ON } from "#tests/shared/calls/catalogue/build-catalogue.ts";
import { ChunkChoices, wholeChoices } from "#workers/providers/openai-compatible/choices.ts";
import { createOpenAiCompatible } from "#workers/providers/openai-compatible/index.ts";
import type { ChatDelta } from "#workers/providers/provider.ts";

import { type Behaviour, eventReply } from "../engine/behaviour.ts";
import { chatCall, useServers } from "../engine/calls.ts";
import { sendChunk } from "../engine/play.ts";
import { startOpenAiServer } from "./server.ts";

type Members = Record<string, unknown>;

const own = useServers();

/** Returns the deltas of a stream of these events, and the class of its error. */
async function streamed(behaviour: Behaviour, request: object = {}) {
  const server = own(startOpenAiServer());
  server.next(behaviour);
  const provider = createOpenAiCompatible({ baseUrl: server.url, headers: {} });
  const call = chatCall({ stream: true, ...request });
  const deltas: ChatDelta[] = [];
  try {
    for await (const delta of provider.stream(call)) deltas.push(delta);
    return { deltas, kind: undefined };
  } catch (error) {
    return { deltas, kind: (error as { kind?: string }).kind };
  }
}

const chunk = (delta: object, finish_reason: string | null = null, index = 0) => ({
  choices: [{ index, delta, finish_reason }],
});
const usage = { choices: [], usage: { prompt_tokens: 3, completion_tokens: 0 } };

/** `[index, reason]` of every end a client is told, in order. */
const endsOf = (deltas: readonly ChatDelta[]): unknown[] =>
  deltas
    .flatMap(({ choices }) => choices)
    .filter(({ finish_reason }) => finish_reason !== null)
    .map(({ index, finish_reason }) => [index, finish_reason]);

const SILENT = [
  ["null", { content: null }],
  ["an empty text", { content: "" }],
  ["nothing", {}],
  ["empty members all along", { content: "", refusal: null, reasoning: "", tool_calls: [], audio: null }],
] as const;

const SPOKEN = [
  ["text", { content: "This goes on" }],
  ["a refusal in words", { content: null, refusal: "I cannot" }],
  ["thoughts", { content: "", reasoning_content: "Well" }],
  ["thoughts by another name", { reasoning: "Well" }],
  ["blocks of text", { content: [{ type: "text", text: "This" }] }],
  ["a tool call", { tool_calls: [{ index: 0, id: "a", type: "function", function: { name: "f", arguments: "{" } }] }],
  ["sound", { content: null, audio: { id: "a", data: "AAAA" } }],
] as const;

const whole = (message: object, finish_reason: string | null, index = 0) => ({
  index,
  message: structuredClone(message),
  finish_reason,
});

describe("a filtered plain answer", () => {
  test.each(SILENT)("with %s is a refusal", (_name, message) => {
    for (const word of ["content_filter", "safety", "refusal"]) {
      expect(() => wholeChoices([whole(message, word)])).toThrow(expect.objectContaining({ kind: "refused" }));
    }
    const both = [whole(message, "content_filter"), whole(message, "content_filter", 1)];
    expect(() => wholeChoices(both)).toThrow(expect.objectContaining({ kind: "refused" }));
  });

  test.each(SPOKEN)("after %s keeps its finish reason", (_name, message) => {
    expect(wholeChoices([whole(message, "content_filter")])).toMatchObject([{ finish_reason: "content_filter" }]);
  });

  test("beside a finished choice keeps its finish reason", () => {
    const choices = wholeChoices([whole({}, "content_filter"), whole({ content: "" }, "stop", 1)]);
    expect(choices.map(({ finish_reason }) => finish_reason)).toEqual(["content_filter", "stop"]);
  });
});

describe("a filtered stream", () => {
  const role = chunk({ role: "assistant", content: "" });

  test.each(SILENT)("with %s is a refusal, and its end is not sent", async (_name, delta) => {
    for (const rest of [[usage, "[DONE]"], ["[DONE]"], []]) {
      const { deltas, kind } = await streamed(eventReply(role, chunk(delta, "content_filter"), ...rest));
      expect(kind).toBe("refused");
      // A finish reason would begin the client's answer, and then nobody else could give one.
      expect(endsOf(deltas)).toEqual([]);
    }
  });

  test.each(SPOKEN)("after %s keeps its finish reason", async (_name, delta) => {
    for (const chunks of [[chunk(delta), chunk({}, "content_filter")], [chunk(delta, "content_filter")]]) {
      const { deltas, kind } = await streamed(eventReply(role, ...chunks, usage, "[DONE]"));
      expect(kind).toBeUndefined();
      expect(endsOf(deltas)).toEqual([[0, "content_filter"]]);
    }
  });

  test("that stays open is a refusal immediately", async () => {
    const text = `data: ${JSON.stringify(chunk({}, "content_filter"))}\n\n`;
    const head = "HTTP/1.1 200 OK\r\ncontent-type: text/event-stream\r\ntransfer-encoding: chunked\r\n\r\n";
    const { kind } = await streamed({
      kind: "custom",
      async play(_request, wire) {
        await wire.write(head);
        await sendChunk(wire, Buffer.from(text));
        await wire.wait(Infinity);
      },
    });
    expect(kind).toBe("refused");
  });

  test("in all of its choices is a refusal, although fewer arrived than requested", async () => {
    const both = [chunk({}, "content_filter"), chunk({}, "content_filter", 1), "[DONE]"];
    for (const n of [2, 3]) {
      const { deltas, kind } = await streamed(eventReply(...both), { n });
      expect(kind).toBe("refused");
      expect(endsOf(deltas)).toEqual([]);
    }
  });

  test("in one of its choices sends that end as soon as another choice has content", async () => {
    const chunks = [chunk({}, "content_filter"), chunk({ content: "a" }, null, 1), chunk({}, "stop", 1), "[DONE]"];
    const { deltas, kind } = await streamed(eventReply(...chunks), { n: 2 });
    expect(kind).toBeUndefined();
    expect(endsOf(deltas)).toEqual([
      [0, "content_filter"],
      [1, "stop"],
    ]);
  });

  test("in one of its choices sends that end once, in the same event as another's", async () => {
    const { choices } = chunk({}, "content_filter");
    const { deltas, kind } = await streamed(eventReply({ choices: [...choices, ...chunk({}, "stop", 1).choices] }), {
      n: 2,
    });
    expect(kind).toBeUndefined();
    expect(endsOf(deltas)).toEqual([
      [0, "content_filter"],
      [1, "stop"],
    ]);
  });

  test("in one of its choices and interrupted in another is a failure", async () => {
    const chunks = [chunk({}, "content_filter"), chunk({ content: "" }, null, 1), "[DONE]"];
    expect(await streamed(eventReply(...chunks), { n: 2 })).toMatchObject({ kind: "failed" });
  });
});

describe("a finish reason of an interruption", () => {
  test.each(["error", "insufficient_system_resource", "abort", "aborted", "cancelled", "canceled", "timeout"])(
    "is a failure, plain and streamed: %s",
    (word) => {
      const failure = expect.objectContaining({ kind: "failed" });
      expect(() => wholeChoices([whole({ content: "half" }, word)])).toThrow(failure);
      expect(() => new ChunkChoices().read(chunk({ content: "half" }, word).choices)).toThrow(failure);
    },
  );

  test("is recognised by exact values only", () => {
    expect(wholeChoices([whole({ content: "a" }, "something new")])).toMatchObject([{ finish_reason: "stop" }]);
  });
});

describe("a choice that calls tools", () => {
  const call = { index: 0, id: "a", type: "function", function: { name: "f", arguments: "{}" } };

  test.each(["stop", "eos", "end_turn", null])("with the end %j becomes tool_calls", (word) => {
    expect(wholeChoices([whole({ tool_calls: [call] }, word)])).toMatchObject([{ finish_reason: "tool_calls" }]);
  });

  test.each(["length", "content_filter"])("with the end %s keeps it", (word) => {
    expect(wholeChoices([whole({ tool_calls: [call] }, word)])).toMatchObject([{ finish_reason: word }]);
    const choices = new ChunkChoices();
    choices.read(chunk({ tool_calls: [{ ...call }] }).choices);
    expect(choices.read(chunk({}, word).choices)).toMatchObject([{ finish_reason: word }]);
  });

  test("becomes tool_calls in a stream too, in the piece of the call and after it", async () => {
    const tools = { tool_calls: [call] };
    for (const chunks of [[chunk(tools, "stop")], [chunk(tools), chunk({}, "stop")]]) {
      expect(endsOf((await streamed(eventReply(...chunks, "[DONE]"))).deltas)).toEqual([[0, "tool_calls"]]);
    }
  });

  test("does not change the end of another choice", async () => {
    const chunks = [chunk({ tool_calls: [call] }), chunk({ content: "a" }, "stop", 1), chunk({}, "stop"), "[DONE]"];
    expect(endsOf((await streamed(eventReply(...chunks), { n: 2 })).deltas)).toEqual([
      [1, "stop"],
      [0, "tool_calls"],
    ]);
    const both = wholeChoices([
      whole({ tool_calls: [call] } satisfies Members, "stop"),
      whole({ content: "a" }, "stop", 1),
    ]);
    expect(both.map(({ finish_reason }) => finish_reason)).toEqual(["tool_calls", "stop"]);
  });
});

test("xAI never receives options that would end the call or delay its answer", async () => {
  const { models } = buildCatalogue(mergeLayers(await loadOurLayers()), EVERYTHING_ON);
  const sources = [...models.values()].flatMap((model) => model.sources).filter(({ provider }) => provider === "xai");
  expect(sources).not.toEqual([]);
  for (const { drop_params } of sources) {
    expect(drop_params).toEqual(expect.arrayContaining(["search_parameters", "deferred"]));
  }
});

describe("a stream without a finish reason", () => {
  const call = { index: 0, id: "a", type: "function", function: { name: "f", arguments: "{}" } };
  const ends = [
    ["null", null],
    ["an empty text", ""],
    ["no member", undefined],
  ] as const;
  const answers = [
    ["text", { content: "a" }, "stop"],
    ["a tool call", { tool_calls: [call] }, "tool_calls"],
  ] as const;

  for (const [form, ending] of ends) {
    test.each(answers)(
      `has that of a plain answer after %s, once [DONE] arrives: ${form}`,
      async (_name, said, reason) => {
        const last = { choices: [{ index: 0, delta: {}, finish_reason: ending }] };
        const { deltas, kind } = await streamed(eventReply(chunk(said), last, usage, "[DONE]"));
        const plain = wholeChoices([{ index: 0, message: structuredClone({ ...said }), finish_reason: ending }]);
        expect(kind).toBeUndefined();
        expect(endsOf(deltas)).toEqual([[0, reason]]);
        expect(plain).toMatchObject([{ finish_reason: reason }]);
      },
    );
  }

  test("gets one for every open choice", async () => {
    const chunks = [chunk({ content: "a" }), chunk({ content: "b" }, "length", 1), chunk({ content: "c" }, null, 2)];
    const { deltas } = await streamed(eventReply(...chunks, "[DONE]"), { n: 3 });
    expect(endsOf(deltas)).toEqual([
      [1, "length"],
      [0, "stop"],
      [2, "stop"],
    ]);
  });

  test("is interrupted without [DONE], without content, and with an unreadable event", async () => {
    const said = chunk({ content: "a" });
    for (const events of [[said], [chunk({ role: "assistant", content: "" }), "[DONE]"], [said, "{broken", "[DONE]"]]) {
      expect((await streamed(eventReply(...events))).kind).toBe("failed");
    }
  });
});
