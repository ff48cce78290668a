/** Serves a call in the chat pool through the first source (a provider's model) that can answer it. */
import type { ChatCompletionRequest, JobMessage, ModelResponse } from "#schemas/generated/types.ts";
import { checkChat } from "#shared/calls/kinds/chat/constraints.ts";
import { NO_FILES } from "#shared/calls/kinds/chat/files.ts";
import type { CostMax } from "#shared/calls/max-credits.ts";
import type { Model } from "#shared/calls/model.ts";
import { parse } from "#shared/json/contracts.ts";
import { ApiError } from "#shared/base/errors.ts";
import { FIRST_KEPT_EVENT } from "#shared/responses/store.ts";
import type { RenamedTool } from "#shared/responses/tool-names.ts";
import { writtenText } from "#shared/responses/text.ts";
import { hotLine } from "#shared/base/log-output.ts";
import { adjustHold, type Adjusted, type Adjustment } from "#shared/ledger/adjust.ts";
import { takenOf } from "#shared/ledger/charge.ts";
import { creditLineHoldOf } from "#shared/ledger/credit-line-calls.ts";
import { creditsNumber } from "#shared/base/money.ts";
import { deserializePrice } from "#shared/calls/pricing/price.ts";

import type { Answer } from "../answer.ts";
import type { WorkerContext } from "../../context.ts";
import type { JobControl, JobHandler } from "../../job.ts";
import type { Failure, Outcome, Success } from "../../outcome.ts";
import { type ChatProvider, ProviderError } from "../../providers/provider.ts";
import type { Attempt, Serving } from "../../routing/try-candidates.ts";
import { affinityOf, candidatesOf } from "../../routing/candidates.ts";

import { AnswerCopy } from "../answer-cache.ts";
import { withCredits } from "../credits-place.ts";
import { createAnthropicRendering } from "./anthropic-render.ts";
import { type BackgroundResponse, DELETED, openBackground } from "./background.ts";
import { type Finale, meterOf, runChatAttempt, type HeldPrice } from "./attempt.ts";
import { type ChatMeter, chargeOf, type Metered } from "./meter.ts";
import { releaseConversation, storeResponse, writerOf } from "./store-response.ts";
import { createRendering, gathering, type Rendering } from "./render.ts";
import { createResponsesRendering } from "./responses-render.ts";
import { continuedRendering, mayBeContinued, StreamRescue, sumOf, tookSoFar } from "./rescue.ts";
import { checkDocuments } from "./documents.ts";
import { failedCall, modelGone, serveCall, watchCall } from "../serve-call.ts";
import { withStoredFiles } from "../stored-files.ts";
import { inOldForm, usesFunctions, withTools } from "./legacy-functions.ts";

export function createChatHandler(context: WorkerContext): JobHandler {
  const logServed = hotLine(context.log, "chat call served");
  return { run: (job, control) => new ChatRun(context, logServed, job, control).serve() };
}

class ChatRun {
  private readonly context: WorkerContext;
  private readonly logServed: ReturnType<typeof hotLine>;
  private readonly job: JobMessage;
  private readonly control: JobControl;
  private readonly answer: Answer;
  private request: ChatCompletionRequest;
  /** Original request, which refers to stored files by id instead of containing their bytes. */
  private readonly asked: ChatCompletionRequest;
  /** True if the request used the deprecated `functions`; the answer then uses `function_call`. */
  private readonly isOldForm: boolean;
  /** Response object of a call to the Responses API. It has no output items until the model's answer is rendered into it. */
  private response: ModelResponse | undefined;
  /** Stored response of a background call. Undefined for a call whose client waits for the answer. */
  private background: BackgroundResponse | undefined;
  /** Input items of a Responses call in their stored form. */
  private readonly responseInput: readonly unknown[];
  /** Tools whose calls have another name in an answer of the Responses API. */
  private readonly renamedTools: readonly RenamedTool[];
  /** Completed response object; undefined until the answer has ended. */
  private wholeResponse: ModelResponse | undefined;
  private held: HeldPrice;
  /** Meter of the current or last attempt. */
  private meter: ChatMeter | undefined;
  private attempt: Attempt<ChatProvider> | undefined;
  /** True if a chunk of the current or last attempt has reached the client. */
  private hasBegun = false;
  /** Rescue of the stream by another model; set only for a stream that another model may continue. */
  private rescue: StreamRescue | undefined;
  /** Renderer of the attempt that began the stream. A continuation renders into the same message. */
  private firstRendering: Rendering | undefined;
  /** Copy of the sent answer; set only if the answer is to be cached. */
  private readonly copy: AnswerCopy | undefined;

  constructor(context: WorkerContext, logServed: ReturnType<typeof hotLine>, job: JobMessage, control: JobControl) {
    this.context = context;
    this.logServed = logServed;
    this.job = job;
    this.control = control;
    // A batch line contains the object in its request, and a background response has a row of its own.
    const {
      response_input: input,
      response: begun = job.response,
      response_tools: renamed,
      ...asked
    } = job.request ?? {};
    this.asked = (job.api === "responses" ? asked : job.request) as unknown as ChatCompletionRequest;
    this.responseInput = Array.isArray(input) ? input : [];
    this.renamedTools = Array.isArray(renamed) ? (renamed as readonly RenamedTool[]) : [];
    this.isOldForm = usesFunctions(this.asked);
    this.request = withTools(this.asked);
    // The object of a background response is in its row.
    this.response = job.api === "responses" && begun !== undefined ? parse("ModelResponse", begun) : undefined;
    this.held = {
      price: deserializePrice(job.price as Record<string, string>),
      holdNano: BigInt(job.hold_nano),
      outputTokensMax: job.output_tokens_max,
    };
    this.copy = job.cache === undefined ? undefined : new AnswerCopy();
    this.answer = control.answer;
    this.answer.progress = () => this.progress();
  }

  async serve(): Promise<Outcome> {
    const { context, job, control } = this;
    const watchdog = watchCall(job, control.signal);
    let askedAt = performance.now();
    try {
      if (job.background === true) {
        this.background = await openBackground(context, job, writerOf(context, job, watchdog.signal));
        if (!this.background) return DELETED;
        this.response = this.background.response;
      }
      this.request = await withStoredFiles(context, job, this.request, watchdog.signal);
      const model = context.catalogue.current().models.get(job.model);
      if (model) await this.checkDocuments(model, this.request, watchdog.signal);
      askedAt = performance.now();
      const finale = await this.ask(watchdog.signal, askedAt);
      return await this.succeed(finale, performance.now() - askedAt, watchdog.signal);
    } catch (error) {
      return await this.fail(error, watchdog.signal);
    } finally {
      watchdog.stop();
    }
  }

  private async ask(signal: AbortSignal, askedAt: number): Promise<Finale> {
    const { context, job, request } = this;
    const catalogue = context.catalogue.current();
    const affinity = affinityOf(job, request);
    const candidates = candidatesOf(catalogue, { job, affinity }, (provider) => context.providers.chat(provider));
    if (candidates.length === 0) throw modelGone();
    if (mayBeContinued(job, request)) this.rescue = new StreamRescue(candidates, request);
    const createdS = Math.floor(Date.now() / 1_000);
    try {
      return await this.serveBy({ candidates }, request, signal, askedAt, ({ candidate }) => {
        this.firstRendering = this.rendering(candidate.model, createdS);
        return this.rescue?.soFar.watch(this.firstRendering) ?? this.firstRendering;
      });
    } catch (error) {
      if (this.rescue === undefined) throw error;
      return await this.continueStream(this.rescue, error, signal, askedAt);
    }
  }

  /** Continues a broken stream with other models until one of them completes it. @throws `error` if none of them can */
  private async continueStream(
    rescue: StreamRescue,
    error: unknown,
    signal: AbortSignal,
    askedAt: number,
  ): Promise<Finale> {
    const { streamsRescued } = this.context.metrics;
    for (;;) {
      const { attempt, meter, firstRendering: rendering } = this;
      const isBroken = this.hasBegun && !signal.aborted && attempt && meter && rendering;
      const next = isBroken ? await rescue.after(error, attempt, meter) : undefined;
      if (!next || !rendering) {
        if (rescue.took !== undefined) streamsRescued.inc("failed");
        throw error;
      }
      this.hasBegun = false;
      try {
        const render = ({ candidate }: Attempt<ChatProvider>): Rendering =>
          continuedRendering(
            rescue.soFar.watch(rendering),
            next.text,
            candidate.source.continue_repeats ? next.begun : "",
          );
        const finale = await this.serveBy(next, next.request, signal, askedAt, render);
        streamsRescued.inc("continued");
        return finale;
      } catch (another) {
        // A failure before any new text does not change the error for the caller.
        if (this.hasBegun || signal.aborted) error = another;
      }
    }
  }

  private serveBy(
    to: Pick<Serving<ChatProvider, Finale>, "candidates" | "from">,
    request: ChatCompletionRequest,
    signal: AbortSignal,
    askedAt: number,
    renderingOf: (attempt: Attempt<ChatProvider>) => Rendering,
  ): Promise<Finale> {
    const { context, job, answer } = this;
    const continues = this.took !== undefined;
    return serveCall(context, job, {
      ...to,
      signal,
      hasBegun: () => this.hasBegun,
      mayRepeat: true,
      mode: request.stream === true ? "stream" : "complete",
      enter: (model) => this.enter(model, request, signal),
      attempt: async (attempt) => {
        const { model } = attempt.candidate;
        const rendering = renderingOf(attempt);
        const meter = meterOf(request, attempt.candidate, this.held);
        this.meter = meter;
        this.attempt = attempt;
        // The head of a stream names the model that began it.
        if (!continues) {
          answer.server = {
            model: model.slug,
            ...(attempt.depth > 0 ? { fallback: { from: job.model, depth: attempt.depth } } : {}),
          };
        }
        return runChatAttempt({
          job,
          request,
          continues,
          attempt,
          exactIntegers: this.control.exactIntegers,
          held: this.held,
          limits: context.config.calls,
          drained: () => (this.background ?? answer).waitForDrain(),
          signal,
          stopping: this.control.stopping,
          rendering,
          answer: this.watched(attempt.onBegun),
          meter,
          checkFetched: (fetched) => this.checkDocuments(model, fetched, signal),
          askedAt,
        });
      },
    });
  }

  /**
   * Wraps the writer of the answer's chunks. It detects the first chunk of an attempt, and copies all chunks if the answer is to be cached.
   * Chunks go to the client or to the background response.
   */
  private watched(onBegun: () => void): Pick<Answer, "write" | "hasBegun"> {
    const { answer, copy } = this;
    const hasBegun = (): boolean => this.hasBegun;
    return {
      get hasBegun() {
        return hasBegun();
      },
      write: (text, upstreamMs) => {
        if (!this.hasBegun) onBegun();
        this.hasBegun = true;
        copy?.add(text);
        if (this.background) this.background.write(text);
        else answer.write(text, upstreamMs);
      },
    };
  }

  /**
   * Returns the cost and tokens of the call so far. After an interrupted attempt, the next attempt is counted only once the client has
   * received a chunk of it.
   */
  private progress(): { nano: bigint; tokens: number } {
    const before = tookSoFar(this.took);
    const now = this.took === undefined || this.hasBegun ? this.meter?.soFar() : undefined;
    return { nano: before.nano + (now?.nano ?? 0n), tokens: before.tokens + (now?.tokens ?? 0) };
  }

  /** Usage of the models whose streams broke off earlier in this call. */
  private get took(): Metered | undefined {
    return this.rescue?.took;
  }

  /**
   * Adjusts the hold to the price of a fallback model before that model is called. Returns false if the model is skipped, for example
   * because it does not accept the request.
   */
  private async enter(model: Model, request: ChatCompletionRequest, signal: AbortSignal): Promise<boolean> {
    const { context, job } = this;
    const before = tookSoFar(this.took);
    let bound: ReturnType<typeof checkChat>;
    try {
      const max = this.maxAfter(before.nano, request);
      bound = checkChat(request, model, Buffer.byteLength(JSON.stringify(request)), NO_FILES, max);
      await this.checkDocuments(model, request, signal);
    } catch (error) {
      if (signal.aborted || !(error instanceof ApiError || error instanceof ProviderError)) throw error;
      context.log.info({ request_id: job.request_id, model: model.slug, code: error.code }, "skipped a fallback model");
      return false;
    }
    const adjusted = await this.adjust({
      workspaceId: job.workspace_id,
      jobId: job.job_id,
      attempt: job.attempt,
      model: model.slug,
      amountNano: before.nano + bound.holdNano,
      mayExceed: bound.mayExceed,
      tokensMax: before.tokens + bound.tokensMax,
      ...(this.took === undefined ? {} : { parts: this.rescue?.usageParts() ?? [] }),
    });
    if (adjusted !== "adjusted") {
      context.log.info({ request_id: job.request_id, model: model.slug, hold: adjusted }, "skipped a fallback model");
      return false;
    }
    this.held = { price: model.price, holdNano: bound.holdNano, outputTokensMax: bound.outputTokensMax };
    return true;
  }

  /** Returns the maximum cost of a fallback model, after earlier models have cost `tookNano`; undefined if the caller sets none. */
  private maxAfter(tookNano: bigint, { n }: ChatCompletionRequest): CostMax | undefined {
    const { max_nano: nano, output_tokens_max: outputTokensMax } = this.job;
    if (nano === undefined) return undefined;
    const left = BigInt(nano) - tookNano;
    return { nano: left, fitNano: left, outputTokensMax: Math.floor(outputTokensMax / (n ?? 1)) };
  }

  private checkDocuments(model: Model, request: ChatCompletionRequest, signal: AbortSignal): Promise<void> {
    return checkDocuments(this.context.probes, model, request, this.asked, signal);
  }

  /**
   * Adjusts the hold in the database. A database failure does not end the call: the next model is tried, or the caller receives the last
   * error.
   */
  private async adjust(to: Adjustment): Promise<Adjusted | "unknown"> {
    try {
      return await adjustHold(this.context.database, {
        ...to,
        batchLine: this.job.batch_line,
        creditLineHold: creditLineHoldOf(this.job),
      });
    } catch (error) {
      this.context.log.warn(
        { err: error, request_id: this.job.request_id },
        "a hold could not be changed to the price of a fallback model",
      );
      return "unknown";
    }
  }

  private async succeed(finale: Finale, upstreamMs: number, signal: AbortSignal): Promise<Success> {
    const { context, job, meter, attempt, copy } = this;
    if (!meter || !attempt) throw new Error("served without an attempt");
    const metered = sumOf(this.took, await meter.settle());
    const { may_exceed: mayExceed, batch_line: line } = job;
    const holdNano = tookSoFar(this.took).nano + this.held.holdNano;
    const rendered = finale.render(metered);
    const status = finale.wasDrained ? "cancelled" : "succeeded";
    if (status === "succeeded")
      await this.keepResponse(rendered, takenOf(metered.nano, { holdNano, mayExceed, line }), signal);
    else await releaseConversation(context, job, this.response);
    // The answer of a background call is only in its response.
    const text = this.background ? JSON.stringify({ id: this.response?.id, object: "response" }) : rendered;
    const isStream = this.request.stream === true;
    this.logServed({
      request_id: job.request_id,
      source: attempt.candidate.name,
      depth: attempt.depth,
      ms: Math.round(upstreamMs),
    });
    // An answer of a fallback is not cached: the next call should try the requested model again.
    const isKept = attempt.depth === 0 && status === "succeeded";
    // An answer from the cache is free.
    if (isKept) copy?.add(withCredits(text, 0n));
    return {
      status,
      source: attempt.candidate.name,
      charge: chargeOf(metered),
      holdNano,
      result: { text, upstreamMs },
      onSettled: () => {
        if (isKept) void copy?.keep(context, job, { model: job.model, isStream });
      },
    };
  }

  /**
   * Stores the completed response. @param nano charge of the call. @throws ApiError, ProviderError as `storeResponse`; the reason of
   * `signal` if it aborts first
   */
  private async keepResponse(lastEvents: string, nano: bigint, signal: AbortSignal): Promise<void> {
    const { context, job, background, wholeResponse, responseInput: input } = this;
    if (!wholeResponse) return;
    const { usage } = wholeResponse;
    const response = { ...wholeResponse, usage: usage && { ...usage, credits: creditsNumber(nano) } };
    if (job.needs_text === true && writtenText(response).trim() === "") throw new ProviderError("failed", "no text");
    await storeResponse(context, job, { response, input, background, lastEvents }, signal);
  }

  private async fail(error: unknown, signal: AbortSignal): Promise<Failure> {
    const { context, job, attempt, meter } = this;
    await this.background?.breakOff();
    await releaseConversation(context, job, this.response);
    const failed = failedCall(context, job, error, signal, attempt);
    // Without a sent piece nothing reached the client, so nothing is charged; afterwards, the produced tokens are.
    const metered = this.hasBegun ? sumOf(this.took, await meter?.settleCut()) : this.took;
    return metered ? { ...failed, charge: chargeOf(metered) } : failed;
  }

  private rendering(model: Model, createdS: number): Rendering {
    const { job, request } = this;
    if (job.api === "anthropic") {
      const stops = typeof request.stop === "string" ? [request.stop] : (request.stop ?? []);
      return createAnthropicRendering({ jobId: job.job_id, model: model.slug, stops });
    }
    if (this.response) {
      return createResponsesRendering({
        response: this.response,
        renamed: this.renamedTools,
        model: model.slug,
        logprobs: request.logprobs === true,
        ...(this.background ? { firstEvent: FIRST_KEPT_EVENT } : {}),
        onWhole: (whole) => {
          this.wholeResponse = whole;
        },
      });
    }
    const includeUsage = request.stream_options?.include_usage === true;
    const rendering = createRendering({ jobId: job.job_id, model: model.slug, createdS, includeUsage });
    const own = this.isOldForm ? inOldForm(rendering) : rendering;
    return job.step === undefined ? own : gathering(own);
  }
}
