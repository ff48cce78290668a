/** Candidates for a call, in order: the model asked for and its chain, each with its sources. */
import type { Catalogue, Model, Provider, Source } from "#shared/calls/model.ts";

export interface Candidate<Adapter> {
  readonly model: Model;
  readonly source: Source;
  readonly provider: Provider;
  /** The provider's adapter for this kind of call. */
  readonly adapter: Adapter;
  /** `provider/model`, as the ledger, logs and the breaker know it. */
  readonly name: string;
  /** Serves in place of the model asked for. */
  readonly isFallback: boolean;
}

/**
 * @param fallbacks the workspace's chain for this model, as it stood at admission; models that left the catalogue since
 * are passed over
 */
export function candidatesOf<Adapter>(
  catalogue: Catalogue,
  slug: string,
  fallbacks: readonly string[],
  adapterOf: (provider: Provider) => Adapter | undefined,
): Candidate<Adapter>[] {
  return [slug, ...fallbacks].flatMap((entry, at) => {
    const model = catalogue.models.get(entry);
    return (model?.sources ?? []).flatMap((source) => {
      const provider = catalogue.providers.get(source.provider);
      const adapter = provider && adapterOf(provider);
      if (!model || !provider || !adapter) return [];
      return [{ model, source, provider, adapter, name: `${source.provider}/${source.model}`, isFallback: at > 0 }];
    });
  });
}
