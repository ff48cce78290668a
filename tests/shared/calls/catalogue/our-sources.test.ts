import { describe, expect, test } from "bun:test";

import { buildCatalogue } from "#shared/calls/catalogue/build.ts";
import { loadOurLayers } from "#shared/calls/catalogue/load.ts";
import { mergeLayers } from "#shared/calls/catalogue/merge.ts";

import { BASE, build, EVERYTHING_ON } from "./build-catalogue.ts";

const catalogue = buildCatalogue(mergeLayers(await loadOurLayers()), EVERYTHING_ON);

/** Slugs of the models of a provider whose source has the trait. */
function having(provider: string, trait: string): string[] {
  return [...catalogue.models.values()]
    .filter(({ sources }) =>
      sources.some((source) => source.provider === provider && (source.traits as readonly string[])?.includes(trait)),
    )
    .map(({ slug }) => slug)
    .toSorted();
}

describe("facts of shipped sources", () => {
  test.each<[string, string, readonly string[]]>([
    // models-dev.json and openrouter-models.json agree that these do not reason.
    ["openai", "no_reasoning", ["gpt-4.1", "gpt-4.1-mini", "gpt-4o", "gpt-4o-mini", "gpt-audio"]],
    [
      "mistral",
      "no_reasoning",
      ["codestral-2508", "ministral-14b-2512", "ministral-3b-2512", "ministral-8b-2512", "mistral-large-2512"],
    ],
    ["together", "no_reasoning", ["llama-3.3-70b"]],
    ["google", "no_json_with_tools", ["gemini-2.5-flash-lite"]],
    [
      "openrouter",
      "reasoning_details_back",
      ["claude-haiku-4-5", "claude-opus-4-7", "claude-sonnet-4-6", "gemini-3.1-flash-lite"],
    ],
  ])("%s: %s", (provider, trait, slugs) => {
    expect(having(provider, trait)).toEqual([...slugs]);
  });

  test("continue an answer if their vendor documents it: Claude before 4.6, and Mistral's without reasoning", () => {
    const continuing = [...catalogue.models.values()].flatMap(({ slug, sources }) =>
      sources.filter((source) => source.continues_assistant === true).map(({ provider }) => `${provider}/${slug}`),
    );
    expect(continuing.filter((name) => !name.startsWith("sandbox/")).toSorted()).toEqual([
      "anthropic/claude-haiku-4-5",
      "anthropic/claude-opus-4-5",
      "mistral/codestral-2508",
      "mistral/ministral-14b-2512",
      "mistral/ministral-3b-2512",
      "mistral/ministral-8b-2512",
      "mistral/mistral-large-2512",
      "openrouter/claude-haiku-4-5",
    ]);
  });

  test("vendors whose queues store jobs declare for how long, and those that list them since when", () => {
    const told = [...catalogue.providers.values()].flatMap(
      ({ id, unknown_for_seconds: forS, listed_within_seconds: withinS }) =>
        forS === undefined && withinS === undefined ? [] : [[id, forS, withinS]],
    );
    expect(told).toEqual([
      ["google", 176_400, undefined],
      ["fal", 10_800, undefined],
      ["replicate", 7_200, 120],
      ["meshy", 262_800, 120],
      ["tripo", 10_800, undefined],
      ["google-cloud", 10_800, undefined],
    ]);
  });

  test("vendors in the public internet fetch images themselves; no other server receives addresses", () => {
    for (const { id, family, media } of catalogue.providers.values()) {
      expect([id, media]).toEqual([id, family === "openai-compatible" ? "pass" : undefined]);
    }
    expect(build([BASE]).providers.get("acme")).not.toHaveProperty("media");
    const told = BASE.replace("api_key_env: ACME_API_KEY", "media: pass");
    expect(build([told]).providers.get("acme")).toMatchObject({ media: "pass" });
  });
});
