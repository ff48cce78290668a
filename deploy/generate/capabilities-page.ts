/** Generates the page on capabilities: each with its inputs, params, price and first examples, which the suite runs. */
import type { Capability, Schema } from "#shared/calls/capabilities/entry.ts";
import { CATEGORIES } from "#shared/calls/capabilities/entry.ts";

const HEAD = `# Capabilities

Each section is one capability that \`POST /v1/capabilities/{id}/run\` can run. \`npm run generate\` writes this page from the definitions in
\`workers/capabilities\`; \`GET /v1/tools\` lists the same with whole schemas. The test suite runs every example on the sample file that it names.

A file in \`input\` is given in one of these ways: \`{"file_id"}\`, \`{"url"}\`, \`{"base64", "mime_type"}\` or, where text is taken, \`{"text"}\`. A param in **bold** is
required; every other one may be left out, and \`=\` shows its default where it has one. \`output.notes\` lists, in sentences, what a result leaves out. Prices are in credits; the operator's catalogue may change them.

Text may be in any charset. It is read by its byte order mark, else by the charset in \`mime_type\` or of the server, else as UTF-8 if it is valid UTF-8, else
by the declaration in its head if it is HTML or XML, else as windows-1252. The output names a charset other than UTF-8 in \`charset\`; where several inputs
take text, in \`charsets\` by their names.

Of a workspace, a worker runs at most as many capabilities at once as it has cores; further runs wait for their turn. A run that fails, is refused or is
cancelled costs nothing, but its time counts: once more than ten seconds of a workspace's runs came to nothing, its runs come after those of others and one at
a time, until as much time has passed (five minutes at most).

## Reading the schemas

The schemas of \`GET /v1/tools\` are JSON Schema draft-07 with three annotations of our own, which forbid nothing: \`x-svc-unit\` (the unit of a
number), \`x-svc-enum-labels\` (names to show for values) and \`x-svc-value-sources\` (members of which at most one may be given). Ajv refuses keywords that
it does not know, unless they are named:

\`\`\`js
import { Ajv } from "ajv";

const ajv = new Ajv({ strictSchema: false });
ajv.addVocabulary(["x-svc-unit", "x-svc-enum-labels", "x-svc-value-sources"]);
const validate = ajv.compile(tool.params_schema);
\`\`\`

\`strictSchema: false\` is for defaults within the steps of pipelines, which Ajv does not fill in; \`strict: false\` alone does for both. Rules
between several params, such as "\`width\` or \`height\`", are not in the schemas; a run that breaks one is answered 400.
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
  const params = rows.length === 0 ? "" : `\n| Param | Value | |\n|---|---|---|\n${rows.join("\n")}\n`;
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
    .map((name) => (required.includes(name) ? `\`${name}\`` : `\`${name}\` (may be left out)`))
    .join(", ");
}

function priceOf({ unit = "", ...price }: Capability["pricing"]): string {
  const [, amount = ""] = Object.entries(price).find(([name]) => name.endsWith("_price")) ?? [];
  return `${amount} credits ${unit.replace("_", " ")}`;
}

/** Members of a param's schema that the page lists. */
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

/** Escapes bars, which would end a table cell. */
function cell(text: string): string {
  return text.replaceAll("|", String.raw`\|`).replaceAll("\n", " ");
}
