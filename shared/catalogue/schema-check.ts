/** A catalogue file against its schema. */
import { validate } from "#shared/contracts.ts";

/** The first fault by the schema `CatalogueFile`; undefined when there is none. */
export function schemaFault(content: unknown): { readonly place: string; readonly message: string } | undefined {
  const fault = validate("CatalogueFile", content);
  if (fault === null) return undefined;
  const place = fault.param ?? "";
  // the place stands in front of the message already
  const message =
    place !== "" && fault.message.startsWith(`${place} `) ? fault.message.slice(place.length + 1) : fault.message;
  return { place, message: message.replace(/\.$/, "") };
}
