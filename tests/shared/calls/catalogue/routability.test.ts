import { describe, expect, test } from "bun:test";

import { buildCatalogue } from "#shared/calls/catalogue/build.ts";
import { type Layer, readLayer } from "#shared/calls/catalogue/layer.ts";
import { loadOurLayers } from "#shared/calls/catalogue/load.ts";
import { mergeLayers } from "#shared/calls/catalogue/merge.ts";
import { findModel } from "#shared/calls/kinds/models.ts";
import type { Surroundings } from "#shared/calls/model.ts";

import { BASE, build, chatModel, EVERYTHING_ON } from "./build-catalogue.ts";

const keys = (...variables: readonly string[]): Surroundings => ({
  sandbox: false,
  providerKey: (variable) => (variables.includes(variable) ? "key" : undefined),
});

describe("callable models", () => {
  test("keep the sources in the order of the file", () => {
    expect(
      build([BASE])
        .models.get("one")
        ?.sources.map((source) => source.provider),
    ).toEqual(["acme", "play"]);
  });

  test("skip a source whose provider has no key", () => {
    const model = build([BASE], { sandbox: true, providerKey: () => undefined }).models.get("one");
    expect(model?.sources).toEqual([{ provider: "play", model: "sandbox-chat" }]);
  });

  test("skip a source of the sandbox if the sandbox is off", () => {
    expect(build([BASE], keys("ACME_API_KEY")).models.get("one")?.sources).toEqual([
      { provider: "acme", model: "acme-one" },
    ]);
  });

  test("skip a source of a disabled provider", () => {
    const catalogue = build([BASE, "providers: [{ id: acme, disabled: true }]\n"]);
    expect(catalogue.models.get("one")?.sources).toEqual([{ provider: "play", model: "sandbox-chat" }]);
    expect(catalogue.providers.has("acme")).toBeFalse();
  });

  test("need no key for a provider that names no variable", () => {
    const text = BASE.replace("    api_key_env: ACME_API_KEY\n", "");
    expect(build([text], keys()).models.get("one")?.sources).toHaveLength(1);
  });

  test("exclude a model without any callable source, with the reasons", () => {
    const catalogue = build([BASE], keys());
    expect(catalogue.models.size).toBe(0);
    expect(catalogue.unroutable.get("one")).toBe(
      "no source of it can be called: ACME_API_KEY is not set; the sandbox is off",
    );
    const disabled = build([BASE, "providers: [{ id: acme, disabled: true }]\n"], keys("ACME_API_KEY"));
    expect(disabled.unroutable.get("one")).toContain("provider acme is disabled");
  });

  test("exclude a model without its key, naming the variable of a shipped provider if the sandbox is on", async () => {
    const ours = await loadOurLayers();
    const own = readLayer("own.yaml", `${BASE}${chatModel("two", "{ provider: acme, model: a }")}`);
    const refusalOf = (surroundings: Surroundings, slug: string, layers: readonly Layer[] = []): unknown => {
      try {
        return findModel(buildCatalogue(mergeLayers([...ours, own, ...layers]), surroundings), {}, slug).slug;
      } catch (error) {
        return error;
      }
    };
    const here = { ...keys(), sandbox: true };
    expect(refusalOf(here, "gpt-4o")).toMatchObject({
      code: "model_unavailable",
      param: "model",
      message:
        "The model gpt-4o is not set up: set OPENAI_API_KEY where the service starts, or use a model that GET /v1/models lists.",
    });
    const silent = { code: "model_unavailable", message: expect.not.stringContaining("_API_KEY") as string };
    // In production, of an operator's provider, of a provider that an operator changed or disabled.
    expect(refusalOf(keys(), "gpt-4o")).toMatchObject(silent);
    expect(refusalOf(here, "two")).toMatchObject(silent);
    for (const change of ["api_key_env: SECRET_VENDOR_API_KEY", "disabled: true"]) {
      const changed = readLayer("changed.yaml", `providers: [{ id: openai, ${change} }]`);
      expect(refusalOf(here, "gpt-4o", [changed])).toMatchObject(silent);
    }
    expect(refusalOf({ ...keys("OPENAI_API_KEY"), sandbox: true }, "gpt-4o")).toBe("gpt-4o");
  });

  test("exclude a model without a price, for any sources", () => {
    const text = BASE.replace(/ {4}pricing:\n( {6}.*\n)+/, "");
    const catalogue = build([text]);
    expect(catalogue.models.size).toBe(0);
    expect(catalogue.unroutable.get("one")).toBe("it has no price");
  });

  test("include a model with a price of 0", () => {
    const text = BASE.replace('"25"', '"0"').replace('"100"', '"0"');
    expect(build([text]).models.get("one")?.price.tokenRates.output_per_million).toBe(0n);
  });
});

describe("the catalogue", () => {
  test("cannot be changed", () => {
    const catalogue = build([BASE]);
    const model = catalogue.models.get("one");
    const parts = [
      catalogue,
      model,
      model?.sources,
      model?.sources[0],
      model?.allowed_params,
      model?.allowed_params.default_params,
    ];
    expect(parts.map((part) => Object.isFrozen(part))).toEqual(parts.map(() => true));
    expect(() => Object.assign(model ?? {}, { max_output_tokens: 1 })).toThrow(TypeError);
  });

  test("has a version that depends on its content only", () => {
    const { version } = build([BASE]);
    expect(version).toMatch(/^[0-9a-f]{12}$/);
    expect(build([`# a comment\n${BASE}`, ""]).version).toBe(version);
    expect(build([BASE.replace('"2.5"', '"2.6"')]).version).not.toBe(version);
    expect(build([BASE], { ...EVERYTHING_ON, sandbox: false }).version).not.toBe(version);
    expect(build([BASE], keys()).version).not.toBe(version);
  });

  test("states that chat models accept text if the file omits it", () => {
    const text = BASE.replace(/ {4}allowed_params: .*\n/, "");
    expect(build([text]).models.get("one")?.allowed_params).toEqual({ supported_inputs: ["text"] });
  });
});
