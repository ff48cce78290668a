/** What the pool does with an embeddings call: served by the first source that can, settled once, answered once. */
import type { EmbeddingsRequest, JobMessage } from "#schemas/generated/types.ts";
import { inputsOf, inputTokensMax } from "#shared/admission/embeddings-constraints.ts";
import { isEmbeddingModel } from "#shared/catalogue/catalogue.ts";

import { Answer } from "../answer.ts";
import type { WorkerContext } from "../context.ts";
import type { JobControl, JobHandler } from "../job.ts";
import { failureFacts } from "../providers/failure-facts.ts";
import { type EmbeddingsProvider, type EmbeddingsResult, ProviderError } from "../providers/provider.ts";
import { type Attempt, NoRouteError, serveFirst } from "../routing/serve-first.ts";
import { stepsOf } from "../routing/steps.ts";
import { startWatchdog } from "../watchdog.ts";

import { AnswerCopy } from "./answer-cache.ts";
import { explainFailure } from "./chat-failure.ts";
import { type CloseCall, createCloseCall } from "./close-call.ts";
import { type Finished, runEmbeddingsAttempt } from "./embeddings-attempt.ts";
import { meterEmbeddings } from "./embeddings-meter.ts";
import { renderEmbeddings } from "./embeddings-render.ts";
import { createUnserved } from "./unserved.ts";
import { discardRequest, readRequest } from "./work-request.ts";

export function createEmbeddingsHandler(context: WorkerContext): JobHandler {
  const closeCall = createCloseCall(context);
  return {
    ...createUnserved(context, closeCall),
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
    const { result, attempt } = await ask(context, job, request, watchdog.signal, (attempt) => (last = attempt));
    const upstreamMs = performance.now() - askedAt;
    const { model } = attempt.step;
    if (!isEmbeddingModel(model)) throw new Error("served by a model that makes no embeddings");
    const inputs = inputsOf(request.input);
    const tokensMax = inputs.reduce((sum, input) => sum + inputTokensMax(input, model), 0);
    const [metered] = await Promise.all([
      meterEmbeddings(result.usage, { job, inputs, model, tokensMax }),
      control.confirmCaller?.(watchdog.signal),
    ]);
    // Written before it is paid for: what cannot be told is not charged.
    const text = await renderEmbeddings(result.vectors, model.slug, request.encoding_format ?? "float", metered.usage);
    const { takenNano } = await closeCall(job, attempt.step.name, "succeeded", metered);
    answer.end(text, takenNano, upstreamMs);
    const copy = new AnswerCopy();
    copy.add(text);
    void copy.keep(context, job, { model: model.slug, isStream: false });
    context.log.info(
      { request_id: job.request_id, source: attempt.step.name, ms: Math.round(upstreamMs) },
      "embeddings call served",
    );
  } catch (error) {
    const { signal } = watchdog;
    if (!(error instanceof ProviderError || error instanceof NoRouteError) && !signal.aborted) throw error;
    const failure = explainFailure(error, signal.reason);
    if (signal.aborted || error instanceof NoRouteError) {
      context.metrics.providerErrors.inc(last?.step.source.provider ?? "none", failure.kind);
      context.log.warn(
        { request_id: job.request_id, source: last?.step.name, kind: failure.kind },
        "embeddings call failed",
      );
    }
    // Nothing reached the client, so nothing is owed.
    await closeCall(job, last?.step.name ?? null, failure.status, undefined);
    answer.fail(failure);
  } finally {
    watchdog.stop();
  }
}

interface Served {
  readonly result: EmbeddingsResult;
  readonly attempt: Attempt<EmbeddingsProvider>;
}

/** Vectors of another model mean nothing beside those a client has stored: only the model's own sources may serve. */
async function ask(
  context: WorkerContext,
  job: JobMessage,
  request: EmbeddingsRequest,
  signal: AbortSignal,
  onAttempt: (attempt: Attempt<EmbeddingsProvider>) => void,
): Promise<Served> {
  const steps = stepsOf(context.catalogue.current(), job.model, [], (provider) =>
    context.providers.embeddings(provider),
  ).filter(({ model }) => isEmbeddingModel(model));
  // The model, or every source of it, left the catalogue after the call was admitted.
  if (steps.length === 0) throw new ProviderError("misconfigured", "the model has no source of embeddings any more");
  const finished = new Map<string, Finished>();
  return serveFirst<EmbeddingsProvider, Served>({
    steps,
    breaker: context.breaker,
    signal,
    hasBegun: () => false,
    enter: () => Promise.resolve(false),
    onFailure(attempt, error, next) {
      context.metrics.providerErrors.inc(attempt.step.source.provider, error.kind);
      context.log.warn(
        { request_id: job.request_id, source: attempt.step.name, next, ...failureFacts(error) },
        "provider call failed",
      );
    },
    async attempt(attempt) {
      onAttempt(attempt);
      const { name, source, model } = attempt.step;
      const done = finished.get(name) ?? new Map<number, EmbeddingsResult>();
      finished.set(name, done);
      const startedAt = performance.now();
      try {
        const limits = { plainMs: context.config.chat.plainMs, deadlineMs: job.deadline_ms };
        return { result: await runEmbeddingsAttempt({ request, attempt, limits, signal, finished: done }), attempt };
      } finally {
        const seconds = (performance.now() - startedAt) / 1_000;
        context.metrics.providerSeconds.observe(seconds, source.provider, model.slug, "embed");
      }
    },
  });
}
