/** Builds the request body of a fal model. Inputs are sent under the source's field names, because field names differ between models. */
import { type FieldValues, type Fields, isMedia, place, setField, urlOf } from "../fields.ts";
import { ProviderError } from "../provider.ts";

export interface FalBody {
  readonly input: Record<string, unknown>;
  /** Number of results requested. */
  readonly asked: number;
  /** Default fields for inputs, unless the source sets its own. */
  readonly usual: Fields;
}

/** Names of the inputs that describe the desired result. A source needs a field for at least one of them that the call contains. */
const SUBJECTS: ReadonlySet<string> = new Set(["prompt", "image", "video", "mesh"]);

/**
 * Returns the body of a call with one result.
 * @param required inputs that must not be omitted, because the result would be different
 * @throws ProviderError `misconfigured` when the source has no field for a required input, or for any description of the result
 */
export function bodyOf(
  values: FieldValues,
  {
    fields,
    usual,
    required,
  }: { readonly fields: Fields | undefined; readonly usual: Fields; readonly required: readonly string[] },
): FalBody {
  const placed = place(values, fields ?? usual);
  const names = new Set(placed.map(({ ours }) => ours));
  const lost = required.find((name) => values[name] !== undefined && !names.has(name));
  if (lost !== undefined) throw new ProviderError("misconfigured", `the source has no field for a ${lost}`);
  if (names.isDisjointFrom(SUBJECTS)) {
    throw new ProviderError("misconfigured", "the source has no field for what is to be made");
  }
  const input: Record<string, unknown> = {};
  for (const { theirs, value } of placed) setField(input, theirs, isMedia(value) ? urlOf(value) : value);
  return { input, asked: 1, usual };
}
