/** One attempt of an embeddings call at one source: as many requests as the source needs for the inputs, a few at once, and one result. */
import type { EmbeddingsRequest } from "#schemas/generated/types.ts";
import { type EmbeddingInput, inputsOf, inputTokensMax, isList } from "#shared/calls/kinds/embeddings.ts";
import { type EmbeddingModel, isEmbeddingModel } from "#shared/calls/model.ts";
import { NO_USAGE, promptTokens } from "#shared/calls/pricing/usage.ts";
import { commonNow } from "#shared/clock.ts";

import {
  type ChatUsage,
  type EmbeddingsProvider,
  type EmbeddingsResult,
  ProviderError,
} from "../../providers/provider.ts";
import type { Attempt } from "../../routing/try-candidates.ts";
import { startWatchdog } from "../watchdog.ts";

import { adaptTo } from "../source-params.ts";

/** Most concurrent requests of one embeddings call at its source. */
const EMBEDDINGS_PARALLEL = 4;

/** Results of a source by batch: a retry continues after the finished batches, since they were paid for. */
export type Finished = Map<number, EmbeddingsResult>;

export interface EmbeddingsAttempt {
  readonly request: EmbeddingsRequest;
  readonly attempt: Attempt<EmbeddingsProvider>;
  readonly limits: { readonly plainMs: number; readonly deadlineMs: number };
  readonly signal: AbortSignal;
  readonly finished: Finished;
}

/** Inputs of one request, and their position among all. */
export interface Batch {
  readonly from: number;
  readonly inputs: readonly EmbeddingInput[];
}

/** @throws ProviderError; of kind `timeout` when a timeout of this attempt has passed but not the deadline of the call */
export async function runEmbeddingsAttempt(run: EmbeddingsAttempt): Promise<EmbeddingsResult> {
  const { attempt, request, signal } = run;
  const { model } = attempt.candidate;
  if (!isEmbeddingModel(model)) throw new ProviderError("misconfigured", "the model makes no embeddings");
  const batches = batchesOf(inputsOf(request.input), model);
  const totalMs = Math.max(1, run.limits.deadlineMs - commonNow());
  const silenceMs = attempt.isLast ? totalMs : Math.min(totalMs, run.limits.plainMs);
  const watchdog = startWatchdog({ totalMs, firstByteMs: silenceMs, stallMs: silenceMs }, signal);
  try {
    await embedAll(run, model, batches, watchdog.signal, () => watchdog.touch());
  } catch (error) {
    if (watchdog.expired() === undefined || signal.aborted) throw error;
    throw new ProviderError("timeout", `no answer within the limit: ${watchdog.expired()}`, { cause: error });
  } finally {
    watchdog.stop();
  }
  const results = batches.map((_batch, at) => run.finished.get(at)!);
  const vectors = results.flatMap((result) => result.vectors);
  const length = request.dimensions ?? vectors[0]?.length;
  if (vectors.some((vector) => vector.length !== length)) {
    throw new ProviderError("failed", "a vector has another length than was asked for");
  }
  return { vectors, usage: sumOf(results.map((result) => result.usage)) };
}

/** Sends the batches. The first failure aborts the running requests. */
async function embedAll(
  run: EmbeddingsAttempt,
  model: EmbeddingModel,
  batches: readonly Batch[],
  signal: AbortSignal,
  onBatch: () => void,
): Promise<void> {
  const others = new AbortController();
  const both = AbortSignal.any([signal, others.signal]);
  const waiting = batches.entries().filter(([at]) => !run.finished.has(at));
  let failure: unknown;
  const work = async (): Promise<void> => {
    for (const [at, batch] of waiting) {
      if (both.aborted) return;
      try {
        run.finished.set(at, await embedBatch(run, model, batch, both));
        onBatch();
      } catch (error) {
        failure ??= toldToCaller(error, batch, isList(run.request.input));
        others.abort();
        return;
      }
    }
  };
  await Promise.all(Array.from({ length: EMBEDDINGS_PARALLEL }, work));
  if (failure !== undefined) throw failure as Error;
  if (signal.aborted) throw new ProviderError("aborted", "the call was aborted", { cause: signal.reason });
}

async function embedBatch(
  { request, attempt }: EmbeddingsAttempt,
  { embedding }: EmbeddingModel,
  { inputs }: Batch,
  signal: AbortSignal,
): Promise<EmbeddingsResult> {
  const { source, adapter } = attempt.candidate;
  // The parameter is omitted for a model with vectors of one length, since its source may reject it.
  const isChosen = embedding.dimensions_min < embedding.dimensions_max;
  const result = await adapter.embed({
    inputs,
    sourceModel: source.model,
    dimensions: isChosen ? request.dimensions : undefined,
    ...(request.user === undefined ? {} : { user: request.user }),
    signal,
    adapt: (body) => adaptTo(source, body),
  });
  if (result.vectors.length === inputs.length) return result;
  throw new ProviderError("failed", `${result.vectors.length} vectors for ${inputs.length} inputs`);
}

/** Splits the inputs into consecutive batches that all sources of the model accept, by number and by tokens. */
export function batchesOf(inputs: readonly EmbeddingInput[], model: EmbeddingModel): readonly Batch[] {
  const { source_inputs_max: inputsMax = Infinity, source_tokens_max: tokensMax = Infinity } = model.embedding;
  const batches: { from: number; inputs: EmbeddingInput[] }[] = [];
  let current: { from: number; inputs: EmbeddingInput[] } | undefined;
  let tokens = 0;
  for (const [at, input] of inputs.entries()) {
    const more = inputTokensMax(input, model);
    if (!current || current.inputs.length >= inputsMax || tokens + more > tokensMax) {
      current = { from: at, inputs: [] };
      batches.push(current);
      tokens = 0;
    }
    current.inputs.push(input);
    tokens += more;
  }
  return batches;
}

/** Adds up the usage; a single missing report makes the sum unknown. */
function sumOf(reports: readonly ChatUsage[]): ChatUsage {
  let input = 0;
  for (const report of reports) {
    if (report === "impossible") return report;
    if (report !== null) input += promptTokens(report);
  }
  return reports.includes(null) ? null : { ...NO_USAGE, input };
}

/** Renumbers a rejected input to its position in the caller's request, of which the batch was a part. */
function toldToCaller(error: unknown, batch: Batch, isListed: boolean): unknown {
  if (!(error instanceof ProviderError) || error.kind !== "rejected") return error;
  const { code, param, status } = error;
  const isTooLong = code === "context_length_exceeded";
  const say = error.say ?? (isTooLong ? "The input has more tokens than the model accepts." : undefined);
  return new ProviderError("rejected", error.detail, {
    ...(code === undefined ? {} : { code }),
    ...(say === undefined ? {} : { say }),
    ...(status === undefined ? {} : { status }),
    param: inputParam(param ?? (isTooLong ? "input" : null), batch, isListed),
    cause: error,
  });
}

function inputParam(param: string | null, { from, inputs }: Batch, isListed: boolean): string | null {
  const [, index, rest = ""] = /^input(?:\[(\d+)\])?(.*)$/.exec(param ?? "") ?? [undefined, "none"];
  if (index === "none") return param;
  if (!isListed) return "input";
  if (index === undefined) return inputs.length === 1 ? `input[${from}]` : "input";
  return `input[${from + Number(index)}]${rest}`;
}
