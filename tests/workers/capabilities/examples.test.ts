/** Every example of every capability on its sample, and what all definitions have in common. */
import { Ajv } from "ajv";
import { beforeAll, describe, expect, test } from "bun:test";

import { CAPABILITIES, CHECKS } from "#shared/calls/capabilities/list.ts";
import { settleMediaType } from "#shared/files/media-type.ts";
import { sniffMediaType } from "#shared/media/sniff.ts";

import { hasLibreOffice, runCapability, tools } from "./in-folder.ts";
import { openElsewhere } from "./opened.ts";

// The first worker of a machine unpacks its browser, which takes a minute where all cores are busy.
beforeAll(() => tools(), 90_000);

describe.each(CAPABILITIES.map((one) => [one.id, one] as const))("%s", (id, capability) => {
  const examples = capability.examples.map(({ title, params }) => [title, params] as const);

  test("publishes schemas of draft-07 that take its sample and its examples, and describes each param", () => {
    const ajv = new Ajv({ strict: true, allowUnionTypes: true });
    ajv.addVocabulary(["x-svc-unit", "x-svc-enum-labels", "x-svc-value-sources"]);
    expect(ajv.validate(capability.input_schema, capability.sample_input)).toBe(true);
    expect(examples.length).toBeGreaterThanOrEqual(2);
    for (const [title, params] of examples)
      expect([title, ajv.validate(capability.params_schema, params)]).toEqual([title, true]);
    const properties = Object.entries(
      capability.params_schema["properties"] as Record<string, { description?: string }>,
    );
    expect(properties.filter(([, { description }]) => description === undefined)).toEqual([]);
    expect(() => CHECKS.get(id)?.({ input: {}, params: { no_such_param: 1 } })).toThrow();
    const sizes = examples.map(([, params]) => Object.keys(params).length);
    expect(sizes[0]).toBe(Math.min(...sizes));
  });

  test.skipIf(capability.engine === "libreoffice" && !hasLibreOffice).each(examples)(
    "does its example: %s",
    async (_title, params) => {
      const made = await runCapability(id, capability.sample_input as never, params);
      for (const [at, file] of (made.files ?? []).entries()) {
        const sniffed = await sniffMediaType(made.bytes(at));
        // What is zipped is told apart by what it claims.
        if (sniffed === "application/zip")
          expect(await settleMediaType(made.bytes(at), file.mediaType, file.name)).toBe(file.mediaType);
        else if (sniffed !== undefined) expect([file.name, sniffed]).toEqual([file.name, file.mediaType]);
        expect(made.bytes(at).length).toBeGreaterThan(0);
        await openElsewhere(file.mediaType, made.bytes(at), capability.engine);
      }
      expect((made.files ?? []).length + Object.keys(made.output ?? {}).length).toBeGreaterThan(0);
    },
    30_000,
  );
});
