/** A source's own gaps, names and defaults, as the catalogue lists them. */
import type { Source } from "#shared/calls/model.ts";

/** Changes a finished body for its source: members are left out, renamed, set, in this order. */
export function adaptTo(source: Source, body: Record<string, unknown>): void {
  for (const name of source.drop_params ?? []) delete body[name];
  for (const [from, to] of Object.entries(source.rename_params ?? {})) {
    if (body[from] === undefined) continue;
    body[to] ??= body[from];
    delete body[from];
  }
  Object.assign(body, source.overrides);
}
