/** The limits of a key. */
import type { Catalogue, Preset } from "#shared/catalogue/catalogue.ts";
import { ApiError } from "#shared/errors.ts";

import type { Caller } from "./authenticate.ts";

/** @throws ApiError `permission_denied` when the catalogue has the key's preset no more */
export function presetOf({ catalogue }: { readonly catalogue: { current(): Catalogue } }, caller: Caller): Preset {
  const preset = catalogue.current().presets.get(caller.preset);
  if (preset) return preset;
  throw new ApiError(
    "permission_denied",
    "The quota preset of this key no longer exists; ask the workspace's admin to set another.",
  );
}
