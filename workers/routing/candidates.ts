/** Candidates for a call, in order: the model asked for and its chain, each with its sources. */
import type { ChatCompletionRequest, JobMessage } from "#schemas/generated/types.ts";
import { sourceTakes } from "#shared/calls/kinds/media-check.ts";
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

/** The call, as far as its candidates are its own. */
export interface Asked {
  readonly job: Pick<JobMessage, "job_id" | "workspace_id" | "model" | "fallbacks">;
  /** Name of the conversation whose calls are to meet the same prompt cache; absent: the call stands alone. */
  readonly affinity?: string | undefined;
  /** Our names of inputs that change what is made: sources that cannot take them are passed over. */
  readonly inputs?: readonly string[];
}

/** Name of the conversation that a call belongs to, as its caller tells it: clients of Anthropic's API have no other word than their user's id. */
export function affinityOf(
  { api, affinity }: JobMessage,
  request: Pick<ChatCompletionRequest, "prompt_cache_key" | "user">,
): string | undefined {
  return request.prompt_cache_key ?? affinity ?? (api === "anthropic" ? (request.user ?? undefined) : undefined);
}

/**
 * Models of the call's chain, as it stood at admission, that left the catalogue since are passed over. Every process finds the same
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

/** Sources that take all of the inputs; all sources when none does: such a call was refused, or the contract drops the input. */
function ableOf(sources: readonly Source[], inputs: readonly string[]): readonly Source[] {
  if (inputs.length === 0) return sources;
  const able = sources.filter((source) => inputs.every((input) => sourceTakes(source, input)));
  return able.length > 0 ? able : sources;
}

/** Returns them as they are listed; but neighbours that have a weight are equals, among which the call has an order of its own. */
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
 * Rendezvous hashing with weights: the lowest rank is first. A rank depends on nothing but its own source, so a source that joins or
 * leaves takes or gives up its own share alone.
 */
function rankOf({ provider, model }: Source, weight: number, spreadBy: string): number {
  const hash = Bun.hash.xxHash64(`${provider}/${model}\n${spreadBy}`);
  const unit = (Number(hash >> 11n) + 1) / 2 ** 53;
  return -Math.log(unit) / weight;
}
