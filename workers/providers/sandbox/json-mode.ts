/** Answers that are JSON, with a schema and without. */
import { createSchemaChecker } from "./check-schema.ts";
import type { Facts } from "./facts.ts";
import { fillSchema } from "./fill-schema.ts";
import { isRecord } from "./json.ts";
import type { Material } from "./tools.ts";

/** Text of a document that meets a schema; a dictated one that does is given word for word. */
export function writeDocument(schema: unknown, dictated: string | null, material: Material): string {
  if (dictated !== null) {
    const value = parseJson(dictated);
    if (value !== undefined && createSchemaChecker(schema).meets(schema, value)) return dictated;
  }
  return JSON.stringify(fillSchema(schema, { ...material, optional: "all", focus: 0 })) ?? "null";
}

/** JSON mode without a schema: the keys the prompt asks for, else an answer and its topics. */
export function writeObject(dictated: string | null, material: Material): string {
  if (dictated !== null && isRecord(parseJson(dictated))) return dictated;
  const keys = wantedKeys(material.facts);
  if (keys.length === 0) {
    return JSON.stringify({ answer: dictated ?? material.prose(), topics: material.facts.topics().slice(0, 5) });
  }
  const properties = Object.fromEntries(keys.map((key) => [key, { type: isNumberKey(key) ? "number" : "string" }]));
  const schema = { type: "object", properties, required: keys };
  return JSON.stringify(fillSchema(schema, { ...material, optional: "all", focus: 0 }));
}

const KEY_LIST =
  /\b(?:keys?|fields?|properties|attributes)\b(?:\s+(?:named|called|are|of))?\s*:?\s*((?:["'`]?[A-Za-z_][\w-]*["'`]?(?:\s*,\s*(?:and\s+)?|\s+and\s+)?){1,12})/i;
const KEY = /["'`]([A-Za-z_][\w-]*)["'`]|([A-Za-z_][\w-]*)/g;

function wantedKeys(facts: Facts): readonly string[] {
  const listed = KEY_LIST.exec(facts.text)?.[1] ?? "";
  const hasQuotes = /["'`]/.test(listed);
  const keys = [...listed.matchAll(KEY)].map((match) => (hasQuotes ? match[1] : match[2]));
  return [...new Set(keys.filter((key) => key !== undefined && key !== "and"))].filter((key) => key !== undefined);
}

function isNumberKey(key: string): boolean {
  return /(?:^|_)(?:age|count|number|amount|price|total|quantity|year|score|size|length|width|height)$/i.test(key);
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
