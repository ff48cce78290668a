/** Answers that are JSON, with a schema and without. */
import { createFacts } from "./facts.ts";
import { isRecord } from "./json.ts";
import type { Material } from "./tools.ts";
import { topicsOf } from "./words.ts";

/** A document that meets a schema, as text; a dictated one that does is given word for word. */
export function writeDocument(schema: unknown, dictated: string | null, source: string, material: Material): string {
  const { schemas } = material;
  if (dictated !== null && schemas?.meets(schema, parseJson(dictated))) return dictated;
  const value = schemas?.fill(schema, { ...material, facts: createFacts(source), optional: "all" });
  return JSON.stringify(value) ?? "null";
}

/** JSON mode without a schema: the keys the prompt asks for, else an answer and its topics. */
export function writeObject(dictated: string | null, source: string, material: Material): string {
  if (dictated !== null && isRecord(parseJson(dictated))) return dictated;
  const keys = wantedKeys(source);
  if (keys.length === 0) {
    return JSON.stringify({ answer: dictated ?? material.prose(), topics: topicsOf(material.prompt).slice(0, 5) });
  }
  const properties = Object.fromEntries(keys.map((key) => [key, { type: NUMBER_KEY.test(key) ? "number" : "string" }]));
  return writeDocument({ type: "object", properties, required: keys }, null, source, material);
}

const KEY_LIST =
  /\b(?:keys?|fields?|properties|attributes)\b(?:\s+(?:named|called|are|of))?\s*:?\s*((?:["'`]?[A-Za-z_][\w-]*["'`]?(?:\s*,\s*(?:and\s+)?|\s+and\s+)?){1,12})/i;
const NUMBER_KEY = /(?:^|_)(?:age|count|number|amount|price|total|quantity|year|score|size|length|width|height)$/i;

function wantedKeys(prompt: string): readonly string[] {
  const listed = KEY_LIST.exec(prompt)?.[1] ?? "";
  const keys = /["'`]/.test(listed)
    ? listed.match(/(?<=["'`])[A-Za-z_][\w-]*(?=["'`])/g)
    : listed.match(/[A-Za-z_][\w-]*/g);
  return [...new Set(keys ?? [])].filter((key) => key !== "and");
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
