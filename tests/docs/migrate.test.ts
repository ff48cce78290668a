/** YAML on the pages about migration: catalogue files are valid, and the example of LiteLLM imports as its page says. */
import { describe, expect, test } from "bun:test";

import { importLiteLlm } from "#deploy/admin/import-litellm.ts";
import { catalogueOf, loadOurLayers } from "#shared/calls/catalogue/load.ts";

import { type Block, readPage } from "./page.ts";

const OURS = await loadOurLayers();
const SET = { sandbox: false, providerKey: () => "set" };
const yamlOf = (page: string): readonly Block[] => readPage(page).blocks.filter(({ language }) => language === "yaml");

describe.each(["openrouter", "portkey"])("the page on %s", (name) => {
  const blocks = yamlOf(`migrate/${name}.md`);
  test("has catalogue files that the service accepts", () => {
    expect(blocks).toHaveLength(1);
    for (const { text } of blocks) {
      const { models } = catalogueOf(OURS, [{ name: "page.yaml", text }], SET);
      const [, slug = ""] = /slug: (\S+)/.exec(text) ?? [];
      expect(models.get(slug)?.sources.some(({ provider }) => provider === "openrouter")).toBe(true);
    }
  });
});

describe("the page on LiteLLM", () => {
  const [block] = yamlOf("migrate/litellm.md");
  const { body } = readPage("migrate/litellm.md");
  const imported = importLiteLlm({ file: "config.yaml", text: block?.text ?? "", ours: OURS, date: "2026-11-29" });

  test("states the result of its example", () => {
    expect(body).toContain("The import makes `gpt-4o`, `local-qwen` and the alias `default`.");
    expect(imported.models).toEqual(["gpt-4o", "local-qwen", "default"]);
    expect(body).toContain("It reports two settings, and prints the command for the fallback chain:");
    expect(body).toContain("- `azure-gpt` is not imported: its `api_base` does not end in `/openai/v1`.");
    expect(body).toContain("- `rpm` is imported as the `weight` of a source only.");
    expect(imported.notes.map(({ place }) => place)).toEqual([
      "model_list[0].litellm_params.rpm",
      "model_list[2].litellm_params.model",
    ]);
    expect(imported.chains).toEqual([{ model: "local-qwen", fallbacks: ["gpt-4o"] }]);
    const { models } = catalogueOf(OURS, [{ name: "page.yaml", text: imported.yaml }], SET);
    expect(models.get("default")?.pricing).toMatchObject({ input_per_million: "2", output_per_million: "6.5" });
  });

  test("has a price that makes an imported model callable", () => {
    const text = (block?.text ?? "").replaceAll(/^ +(?:in|out)put_cost_per_token: .*\n/gm, "");
    const { yaml } = importLiteLlm({ file: "config.yaml", text, ours: OURS, date: "2026-11-29" });
    const priced = yamlOf("migrate/litellm.md")[1]?.text ?? "";
    const [without, withPrice] = [[], [{ name: "prices.yaml", text: priced }]].map((more) =>
      catalogueOf(OURS, [{ name: "page.yaml", text: yaml }, ...more], SET),
    );
    expect(without?.unroutable.get("local-qwen")).toBe("it has no price");
    expect(withPrice?.models.get("local-qwen")?.pricing).toMatchObject({ input_per_million: "2" });
  });

  test("states the result of a shipped model and of the cache", () => {
    const [source] =
      catalogueOf(OURS, [{ name: "page.yaml", text: imported.yaml }], SET).models.get("gpt-4o")?.sources ?? [];
    expect(source?.traits).toEqual(["no_reasoning"]);
    expect(imported.yaml).toContain("no_reasoning");
    const ttlOf = (settings: string): number | undefined => {
      const text = `${block?.text.split("router_settings")[0]}litellm_settings: ${settings}\n`;
      const { yaml } = importLiteLlm({ file: "config.yaml", text, ours: OURS, date: "2026-11-29" });
      return catalogueOf(OURS, [{ name: "page.yaml", text: yaml }], SET).models.get("gpt-4o")?.cache_ttl_s;
    };
    expect(ttlOf("{ cache: true }")).toBe(60);
    expect(body).toContain("or 60 seconds without it");
    expect(ttlOf("{ cache: true, cache_params: { ttl: 600 } }")).toBe(600);
    expect(ttlOf("{ cache: true, cache_params: { mode: default_off } }")).toBeUndefined();
    expect(ttlOf("{ cache: true, cache_params: { type: redis-semantic } }")).toBeUndefined();
  });

  test("names the counterparts of every prefix that ships", () => {
    const prefixes = Array.from(body.matchAll(/`(?:model: )?([a-z_]+)\/…`/g), ([, prefix = ""]) => prefix);
    for (const prefix of ["openai", "anthropic", "gemini", "groq", "together_ai", "bedrock"])
      expect(prefixes).toContain(prefix);
    const text = `model_list:\n${prefixes.map((prefix) => `  - { model_name: ${prefix}, litellm_params: { model: ${prefix}/x, api_base: "https://host.example/v1" } }\n`).join("")}`;
    const { models } = importLiteLlm({ file: "config.yaml", text, ours: OURS, date: "2026-11-29" });
    const refused = prefixes.filter((prefix) => !models.includes(prefix));
    expect(refused).toEqual(
      ["azure", "azure", "bedrock", "sagemaker", "vertex_ai"].filter((prefix) => prefixes.includes(prefix)),
    );
  });
});
