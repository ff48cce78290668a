/** Serves an embeddings call through the first source (a provider's model) that can answer it. */
import type { EmbeddingsRequest, JobMessage } from "#schemas/generated/types.ts";
import {
  checkEmbeddings,
  type EmbeddingInput,
  inputsOf,
  inputTokensMax,
  isList,
  standInRequest,
} from "#shared/calls/kinds/embeddings.ts";
import { type EmbeddingModel, isEmbeddingModel, type Model } from "#shared/calls/model.ts";
import { deserializePrice, priceChat } from "#shared/calls/pricing/price.ts";
import { NO_USAGE, promptTokens, type TokenUsage } from "#shared/calls/pricing/usage.ts";
import { commonNow } from "#shared/base/clock.ts";
import { countInputs } from "#shared/tokens/count-inputs.ts";
import { loadTokenizer } from "#shared/tokens/tokenizer.ts";

import type { WorkerContext } from "../../context.ts";
import type { JobControl, JobHandler } from "../../job.ts";
import type { Outcome } from "../../outcome.ts";
import {
  type ChatUsage,
  type EmbeddingsProvider,
  type EmbeddingsResult,
  ProviderError,
} from "../../providers/provider.ts";
import { candidatesOf } from "../../routing/candidates.ts";
import type { Attempt } from "../../routing/try-candidates.ts";
import { AnswerCopy } from "../answer-cache.ts";
import { CREDITS_PLACE, withCredits } from "../credits-place.ts";
import { chargeOf, type Metered } from "../chat/meter.ts";
import { type HeldPrice, moveHold } from "../media/held-price.ts";
import { failedCall, modelGone, serveCall, watchCall } from "../serve-call.ts";
import { adaptTo } from "../source-params.ts";
import { startWatchdog } from "../watchdog.ts";

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
        // An answer of a fallback is not cached: the next call should try the requested model again.
        if (attempt.depth > 0 || job.cache === undefined) return;
        const copy = new AnswerCopy();
        // An answer from the cache is free.
        copy.add(withCredits(text, 0n));
        void copy.keep(context, job, { model: model.slug, isStream: false });
      },
    };
  } catch (error) {
    // Nothing reached the client, so nothing is charged.
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

/** Sends the call to the sources in order. In a workspace with fallback models, every model returns vectors of the same length. */
async function ask(
  context: WorkerContext,
  job: JobMessage,
  request: EmbeddingsRequest,
  signal: AbortSignal,
  onAttempt: (attempt: Attempt<EmbeddingsProvider>) => void,
): Promise<Served> {
  const catalogue = context.catalogue.current();
  const asked = catalogue.models.get(job.model);
  const candidates = candidatesOf(catalogue, { job }, (provider) => context.providers.embeddings(provider)).filter(
    ({ model }) => isEmbeddingModel(model),
  );
  // The model, or all its sources, left the catalogue after the admission.
  if (candidates.length === 0 || !asked || !isEmbeddingModel(asked)) throw modelGone();
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

// Usage of an embeddings call: the provider's report, or our own count without a possible one.

/**
 * Factor by which a usage report may exceed the token limit that this service calculates for the call. Providers count templates
 * differently, but never twice as much.
 */
const BOUND_SLACK = 2;
const SLACK_PER_INPUT = 16;

async function meterEmbeddings(
  report: ChatUsage,
  call: {
    readonly held: HeldPrice;
    readonly inputs: readonly EmbeddingInput[];
    readonly model: EmbeddingModel;
    /** Maximum number of tokens that the inputs can have. */
    readonly tokensMax: number;
  },
): Promise<Metered> {
  const { inputs, model, tokensMax } = call;
  const { price, holdNano: held } = call.held;
  const believedMax = tokensMax * BOUND_SLACK + inputs.length * SLACK_PER_INPUT;
  if (report !== null && report !== "impossible" && promptTokens(report) <= believedMax) {
    return { nano: priceChat(price, report), usage: report, estimated: undefined };
  }
  const input = await countInputs(await loadTokenizer(), inputs, model.max_context_tokens);
  const usage: TokenUsage = { ...NO_USAGE, input, estimated: true };
  if (report !== null) return { nano: held, usage, estimated: "impossible" };
  const nano = priceChat(price, usage);
  return { nano: nano > held ? held : nano, usage, estimated: "missing" };
}

// Renders OpenAI's list of embeddings for clients (platform.openai.com/docs/api-reference/embeddings).

/** Count of vector components that are written per turn of the event loop, which takes about 10 ms. */
const NUMBERS_PER_TURN = 65_536;

/**
 * Renders the complete answer. Both encodings contain the same 32-bit floats. Floats are written with every digit that a double needs, so
 * that parsing returns exactly the same values.
 */
async function renderEmbeddings(
  vectors: readonly Float32Array[],
  model: string,
  format: "float" | "base64",
  usage: TokenUsage,
): Promise<string> {
  const pieces: string[] = [];
  let numbers = 0;
  for (const [index, vector] of vectors.entries()) {
    pieces.push(`{"object":"embedding","index":${index},"embedding":${write(vector, format)}}`);
    numbers += vector.length;
    if (numbers < NUMBERS_PER_TURN || format === "base64") continue;
    numbers = 0;
    // Yields, since half a second of writing would stop the keep-alives of the worker's other calls.
    await new Promise(setImmediate);
  }
  const tokens = promptTokens(usage);
  const usageText = JSON.stringify({ prompt_tokens: tokens, total_tokens: tokens, credits: CREDITS_PLACE });
  const tail = `"model":${JSON.stringify(model)},"usage":${usageText}}`;
  return `{"object":"list","data":[${pieces.join(",")}],${tail}`;
}

function write(vector: Float32Array, format: "float" | "base64"): string {
  if (format === "float") return `[${vector.join(",")}]`;
  // All supported machines are little-endian, as the format is.
  return `"${Buffer.from(vector.buffer, vector.byteOffset, vector.byteLength).toString("base64")}"`;
}

// One attempt of an embeddings call at one source: as many requests as the source needs for the inputs, a few at once, and one result.

/** Maximum number of concurrent provider requests of one embeddings call. */
const EMBEDDINGS_PARALLEL = 4;

/**
 * Results of completed batches, by the index of the batch. A retry with the same source requests only the other batches, because the
 * completed ones were paid for.
 */
type Finished = Map<number, EmbeddingsResult>;

interface EmbeddingsAttempt {
  readonly request: EmbeddingsRequest;
  readonly attempt: Attempt<EmbeddingsProvider>;
  readonly limits: { readonly plainMs: number; readonly deadlineMs: number };
  readonly signal: AbortSignal;
  readonly finished: Finished;
}

/** Inputs of one provider request, and the position of the first one among all inputs of the call. */
interface Batch {
  readonly from: number;
  readonly inputs: readonly EmbeddingInput[];
}

/**
 * Runs one attempt and returns the vectors of all inputs. @throws ProviderError; its kind is `timeout` if a timeout of this attempt has
 * passed, but not the deadline of the call
 */
async function runEmbeddingsAttempt(run: EmbeddingsAttempt): Promise<EmbeddingsResult> {
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

/** Sends all batches to the provider. The first failed request aborts the others. */
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
        failure ??= toCallerError(error, batch, isList(run.request.input));
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

/**
 * Splits the inputs into consecutive batches. Each batch is within the limits on inputs and tokens that all sources of the model accept.
 */
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

/** Adds the usage of all requests. Returns null if a usage report is missing, and `impossible` if a report has impossible numbers. */
function sumOf(reports: readonly ChatUsage[]): ChatUsage {
  let input = 0;
  for (const report of reports) {
    if (report === "impossible") return report;
    if (report !== null) input += promptTokens(report);
  }
  return reports.includes(null) ? null : { ...NO_USAGE, input };
}

/** Converts the position of a rejected input from its batch to the caller's request. */
function toCallerError(error: unknown, batch: Batch, isListed: boolean): unknown {
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
  const [, index, suffix = ""] = /^input(?:\[(\d+)\])?(.*)$/.exec(param ?? "") ?? [undefined, "none"];
  if (index === "none") return param;
  if (!isListed) return "input";
  if (index === undefined) return inputs.length === 1 ? `input[${from}]` : "input";
  return `input[${from + Number(index)}]${suffix}`;
}
