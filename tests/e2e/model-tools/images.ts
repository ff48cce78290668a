/** Responses whose model makes images. */
import { beforeAll, describe, expect, test } from "bun:test";

import OpenAI from "openai";

import type { ModelResponse, ResponseImageCall } from "#schemas/generated/types.ts";
import { parse } from "#shared/json/contracts.ts";
import type { Tenant } from "#tests/support/tenant.ts";
import { readStream } from "#tests/workers/calls/chat/responses-stream-grammar.ts";

import { askTwiceOverSocket, MODEL, newTenant, post, REGEX, spentOf, USE_REGEX } from "./bench.ts";

let tenant: Tenant;
let client: OpenAI;
beforeAll(async () => {
  tenant = await newTenant();
  client = new OpenAI({ baseURL: `${tenant.baseUrls[0]}/v1`, apiKey: tenant.key, maxRetries: 0 });
}, 240_000);

const IMAGE = { type: "image_generation", model: "sandbox-image", size: "256x256" } as const;
/** The sandbox calls what a prompt names, with what stands in quotes. */
const DRAW = 'Use image_generation with the prompt "a red boat".';
const PNG = /^iVBORw0KGgo/;

const ask = (body: object): Promise<Response> =>
  post(tenant, "/v1/responses", { model: MODEL, input: DRAW, tools: [IMAGE], ...body });
const responseOf = async (body: object = {}): Promise<ModelResponse> =>
  parse("ModelResponse", await (await ask(body)).json());
const imagesOf = ({ output }: ModelResponse): readonly ResponseImageCall[] =>
  output.flatMap((item) => (item.type === "image_generation_call" ? [item] : []));
const get = (path: string): Promise<Response> =>
  fetch(`${tenant.baseUrls[0]}${path}`, { headers: { authorization: `Bearer ${tenant.key}` } });

describe("a stock client", () => {
  test("gets the image in base64, and pays the recorded costs of the turns and the image", async () => {
    const before = await spentOf(tenant);
    const { data, response } = await client.responses
      .create({ model: MODEL, input: DRAW, tools: [IMAGE] })
      .withResponse();
    const [image, message] = data.output;
    expect(image).toMatchObject({ type: "image_generation_call", status: "completed", revised_prompt: "a red boat" });
    expect(image?.type === "image_generation_call" && image.result).toMatch(PNG);
    expect(message?.type).toBe("message");
    const [made] = imagesOf(data as unknown as ModelResponse);
    expect(made).toMatchObject({ model: "sandbox-image", output_format: "png", size: "256x256", credits_used: 2 });
    const after = await spentOf(tenant);
    const records = after.ids.filter((id) => !before.ids.includes(id));
    expect(records).toHaveLength(3);
    expect(records).toContain(made?.request_id ?? "");
    const used = (after.nano - before.nano) / 1e9;
    expect(Number(response.headers.get("x-credits-used"))).toBeCloseTo(used, 9);
    const content = await get(`/v1/files/${made?.file_id}/content`);
    expect(Buffer.from(await content.arrayBuffer()).toString("base64")).toBe(made?.result ?? "");
  }, 60_000);

  test("receives the events in order: requested, generating, done", async () => {
    const stream = client.responses.stream({ model: MODEL, input: DRAW, tools: [IMAGE] });
    const types: string[] = [];
    for await (const { type } of stream) if (/image|item/.test(type)) types.push(type.replace("response.", ""));
    expect(types).toEqual([
      "output_item.added",
      "image_generation_call.in_progress",
      "image_generation_call.generating",
      "image_generation_call.completed",
      "output_item.done",
      "output_item.added",
      "output_item.done",
    ]);
    const { output } = await stream.finalResponse();
    expect(output[0]?.type === "image_generation_call" && output[0].result).toMatch(PNG);
  }, 60_000);

  test("continues from it", async () => {
    const first = await client.responses.create({ model: MODEL, input: DRAW, tools: [IMAGE] });
    const next = await client.responses.create({
      model: MODEL,
      input: "Say exactly: thanks",
      previous_response_id: first.id,
    });
    expect(next.output_text).toBe("thanks");
    const input = [{ role: "user", content: DRAW } as const, ...first.output.slice(0, 1)];
    const again = await client.responses.create({
      model: MODEL,
      input: input as OpenAI.Responses.ResponseInput,
      store: false,
    });
    expect(again.output_text).toContain("image_generation returned");
  }, 60_000);
});

test("the stream follows the grammar of every Responses stream", async () => {
  const { response, events } = readStream(await (await ask({ stream: true })).text());
  expect(imagesOf(response)[0]?.result).toMatch(PNG);
  expect(events.some(({ type }) => /function_call/.test(type))).toBe(false);
}, 60_000);

test("the stored response contains the file in place of the bytes, and later turns use it", async () => {
  const first = await responseOf();
  const [image] = imagesOf(first);
  const stored = parse("ModelResponse", await (await get(`/v1/responses/${first.id}`)).json());
  expect(imagesOf(stored)).toEqual([{ ...(image as ResponseImageCall), result: null }]);
  const input = [
    { role: "user", content: "Hi" },
    { type: "item_reference", id: image?.id },
    { role: "user", content: "Say exactly: yes" },
  ];
  const next = await responseOf({ input, tools: [] });
  expect(next.usage?.input_tokens).toBeGreaterThan(50);
  const listed = (await (await get(`/v1/responses/${next.id}/input_items?order=asc`)).json()) as { data: object[] };
  expect(listed.data[1]).toMatchObject({ type: "image_generation_call", file_id: image?.file_id, result: null });
  const sent = [
    { role: "user", content: "Hi" },
    { ...image, result: "A".repeat(2_000_000) },
    { role: "user", content: "Say exactly: yes" },
  ];
  expect((await responseOf({ input: sent })).status).toBe("completed");
  const compacted = await post(tenant, "/v1/responses/compact", { model: MODEL, previous_response_id: first.id });
  expect(compacted.status).toBe(200);
}, 60_000);

test("an item of another service is read by its text", async () => {
  const foreign = { type: "image_generation_call", id: "ig_abc", status: "completed", result: "AAAA" };
  const input = [{ role: "user", content: "Hi" }, foreign, { role: "user", content: "Say exactly: yes" }];
  expect((await responseOf({ input, tools: [] })).status).toBe("completed");
}, 60_000);

test("a forced choice of the tool generates an image in any case", async () => {
  for (const tool_choice of [
    { type: "image_generation" },
    { type: "allowed_tools", mode: "required", tools: [{ type: "image_generation" }] },
  ]) {
    const response = await responseOf({ input: "Hello there", tool_choice });
    expect(imagesOf(response)).toMatchObject([{ status: "completed" }]);
    expect(response.tool_choice).toEqual(tool_choice as ModelResponse["tool_choice"]);
  }
}, 60_000);

test("without a choice, the cheapest image model is used, and the model chooses the size", async () => {
  const cheapest = await responseOf({ tools: [{ type: "image_generation", moderation: "auto", size: "auto" }] });
  expect(imagesOf(cheapest)).toMatchObject([{ model: "sandbox-image-megapixels", credits_used: 1 }]);
  // One credit more, and the first by its slug of those that take a size.
  const sized = await responseOf({ tools: [{ type: "image_generation", size: "1792x1024", quality: "low" }] });
  expect(imagesOf(sized)).toMatchObject([{ model: "sandbox-image", size: "1792x1024", credits_used: 2 }]);
  const input = `${DRAW} Make its size 512x512.`;
  const chosen = await responseOf({ input, tools: [{ type: "image_generation", model: "sandbox-image" }] });
  expect(imagesOf(chosen)[0]?.arguments).toContain("512x512");
  expect(imagesOf(chosen)[0]?.size).toBe("512x512");
}, 60_000);

test("works beside tools of type sluice", async () => {
  const { output } = await responseOf({ tools: [REGEX, IMAGE], input: `${USE_REGEX} Then use image_generation.` });
  const types = new Set(output.map(({ type }) => type));
  expect([...types].toSorted()).toEqual(["image_generation_call", "message", "sluice_call"]);
}, 60_000);

test("an error of the route is returned to the model, costs nothing, and is a failed item", async () => {
  const before = await spentOf(tenant);
  const tools = [{ ...IMAGE, model: "sandbox-image-refuse" }];
  const { response, events } = readStream(await (await ask({ tools, stream: true })).text());
  expect(imagesOf(response)).toMatchObject([
    {
      status: "failed",
      result: null,
      file_id: null,
      credits_used: 0,
      error: { code: expect.any(String), param: null },
    },
  ]);
  expect(events.some(({ type }) => type === "response.image_generation_call.completed")).toBe(false);
  expect(response.status).toBe("completed");
  const after = await spentOf(tenant);
  expect((after.nano - before.nano) / 1e9).toBeCloseTo(response.sluice?.credits_used ?? -1, 9);
}, 60_000);

test.each([
  [{ ...IMAGE, partial_images: 2 }, "tools[0].partial_images"],
  [{ ...IMAGE, input_image_mask: { file_id: "file-x" } }, "tools[0].input_image_mask"],
  [{ ...IMAGE, action: "edit" }, "tools[0].action"],
  [{ ...IMAGE, output_format: "gif" }, "tools[0].output_format"],
  [{ ...IMAGE, size: "1x1" }, "tools[0].size"],
  [{ type: "image_generation", size: "1x1" }, "tools[0].model"],
  [{ ...IMAGE, model: "no-such-model" }, "tools[0].model"],
  [{ ...IMAGE, model: MODEL }, "tools[0].model"],
])("rejects %j before the model is called", async (tool, param) => {
  const answer = await ask({ tools: [tool] });
  expect(answer.status).toBeGreaterThanOrEqual(400);
  expect(await answer.json()).toMatchObject({ error: { param } });
});

test.each([
  [{ background: true }, "background"],
  [{ conversation: "conv_00000000000000000000000000000000" }, "conversation"],
  [{ tools: [IMAGE, IMAGE] }, "tools[1].type"],
  [{ tools: [{ type: "function", name: "image_generation" }, IMAGE] }, "tools[0]"],
  [{ tools: [], tool_choice: { type: "image_generation" } }, "tool_choice"],
])("rejects %j", async (body, param) => {
  const answer = await ask(body);
  expect(answer.status).toBe(400);
  expect(await answer.json()).toMatchObject({ error: { code: "unsupported_value", param } });
});

test("continues over a WebSocket from an image that only the connection has", async () => {
  const responses = await askTwiceOverSocket(
    tenant,
    { tools: [IMAGE], input: DRAW },
    { tools: [IMAGE], input: "Say exactly: thanks" },
  );
  expect(responses.map((one) => imagesOf(one).length)).toEqual([1, 0]);
}, 60_000);
