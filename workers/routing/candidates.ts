/** Selects the candidates for a call in their order: the sources of the requested model, then the sources of its fallback chain. */
import type { ChatCompletionRequest, JobMessage } from "#schemas/generated/types.ts";
import { rendezvousRank } from "#shared/base/rendezvous.ts";
import { sourceTakes } from "#shared/calls/kinds/media-check.ts";
import type { Catalogue, Model, Provider, Source } from "#shared/calls/model.ts";

export interface Candidate<Adapter> {
  readonly model: Model;
  readonly source: Source;
  readonly provider: Provider;
  /** The provider's adapter for calls of this kind. */
  readonly adapter: Adapter;
  /** Name of the source, `provider/model`, as in the ledger, the logs and the breaker. */
  readonly name: string;
  /** True if the source belongs to a fallback model. */
  readonly isFallback: boolean;
}

/** Properties of a call that decide which candidates it has. */
export interface Asked {
  readonly job: Pick<JobMessage, "job_id" | "workspace_id" | "model" | "fallbacks">;
  /** Id of the conversation whose calls should reach the same prompt cache; absent for a single call. */
  readonly affinity?: string | undefined;
  /** Names of inputs that change the result. Sources that do not support them are skipped. */
  readonly inputs?: readonly string[];
}

/** Returns the conversation id that the caller named. Clients of Anthropic's API can only send a user id, which is used instead. */
export function affinityOf(
  { api, affinity }: JobMessage,
  request: Pick<ChatCompletionRequest, "prompt_cache_key" | "user">,
): string | undefined {
  return request.prompt_cache_key ?? affinity ?? (api === "anthropic" ? (request.user ?? undefined) : undefined);
}

/**
 * Returns the candidates of a call. Skips models of its chain that left the catalogue since admission. Every process computes the same
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

/**
 * Returns the sources that support all inputs. Returns all sources if none does, because the contract then allows dropping such an input.
 */
function ableOf(sources: readonly Source[], inputs: readonly string[]): readonly Source[] {
  if (inputs.length === 0) return sources;
  const able = sources.filter((source) => inputs.every((input) => sourceTakes(source, input)));
  return able.length > 0 ? able : sources;
}

/**
 * Returns the sources in their listed order. Adjacent sources that have a weight are equals, and the call determines the order among them.
 */
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
    } else equals.push({ source, rank: rendezvousRank(`${source.provider}/${source.model}`, source.weight, spreadBy) });
  }
  close();
  return ordered;
}
