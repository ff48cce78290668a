/** A catalogue file against its schema. */
import { validate } from "#shared/contracts.ts";

/** The first fault by the schema `CatalogueFile`; undefined when there is none. */
export function schemaFault(content: unknown): { readonly place: string; readonly message: string } | undefined {
  const fault = validate("CatalogueFile", content);
  if (fault === null) return undefined;
  const place = fault.param ?? "";
  // worded for bodies of requests; the place stands in front already
  const message = fault.message
    .replace(place === "" ? "The body " : `${place} `, "")
    .replace(/^Missing required parameter.*/, "this is required")
    .replace(/^is not a known parameter/, "this is no member of a catalogue file")
    .replace(/\.$/, "");
  return { place, message };
}
