/** Rules for any dialect: what counts as a sign of life, and when an answer is whole. */
import { afterEach, describe, expect, test } from "bun:test";

import type { ChatCall, ChatDelta, ProviderError } from "#workers/providers/provider.ts";
import { createOpenAiCompatible } from "#workers/providers/openai-compatible/index.ts";
import { AFTER_FINISH_MS } from "#workers/providers/chat-wire.ts";

const servers: { stop(force: boolean): unknown }[] = [];
afterEach(() => {
  for (const server of servers.splice(0)) server.stop(true);
});

type Write = (text: string) => void;

/** A stream at a server that writes what it is told; it stays open until `end`. */
function streaming(
  script: (write: Write, end: () => void, fail: () => void) => unknown,
  request: object = {},
): AsyncIterable<ChatDelta> {
  const encoder = new TextEncoder();
  const server = Bun.serve({
    port: 0,
    fetch: () =>
      new Response(
        new ReadableStream({
          async start(controller) {
            const write: Write = (text) => controller.enqueue(encoder.encode(text));
            await script(
              write,
              () => controller.close(),
              () => controller.error(undefined),
            );
          },
        }),
        { headers: { "content-type": "text/event-stream" } },
      ),
  });
  servers.push(server);
  const call: ChatCall = {
    request: { model: "m", messages: [{ role: "user", content: "hi" }], stream: true, ...request },
    workspaceId: "0199a5b2-7e1d-7000-8000-00000000000b",
    sourceModel: "m",
    outputTokensMax: 10,
    signal: new AbortController().signal,
    traits: new Set(),
    takesAudio: true,
    adapt: () => undefined,
  };
  return createOpenAiCompatible({ baseUrl: server.url.href.replace(/\/$/, ""), headers: {} }).stream(call);
}

const chunk = (delta: object, finish_reason: string | null = null): string =>
  `data: ${JSON.stringify({ choices: [{ index: 0, delta, finish_reason }] })}\n\n`;

async function gather(stream: AsyncIterable<ChatDelta>): Promise<{ deltas: ChatDelta[]; error?: ProviderError }> {
  const deltas: ChatDelta[] = [];
  try {
    for await (const delta of stream) deltas.push(delta);
    return { deltas };
  } catch (error) {
    return { deltas, error: error as ProviderError };
  }
}

const textOf = (deltas: readonly ChatDelta[]): string =>
  deltas.flatMap(({ choices }) => choices.map(({ delta }) => (delta as { content?: string }).content ?? "")).join("");

describe("a stream", () => {
  test("reports activity of its provider for every byte, including comments", async () => {
    const { promise: seen, resolve: show } = Promise.withResolvers<void>();
    const stream = streaming(async (write, end) => {
      write(": PROCESSING\n\n");
      await seen;
      write(chunk({ content: "a" }, "stop"));
      end();
    })[Symbol.asyncIterator]();
    expect(await stream.next()).toEqual({ done: false, value: { choices: [] } });
    show();
    const { deltas, error } = await gather({ [Symbol.asyncIterator]: () => stream });
    expect(error).toBeUndefined();
    expect(textOf(deltas)).toBe("a");
  });

  test("is complete although its connection stays open", async () => {
    const stream = streaming((write) => write(chunk({ content: "all" }) + chunk({}, "stop")));
    const { deltas, error } = await gather(stream);
    expect(error).toBeUndefined();
    expect(textOf(deltas)).toBe("all");
  });

  test("is complete although its connection breaks afterwards", async () => {
    const { promise: read, resolve: tell } = Promise.withResolvers<void>();
    const stream = streaming(async (write, _end, fail) => {
      write(chunk({ content: "all" }) + chunk({}, "stop"));
      // A break that comes with the last frames takes them along.
      await read;
      fail();
    })[Symbol.asyncIterator]();
    const first = await stream.next();
    tell();
    const { deltas, error } = await gather({ [Symbol.asyncIterator]: () => stream });
    expect(error).toBeUndefined();
    expect(textOf([first.value as ChatDelta, ...deltas])).toBe("all");
  });

  test("waits for its usage after the finish reason", async () => {
    const stream = streaming(async (write, end) => {
      write(chunk({ content: "all" }, "stop"));
      await Bun.sleep(50);
      write(`data: ${JSON.stringify({ choices: [], usage: { prompt_tokens: 3, completion_tokens: 1 } })}\n\n`);
      end();
    });
    const { deltas } = await gather(stream);
    expect(deltas.at(-1)?.usage).toMatchObject({ input: 3, output: 1 });
  });

  test("of several choices is complete when all choices have ended, not only the started ones", async () => {
    const second = `data: ${JSON.stringify({ choices: [{ index: 1, delta: { content: "b" }, finish_reason: "stop" }] })}\n\n`;
    const late = streaming(
      async (write, end) => {
        write(chunk({ content: "a" }, "stop"));
        await Bun.sleep(AFTER_FINISH_MS + 200);
        write(second);
        end();
      },
      { n: 2 },
    );
    expect(textOf((await gather(late)).deltas)).toBe("ab");
  });

  test("that is interrupted before its finish reason fails", async () => {
    const stream = streaming(async (write, _end, fail) => {
      write(chunk({ content: "half" }));
      await Bun.sleep(20);
      fail();
    });
    expect((await gather(stream)).error).toMatchObject({ kind: "failed" });
  });
});
