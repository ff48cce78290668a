import { expect, test } from "bun:test";

import OpenAI from "openai";

import type { ChatCompletionRequest } from "#schemas/generated/types.ts";
import { NO_USAGE } from "#shared/calls/pricing/usage.ts";
import { createRendering } from "#workers/calls/chat/render.ts";
import { createGemini } from "#workers/providers/gemini/index.ts";

import { chatCall, useServers } from "../engine/calls.ts";
import { TOOL_CALLS } from "../engine/named.ts";
import { type GeminiServer, startGeminiServer } from "./server.ts";

const own = useServers();

/** A stock client whose calls reach the adapter through our rendering, without a gateway between them. */
async function startClient(models: readonly string[]): Promise<{ server: GeminiServer; client: OpenAI }> {
  const server = own(startGeminiServer());
  const { chat } = createGemini({ baseUrl: server.url, headers: { "x-goog-api-key": "any" } });
  if (!chat) throw new Error("Gemini has no chat");
  const turns = [...models];
  const answer = async (body: string): Promise<Response> => {
    const request = JSON.parse(body) as ChatCompletionRequest;
    const call = chatCall(request, { sourceModel: turns.shift() ?? "" });
    const rendering = createRendering({ jobId: crypto.randomUUID(), model: "m", createdS: 1, includeUsage: false });
    if (request.stream !== true) {
      const text = rendering.completion(await chat.complete(call), NO_USAGE);
      return new Response(text, { headers: { "content-type": "application/json" } });
    }
    let text = "";
    for await (const delta of chat.stream(call)) text += rendering.chunk(delta);
    return new Response(text + rendering.end(NO_USAGE), { headers: { "content-type": "text/event-stream" } });
  };
  const client = new OpenAI({
    apiKey: "sk-any",
    baseURL: "http://ours.invalid/v1",
    fetch: async (_url, init) => answer(await new Response(init?.body ?? null).text()),
  });
  return { server, client };
}

const PICTURE = "data:image/png;base64,iVBORw0KGgo=";

test.each(["plain", "streamed"])("a stock client continues a tool conversation with an image, %s", async (mode) => {
  const { server, client } = await startClient(["mock-tools-parallel", "mock-needs-signatures"]);
  const tools = TOOL_CALLS.map(({ name }) => ({ type: "function" as const, function: { name, parameters: {} } }));
  const messages: OpenAI.ChatCompletionMessageParam[] = [
    {
      role: "user",
      content: [
        { type: "image_url", image_url: { url: PICTURE } },
        { type: "text", text: "say It is sunny." },
      ],
    },
  ];
  const ask = async (): Promise<OpenAI.ChatCompletionMessage> => {
    const body = { model: "m", messages, tools };
    const completion =
      mode === "plain"
        ? await client.chat.completions.create(body)
        : await client.chat.completions.stream(body).finalChatCompletion();
    const { message } = completion.choices[0]!;
    messages.push(message);
    return message;
  };
  for (const { id } of (await ask()).tool_calls ?? []) messages.push({ role: "tool", tool_call_id: id, content: "ok" });
  expect((await ask()).content).toBe("It is sunny.");
  expect(server.requests).toHaveLength(2);
  const { contents } = server.requests[1]!.body as { contents: { parts: Record<string, unknown>[] }[] };
  expect(contents[0]?.parts[0]).toEqual({ inlineData: { mimeType: "image/png", data: "iVBORw0KGgo=" } });
  // The very signature came back, not the stand-in for a lost one.
  expect(contents[1]?.parts.map((part) => part["thoughtSignature"])).toEqual(["c2lnbmF0dXJl", undefined, undefined]);
  expect(contents[2]?.parts).toHaveLength(3);
});
