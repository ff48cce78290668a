/** Tests that check.ts finds responses that violate the published descriptions, and that watch.ts reports them. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { bodyFaults, frameFaults } from "./check.ts";
import { expectNoFault, findOperation, watch } from "./watch.ts";

const faultsOf = (request: string, body: unknown, status = 200): readonly string[] => {
  const [method = "", path = ""] = request.split(" ");
  const operation = findOperation(method, path);
  if (!operation) throw new Error(`${request} is not described`);
  return bodyFaults(operation, status, body);
};

const MESSAGE = { id: "msg_1", type: "message", role: "assistant", status: "completed", content: [{ type: "output_text", text: "a", annotations: [], logprobs: [] }] }; // prettier-ignore
const RESPONSE = {
  id: "resp_1", object: "response", created_at: 1, completed_at: 2, status: "completed", error: null, incomplete_details: null, model: "m",
  output: [MESSAGE], instructions: null, previous_response_id: null, tools: [], tool_choice: "auto", parallel_tool_calls: true,
  max_tool_calls: null, text: { format: { type: "text" } }, reasoning: { effort: null, summary: null }, temperature: 1, top_p: 1,
  presence_penalty: 0, frequency_penalty: 0, top_logprobs: 0, max_output_tokens: null, truncation: "disabled", store: true,
  background: false, service_tier: "default", metadata: {}, user: null, safety_identifier: null, prompt_cache_key: null,
  usage: { input_tokens: 1, input_tokens_details: { cached_tokens: 0, cache_write_tokens: 0 }, output_tokens: 1, output_tokens_details: { reasoning_tokens: 0 }, total_tokens: 2 },
}; // prettier-ignore
const DELTA = { type: "response.output_text.delta", sequence_number: 4, item_id: "msg_1", output_index: 0, content_index: 0, delta: "a", logprobs: [] }; // prettier-ignore

describe("an answer by its description", () => {
  test("has no faults", () => {
    expect(faultsOf("POST /v1/responses", RESPONSE)).toEqual([]);
    expect(faultsOf("GET /v1/responses/resp_1", { ...RESPONSE, status: "queued", usage: null, output: [] })).toEqual(
      [],
    );
    expect(frameFaults("response", DELTA)).toEqual([]);
  });

  test("may contain our own items, by their types", () => {
    expect(faultsOf("POST /v1/responses", { ...RESPONSE, output: [{ type: "sluice_call" }, MESSAGE] })).toEqual([]);
    expect(faultsOf("POST /v1/responses", { ...RESPONSE, output: [{ type: "other_call" }, MESSAGE] })).toEqual([
      "openai Response: /output/0 is of no kind that is described: other_call",
      "open-responses ResponseResource: /output/0 is of no kind that is described: other_call",
    ]);
  });
});

describe("a wrong answer is rejected", () => {
  const without = (name: keyof typeof RESPONSE): object => {
    const { [name]: _left, ...others } = RESPONSE;
    return others;
  };
  test.each([
    ["without a member of both", without("output"), ["openai", "open-responses"]],
    ["without one that Open Responses alone requires", without("safety_identifier"), ["open-responses"]],
    ["with a text for a number", { ...RESPONSE, temperature: "1" }, ["openai", "open-responses"]],
    ["with a part that lacks its text", { ...RESPONSE, output: [{ ...MESSAGE, content: [{ type: "output_text", annotations: [], logprobs: [] }] }] }, ["openai", "open-responses"]], // prettier-ignore
    ["with a state of its own", { ...RESPONSE, status: "done" }, ["openai"]],
    ["with null for a member that is left out", { ...RESPONSE, output: [{ type: "reasoning", id: "rs_1", summary: [], encrypted_content: null }] }, ["open-responses"]], // prettier-ignore
  ])("a response %s", (_what, body, documents) => {
    const faults = faultsOf("POST /v1/responses", body);
    expect([...new Set(faults.map((fault) => fault.split(" ")[0] ?? ""))]).toEqual(documents);
  });

  test.each([
    ["POST /v1/responses/compact", { id: "resp_1", object: "response.compaction", output: [], created_at: 1 }],
    ["POST /v1/responses/input_tokens", { object: "response.input_tokens" }],
    ["GET /v1/responses/resp_1/input_items", { object: "list", data: [], has_more: false }],
    ["POST /v1/conversations", { id: "conv_1", object: "conversation", created_at: 1 }],
    ["DELETE /v1/conversations/conv_1", { id: "conv_1", object: "conversation.deleted" }],
    ["GET /v1/conversations/conv_1/items", { object: "list", data: [{}], has_more: false, first_id: "", last_id: "" }],
    ["POST /v1/batches", { id: "batch_1", object: "batch", status: "begun" }],
    ["POST /v1/chat/completions", { id: "chatcmpl-1", object: "chat.completion", created: 1, model: "m", choices: [{ index: 0 }] }], // prettier-ignore
    ["POST /v1/embeddings", { object: "list", model: "m", data: [{ object: "embedding", index: 0 }], usage: {} }],
    ["GET /v1/models", { object: "list", data: [{ id: "m", object: "model" }] }],
  ])("%s", (request, body) => {
    expect(faultsOf(request, body)).not.toEqual([]);
    expect(faultsOf(request, { error: { message: "no" } }, 400)).not.toEqual([]);
    expect(faultsOf(request, { error: { message: "no", type: "a", code: null, param: null } }, 400)).toEqual([]);
  });

  test.each([
    ["response", { ...DELTA, delta: undefined }],
    ["response", { ...DELTA, sequence_number: "4" }],
    ["response", { ...DELTA, type: "response.output_text.piece" }],
    ["response", { type: "response.completed", sequence_number: 1, response: { ...RESPONSE, model: 1 } }],
    ["socket", { type: "error", status: 400, error: { code: "a" } }],
    ["socket", { type: "error", error: { code: "a", message: "no" } }],
    ["chat", { id: "chatcmpl-1", object: "chat.completion.chunk", created: 1, model: "m", choices: [{ index: 0, delta: {} }] }], // prettier-ignore
  ] as const)("an event %# of a %s", (kind, event) => {
    expect(frameFaults(kind, JSON.parse(JSON.stringify(event)))).not.toEqual([]);
  });
});

describe("the response watch", () => {
  let server: Bun.Server<undefined>;
  beforeAll(() => {
    server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch(request, upgrader) {
        if (upgrader.upgrade(request)) return undefined;
        if (request.method === "GET") return Response.json(RESPONSE);
        const frames = [DELTA, { ...DELTA, delta: 1 }].map((event) => `data: ${JSON.stringify(event)}\n\n`);
        return new Response(`${frames.join("")}data: [DONE]\n\n`, { headers: { "content-type": "text/event-stream" } });
      },
      websocket: { message: (socket) => void socket.send(JSON.stringify({ ...DELTA, delta: 2 })) },
    });
  });
  afterAll(() => server.stop(true));

  test("checks received responses, streams and messages, of known addresses only", async () => {
    const url = `http://127.0.0.1:${server.port}`;
    const read = async (init: RequestInit): Promise<void> =>
      void (await (await fetch(`${url}/v1/responses`, init)).text());
    await read({ method: "POST" });
    await expectNoFault();
    watch(url);
    expect(await (await fetch(`${url}/v1/responses/resp_1`)).json()).toEqual(RESPONSE);
    await expectNoFault();
    await read({ method: "POST" });
    expect(await expectNoFault().catch(String)).toContain("POST /v1/responses: openai ResponseTextDeltaEvent: /delta must be string"); // prettier-ignore
    const socket = new WebSocket(`${url.replace("http", "ws")}/v1/responses`);
    const received = new Promise((resolve) => socket.addEventListener("message", resolve));
    socket.addEventListener("open", () => socket.send("{}"));
    await received;
    socket.close();
    expect(await expectNoFault().catch(String)).toContain("/v1/responses: openai ResponseTextDeltaEvent: /delta must be string"); // prettier-ignore
    await expectNoFault();
  });
});
