import { describe, expect, test } from "bun:test";

import { findResponse, readConversation } from "#ingress/routes/responses/history.ts";
import { viewerOf } from "#shared/access/viewer.ts";
import { readingItems } from "#ingress/routes/responses/items.ts";
import { storedItems } from "#ingress/routes/responses/stored-items.ts";
import { runWhole } from "#shared/base/time-slices.ts";
import { responseOf } from "#ingress/core/response-object.ts";
import type { ResponseItem } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { ApiError } from "#shared/base/errors.ts";
import { newId } from "#shared/base/ids.ts";
import { responseId } from "#shared/responses/ids.ts";
import type { StoredResponse } from "#shared/responses/store.ts";

const caller = { workspaceId: newId(), memberId: newId(), role: "developer" } as Caller;
const callId = newId();
const hex = callId.replaceAll("-", "");

const output: ResponseItem = {
  id: `msg_${hex}_0`,
  type: "message",
  role: "assistant",
  status: "completed",
  content: [{ type: "output_text", text: "Eight.", annotations: [], logprobs: [] }],
};
const stored: StoredResponse = {
  response: { ...responseOf({ model: "m", input: "x", instructions: "Earlier." }, callId, 1), output: [output] },
  input: storedItems(runWhole(readingItems("How many legs?")), callId),
};
const store = {
  find: (_viewer: unknown, ids: readonly string[]) =>
    Promise.resolve(new Map(ids.includes(callId) ? [[callId, stored]] : [])),
  findChain: (_viewer: unknown, id: string) => Promise.resolve(id === callId ? [stored] : ("gone" as const)),
};
const read = (body: Parameters<typeof readConversation>[2]) => readConversation(store, caller, body);
const refusal = (work: Promise<unknown>): Promise<unknown> =>
  work.then(
    () => "taken",
    (error: unknown) => (error instanceof ApiError ? [error.code, error.param] : error),
  );

describe("a conversation", () => {
  test("that continues is placed after the stored one, and stores its new items", async () => {
    const { items, own } = await read({ input: "And a crab?", previous_response_id: responseId(callId) });
    expect(items.map(({ from }) => from)).toEqual(["previous_response_id", "previous_response_id", "input[0]"]);
    expect(items[1]?.item).toMatchObject({ role: "assistant", content: [{ text: "Eight." }] });
    expect(own).toEqual([{ type: "message", role: "user", content: "And a crab?" }]);
  });

  test("resolves references, to output and to input", async () => {
    const [question] = stored.input;
    const input = [
      { type: "item_reference", id: question?.id },
      { type: "item_reference", id: output.id },
    ];
    const { items, own } = await read({ input });
    expect(items.map(({ item, from }) => [from, item.id])).toEqual([
      ["input[0]", question?.id],
      ["input[1]", output.id],
    ]);
    expect(own).toEqual(items.map(({ item }) => item));
  });

  test("contains only the items of a response itself, and none of another response under their ids", async () => {
    const another = newId();
    const forged = { ...output, content: [{ type: "output_text" as const, text: "Nine.", annotations: [], logprobs: [] }] }; // prettier-ignore
    const own = { type: "message" as const, role: "user" as const, id: `msg_${another.replaceAll("-", "")}_i1`, content: "b" }; // prettier-ignore
    const two = new Map([
      [callId, stored],
      [another, { ...stored, response: { ...stored.response, output: [] }, input: [forged, own] }],
    ]);
    const both = { ...store, find: () => Promise.resolve(two) };
    const input = [output.id, own.id].map((id) => ({ type: "item_reference", id }));
    const { items } = await readConversation(both, caller, { input });
    expect(items.map(({ item }) => item)).toMatchObject([{ content: [{ text: "Eight." }] }, { content: "b" }]);
  });

  test.each<[string, Parameters<typeof readConversation>[2], unknown]>([
    ["an unknown response", { input: "x", previous_response_id: responseId(newId()) }, ["previous_response_not_found", "previous_response_id"]], // prettier-ignore
    ["no response", { input: "x", previous_response_id: "nothing" }, ["previous_response_not_found", "previous_response_id"]], // prettier-ignore
    ["an unknown item", { input: [{ type: "item_reference", id: `msg_${hex}_7` }] }, ["response_not_found", "input[0].id"]], // prettier-ignore
    ["an item of nobody", { input: [{ type: "item_reference", id: "msg_1" }] }, ["response_not_found", "input[0].id"]],
  ])("of %s is rejected", async (_name, body, expected) => {
    expect(await refusal(read(body))).toEqual(expected);
  });

  test("above the limits, or unreadable, is rejected", async () => {
    const asked = { input: "x", previous_response_id: responseId(callId) };
    const long = { ...store, findChain: () => Promise.resolve("long" as const) };
    expect(await refusal(readConversation(long, caller, asked))).toEqual(["invalid_request", "previous_response_id"]);
    const away = { ...store, findChain: () => Promise.reject(new Error("away")) };
    expect(await refusal(readConversation(away, caller, asked))).toEqual(["service_unavailable", null]);
    const many = Array.from({ length: 501 }, () => ({
      type: "item_reference",
      id: `msg_${newId().replaceAll("-", "")}_0`,
    }));
    expect(await refusal(read({ input: many }))).toEqual(["invalid_request", "input"]);
    const item = { ...output, content: [{ type: "output_text" as const, text: "x".repeat(1_048_000), annotations: [], logprobs: [] }] }; // prettier-ignore
    const large = { ...store, find: () => Promise.resolve(new Map([[callId, { ...stored, response: { ...stored.response, output: [item] } }]])) }; // prettier-ignore
    const refer = (times: number) => readConversation(large, caller, { input: Array.from({ length: times }, () => ({ type: "item_reference", id: output.id })) }); // prettier-ignore
    expect((await refer(4)).own).toHaveLength(4);
    expect(await refusal(refer(5))).toEqual(["invalid_request", "input[4].id"]);
    const refusing = { ...store, find: () => Promise.reject(new ApiError("invalid_request", "Too large.", { param: "input" })) }; // prettier-ignore
    const reference = { input: [{ type: "item_reference", id: output.id }] };
    expect(await refusal(readConversation(refusing, caller, reference))).toEqual(["invalid_request", "input"]);
    expect(await refusal(findResponse(store, caller, "resp_1"))).toEqual(["response_not_found", null]);
  });
});

test("owners and admins can read every response, others their own", () => {
  const seesAll = (role: Caller["role"]): boolean => viewerOf({ ...caller, role }).seesAll;
  expect([seesAll("owner"), seesAll("admin"), seesAll("developer"), seesAll("billing")]).toEqual([true, true, false, false]); // prettier-ignore
});

test("items are stored with ids and in parts, and existing ids are kept", () => {
  const call = { type: "function_call", id: "fc_own", call_id: "a", name: "f", arguments: "{}" };
  const items = runWhole(
    readingItems([
      { role: "assistant", content: "a" },
      call,
      { type: "function_call_output", call_id: "a", output: "b" },
    ]),
  );
  expect(storedItems(items, callId) as unknown[]).toEqual([
    {
      type: "message",
      id: `msg_${hex}_i0`,
      role: "assistant",
      status: "completed",
      content: [{ type: "output_text", text: "a", annotations: [], logprobs: [] }],
    },
    { ...call, status: "completed" },
    { type: "function_call_output", id: `fco_${hex}_i2`, call_id: "a", output: "b", status: "completed" },
  ]);
});
