/**
 * Returns the body with the first of `models` as `model`, if the body has no `model`. Other bodies are returned unchanged, because the
 * schema rejects them.
 */
export function withFirstModel(body: unknown): unknown {
  if (typeof body !== "object" || body === null || !("models" in body)) return body;
  const { model, models } = body as { readonly model?: unknown; readonly models: unknown };
  const first: unknown = Array.isArray(models) ? models[0] : undefined;
  return model == null && typeof first === "string" ? { ...body, model: first } : body;
}
