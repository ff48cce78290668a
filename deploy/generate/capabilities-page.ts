/** The page about capabilities: inputs, parameters, price and examples of each. The suite runs the examples. */
import type { Capability, Schema } from "#shared/calls/capabilities/entry.ts";
import { CATEGORIES } from "#shared/calls/capabilities/entry.ts";

const HEAD = `---
title: Capabilities
section: Reference
order: 30
summary: The tools for video, audio, images, documents, code, data and the web, each with inputs, parameters, price and examples.
---
\`POST /v1/capabilities/{id}/run\` runs a capability. \`GET /v1/tools\` lists the capabilities of an installation with complete JSON Schemas.
\`npm run generate\` writes this page from the definitions in \`workers/capabilities\`. The test suite runs every example on the sample file that it names.

## Inputs, parameters and prices

- **Files:** a file in \`input\` is one of \`{"file_id"}\`, \`{"url"}\` and \`{"base64", "mime_type"}\`. Inputs that accept text also accept \`{"text"}\`.
- **Parameters:** a parameter in **bold** is required. \`=\` shows the default of an optional parameter.
- **Notes:** \`output.notes\` lists, in sentences, what a result leaves out.
- **Prices** are in credits (1 credit is 0.01 USD). The operator's catalogue can change them.
- **Failed runs are free.** A run that fails, is rejected or is cancelled costs nothing.

## Charset of text

The service detects the charset of a text in this order:

1. the byte order mark,
2. the charset in \`mime_type\` or in the \`content-type\` of the server,
3. UTF-8, if the bytes are valid UTF-8,
4. the declaration in the head of an HTML or XML document,
5. windows-1252.

The output contains the charset in \`charset\` if it is not UTF-8. If several inputs accept text, \`charsets\` contains the charset of each input by name.

## Fair use

A worker runs at most as many capabilities of a workspace at the same time as it has cores; further runs wait in a queue. The time of runs without
a result is counted. After more than ten seconds of such time, the runs of the workspace run one at a time and after the runs of other workspaces.
This ends when as much time has passed, and after five minutes at most.

## Reading the schemas

The schemas of \`GET /v1/tools\` are JSON Schema draft-07 with three annotations, which restrict nothing:

| Annotation | Content |
|---|---|
| \`x-svc-unit\` | Unit of a number |
| \`x-svc-enum-labels\` | Labels of the values of an enum |
| \`x-svc-value-sources\` | Properties of which at most one may be sent |

Ajv rejects unknown keywords, so add the annotations to its vocabulary:

\`\`\`js
import { Ajv } from "ajv";

const ajv = new Ajv({ strictSchema: false });
ajv.addVocabulary(["x-svc-unit", "x-svc-enum-labels", "x-svc-value-sources"]);
const validate = ajv.compile(tool.params_schema);
\`\`\`

\`strictSchema: false\` is needed for defaults within the steps of pipelines, which Ajv does not fill in; \`strict: false\` alone covers both. Rules
between several parameters, such as "\`width\` or \`height\`", are not in the schemas. A run that breaks such a rule receives 400.
`;

export function capabilitiesPage(all: readonly Capability[]): string {
  const parts = CATEGORIES.flatMap((category) => {
    const own = all.filter((one) => one.category === category);
    return own.length === 0 ? [] : [`## ${category}\n`, ...own.map(entryOf)];
  });
  return [HEAD, ...parts].join("\n");
}

function entryOf(capability: Capability): string {
  const { id, description, input_schema, params_schema, output_modality, examples, sample_input, pricing } = capability;
  const required = (params_schema["required"] ?? []) as readonly string[];
  const rows = Object.entries(propertiesOf(params_schema)).map(([name, shown]) =>
    rowOf(name, shown, required.includes(name)),
  );
  const params = rows.length === 0 ? "" : `\n| Parameter | Value | Description |\n|---|---|---|\n${rows.join("\n")}\n`;
  const bodies = examples.map(({ title, params: given }) => `${title}:\n\n${bodyOf(sample_input, given)}`).join("\n\n");
  return `### ${id}\n
${description}\n
${inputsOf(input_schema)} → ${output_modality}; ${priceOf(pricing)}.
${params}
${bodies}
`;
}

function bodyOf(input: unknown, params: unknown): string {
  return `\`\`\`json\n${JSON.stringify({ input, params })}\n\`\`\``;
}

function inputsOf(schema: Schema): string {
  const required = (schema["required"] ?? []) as readonly string[];
  return Object.keys(propertiesOf(schema))
    .map((name) => (required.includes(name) ? `\`${name}\`` : `\`${name}\` (optional)`))
    .join(", ");
}

function priceOf({ unit = "", ...price }: Capability["pricing"]): string {
  const [, amount = ""] = Object.entries(price).find(([name]) => name.endsWith("_price")) ?? [];
  return `${amount} credits ${unit.replace("_", " ")}`;
}

/** Members of a param's schema that the page shows. */
interface Shown {
  readonly description?: string;
  readonly type?: string;
  readonly minimum?: number;
  readonly maximum?: number;
  readonly enum?: readonly (string | number)[];
  readonly default?: unknown;
  readonly "x-svc-unit"?: string;
}

function propertiesOf(schema: Schema): Readonly<Record<string, Shown>> {
  return (schema["properties"] ?? {}) as Readonly<Record<string, Shown>>;
}

function rowOf(name: string, shown: Shown, isRequired: boolean): string {
  const { default: value, description = "" } = shown;
  const usual = value === undefined ? "" : ` = \`${JSON.stringify(value)}\``;
  return `| ${isRequired ? `**${name}**` : name} | ${valuesOf(shown)}${usual} | ${cell(description)} |`;
}

function valuesOf({ type = "", minimum, maximum, enum: values, "x-svc-unit": unit }: Shown): string {
  if (values) return cell(values.join(" / "));
  const isBounded = minimum !== undefined || maximum !== undefined;
  const range = isBounded ? ` ${minimum ?? ""}–${maximum ?? ""}` : "";
  return `${type}${range}${unit === undefined ? "" : ` ${unit}`}`;
}

/** A bar would end a cell. */
function cell(text: string): string {
  return text.replaceAll("|", String.raw`\|`).replaceAll("\n", " ");
}
