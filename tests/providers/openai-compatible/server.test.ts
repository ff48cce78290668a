import { afterEach, describe, expect, test } from "bun:test";
import { connect } from "node:net";

import OpenAI from "openai";

import { BEHAVIOUR_NAMES } from "./named.ts";
import type { OpenAiServer, OpenAiServerOptions } from "./server.ts";
import { startOpenAiServer } from "./server.ts";

const servers: OpenAiServer[] = [];

afterEach(() => {
  for (const server of servers.splice(0)) server.close();
});

async function start(options?: OpenAiServerOptions): Promise<{ server: OpenAiServer; client: OpenAI }> {
  const server = await startOpenAiServer(options);
  servers.push(server);
  return { server, client: new OpenAI({ baseURL: server.url, apiKey: "sk-test", maxRetries: 0 }) };
}

function post(
  server: OpenAiServer,
  model: string,
  extra: Record<string, unknown> = {},
  signal?: AbortSignal,
): Promise<Response> {
  return fetch(`${server.url}/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json", authorization: "Bearer sk-test" },
    body: JSON.stringify({ model, messages: [{ role: "user", content: "say héllo wörld 🙂 again" }], ...extra }),
    ...(signal ? { signal } : {}),
  });
}

const user = (content: string) => [{ role: "user" as const, content }];

describe("a flawless answer", () => {
  test("says exactly what it is asked to say, plain and streamed, with the same token counts", async () => {
    const { client } = await start();
    const plain = await client.chat.completions.create({ model: "m", messages: user("say one two three") });
    expect(plain.choices[0]?.message.content).toBe("one two three");
    expect(plain.usage).toEqual({ prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 });

    const stream = await client.chat.completions.create({
      model: "m",
      messages: user("say one two three"),
      stream: true,
      stream_options: { include_usage: true },
    });
    let text = "";
    let usage: unknown = null;
    for await (const chunk of stream) {
      text += chunk.choices[0]?.delta.content ?? "";
      if (chunk.choices.length === 0) usage = chunk.usage;
    }
    expect(text).toBe("one two three");
    expect(usage).toEqual({ prompt_tokens: 5, completion_tokens: 3, total_tokens: 8 });
  });

  test("interleaved tool calls join to valid arguments with a stable index", async () => {
    const { client } = await start();
    const stream = await client.chat.completions.create({
      model: "mock-tools-interleaved",
      messages: user("go"),
      stream: true,
    });
    const joined: Record<number, string> = {};
    const order: number[] = [];
    for await (const chunk of stream) {
      for (const call of chunk.choices[0]?.delta.tool_calls ?? []) {
        joined[call.index] = (joined[call.index] ?? "") + (call.function?.arguments ?? "");
        order.push(call.index);
      }
    }
    expect(Object.values(joined).map((text) => JSON.parse(text) as unknown)).toEqual([
      { city: "Paris" },
      { zone: "Europe/Paris" },
      { term: "café 🙂" },
    ]);
    expect(order.slice(0, 6)).toEqual([0, 1, 2, 0, 1, 2]);
  });

  test("refuses what OpenAI refuses: a wrong key, an empty conversation, stream_options on a plain call", async () => {
    const { server } = await start({ apiKey: "sk-other" });
    expect((await post(server, "m")).status).toBe(401);
    const { server: open } = await start();
    expect((await post(open, "m", { messages: [] })).status).toBe(400);
    expect((await post(open, "m", { stream_options: { include_usage: true } })).status).toBe(400);
    expect((await fetch(`${open.url}/elsewhere`)).status).toBe(404);
  });
});

describe("behaviours", () => {
  test("come from the model name, then from the queue, then from the default", async () => {
    const { server } = await start({ default: { text: "default" } });
    server.next({ kind: "reply", status: 503, body: "" });
    expect((await post(server, "mock-rate-limit")).status).toBe(429);
    expect((await post(server, "m")).status).toBe(503);
    expect(await (await post(server, "m")).text()).toContain("default");
  });

  test("an unknown behaviour name resets the call and is listed among the server's faults", async () => {
    const { server } = await start();
    expect(post(server, "mock-oops")).rejects.toThrow();
    await (
      await server.received(1)
    ).finished;
    expect(String(server.faults[0])).toContain("oops");
  });

  test("hints travel as seconds, as a date and as milliseconds", async () => {
    const { server } = await start();
    expect((await post(server, "mock-429-7")).headers.get("retry-after")).toBe("7");
    expect((await post(server, "mock-429-ms")).headers.get("retry-after-ms")).toBe("150");
    expect((await post(server, "mock-429-date")).headers.get("retry-after")).toContain("GMT");
  });

  test("usage reports that JSON.stringify could not write arrive as they are", async () => {
    const { server } = await start();
    expect(await (await post(server, "mock-usage-huge")).text()).toContain('"prompt_tokens":1e18');
    expect(await (await post(server, "mock-usage-bare-nan")).text()).toContain('"prompt_tokens":NaN');
    expect(await (await post(server, "mock-usage-missing")).text()).not.toContain('"usage"');
  });

  test.each([
    "crlf",
    "cr",
    "bom",
    "comments",
    "foreign",
    "multi-line",
    "split-1",
    "no-last-newline",
    "no-done",
    "repeat",
  ])("%s keeps the text of the stream and only changes its dress", async (name) => {
    const { server } = await start();
    const plain = await (await post(server, "mock-ok", { stream: true })).text();
    const odd = await (await post(server, `mock-${name}`, { stream: true })).text();
    expect(odd).not.toBe(name === "split-1" ? "" : plain);
    for (const word of ["héllo", "wörld", "🙂", "again"]) expect(odd).toContain(word);
  });
});

describe("broken streams", () => {
  test.each(["fin", "rst", "cut-utf8", "cut-in-json", "cut-body"])("%s breaks the HTTP message", async (name) => {
    const { server } = await start();
    const { promise, resolve } = Promise.withResolvers<string>();
    const socket = connect(server.port, "127.0.0.1");
    let received = "";
    socket.setEncoding("latin1");
    socket.on("data", (text: string) => (received += text));
    socket.on("error", () => {});
    socket.on("close", () => resolve(received));
    const body = JSON.stringify({
      model: `mock-${name}`,
      stream: name !== "cut-body",
      messages: user("say héé two three four"),
    });
    socket.write(
      `POST /v1/chat/completions HTTP/1.1\r\ncontent-type: application/json\r\ncontent-length: ${Buffer.byteLength(body)}\r\n\r\n${body}`,
    );
    const bytes = await promise;
    expect(bytes).toStartWith("HTTP/1.1 200");
    expect(bytes).not.toContain("0\r\n\r\n");
    expect(bytes).not.toContain("[DONE]");
    if (name === "cut-utf8") expect(bytes).toEndWith(" cr\u00c3\r\n");
  });

  test("an error can be the first frame or come later", async () => {
    const { server } = await start();
    expect(await (await post(server, "mock-error-first", { stream: true })).text()).toStartWith('data: {"error"');
    expect(await (await post(server, "mock-error-mid", { stream: true })).text()).toMatch(
      /chat\.completion\.chunk[\s\S]*"error"[^[]*$/,
    );
  });
});

describe("clients that leave", () => {
  test.each(["mock-silent", "mock-stall", "mock-endless", "mock-huge-1g"])("%s records the moment", async (model) => {
    const { server } = await start();
    const abort = new AbortController();
    const answer = post(server, model, { stream: true }, abort.signal);
    const call = await server.received(1);
    if (model !== "mock-silent") await (await answer).body?.getReader().read();
    const leftAt = performance.now();
    abort.abort();
    await answer.catch(() => {});
    await call.finished;
    expect(call.closedByClientAt).toBeGreaterThanOrEqual(leftAt);
    expect(call.answeredAt).toBeNull();
    expect(server.openSockets()).toBe(0);
  });

  test("a finished call is not taken for an abandoned one when its connection closes later", async () => {
    const { server } = await start();
    await (await post(server, "m")).text();
    const [call] = server.requests;
    expect(call?.answeredAt).not.toBeNull();
    server.close();
    expect(call?.closedByClientAt).toBeNull();
  });
});

test("every named behaviour answers, hangs or breaks without a fault of the server", async () => {
  const { server } = await start();
  const abort = new AbortController();
  const names = BEHAVIOUR_NAMES.filter((name) => name !== "huge-1g" && name !== "gzip-bomb");
  for (const stream of [false, true]) {
    for (const name of names) void post(server, `mock-${name}`, { stream }, abort.signal).catch(() => {});
  }
  await server.received(names.length * 2);
  abort.abort();
  await Promise.all(server.requests.map((call) => call.finished));
  expect(server.faults).toEqual([]);
});
