/** A client that knows JSON Schema and nothing of us can offer each capability as a form. */
import rjsf from "@rjsf/core";
import validator from "@rjsf/validator-ajv8";
import { expect, test } from "bun:test";
import { type ComponentType, createElement } from "react";
import { renderToStaticMarkup } from "react-dom/server";

import { CAPABILITIES } from "#shared/calls/capabilities/list.ts";

interface FormProps {
  readonly schema: object;
  readonly formData: object;
  readonly validator: typeof validator;
}

// A package of CommonJS: its default export is a member of what is imported.
const Form = (rjsf as unknown as { readonly default?: ComponentType<FormProps> }).default ?? rjsf;

function form(schema: object, formData: object): string {
  return renderToStaticMarkup(createElement(Form as ComponentType<FormProps>, { schema, formData, validator }));
}

interface Property {
  readonly description: string;
  readonly enum?: readonly (string | number)[];
}

test.each(CAPABILITIES.map((one) => [one.id, one] as const))("%s is a form", (_id, capability) => {
  const properties = Object.entries(capability.params_schema["properties"] as Readonly<Record<string, Property>>);
  for (const { params } of capability.examples) {
    const page = form(capability.params_schema, params);
    expect(page).not.toMatch(/Un(?:supported|known) field/);
    for (const [name, { description, enum: values }] of properties) {
      expect(page).toContain(`id="root_${name}`);
      expect(page).toContain(Bun.escapeHTML(description).slice(0, 40));
      for (const value of values ?? []) expect(page).toContain(`>${value}</option>`);
    }
  }
  const inputs = Object.keys(capability.input_schema["properties"] as object);
  const page = form(capability.input_schema, capability.sample_input);
  expect(page).not.toMatch(/Un(?:supported|known) field/);
  for (const name of inputs) expect(page).toContain(`id="root_${name}`);
});
