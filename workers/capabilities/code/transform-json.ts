import { Ajv } from "ajv";
import { parse as parseCsv } from "csv-parse/sync";
import { json as jq } from "jq-wasm";

import { MediaError } from "#shared/media/media-error.ts";

import { defineCapability, input } from "../define.ts";
import { choice, custom, text } from "../params.ts";
import { CODE_PRICE, madeText, textOf, unreadable, xmlOf } from "../text.ts";

const FROM = ["auto", "json", "yaml", "toml", "xml", "csv"] as const;
type From = (typeof FROM)[number];

const READERS: Readonly<Record<Exclude<From, "auto">, (data: string) => unknown>> = {
  json: (data) => JSON.parse(data),
  yaml: (data) => Bun.YAML.parse(data),
  toml: (data) => Bun.TOML.parse(data),
  xml: (data) => xmlOf(data),
  csv: (data) => parseCsv(data, { columns: true, skip_empty_lines: true, bom: true }),
};

export default defineCapability({
  id: "code.transform_json",
  display_name: "Transform data",
  description: "Reads JSON, YAML, TOML, XML or CSV, queries it with jq, checks it by a schema, and writes it again.",
  output_modality: "text",
  input: { data: input("text", "The data.", { takesText: true }) },
  params: {
    from: choice("Form of the data.", FROM, { default: "auto" }),
    to: choice("Form of the result.", ["json", "yaml", "toml"], { default: "json" }),
    jq: text("A jq program that the data goes through.", { max: 10_000 }),
    schema: custom<object>({ description: "A JSON Schema that the result must meet.", type: "object" }, {}),
  },
  sample_input: { data: { text: '{"items":[{"name":"tea","price":4},{"name":"milk","price":1}]}' } },
  examples: [
    { title: "As it is, in order", params: {} },
    {
      title: "What costs more than two, as YAML",
      params: { jq: "[.items[] | select(.price > 2) | .name]", to: "yaml" },
    },
  ],
  price: CODE_PRICE,
  engine: "code",
  async run({ params, inputs, folder }) {
    const data = await textOf(inputs.data);
    const from = params.from === "auto" ? guess(data) : params.from;
    let value: unknown;
    try {
      value = READERS[from](data);
    } catch (error) {
      throw unreadable(from.toUpperCase(), error);
    }
    checkDepth(value);
    if (params.jq !== undefined) value = await queried(value, params.jq);
    if (params.schema !== undefined) check(value, params.schema);
    return madeText(folder, written(value, params.to), {
      name: `data.${params.to}`,
      mediaType: "text/plain",
      more: { from },
    });
  },
});

const DEPTH_MAX = 200;

/** Written with its indents, data that is nested deeper grows by the square. @throws MediaError too_large */
function checkDepth(data: unknown): void {
  let level: readonly unknown[] = [data];
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > DEPTH_MAX) {
      throw new MediaError("too_large", `Expected data nested at most ${DEPTH_MAX} deep, got more.`);
    }
    level = level.flatMap((value) =>
      typeof value === "object" && value !== null
        ? Object.values(value).filter((one) => typeof one === "object" && one !== null)
        : [],
    );
  }
}

function guess(data: string): Exclude<From, "auto"> {
  const start = data.trimStart();
  if (/^[{[]/.test(start)) return "json";
  if (start.startsWith("<")) return "xml";
  return /^[\w.-]+\s*=|^\[[\w.-]+\]\s*$/m.test(start) ? "toml" : "yaml";
}

async function queried(value: unknown, program: string): Promise<unknown> {
  try {
    // As text: its library takes no other value than objects.
    return await jq(JSON.stringify(value), program);
  } catch (error) {
    throw new MediaError("invalid", `Expected params.jq to be a program that runs: ${String(error).slice(0, 200)}`, {
      cause: error,
    });
  }
}

function check(value: unknown, schema: object): void {
  const ajv = new Ajv({ strict: false });
  let isValid: boolean;
  try {
    isValid = ajv.validate(schema, value);
  } catch (error) {
    throw new MediaError("invalid", `Expected params.schema to be a JSON Schema: ${String(error).slice(0, 200)}`, {
      cause: error,
    });
  }
  if (!isValid)
    throw new MediaError("corrupt", `The data does not meet the schema: ${ajv.errorsText().slice(0, 300)}.`);
}

function written(value: unknown, to: "json" | "yaml" | "toml"): string {
  if (to === "json") return `${JSON.stringify(value, null, 2)}\n`;
  if (to === "yaml") return `${Bun.YAML.stringify(value, null, 2)}\n`;
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw new MediaError("invalid", "Expected an object for params.to toml, got another value.");
  }
  return tomlOf(value as Record<string, unknown>, []);
}

/** Values of a table first, then its tables. */
function tomlOf(table: Readonly<Record<string, unknown>>, path: readonly string[]): string {
  const isTable = (value: unknown): value is Record<string, unknown> =>
    typeof value === "object" && value !== null && !Array.isArray(value);
  const plain = Object.entries(table).filter(([, value]) => !isTable(value) && value !== null);
  const tables = Object.entries(table).filter((entry): entry is [string, Record<string, unknown>] => isTable(entry[1]));
  const head = path.length > 0 && plain.length > 0 ? `[${path.map(keyOf).join(".")}]\n` : "";
  const body = plain.map(([name, value]) => `${keyOf(name)} = ${tomlValue(value)}\n`).join("");
  return `${head}${body}${tables.map(([name, value]) => `\n${tomlOf(value, [...path, name])}`).join("")}`;
}

function tomlValue(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(tomlValue).join(", ")}]`;
  if (typeof value === "object" && value !== null) {
    return `{ ${Object.entries(value)
      .map(([name, one]) => `${keyOf(name)} = ${tomlValue(one)}`)
      .join(", ")} }`;
  }
  return JSON.stringify(value ?? "");
}

function keyOf(name: string): string {
  return /^[A-Za-z0-9_-]+$/.test(name) ? name : JSON.stringify(name);
}
