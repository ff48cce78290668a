/** Reduces the `param` of an error to names of the API, because it may contain names that the caller chose, such as keys of an object. */
import components from "#schemas/generated/components.json";
import { KINDS } from "#shared/calls/kinds/kinds.ts";
import { TAGS_HEADER } from "#shared/calls/labels.ts";

import { MAX_CREDITS_HEADER } from "./max-credits.ts";

const FORM_PARTS = Object.values(KINDS).flatMap(({ route }) => Object.keys(route.request.form?.files ?? {}));
const HEADERS = [TAGS_HEADER, MAX_CREDITS_HEADER, "x-cache"];
const NAMES: ReadonlySet<string> = new Set([...memberNames(components), ...FORM_PARTS, ...HEADERS]);

/** Yields the name of each member that the schemas declare. */
function* memberNames(schema: unknown): Generator<string> {
  if (typeof schema !== "object" || schema === null) return;
  if ("properties" in schema && typeof schema.properties === "object") yield* Object.keys(schema.properties ?? {});
  for (const part of Object.values(schema)) yield* memberNames(part);
}

/**
 * Returns the beginning of a parameter up to the first name that no schema declares; null if the first name is unknown. For example,
 * `metadata.alice` becomes `metadata`.
 */
export function knownParam(param: string): string | null {
  let end = 0;
  for (const { 0: text, index, groups } of param.matchAll(/\.?(?<name>[\w-]+)|\[(?<key>[\w-]+)\]/g)) {
    const name = groups?.["name"] ?? groups?.["key"] ?? "";
    const isPosition = groups?.["key"] !== undefined && /^\d+$/.test(name);
    if (index !== end || !(isPosition || NAMES.has(name))) break;
    end = index + text.length;
  }
  return end === 0 ? null : param.slice(0, end);
}
