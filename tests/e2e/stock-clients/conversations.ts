/** Conversations through the stock OpenAI SDK: kept, read, changed, and gone on from by one call at a time. */
import { beforeAll, describe, expect, test } from "bun:test";

import OpenAI from "openai";

import { callOfResponse, uuidOfConversation } from "#shared/responses/ids.ts";
import { eventually } from "#tests/faults/wait.ts";
import { createWorkspace } from "#tests/faults/bed.ts";
import type { Stack } from "#tests/support/stack.ts";
import { asNewWorkspace } from "#tests/support/tenant.ts";

import { DEEP, NAUGHTY_TEXTS } from "./hostile-bodies.ts";
import { sharedStack } from "./shared-stack.ts";

let stack: Stack;
let client: OpenAI;

beforeAll(async () => {
  stack = await sharedStack();
  client = new OpenAI({ baseURL: `${stack.baseUrls[0]}/v1`, apiKey: stack.key, maxRetries: 0 });
});

const MODEL = "sandbox-chat";
const say = (text: string, conversation: string) => ({
  model: MODEL,
  input: `Say exactly: ${text}`,
  conversation,
});
const faultOf = (work: PromiseLike<unknown>): Promise<unknown> =>
  Promise.resolve(work).catch((error: unknown) => error);
const user = (content: string) => ({ type: "message" as const, role: "user" as const, content });
const textsOf = async (id: string): Promise<string[]> => {
  const texts: string[] = [];
  for await (const item of client.conversations.items.list(id, { order: "asc", limit: 3 })) {
    if (item.type !== "message") texts.push(item.type);
    else for (const part of item.content) if ("text" in part) texts.push(part.text);
  }
  return texts;
};
const isFree = (id: string): Promise<boolean> =>
  stack
    .query("select held_by from conversation where id = $1", [uuidOfConversation(id) ?? ""])
    .then(([row]) => row?.["held_by"] === null);

describe("a conversation", () => {
  test("has metadata and items, which are added, read, paged and deleted", async () => {
    const made = await client.conversations.create({ metadata: { topic: "tea" }, items: [user("one"), user("two")] });
    expect(made).toMatchObject({ object: "conversation", metadata: { topic: "tea" } });
    expect(Math.abs(made.created_at - Date.now() / 1_000)).toBeLessThan(60);
    const added = await client.conversations.items.create(made.id, {
      items: [
        user("three"),
        { type: "function_call", call_id: "a", name: "f", arguments: "{}" },
        { type: "function_call_output", call_id: "a", output: "x" },
      ],
    });
    expect(added.data.map(({ type }) => type)).toEqual(["message", "function_call", "function_call_output"]);
    expect(await textsOf(made.id)).toEqual(["one", "two", "three", "function_call", "function_call_output"]);
    const [last] = (await client.conversations.items.list(made.id)).data;
    expect(last).toEqual(added.data[2] as never);
    const [third] = added.data;
    const one = await client.conversations.items.retrieve(third?.id ?? "", { conversation_id: made.id });
    expect(one).toMatchObject({ type: "message", role: "user", status: "completed", content: [{ type: "input_text", text: "three" }] }); // prettier-ignore
    expect(await client.conversations.items.delete(third?.id ?? "", { conversation_id: made.id })).toMatchObject({ id: made.id }); // prettier-ignore
    expect(await textsOf(made.id)).toEqual(["one", "two", "function_call", "function_call_output"]);
    expect(await client.conversations.update(made.id, { metadata: { a: "b" } })).toMatchObject({
      metadata: { a: "b" },
    });
    expect(await client.conversations.retrieve(made.id)).toEqual({ ...made, metadata: { a: "b" } });
    expect(await client.conversations.delete(made.id)).toEqual({ id: made.id, object: "conversation.deleted", deleted: true }); // prettier-ignore
    expect(await faultOf(client.conversations.retrieve(made.id))).toMatchObject({ status: 404, code: "conversation_not_found" }); // prettier-ignore
  });

  test("is not found for another workspace, nor for an unknown id", async () => {
    const { id } = await client.conversations.create({ items: [user("mine")] });
    const theirs = client.withOptions({ apiKey: (await asNewWorkspace(stack)).key });
    for (const work of [
      () => theirs.conversations.retrieve(id),
      () => theirs.conversations.update(id, { metadata: {} }),
      () => theirs.conversations.delete(id),
      () => theirs.conversations.items.list(id),
      () => theirs.conversations.items.create(id, { items: [user("x")] }),
      () => theirs.responses.create(say("x", id)),
      () => client.conversations.retrieve("conv_unknown"),
      () => client.conversations.items.retrieve("msg_unknown", { conversation_id: id }),
      () => client.conversations.items.delete("msg_unknown", { conversation_id: id }),
    ]) {
      expect(await faultOf(work())).toMatchObject({ status: 404, code: "conversation_not_found" });
    }
    expect(await textsOf(id)).toEqual(["mine"]);
  });

  test("of a member is visible to it, to owners and admins", async () => {
    const workspace = await createWorkspace(stack, { creditsNano: 10n ** 12n });
    const [own, other] = [workspace, await createWorkspace(stack, { creditsNano: 0n })];
    const mine = client.withOptions({ apiKey: own.key });
    const { id } = await mine.conversations.create({});
    // The other's key and member come over to the workspace.
    await stack.query("update member set workspace_id = $1, name = 'other' where workspace_id = $2", [
      own.id,
      other.id,
    ]);
    await stack.query("update api_key set workspace_id = $1 where id = $2", [own.id, other.keyId]);
    const theirs = client.withOptions({ apiKey: other.key });
    expect(await faultOf(theirs.conversations.retrieve(id))).toMatchObject({ status: 404 });
    await stack.query("update member set role = 'admin' where id = (select member_id from api_key where id = $1)", [other.keyId]); // prettier-ignore
    const admin = async () => (await theirs.conversations.retrieve(id).catch(() => undefined))?.id === id;
    await eventually("its new role counts", admin);
  });

  test("is stored encrypted, with large items in the object store", async () => {
    for (const text of ["secret words", "secret words ".repeat(10_000)]) {
      const { id } = await client.conversations.create({ items: [user(text)], metadata: { a: "secret words" } });
      const [row] = await stack.query<{ row: string; reference: string | null }>("select row_to_json(c)::text as row, reference from conversation c where id = $1", [uuidOfConversation(id) ?? ""]); // prettier-ignore
      expect(row?.row).not.toContain("words");
      expect(row?.reference === null).toBe(text.length < 100);
      expect(await textsOf(id)).toEqual([text]);
      await client.conversations.items.create(id, { items: [user("more")] });
      expect(await textsOf(id)).toEqual([text, "more"]);
    }
  });

  test("has limits", async () => {
    const many = Array.from({ length: 21 }, () => user("x"));
    expect(await faultOf(client.conversations.create({ items: many }))).toMatchObject({ status: 400, param: "items" });
    const wrong = { items: [user("a"), { type: "message", role: "nobody", content: "x" } as never] };
    expect(await faultOf(client.conversations.create(wrong))).toMatchObject({ status: 400, param: "items[1].role" });
    const { id } = await client.conversations.create({});
    const large = user("y".repeat(3_000_000));
    await client.conversations.items.create(id, { items: [large] });
    expect(await faultOf(client.conversations.items.create(id, { items: [large] }))).toMatchObject({ status: 400, param: "items" }); // prettier-ignore
    const call = client.responses.create({ model: MODEL, input: "y".repeat(1_500_000), conversation: id });
    expect(await faultOf(call)).toMatchObject({ status: 400, param: "conversation" });
    expect(await isFree(id)).toBe(true);
    const page = client.conversations.items.list(id, { after: "msg_unknown" });
    expect(await faultOf(page)).toMatchObject({ status: 400, param: "after" });
  });
});

describe("a hostile body", () => {
  const item = (more: string): string => `{"items":[${more}]}`;
  test.each([
    ["items of numbers", item("1,2")],
    ["items of nothing", item("null")],
    ["items of lists", item("[]")],
    ["an object as items", '{"items":{}}'],
    ["deep items", item(DEEP)],
    ["deep labels", `{"items":[],"metadata":{"a":${DEEP}}}`],
    ["a label that is a list", '{"items":[],"metadata":{"a":[]}}'],
    ["a type that is an object", item('{"type":{"toString":1}}')],
    ["a type of Object's", item('{"type":"__proto__"}')],
    ["a role of Object's", item('{"role":"constructor","content":"x"}')],
    ["content of numbers", item('{"role":"user","content":[1]}')],
    ["an id with a zero in a reference", item(String.raw`{"type":"item_reference","id":"\u0000"}`)],
    ["a result that is a number", item('{"type":"function_call_output","output":1}')],
    ["no UTF-8", Buffer.from(item('{"role":"user","content":"\xff"}'), "latin1")],
    ["half of a body", '{"items":['],
    ["a list", "[]"],
    ["nothing", "null"],
  ])("is rejected in the envelope, and stores nothing: %s", async (_name, body) => {
    const { id } = await client.conversations.create({ items: [user("mine")] });
    const headers = { authorization: `Bearer ${stack.key}`, "content-type": "application/json" };
    const before = await stack.query("select count(*) from conversation");
    for (const path of ["", `/${id}/items`]) {
      const answer = await fetch(`${stack.baseUrls[0]}/v1/conversations${path}`, { method: "POST", headers, body });
      const { error } = (await answer.json()) as { error: object };
      expect(answer.status).toBeWithin(400, 500);
      expect(Object.keys(error)).toEqual(["message", "type", "code", "param"]);
    }
    expect(await stack.query("select count(*) from conversation")).toEqual(before);
    expect(await textsOf(id)).toEqual(["mine"]);
  });

  test.each(["conv_", "conv_\u0000", "..%2F..", "%00", "conv_%F0%9F%92%A9", `conv_${"0".repeat(5_000)}`])(
    "with the id %j names no conversation",
    async (id) => {
      const answer = await fetch(`${stack.baseUrls[0]}/v1/conversations/${id}`, { headers: { authorization: `Bearer ${stack.key}` } }); // prettier-ignore
      expect(answer.status).toBeWithin(400, 500);
      expect(Object.keys(((await answer.json()) as { error: object }).error)).toContain("code");
    },
  );

  test.each(NAUGHTY_TEXTS)("with a text like any other is accepted: %j", async (text) => {
    const { id } = await client.conversations.create({ items: [user(`${text}a`)], metadata: { a: text } });
    expect(await textsOf(id)).toEqual([`${text}a`]);
    expect((await client.conversations.retrieve(id)).metadata).toEqual({ a: text });
    await client.responses.create(say("on", id));
    expect(await textsOf(id)).toEqual([`${text}a`, "Say exactly: on", "on"]);
  });
});

describe("a call of a conversation", () => {
  test.each([
    ["plain", {}],
    ["streamed", { stream: true } as const],
    ["not stored", { store: false }],
    ["in the background", { background: true }],
  ])("reads and appends: %s", async (_name, how) => {
    const { id } = await client.conversations.create({ items: [user("My name is Ada.")] });
    const create = async (text: string): Promise<void> => {
      const body = { ...say(text, id), conversation: { id }, ...how };
      if ("stream" in body) for await (const _event of await client.responses.create(body));
      else expect((await client.responses.create(body)).conversation).toEqual({ id });
      await eventually("its call has ended", () => isFree(id));
    };
    await create("one");
    await create("two");
    expect(await textsOf(id)).toEqual(["My name is Ada.", "Say exactly: one", "one", "Say exactly: two", "two"]);
    const counted = await client.responses.inputTokens.count(say("x", id));
    const alone = await client.responses.inputTokens.count({ model: MODEL, input: "Say exactly: x" });
    expect(counted.input_tokens).toBeGreaterThan((alone.input_tokens ?? 0) + 10);
    // Every item has an id of its own.
    const ids: unknown[] = [];
    for await (const item of client.conversations.items.list(id)) ids.push(item.id);
    expect(new Set(ids).size).toBe(5);
  });

  test("refers to its items", async () => {
    const { id } = await client.conversations.create({ items: [user("Say exactly: again")] });
    const [item] = (await client.conversations.items.list(id)).data;
    const input = [{ type: "item_reference" as const, id: item?.id ?? "" }];
    const response = await client.responses.create({ model: MODEL, conversation: id, input });
    expect(response.output_text).toBe("again");
  });

  test("excludes a previous response", async () => {
    const first = await client.responses.create({ model: MODEL, input: "Say exactly: a" });
    const { id } = await client.conversations.create({});
    const both = client.responses.create({ ...say("b", id), previous_response_id: first.id });
    expect(await faultOf(both)).toMatchObject({ status: 400, code: "unsupported_value", param: "conversation" });
  });

  test("locks it: another call receives an error until the first has ended", async () => {
    const { id } = await client.conversations.create({});
    const slow = { ...say("a b c d e", id), model: "sandbox-slow" };
    const first = client.responses.create(slow);
    await eventually("it is taken", async () => !(await isFree(id)));
    const second = await faultOf(client.responses.create(say("x", id)));
    expect(second).toMatchObject({ status: 409, code: "conversation_locked", param: "conversation" });
    // What is added meanwhile stands before it.
    await client.conversations.items.create(id, { items: [user("between")] });
    await first;
    await client.responses.create(say("then", id));
    expect(await textsOf(id)).toEqual(["between", "Say exactly: a b c d e", "a b c d e", "Say exactly: then", "then"]);
  });

  test.each(["refused", "failing", "left", "deleted", "cancelled"])(
    "adds nothing, and unlocks it, when it is %s",
    async (how) => {
      const { id } = await client.conversations.create({ items: [user("first")] });
      if (how === "refused") {
        const call = client.responses.create({ ...say("x", id), service_tier: "priority" });
        expect(await faultOf(call)).toMatchObject({ status: 400 });
      } else if (how === "failing") {
        for (const stream of [true, false]) {
          const call = async (): Promise<void> => {
            const answer = await client.responses.create({
              ...say("a b c d e f", id),
              model: "sandbox-truncate",
              stream,
            });
            if (Symbol.asyncIterator in answer) for await (const _event of answer);
          };
          expect(await faultOf(call())).toBeInstanceOf(OpenAI.APIError);
        }
      } else if (how === "left") {
        const stream = await client.responses.create({
          ...say("a b c d e f g h", id),
          model: "sandbox-slow",
          stream: true,
        });
        for await (const event of stream) if (event.type === "response.output_text.delta") break;
      } else {
        const { id: response } = await client.responses.create({ ...say("a b c", id), model: "sandbox-slow", background: true }); // prettier-ignore
        if (how === "deleted") await client.conversations.delete(id);
        else await client.responses.cancel(response);
        if (how === "deleted") {
          await eventually("it is answered", async () => (await client.responses.retrieve(response)).status === "completed"); // prettier-ignore
          const usage = await stack.query("select status from usage_record where job_id = $1", [callOfResponse(response) ?? ""]); // prettier-ignore
          expect(usage).toEqual([{ status: "succeeded" }]);
          return;
        }
      }
      await eventually("it is free", async () => {
        const answer = await faultOf(client.responses.create(say("next", id)));
        return !(answer instanceof OpenAI.APIError && answer.code === "conversation_locked");
      });
      expect(await textsOf(id)).toEqual(["first", "Say exactly: next", "next"]);
    },
  );
});
