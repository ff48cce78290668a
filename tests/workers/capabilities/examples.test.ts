/** One example of every capability on its sample, and the rules that every definition keeps. */
import { Ajv } from "ajv";
import { beforeAll, expect, test } from "bun:test";

import { CAPABILITIES, CHECKS } from "#shared/calls/capabilities/list.ts";

import { testExamples } from "./examples.ts";
import { tools } from "./in-folder.ts";

// The first worker of a machine unpacks its browser, which takes a minute where all cores are busy.
beforeAll(() => tools(), 90_000);

/** One for all schemas: each new instance compiles the schema of schemas again. */
const ajv = new Ajv({ strict: true, allowUnionTypes: true });
ajv.addVocabulary(["x-svc-unit", "x-svc-enum-labels", "x-svc-value-sources"]);

test.each(CAPABILITIES.map((one) => [one.id, one] as const))(
  "%s publishes schemas of draft-07 that accept its sample and its examples, and describes each param",
  (id, capability) => {
    const { examples } = capability;
    expect(ajv.validate(capability.input_schema, capability.sample_input)).toBe(true);
    expect(examples.length).toBeGreaterThanOrEqual(2);
    const isValid = ajv.compile(capability.params_schema);
    for (const { title, params } of examples) expect([title, isValid(params)]).toEqual([title, true]);
    const properties = Object.entries(
      capability.params_schema["properties"] as Record<string, { description?: string }>,
    );
    expect(properties.filter(([, { description }]) => description === undefined)).toEqual([]);
    expect(() => CHECKS.get(id)?.({ input: {}, params: { no_such_param: 1 } })).toThrow();
    const sizes = examples.map(({ params }) => Object.keys(params).length);
    expect(sizes[0]).toBe(Math.min(...sizes));
  },
);

testExamples("gate");
