/** Responses over a WebSocket, turn by turn, against the running service. */
import { afterEach, beforeAll, describe, expect, test } from "bun:test";

import OpenAI from "openai";
import { ResponsesWS } from "openai/resources/responses/ws";

import { createWorkspace } from "#tests/faults/bed.ts";
import { eventually } from "#tests/faults/wait.ts";
import type { Stack } from "#tests/support/stack.ts";
import { eventsOf } from "#tests/workers/calls/chat/responses-stream-grammar.ts";
import { TURNS_WAITING_MAX } from "#ingress/routes/responses/socket.ts";

import { HOSTILE_BODIES, NAUGHTY_TEXTS } from "./hostile-bodies.ts";
import { sharedStack } from "./shared-stack.ts";

let stack: Stack;
const open: Socket[] = [];

beforeAll(async () => {
  stack = await sharedStack();
});
afterEach(() => open.splice(0).forEach(({ socket }) => socket.close()));

type Message = Readonly<Record<string, unknown>> & { readonly type: string };

interface Socket {
  readonly socket: WebSocket;
  readonly messages: Message[];
  /** Says something, and resolves with the messages up to the end of its turn. */
  turn(message: object | string | Uint8Array<ArrayBuffer>): Promise<Message[]>;
  readonly closed: Promise<number>;
}

const ENDS = ["response.completed", "response.incomplete", "response.failed"];

async function connect(key = stack.key, more: Readonly<Record<string, string>> = {}): Promise<Socket> {
  const url = `${(stack.baseUrls[0] ?? "").replace("http", "ws")}/v1/responses`;
  // Bun's own client takes headers.
  const socket = new WebSocket(url, { headers: { authorization: `Bearer ${key}`, ...more } } as unknown as string[]);
  const messages: Message[] = [];
  let look = (): void => undefined;
  socket.addEventListener("message", ({ data }) => {
    messages.push(JSON.parse(String(data)) as Message);
    look();
  });
  const closed = new Promise<number>((resolve) => socket.addEventListener("close", ({ code }) => resolve(code)));
  await new Promise<void>((resolve, reject) => {
    socket.addEventListener("open", () => resolve());
    socket.addEventListener("error", () => reject(new Error("no connection")));
  });
  const made: Socket = {
    socket,
    messages,
    closed,
    turn(message) {
      const from = messages.length;
      const { promise, resolve } = Promise.withResolvers<Message[]>();
      look = () => {
        const last = messages.slice(from).at(-1);
        // An error outside of a stream has a status, one within is followed by the failed response.
        if (last && (ENDS.includes(last.type) || last["status"] !== undefined)) resolve(messages.slice(from));
      };
      socket.send(typeof message === "string" || message instanceof Uint8Array ? message : JSON.stringify({ type: "response.create", model: MODEL, ...message })); // prettier-ignore
      return promise;
    },
  };
  open.push(made);
  return made;
}

const MODEL = "sandbox-chat";
const say = (text: string) => `Say exactly: ${text}`;
interface Whole {
  readonly id: string;
  readonly output: readonly { readonly content: readonly { readonly text: string }[] }[];
}
const responseIn = (messages: readonly Message[]): Whole => messages.at(-1)?.["response"] as Whole;
const textIn = (messages: readonly Message[]): unknown => responseIn(messages).output[0]?.content[0]?.text;
const errorIn = (messages: readonly Message[]): unknown => messages.at(-1)?.["error"];

describe("a connection", () => {
  test.each([
    ["between two turns", undefined],
    ["in the middle of a turn", { model: "sandbox-slow", input: say("a b c d e f g h ".repeat(20)) }],
  ])("ends when its key is revoked, %s", async (_when, turn) => {
    const { key, keyId } = await createWorkspace(stack, { creditsNano: 10n ** 12n });
    const socket = await connect(key);
    expect(textIn(await socket.turn({ input: say("here") }))).toBe("here");
    const ending = turn && socket.turn(turn);
    await stack.query("update api_key set revoked_at = now() where id = $1", [keyId]);
    expect(await socket.closed).toBe(1001);
    await ending;
    expect(socket.messages.at(-1)).toMatchObject({ status: 401, error: { code: "invalid_api_key" } });
  });

  test("answers turns one after the other, with the events of a stream", async () => {
    const socket = await connect();
    const first = await socket.turn({ input: say("one two three") });
    const frames = first.map((event) => `event: ${event.type}\ndata: ${JSON.stringify(event)}\n\n`);
    expect(eventsOf(`${frames.join("")}data: [DONE]\n\n`).at(-1)?.type).toBe("response.completed");
    expect(textIn(first)).toBe("one two three");
    // Said at once.
    const before = socket.messages.length;
    for (const text of ["a", "b", "c"]) socket.socket.send(JSON.stringify({ type: "response.create", model: MODEL, input: say(text) })); // prettier-ignore
    const ends = (): Message[] => socket.messages.slice(before).filter(({ type }) => ENDS.includes(type));
    await eventually("three answers", () => Promise.resolve(ends().length === 3));
    expect(ends().map((end) => textIn([end]))).toEqual(["a", "b", "c"]);
    const order = socket.messages.slice(before).map(({ type }) => type);
    expect(order.lastIndexOf("response.created")).toBeGreaterThan(order.indexOf("response.completed"));
  });

  test("limits each of its turns by its header x-max-credits", async () => {
    const socket = await connect(stack.key, { "x-max-credits": "0.000000001" });
    await socket.turn({ input: say("hello") });
    expect(errorIn(socket.messages)).toMatchObject({ code: "max_credits_exceeded" });
    await socket.turn({ input: say("hello"), max_credits: 5 });
    expect(errorIn(socket.messages)).toMatchObject({ code: "max_credits_exceeded" });
  });

  test("of the stock client works", async () => {
    const client = new OpenAI({ baseURL: `${stack.baseUrls[0]}/v1`, apiKey: stack.key });
    const socket = new ResponsesWS(client);
    const whole = new Promise<string>((resolve, reject) => {
      socket.on("response.completed", ({ response }) => resolve(response.status ?? ""));
      socket.on("error", reject);
    });
    socket.send({ type: "response.create", model: MODEL, input: say("hello") });
    expect(await whole).toBe("completed");
    socket.close();
  });

  test("continues from what is not stored, and another connection does not", async () => {
    const socket = await connect();
    const weather = { type: "function", name: "get_weather", parameters: { type: "object", properties: { city: { type: "string" } }, required: ["city"] } }; // prettier-ignore
    const body = { store: false, tools: [weather] };
    const first = responseIn(await socket.turn({ ...body, input: "What is the weather in Paris? Use the get_weather tool." })); // prettier-ignore
    const call = first.output[0] as unknown as { type: string; call_id: string };
    expect(call.type).toBe("function_call");
    const result = { type: "function_call_output", call_id: call.call_id, output: "18 degrees" };
    const second = await socket.turn({ ...body, input: [result], previous_response_id: first.id });
    expect(textIn(second)).toMatch(/18 degrees/);
    const third = await socket.turn({ input: say("x"), previous_response_id: responseIn(second).id });
    expect(textIn(third)).toBe("x");
    const other = await connect();
    const lost = await other.turn({ input: say("x"), previous_response_id: first.id });
    expect(lost).toMatchObject([{ type: "error", status: 400, error: { code: "previous_response_not_found" } }]);
  });

  test("keeps input without generation for its next turn, free of charge", async () => {
    const { id, key } = await createWorkspace(stack, { creditsNano: 10n ** 12n });
    const socket = await connect(key);
    const first = responseIn(await socket.turn({ input: [], generate: false }));
    const warm = responseIn(
      await socket.turn({ input: say("from the warm-up"), previous_response_id: first.id, generate: false }),
    );
    expect([first, warm]).toMatchObject([{ output: [] }, { output: [], usage: { total_tokens: 0 } }]);
    expect(await stack.query("select 1 from usage_record where workspace_id = $1", [id])).toEqual([]);
    const next = responseIn(await socket.turn({ input: [], previous_response_id: warm.id }));
    expect(next.output[0]?.content[0]?.text).toBe("from the warm-up");
    // It is stored whole: another connection goes on from it, and its input is the warm-up's.
    const client = new OpenAI({ baseURL: `${stack.baseUrls[0]}/v1`, apiKey: key });
    const { data } = await client.responses.inputItems.list(next.id);
    expect(data).toMatchObject([{ type: "message", content: [{ text: say("from the warm-up") }] }]);
    const other = await connect(key);
    expect(textIn(await other.turn({ input: say("on"), previous_response_id: next.id }))).toBe("on");
    expect(errorIn(await other.turn({ input: say("x"), previous_response_id: warm.id }))).toMatchObject({
      code: "previous_response_not_found",
    });
    const wrong = [{ type: "function_call_output", call_id: "none", output: "x" }];
    const again = responseIn(await socket.turn({ input: say("a"), generate: false }));
    const refused = await socket.turn({ input: wrong, previous_response_id: again.id });
    expect(errorIn(refused)).toMatchObject({ param: "input[0].call_id" });
  });

  test("discards a turn that cannot be continued", async () => {
    const socket = await connect();
    const first = responseIn(await socket.turn({ input: say("a"), store: false }));
    const wrong = [{ type: "function_call_output", call_id: "none", output: "x" }];
    const failed = await socket.turn({ input: wrong, previous_response_id: first.id });
    expect(errorIn(failed)).toMatchObject({ param: "input[0].call_id" });
    const next = await socket.turn({ input: say("b"), previous_response_id: first.id });
    expect(errorIn(next)).toMatchObject({ code: "previous_response_not_found" });
  });

  test("reports an invalid message, and stays open", async () => {
    const socket = await connect();
    expect(await socket.turn("no JSON")).toMatchObject([{ type: "error", status: 400, error: { code: "invalid_json" } }]); // prettier-ignore
    expect(errorIn(await socket.turn({ type: "session.update" }))).toMatchObject({ param: "type" });
    expect(errorIn(await socket.turn({ input: "x", stream: false }))).toMatchObject({ param: "stream" });
    expect(errorIn(await socket.turn({ input: "x", background: false }))).toMatchObject({ param: "background" });
    expect(errorIn(await socket.turn({ input: "x", model: "nobody" }))).toMatchObject({ code: "model_not_found" });
    const broken = await socket.turn({ input: say("a b c d e f"), model: "sandbox-truncate" });
    expect(broken.slice(-2).map(({ type }) => type)).toEqual(["error", "response.failed"]);
    expect(textIn(await socket.turn({ input: say("on"), stream: true }))).toBe("on");
  });

  test("queues a limited number of turns", async () => {
    const socket = await connect();
    const body = { type: "response.create", model: "sandbox-slow", input: say("a"), store: false };
    for (let turns = 0; turns < TURNS_WAITING_MAX + 2; turns++) socket.socket.send(JSON.stringify(body));
    await eventually("a refusal", () => Promise.resolve(socket.messages.some(({ type }) => type === "error")));
    expect(socket.messages.find(({ type }) => type === "error")).toMatchObject({ status: 503, error: { code: "overloaded" } }); // prettier-ignore
  });

  test("whose client disconnects ends its call, which is charged for the generated part", async () => {
    const socket = await connect();
    socket.socket.send(JSON.stringify({ type: "response.create", model: "sandbox-slow", input: say("a b c d e f g h i j k l m n o p q r s t u v w x y z") })); // prettier-ignore
    const begun = await eventually("a word", () =>
      Promise.resolve(socket.messages.find(({ type }) => type === "response.created")),
    );
    socket.socket.close();
    const { id } = responseIn(begun === undefined ? [] : [begun]);
    const job = id.replace(/^resp_(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
    const row = await eventually("the usage record", async () => {
      const [found] = await stack.query("select status from usage_record where job_id = $1", [job]);
      return found;
    });
    expect(row).toEqual({ status: "cancelled" });
  });
});

test("a response of another workspace does not exist over a connection", async () => {
  const mine = await connect();
  const { id } = responseIn(await mine.turn({ input: say("mine") }));
  const client = new OpenAI({ baseURL: `${stack.baseUrls[0]}/v1`, apiKey: stack.key });
  const conversation = (await client.conversations.create({})).id;
  const { key } = await createWorkspace(stack, { creditsNano: 10n ** 12n });
  const theirs = await connect(key);
  const item = `msg_${id.slice("resp_".length)}_0`;
  for (const [more, code] of [
    [{ previous_response_id: id }, "previous_response_not_found"],
    [{ conversation }, "conversation_not_found"],
    [{ input: [{ type: "item_reference", id: item }] }, "response_not_found"],
  ] as const) {
    expect(errorIn(await theirs.turn({ input: say("x"), ...more }))).toMatchObject({ code });
  }
});

describe("a hostile message", () => {
  test("is rejected in the envelope, costs nothing, and ends nothing", async () => {
    const { id, key } = await createWorkspace(stack, { creditsNano: 10n ** 12n });
    const socket = await connect(key);
    for (const [what, body] of HOSTILE_BODIES) {
      const bytes = Buffer.concat([Buffer.from('{"type":"response.create",'), Buffer.from(body).subarray(1)]);
      const [refusal, ...more] = await socket.turn(new Uint8Array(bytes));
      expect([what, more, refusal]).toMatchObject([what, [], { type: "error" }]);
      expect(refusal?.["status"]).toBeWithin(400, 500);
      expect(Object.keys(refusal?.["error"] as object)).toEqual(["message", "type", "code", "param"]);
    }
    expect(await stack.query("select 1 from usage_record where workspace_id = $1 and settled > 0", [id])).toEqual([]);
    expect(textIn(await socket.turn({ input: say("on") }))).toBe("on");
  });

  test("does not include unusual but valid text", async () => {
    const socket = await connect();
    for (const text of NAUGHTY_TEXTS) {
      const [whole] = (await socket.turn({ input: say(`${text}a`), instructions: text, metadata: { a: text } })).slice(
        -1,
      );
      expect(whole).toMatchObject({
        type: "response.completed",
        response: { instructions: text, metadata: { a: text } },
      });
    }
  });
});

test("a connection is rejected like any call", async () => {
  const url = `${stack.baseUrls[0]}/v1/responses`;
  const upgrade = { connection: "upgrade", upgrade: "websocket", "sec-websocket-version": "13", "sec-websocket-key": "dGhlIHNhbXBsZSBub25jZQ==" }; // prettier-ignore
  expect((await fetch(url, { headers: upgrade })).status).toBe(401);
  expect((await fetch(url, { headers: { authorization: `Bearer ${stack.key}` } })).status).toBe(405);
});
