/**
 * Applies the differences between a source and its provider family, which the catalogue lists: unsupported, renamed and default parameters.
 */
import type { Source } from "#shared/calls/model.ts";

/** Adapts a finished request body to its source. Removes, renames and sets members, in this order. */
export function adaptTo(source: Source, body: Record<string, unknown>): void {
  for (const name of source.drop_params ?? []) delete body[name];
  for (const [from, to] of Object.entries(source.rename_params ?? {})) {
    if (body[from] === undefined) continue;
    body[to] ??= body[from];
    delete body[from];
  }
  Object.assign(body, source.overrides);
}
