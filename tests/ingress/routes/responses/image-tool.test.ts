/** Bounds of the images that one response holds. */
import { expect, test } from "bun:test";

import type { ResponsesImageTool } from "#schemas/generated/types.ts";
import { ApiError } from "#shared/base/errors.ts";
import { readImageTool } from "#ingress/routes/responses/image-tool.ts";
import { openApiClient } from "#ingress/tools/api-client.ts";
import { fakeContext } from "#tests/ingress/fake-context.ts";
import { BASE, build } from "#tests/shared/calls/catalogue/build-catalogue.ts";
import { routeCall } from "#tests/ingress/route-call.ts";

const image = (slug: string, price: string): string => `
  - slug: ${slug}
    modality: image
    owned_by: acme
    created: 1700000000
    pricing: { unit: per_image, image_price: "${price}" }
    price_source: { source: a price list, date: "2026-07-02" }
    allowed_params: { supported_inputs: [text] }
    sources: [{ provider: play, model: sandbox-image }]
`;
const catalogueOf = (...models: string[]) => build([`${BASE}${models.join("")}`]);
const TOOL: ResponsesImageTool = { type: "image_generation" };

async function make(tool: ResponsesImageTool, models: readonly string[], bytes: bigint) {
  const fakes = fakeContext();
  const asked: { readonly model: string; readonly prompt: string }[] = [];
  fakes.context.routes.set("createImage", {
    operationId: "createImage",
    method: "POST",
    path: "/x",
    summary: "",
    tags: [],
    auth: "key",
    responses: {},
    errors: [],
    handle: async ({ request }) => {
      asked.push((await request.json()) as (typeof asked)[number]);
      const data = [{ url: "http://sluice/x", file_id: "file-1", content_type: "image/png" }];
      return Response.json({ created: 1, data }, { headers: { "x-credits-used": "2" } });
    },
  });
  const query = () => Promise.resolve([{ bytes, block_bytes: 1, block_sha256: new Uint8Array() }]);
  const context = { ...fakes.context, database: { query } as unknown as typeof fakes.context.database };
  const api = openApiClient(context, routeCall({ caller: fakes.caller }));
  const made = readImageTool(catalogueOf(...models), {}, tool, "tools[0]");
  const outcome = await made.run(
    api,
    { prompt: "a boat", model: "dear" },
    { clientSignal: new AbortController().signal },
  );
  fakes.close();
  return { outcome, asked, logged: fakes.logged };
}

test("the cheapest model is used, for any arguments, then the first by its slug", async () => {
  const models = [image("dear", "3"), image("cheap-b", "1"), image("cheap-a", "1")];
  expect((await make(TOOL, models, 1n)).asked).toEqual([{ model: "cheap-a", prompt: "a boat" }]);
  expect((await make({ ...TOOL, model: "dear" }, models, 1n)).asked).toEqual([{ model: "dear", prompt: "a boat" }]);
});

test("an image above the size limit of a response is returned by its file only, and is not read", async () => {
  const { outcome, logged } = await make(TOOL, [image("a", "1")], 9n * 1_048_576n);
  expect(outcome).toMatchObject({
    status: "completed",
    nano: 2_000_000_000n,
    itemFields: { file_id: "file-1", result: null },
  });
  expect(logged).toEqual([]);
});

test("a generated image that cannot be read is returned by its file, and the cause is logged", async () => {
  const { outcome, logged } = await make(TOOL, [image("a", "1")], 10n);
  expect(outcome).toMatchObject({
    status: "completed",
    nano: 2_000_000_000n,
    itemFields: { file_id: "file-1", result: null },
  });
  expect(logged).toHaveLength(1);
});

test.each([
  ["there is no image model", TOOL, [], "tools[0].model", "This service has no image model"],
  [
    "the only one refuses a member",
    { ...TOOL, size: "1x1" },
    [image("a", "1")],
    "tools[0].size",
    "does not support size",
  ],
  ["all refuse it", { ...TOOL, size: "1x1" }, [image("a", "1"), image("b", "1")], "tools[0].model", "No image model"],
] as const)("an image call is rejected if %s", (_when, tool, models, param, words) => {
  const read = () => readImageTool(catalogueOf(...models), {}, tool, "tools[0]");
  expect(read).toThrow(ApiError);
  expect(read).toThrow(words);
  try {
    read();
  } catch (error) {
    expect(error).toMatchObject({ param });
  }
});
