import { expect, test } from "bun:test";
import { join } from "node:path";

import { buildCatalogue } from "#shared/calls/catalogue/build.ts";
import { readLayer } from "#shared/calls/catalogue/layer.ts";
import { loadOurLayers } from "#shared/calls/catalogue/load.ts";
import { mergeLayers } from "#shared/calls/catalogue/merge.ts";

import { EVERYTHING_ON } from "./build-catalogue.ts";

test("the example file of the operators' page has the documented effects", async () => {
  const page = await Bun.file(join(import.meta.dir, "../../../../schemas/docs/operate/catalogue.md")).text();
  const example = /```yaml\n([^]*?)```/.exec(page)?.[1] ?? "";
  const ours = await loadOurLayers();
  const before = buildCatalogue(mergeLayers(ours), EVERYTHING_ON);
  const after = buildCatalogue(mergeLayers([...ours, readLayer("catalogue.md", example)]), EVERYTHING_ON);

  expect(after.providers.get("local")).toEqual({
    id: "local",
    family: "openai-compatible",
    base_url: "http://localhost:8000/v1",
  });
  expect(after.presets.get("partner")).toEqual({
    name: "partner",
    requests_per_minute: 1000,
    daily_tokens: 50_000_000,
  });
  expect(after.models.get("qwen3-8b")).toMatchObject({
    supports_embeddings: false,
    price: { tokenRates: { input_per_million: 2_000_000_000n, output_per_million: 6_500_000_000n } },
    sources: [{ provider: "local", model: "Qwen/Qwen3-8B" }],
  });
  expect(after.models.get("gpt-4o-mini")?.pricing).toEqual({
    ...before.models.get("gpt-4o-mini")?.pricing,
    input_per_million: "18",
    output_per_million: "72",
  });
  const { price } = after.capabilities.get("image.ocr") ?? {};
  expect(price).toMatchObject({ unit: "per_operation", unitRate: 1_000_000_000n });
  expect(after.capabilities.get("web.fetch")).toEqual({ isDisabled: true });
  expect([before.models.has("gpt-4o"), after.models.has("gpt-4o")]).toEqual([true, false]);
});
