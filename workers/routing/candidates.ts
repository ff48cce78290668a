/** Candidates for a call, in order: the sources of the requested model, then those of its fallback chain. */
import type { ChatCompletionRequest, JobMessage } from "#schemas/generated/types.ts";
import { sourceTakes } from "#shared/calls/kinds/media-check.ts";
import type { Catalogue, Model, Provider, Source } from "#shared/calls/model.ts";

export interface Candidate<Adapter> {
  readonly model: Model;
  readonly source: Source;
  readonly provider: Provider;
  /** The provider's adapter for this kind of call. */
  readonly adapter: Adapter;
  /** Source, `provider/model`, as in ledger, logs and breaker. */
  readonly name: string;
  /** True for a source of a fallback model. */
  readonly isFallback: boolean;
}

/** Properties of a call that decide about its candidates. */
export interface Asked {
  readonly job: Pick<JobMessage, "job_id" | "workspace_id" | "model" | "fallbacks">;
  /** Conversation whose calls should reach the same prompt cache; absent for a single call. */
  readonly affinity?: string | undefined;
  /** Names of inputs that change the result; sources without support for them are skipped. */
  readonly inputs?: readonly string[];
}

/** Returns the conversation of a call, as named by its caller. Clients of Anthropic's API can only send a user id. */
export function affinityOf(
  { api, affinity }: JobMessage,
  request: Pick<ChatCompletionRequest, "prompt_cache_key" | "user">,
): string | undefined {
  return request.prompt_cache_key ?? affinity ?? (api === "anthropic" ? (request.user ?? undefined) : undefined);
}

/**
 * Returns the candidates of a call. Models of its chain that left the catalogue since admission are skipped. Every process finds the same
 * order for the same call.
 */
export function candidatesOf<Adapter>(
  catalogue: Catalogue,
  { job, affinity = job.job_id, inputs = [] }: Asked,
  adapterOf: (provider: Provider) => Adapter | undefined,
): Candidate<Adapter>[] {
  const spreadBy = `${job.workspace_id}\n${affinity}`;
  return [job.model, ...(job.fallbacks ?? [])].flatMap((entry, at) => {
    const model = catalogue.models.get(entry);
    return inOrder(ableOf(model?.sources ?? [], inputs), spreadBy).flatMap((source) => {
      const provider = catalogue.providers.get(source.provider);
      const adapter = provider && adapterOf(provider);
      if (!model || !provider || !adapter) return [];
      return [{ model, source, provider, adapter, name: `${source.provider}/${source.model}`, isFallback: at > 0 }];
    });
  });
}

/** Returns the sources that support all inputs, or all sources if none does: the contract allows dropping such an input. */
function ableOf(sources: readonly Source[], inputs: readonly string[]): readonly Source[] {
  if (inputs.length === 0) return sources;
  const able = sources.filter((source) => inputs.every((input) => sourceTakes(source, input)));
  return able.length > 0 ? able : sources;
}

/** Returns the sources in their listed order. Adjacent sources with a weight are equals, ordered by the call. */
function inOrder(sources: readonly Source[], spreadBy: string): readonly Source[] {
  if (!sources.some(({ weight }) => weight !== undefined)) return sources;
  const ordered: Source[] = [];
  let equals: { readonly source: Source; readonly rank: number }[] = [];
  const close = (): void => {
    ordered.push(...equals.toSorted((a, b) => a.rank - b.rank).map(({ source }) => source));
    equals = [];
  };
  for (const source of sources) {
    if (source.weight === undefined) {
      close();
      ordered.push(source);
    } else equals.push({ source, rank: rankOf(source, source.weight, spreadBy) });
  }
  close();
  return ordered;
}

/**
 * Returns the rank of a source by weighted rendezvous hashing; the lowest rank is first. A rank depends on its own source only, so adding
 * or removing a source moves only the share of that source.
 */
function rankOf({ provider, model }: Source, weight: number, spreadBy: string): number {
  const hash = Bun.hash.xxHash64(`${provider}/${model}\n${spreadBy}`);
  const unit = (Number(hash >> 11n) + 1) / 2 ** 53;
  return -Math.log(unit) / weight;
}
