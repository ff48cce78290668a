/**
 * Creates marks that identify the key and address of a source. A refused key disables the source only for its mark. A worker with another
 * key, for example after a restart, calls the source immediately.
 */
import { createHmac } from "node:crypto";

import type { Catalogue, Provider } from "#shared/calls/model.ts";

/** Format of a mark: 16 hexadecimal digits. */
export const KEY_MARK = /^[0-9a-f]{16}$/;

/** Returns the mark of the key and address of a source (`provider/model`). */
export type MarkOf = (source: string) => string;

/**
 * Creates the function that computes marks.
 * @param options.secret secret of the service; keys cannot be guessed from their marks without this secret
 */
export function createKeyMarks(options: {
  readonly secret: Uint8Array;
  readonly catalogue: { current(): Pick<Catalogue, "providers"> };
  readonly providerKey: (variable: string) => string | undefined;
}): MarkOf {
  const { secret, catalogue, providerKey } = options;
  // A reload of the catalogue creates new provider objects.
  const known = new WeakMap<Provider, string>();
  const markOf = (base: string, key: string): string =>
    createHmac("sha256", secret)
      .update(JSON.stringify([base, key]))
      .digest("hex")
      .slice(0, 16);
  const unknown = markOf("", "");
  return (source) => {
    const provider = catalogue.current().providers.get(source.slice(0, Math.max(0, source.indexOf("/"))));
    if (provider === undefined) return unknown;
    let mark = known.get(provider);
    if (mark === undefined) {
      const { api_key_env: variable, base_url: base = "" } = provider;
      mark = markOf(base, variable === undefined ? "" : (providerKey(variable) ?? ""));
      known.set(provider, mark);
    }
    return mark;
  };
}
