/**
 * The 17 cases of the Open Responses compliance suite (openresponses/openresponses, `src/lib/compliance-tests.ts` at 2026-04-24) in words of
 * our own: one by one, and all at once, as its runner sends them. The runner itself is green against `npm start` with the model
 * `sandbox-chat`. Four cases that other generations of the suite have follow.
 */
import { beforeAll, describe, expect, test } from "bun:test";

import type { ModelResponse, ResponseStreamEvent } from "#schemas/generated/types.ts";
import { parse } from "#shared/json/contracts.ts";
import type { Stack } from "#tests/support/stack.ts";
import { PNG } from "#tests/e2e/families/conversation.ts";
import { pdfOfPages } from "#tests/support/hostile-files/documents.ts";
import { bodyFaults } from "#tests/support/published/check.ts";
import { readStream } from "#tests/workers/calls/chat/responses-stream-grammar.ts";

import { sharedStack } from "./shared-stack.ts";

let stack: Stack;

beforeAll(async () => {
  stack = await sharedStack();
});

const MODEL = "sandbox-chat";
const PDF = pdfOfPages("/Kids [3 0 R] /Count 1", "<< /Type /Page /Parent 2 0 R /MediaBox [0 0 9 9] >>").toString(
  "base64",
);
const WEATHER = {
  type: "function",
  name: "get_weather",
  description: "Get the current weather for a location",
  parameters: { type: "object", properties: { location: { type: "string" } }, required: ["location"] },
};
const user = (content: unknown) => ({ type: "message", role: "user", content });
const headers = () => ({ authorization: `Bearer ${stack.key}`, "content-type": "application/json" });

const post = (body: object, path = ""): Promise<Response> =>
  fetch(`${stack.baseUrls[0]}/v1/responses${path}`, {
    method: "POST",
    headers: headers(),
    body: JSON.stringify({ model: MODEL, ...body }),
  });

/** A completed answer, whole as Open Responses describes it. */
function checkWhole(response: ModelResponse): ModelResponse {
  expect(bodyFaults({ "open-responses": "ResponseResource" }, 200, response)).toEqual([]);
  expect(response.status).toBe("completed");
  expect(response.output.length).toBeGreaterThan(0);
  return response;
}

async function plain(body: object): Promise<ModelResponse> {
  const answer = await post(body);
  expect(answer.status).toBe(200);
  return checkWhole(parse("ModelResponse", await answer.json()));
}

async function streamed(body: object): Promise<readonly ResponseStreamEvent[]> {
  const answer = await post({ ...body, stream: true });
  expect(answer.headers.get("content-type")).toStartWith("text/event-stream");
  const { response, events } = readStream(await answer.text());
  checkWhole(response);
  return events;
}

const textIn = ({ output }: ModelResponse): string =>
  output.flatMap((item) => (item.type === "message" ? item.content : [])).map((part) => ("text" in part ? part.text : "")).join(""); // prettier-ignore

interface Turn {
  readonly response: ModelResponse | undefined;
  readonly error: { readonly code?: string } | undefined;
}

interface Socket {
  turn(body: object): Promise<Turn>;
  close(): void;
}

/** A connection whose turns come one after the other. */
async function connect(): Promise<Socket> {
  const url = `${(stack.baseUrls[0] ?? "").replace(/^http/, "ws")}/v1/responses`;
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${stack.key}` } } as unknown as string[]);
  await new Promise((resolve, reject) => {
    socket.addEventListener("open", resolve);
    socket.addEventListener("error", reject);
  });
  return {
    turn: (body) =>
      new Promise((resolve) => {
        const hear = ({ data }: MessageEvent): void => {
          const event = JSON.parse(String(data)) as Record<string, unknown>;
          const isEnd = ["response.completed", "response.failed", "response.incomplete"].includes(
            String(event["type"]),
          );
          if (!isEnd && event["type"] !== "error") parse("ResponseStreamEvent", event);
          if (!isEnd && event["type"] !== "error") return;
          socket.removeEventListener("message", hear);
          const response = isEnd ? parse("ModelResponse", event["response"]) : undefined;
          resolve({ response, error: event["error"] as Turn["error"] });
        };
        socket.addEventListener("message", hear);
        socket.send(JSON.stringify({ type: "response.create", model: MODEL, ...body }));
      }),
    close: () => socket.close(),
  };
}

async function connected(work: (socket: Socket) => Promise<void>): Promise<void> {
  const socket = await connect();
  try {
    await work(socket);
  } finally {
    socket.close();
  }
}

function wholeOf({ response }: Turn): ModelResponse {
  if (!response) throw new Error("the turn has no answer");
  return checkWhole(response);
}

const CASES: Readonly<Record<string, () => Promise<unknown>>> = {
  "basic-response": () => plain({ input: [user("Say hello in exactly 3 words.")] }),
  "assistant-phase": () =>
    plain({
      input: [
        { type: "message", role: "assistant", phase: "commentary", content: "I look up what was kept." },
        { type: "message", role: "assistant", phase: "final_answer", content: "It is seven." },
        user("Say the number again."),
      ],
    }),
  async "response-output-phase-schema"() {
    const response = await plain({ input: "Say exactly: a" });
    const output = ["commentary", "final_answer"].map((phase) => ({ id: `msg_${phase}`, type: "message", role: "assistant", status: "completed", phase, content: [{ type: "output_text", text: "a", annotations: [], logprobs: [] }] })); // prettier-ignore
    expect(checkWhole(parse("ModelResponse", { ...response, output })).output).toHaveLength(2);
  },
  "streaming-response": async () => {
    const types = (await streamed({ input: [user("Count from 1 to 5.")] })).map(({ type }) => type);
    expect(types).toContain("response.output_text.delta");
    expect(types.at(-1)).toBe("response.completed");
  },
  "websocket-response": () => connected(async (socket) => void wholeOf(await socket.turn({ input: "Say exactly: a" }))),
  "websocket-sequential-responses": () =>
    connected(async (socket) => {
      const texts: string[] = [];
      for (const word of ["a", "b"]) {
        texts.push(textIn(wholeOf(await socket.turn({ store: false, input: `Say exactly: ${word}` }))));
      }
      expect(texts).toEqual(["a", "b"]);
    }),
  "websocket-continuation": () =>
    connected(async (socket) => {
      const first = wholeOf(await socket.turn({ store: false, input: "Remember the code word: amber." }));
      const next = await socket.turn({ store: false, input: "Which one was it?", previous_response_id: first.id });
      expect(wholeOf(next).previous_response_id).toBe(first.id);
      expect(wholeOf(next).usage?.input_tokens).toBeGreaterThan(first.usage?.input_tokens ?? 0);
    }),
  async "websocket-reconnect-store-false-recovery"() {
    let lost = "";
    await connected(async (socket) => {
      lost = wholeOf(await socket.turn({ store: false, input: "Say exactly: a" })).id;
    });
    await connected(async (socket) => {
      const gone = await socket.turn({ store: false, input: "Say exactly: b", previous_response_id: lost });
      expect(gone.error?.code).toBe("previous_response_not_found");
      // A chain of its own, on the same connection.
      const anew = wholeOf(await socket.turn({ store: false, input: [user("Say exactly: b")] }));
      expect([textIn(anew), anew.previous_response_id]).toEqual(["b", null]);
    });
  },
  "websocket-previous-response-not-found": () =>
    connected(async (socket) => {
      const gone = await socket.turn({ store: false, input: "x", previous_response_id: "resp_does_not_exist" });
      expect(gone.error?.code).toBe("previous_response_not_found");
    }),
  "websocket-failed-continuation-evicts-cache": () =>
    connected(async (socket) => {
      const first = wholeOf(await socket.turn({ store: false, input: "Say exactly: a" }));
      const wrong = [{ type: "function_call_output", call_id: "call_none", output: "x" }];
      const failed = await socket.turn({ store: false, input: wrong, previous_response_id: first.id });
      expect(failed.error).toBeDefined();
      const next = await socket.turn({ store: false, input: "Say exactly: b", previous_response_id: first.id });
      expect(next.error?.code).toBe("previous_response_not_found");
    }),
  "websocket-compact-new-chain": () =>
    connected(async (socket) => {
      const said = [
        user([{ type: "input_text", text: "Keep the code word: slate." }]),
        { type: "message", role: "assistant", content: [{ type: "output_text", text: "Kept." }] },
        user([{ type: "input_text", text: "Make it short." }]),
      ];
      const compacted = parse("ResponseCompaction", await (await post({ input: said }, "/compact")).json());
      const input = [...compacted.output, user("Say exactly: b")];
      const next = wholeOf(await socket.turn({ store: false, input, tools: [] }));
      expect([textIn(next), next.previous_response_id]).toEqual(["b", null]);
    }),
  "system-prompt": () => plain({ input: [{ type: "message", role: "system", content: "You are a pirate. Always respond in pirate speak." }, user("Say hello.")] }), // prettier-ignore
  async "tool-calling"() {
    const { output } = await plain({ input: [user("What's the weather like in San Francisco?")], tools: [WEATHER] });
    expect(output.some(({ type }) => type === "function_call")).toBe(true);
  },
  "image-input": () => plain({ input: [user([{ type: "input_text", text: "What do you see in this image? Answer in one sentence." }, { type: "input_image", image_url: `data:image/png;base64,${PNG}` }])] }), // prettier-ignore
  "multi-turn": () => plain({ input: [user("My name is Alice."), { type: "message", role: "assistant", content: "Hello Alice! Nice to meet you. How can I help you today?" }, user("What is my name?")] }), // prettier-ignore
  async "compact-response"() {
    // prettier-ignore
    const answer = await post({ input: [user("The launch is on Tuesday."), { type: "message", role: "assistant", content: "Understood." }], prompt_cache_key: "case" }, "/compact");
    const compacted = parse("ResponseCompaction", await answer.json());
    expect([answer.status, compacted.object, compacted.output.map(({ type }) => type)]).toEqual([200, "response.compaction", ["compaction"]]); // prettier-ignore
  },
  async "compact-missing-model"() {
    expect([400, 422]).toContain((await post({ model: undefined, input: [user("x")] }, "/compact")).status);
  },
  // Of other generations of the suite.
  async "tool-calling-streaming"() {
    const events = await streamed({ input: [user("What's the weather like in San Francisco?")], tools: [WEATHER] });
    expect(events.some(({ type }) => type === "response.function_call_arguments.delta")).toBe(true);
  },
  async "function-call-roundtrip"() {
    const asked = [user("What's the weather like in San Francisco?")];
    const { output } = await plain({ input: asked, tools: [WEATHER] });
    const call = output.find((item) => item.type === "function_call");
    const result = { type: "function_call_output", call_id: call?.call_id, output: "62 degrees" };
    expect(textIn(await plain({ input: [...asked, ...output, result], tools: [WEATHER] }))).toContain("62 degrees");
  },
  "file-input": () => plain({ model: "sandbox-documents", input: [user([{ type: "input_file", filename: "a.pdf", file_data: `data:application/pdf;base64,${PDF}` }, { type: "input_text", text: "What is this?" }])] }), // prettier-ignore
  async "previous-response-id"() {
    const first = await plain({ input: "Say exactly: a" });
    expect((await plain({ input: "Say exactly: b", previous_response_id: first.id })).previous_response_id).toBe(
      first.id,
    );
  },
};

describe("Open Responses", () => {
  test.each(Object.keys(CASES))("%s", async (name) => {
    await CASES[name]?.();
  });

  test("all cases concurrently", async () => {
    const failed = await Promise.all(
      Object.entries(CASES).map(([name, run]) => run().then(() => "", (error: unknown) => `${name}: ${String(error)}`)), // prettier-ignore
    );
    expect(failed.filter((fault) => fault !== "")).toEqual([]);
  });
});
