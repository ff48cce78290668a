/** Reads the requested model of a body that may name several models in `models`. */
import { refuseMisspelt } from "#shared/json/misspelt-members.ts";

/** Members of a body that name its models, not validated. */
interface NamedModels {
  readonly model?: unknown;
  readonly models?: unknown;
}

/** Returns `model` of a body, else the first of its `models`. */
export function firstModelOf({ model, models }: NamedModels): unknown {
  const first: unknown = Array.isArray(models) ? models[0] : undefined;
  return model ?? first;
}

/**
 * Returns the body with the first of `models` as `model`, if the body has no `model`. Other bodies are returned unchanged, because the
 * schema rejects them.
 * @throws ApiError `unknown_parameter` for a misspelt `models`
 */
export function withFirstModel(body: unknown): unknown {
  if (typeof body !== "object" || body === null) return body;
  const named: NamedModels = body;
  refuseMisspelt(named, ["models"]);
  const first = firstModelOf(named);
  return named.model == null && typeof first === "string" ? { ...body, model: first } : body;
}
