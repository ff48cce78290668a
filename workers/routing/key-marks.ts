/**
 * Marks of the key and address with which a source is asked. A source that refuses its key is left alone under the mark alone:
 * a worker that has another key, as after a restart, asks it at once.
 */
import { createHmac } from "node:crypto";

import type { Catalogue, Provider } from "#shared/calls/model.ts";

/** Form of a mark. */
export const KEY_MARK = /^[0-9a-f]{16}$/;

/** Returns the mark of a source (`provider/model`). */
export type MarkOf = (source: string) => string;

/** @param options.secret of the service: a mark tells nothing of the key to those who do not have it */
export function createKeyMarks(options: {
  readonly secret: Uint8Array;
  readonly catalogue: { current(): Pick<Catalogue, "providers"> };
  readonly providerKey: (variable: string) => string | undefined;
}): MarkOf {
  const { secret, catalogue, providerKey } = options;
  // A reload of the catalogue brings new providers.
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
