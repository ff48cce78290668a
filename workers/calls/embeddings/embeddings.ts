/** What the pool does with an embeddings call: served by the first source that can, settled once, answered once. */
import type { EmbeddingsRequest, JobMessage } from "#schemas/generated/types.ts";
import { checkEmbeddings, inputsOf, inputTokensMax, standInRequest } from "#shared/kinds/embeddings.ts";
import { isEmbeddingModel, type Model } from "#shared/catalogue/catalogue.ts";
import { deserializePrice } from "#shared/pricing/price.ts";

import { Answer } from "../../runner/answer.ts";
import type { WorkerContext } from "../../context.ts";
import type { JobControl, JobHandler } from "../../job.ts";
import { failureFacts } from "../../providers/failure-facts.ts";
import { type EmbeddingsProvider, type EmbeddingsResult, ProviderError } from "../../providers/provider.ts";
import { type Attempt, NoRouteError, tryCandidates } from "../../routing/try-candidates.ts";
import { candidatesOf } from "../../routing/candidates.ts";
import { startWatchdog } from "../../runner/watchdog.ts";

import { AnswerCopy } from "../answer-cache.ts";
import { explainFailure } from "../failure.ts";
import { type CloseCall, createCloseCall } from "../close-call.ts";
import { type Finished, runEmbeddingsAttempt } from "./attempt.ts";
import { meterEmbeddings } from "./meter.ts";
import { renderEmbeddings } from "./render.ts";
import { moveTerms, type Terms } from "../media/terms.ts";
import { createNotRun } from "../not-run.ts";
import { discardRequest, readRequest } from "../work-request.ts";

export function createEmbeddingsHandler(context: WorkerContext): JobHandler {
  const closeCall = createCloseCall(context);
  return {
    ...createNotRun(context, closeCall),
    async run(job, control) {
      try {
        await serve(context, closeCall, job, control);
      } finally {
        discardRequest(context, job);
      }
    },
  };
}

/** Ends with the hold closed and the caller told, whatever a provider does. */
async function serve(
  context: WorkerContext,
  closeCall: CloseCall,
  job: JobMessage,
  control: JobControl,
): Promise<void> {
  const answer = new Answer(context.answers, control.reply, job.model, () => ({ nano: 0n, tokens: 0 }));
  const body = await readRequest(context, job, answer, closeCall);
  if (body === undefined) return;
  const request = body as unknown as EmbeddingsRequest;
  const totalMs = Math.max(1, job.deadline_ms - Date.now());
  const watchdog = startWatchdog({ totalMs, firstByteMs: totalMs, stallMs: totalMs }, control.signal);
  const askedAt = performance.now();
  let last: Attempt<EmbeddingsProvider> | undefined;
  try {
    const { result, attempt, terms } = await ask(context, job, request, watchdog.signal, (attempt) => {
      last = attempt;
      const { model } = attempt.candidate;
      const { depth } = attempt;
      answer.server = { model: model.slug, ...(depth > 0 ? { fallback: { from: job.model, depth } } : {}) };
    });
    const upstreamMs = performance.now() - askedAt;
    const { model } = attempt.candidate;
    if (!isEmbeddingModel(model)) throw new Error("served by a model that makes no embeddings");
    const inputs = inputsOf(request.input);
    const tokensMax = inputs.reduce((sum, input) => sum + inputTokensMax(input, model), 0);
    const [metered] = await Promise.all([
      meterEmbeddings(result.usage, { terms, inputs, model, tokensMax }),
      control.confirmCaller?.(watchdog.signal),
    ]);
    // Written before it is paid for: what cannot be told is not charged.
    const text = await renderEmbeddings(result.vectors, model.slug, request.encoding_format ?? "float", metered.usage);
    const { takenNano } = await closeCall(job, attempt.candidate.name, "succeeded", metered);
    answer.end(text, takenNano, upstreamMs);
    // What a fallback made stands in only this once.
    if (attempt.depth === 0) {
      const copy = new AnswerCopy();
      copy.add(text);
      void copy.keep(context, job, { model: model.slug, isStream: false });
    }
    context.log.info(
      { request_id: job.request_id, source: attempt.candidate.name, ms: Math.round(upstreamMs) },
      "embeddings call served",
    );
  } catch (error) {
    const { signal } = watchdog;
    if (!(error instanceof ProviderError || error instanceof NoRouteError) && !signal.aborted) throw error;
    const failure = explainFailure(error, signal.reason);
    if (signal.aborted || error instanceof NoRouteError) {
      context.metrics.providerErrors.inc(last?.candidate.source.provider ?? "none", failure.kind);
      context.log.warn(
        { request_id: job.request_id, source: last?.candidate.name, kind: failure.kind },
        "embeddings call failed",
      );
    }
    // Nothing reached the client, so nothing is owed.
    await closeCall(job, last?.candidate.name ?? null, failure.status, undefined);
    answer.fail(failure);
  } finally {
    watchdog.stop();
  }
}

interface Served {
  readonly result: EmbeddingsResult;
  readonly attempt: Attempt<EmbeddingsProvider>;
  /** Of the model that served. */
  readonly terms: Terms;
}

/** A workspace that names fallbacks gets vectors of the length that it would have had, of whichever model. */
async function ask(
  context: WorkerContext,
  job: JobMessage,
  request: EmbeddingsRequest,
  signal: AbortSignal,
  onAttempt: (attempt: Attempt<EmbeddingsProvider>) => void,
): Promise<Served> {
  const catalogue = context.catalogue.current();
  const asked = catalogue.models.get(job.model);
  const candidates = candidatesOf(catalogue, job.model, job.fallbacks ?? [], (provider) =>
    context.providers.embeddings(provider),
  ).filter(({ model }) => isEmbeddingModel(model));
  // The model, or every source of it, left the catalogue after the call was admitted.
  if (candidates.length === 0 || !asked || !isEmbeddingModel(asked))
    throw new ProviderError("misconfigured", "the model has no source of embeddings any more");
  const finished = new Map<string, Finished>();
  let terms: Terms = {
    price: deserializePrice(job.price as Record<string, string>),
    holdNano: BigInt(job.hold_nano),
  };
  const enter = async (model: Model): Promise<boolean> => {
    if (!isEmbeddingModel(model)) return false;
    const check = () => ({
      bound: checkEmbeddings(standInRequest(request, asked, model), model),
      price: model.price,
    });
    const moved = await moveTerms(context, job, model, check);
    terms = moved ?? terms;
    return moved !== undefined;
  };
  return tryCandidates<EmbeddingsProvider, Served>({
    candidates,
    breaker: context.breaker,
    repeats: { budget: context.repeats, deadlineMs: job.deadline_ms },
    signal,
    hasBegun: () => false,
    enter,
    onFailure(attempt, error, next) {
      context.metrics.providerErrors.inc(attempt.candidate.source.provider, error.kind);
      context.log.warn(
        { request_id: job.request_id, source: attempt.candidate.name, next, ...failureFacts(error) },
        "provider call failed",
      );
    },
    async attempt(attempt) {
      onAttempt(attempt);
      const { name, source, model, isFallback } = attempt.candidate;
      const own = isFallback && isEmbeddingModel(model) ? standInRequest(request, asked, model) : request;
      const of = `${model.slug} ${name}`;
      const done = finished.get(of) ?? new Map<number, EmbeddingsResult>();
      finished.set(of, done);
      const startedAt = performance.now();
      try {
        const limits = { plainMs: context.config.calls.plainMs, deadlineMs: job.deadline_ms };
        const result = await runEmbeddingsAttempt({ request: own, attempt, limits, signal, finished: done });
        return { result, attempt, terms };
      } finally {
        const seconds = (performance.now() - startedAt) / 1_000;
        context.metrics.providerSeconds.observe(seconds, source.provider, model.slug, "embed");
      }
    },
  });
}
