/** Serves an embeddings call, by the first source that can. */
import type { EmbeddingsRequest, JobMessage } from "#schemas/generated/types.ts";
import { checkEmbeddings, inputsOf, inputTokensMax, standInRequest } from "#shared/calls/kinds/embeddings.ts";
import { isEmbeddingModel, type Model } from "#shared/calls/model.ts";
import { deserializePrice } from "#shared/calls/pricing/price.ts";

import type { WorkerContext } from "../../context.ts";
import type { JobControl, JobHandler } from "../../job.ts";
import type { Outcome } from "../../outcome.ts";
import { type EmbeddingsProvider, type EmbeddingsResult, ProviderError } from "../../providers/provider.ts";
import type { Attempt } from "../../routing/try-candidates.ts";
import { candidatesOf } from "../../routing/candidates.ts";

import { AnswerCopy } from "../answer-cache.ts";
import { chargeOf } from "../chat/meter.ts";
import { type Finished, runEmbeddingsAttempt } from "./attempt.ts";
import { meterEmbeddings } from "./meter.ts";
import { renderEmbeddings } from "./render.ts";
import { moveHold, type HeldPrice } from "../media/held-price.ts";
import { failedCall, serveCall, watchCall } from "../serve-call.ts";

export function createEmbeddingsHandler(context: WorkerContext): JobHandler {
  return { run: (job, control) => serve(context, job, control) };
}

async function serve(context: WorkerContext, job: JobMessage, control: JobControl): Promise<Outcome> {
  const request = job.request as unknown as EmbeddingsRequest;
  const watchdog = watchCall(job, control.signal);
  const askedAt = performance.now();
  let last: Attempt<EmbeddingsProvider> | undefined;
  try {
    const { result, attempt, held } = await ask(context, job, request, watchdog.signal, (attempt) => {
      last = attempt;
      const { model } = attempt.candidate;
      const { depth } = attempt;
      control.answer.server = { model: model.slug, ...(depth > 0 ? { fallback: { from: job.model, depth } } : {}) };
    });
    const upstreamMs = performance.now() - askedAt;
    const { model, name: source } = attempt.candidate;
    if (!isEmbeddingModel(model)) throw new Error("served by a model that makes no embeddings");
    const inputs = inputsOf(request.input);
    const tokensMax = inputs.reduce((sum, input) => sum + inputTokensMax(input, model), 0);
    const metered = await meterEmbeddings(result.usage, { held, inputs, model, tokensMax });
    const text = await renderEmbeddings(result.vectors, model.slug, request.encoding_format ?? "float", metered.usage);
    context.log.info({ request_id: job.request_id, source, ms: Math.round(upstreamMs) }, "embeddings call served");
    return {
      status: "succeeded",
      source,
      charge: chargeOf(metered),
      holdNano: held.holdNano,
      result: { text, upstreamMs },
      onSettled: () => {
        // What a fallback made stands in only this once.
        if (attempt.depth > 0 || job.cache === undefined) return;
        const copy = new AnswerCopy();
        copy.add(text);
        void copy.keep(context, job, { model: model.slug, isStream: false });
      },
    };
  } catch (error) {
    // Nothing reached the client, so nothing is owed.
    return failedCall(context, job, error, watchdog.signal, last);
  } finally {
    watchdog.stop();
  }
}

interface Served {
  readonly result: EmbeddingsResult;
  readonly attempt: Attempt<EmbeddingsProvider>;
  /** Price and hold of the model that served. */
  readonly held: HeldPrice;
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
  let held: HeldPrice = {
    price: deserializePrice(job.price as Record<string, string>),
    holdNano: BigInt(job.hold_nano),
  };
  const enter = async (model: Model): Promise<boolean> => {
    if (!isEmbeddingModel(model)) return false;
    const check = () => ({
      bound: checkEmbeddings(standInRequest(request, asked, model), model),
      price: model.price,
    });
    const moved = await moveHold(context, job, model, check);
    held = moved ?? held;
    return moved !== undefined;
  };
  return serveCall<EmbeddingsProvider, Served>(context, job, {
    candidates,
    signal,
    mayRepeat: true,
    mode: "embed",
    enter,
    async attempt(attempt) {
      onAttempt(attempt);
      const { name, model, isFallback } = attempt.candidate;
      const own = isFallback && isEmbeddingModel(model) ? standInRequest(request, asked, model) : request;
      const of = `${model.slug} ${name}`;
      const done = finished.get(of) ?? new Map<number, EmbeddingsResult>();
      finished.set(of, done);
      const limits = { plainMs: context.config.calls.plainMs, deadlineMs: job.deadline_ms };
      const result = await runEmbeddingsAttempt({ request: own, attempt, limits, signal, finished: done });
      return { result, attempt, held };
    },
  });
}
