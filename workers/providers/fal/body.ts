/** Request body of a fal model: inputs under the names that its source sets, which differ from model to model. */
import { type FieldValues, type Fields, isMedia, place, setField, urlOf } from "../fields.ts";
import { ProviderError } from "../provider.ts";

export interface FalBody {
  readonly input: Record<string, unknown>;
  /** Number of results requested. */
  readonly asked: number;
  /** Fields that inputs go to unless the source names its own. */
  readonly usual: Fields;
}

/** One of these says what is to be made. */
const SUBJECTS: ReadonlySet<string> = new Set(["prompt", "image", "video", "mesh"]);

/**
 * The body of a call that makes one thing.
 * @param required inputs that the result would be another thing without: they are not left out
 * @throws ProviderError `misconfigured` when the source has no field for one of them, or for what is to be made
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
