/** What the chat pool does with a call: one provider call, one settle, one answer. */
import type { ChatCompletionRequest, JobMessage } from "#schemas/generated/types.ts";
import type { Model, Source } from "#shared/catalogue/catalogue.ts";
import type { UsageStatus } from "#shared/ledger/finish.ts";
import { closeLostCall } from "#shared/ledger/lost.ts";
import { LIMITS } from "#shared/limits.ts";
import { deserializePrice } from "#shared/pricing/price.ts";
import { completionTokens, promptTokens } from "#shared/pricing/usage.ts";
import { CALLER_LIVES, encodeFrame } from "#shared/queue/frames.ts";
import { deleteClaim, readClaim } from "#shared/storage/claim-check.ts";

import { Answer } from "../answer.ts";
import type { WorkerContext } from "../context.ts";
import type { JobControl, JobHandler } from "../job.ts";
import { type ChatCall, type ChatProvider, ProviderError } from "../providers/provider.ts";
import { startWatchdog, type Watchdog } from "../watchdog.ts";

import { explainFailure } from "./chat-failure.ts";
import { ChatMeter, type Metered, type TokenBounds, usageUnits } from "./chat-meter.ts";
import { createRendering, type Rendering, STREAM_END } from "./chat-render.ts";

interface Attempt {
  readonly job: JobMessage;
  readonly model: Model | undefined;
  readonly source: Source;
  readonly provider: ChatProvider;
  readonly call: ChatCall;
  readonly watchdog: Watchdog;
  readonly meter: ChatMeter;
  readonly rendering: Rendering;
  readonly answer: Answer;
}

export function createChatHandler(context: WorkerContext): JobHandler {
  const { ledger, log, metrics } = context;

  const close = async (job: JobMessage, source: string | null, status: UsageStatus, metered: Metered | undefined) => {
    const finished = await ledger.finish({
      workspaceId: job.workspace_id,
      jobId: job.job_id,
      attempt: job.attempt,
      usedNano: metered?.nano ?? null,
      status,
      source,
      units: metered ? usageUnits(metered.usage) : {},
      isEstimated: metered?.estimated !== undefined,
      tokens: metered ? promptTokens(metered.usage) + completionTokens(metered.usage) : 0,
    });
    if (!finished.wasClosed && metered) {
      metrics.creditsSettled.addNano(finished.takenNano);
      metrics.creditsUncollected.addNano(metered.nano - finished.takenNano);
      if (metered.estimated) metrics.usageEstimated.inc(metered.estimated);
      if (metered.estimated === "impossible") {
        log.error(
          { request_id: job.request_id, source },
          "the provider reported impossible usage; the call was settled at its hold",
        );
      }
    }
    return finished;
  };

  const discardClaim = (job: JobMessage): void => {
    if (job.request_ref === undefined) return;
    deleteClaim(context.storage, job.request_ref).catch((error: unknown) =>
      log.warn({ err: error }, "a claim was not deleted"),
    );
  };

  const runAttempt = async (attempt: Attempt): Promise<void> => {
    const { job, source, answer, meter, rendering, call, provider, watchdog } = attempt;
    const startedAt = performance.now();
    const isStream = call.request.stream === true;
    const sourceName = `${source.provider}/${source.model}`;
    try {
      if (!isStream) {
        const result = await provider.complete(call);
        const upstreamMs = performance.now() - startedAt;
        meter.add(result.choices);
        meter.report = result.usage;
        const metered = await meter.settle();
        // Written before it is paid for: what cannot be told is not charged.
        const text = rendering.completion(result, metered.usage);
        const { takenNano } = await close(job, sourceName, "succeeded", metered);
        answer.end(text, takenNano, upstreamMs);
      } else {
        await relayStream(attempt, startedAt);
        const metered = await meter.settle();
        const { takenNano } = await close(job, sourceName, "succeeded", metered);
        const usageChunk =
          call.request.stream_options?.include_usage === true ? rendering.usageChunk(metered.usage) : "";
        answer.end(usageChunk + STREAM_END, takenNano);
      }
    } catch (error) {
      if (!(error instanceof ProviderError) && !watchdog.signal.aborted) throw error;
      const failure = explainFailure(error, watchdog.signal.reason);
      metrics.providerErrors.inc(source.provider, failure.kind);
      log.warn(
        {
          request_id: job.request_id,
          source: sourceName,
          kind: failure.kind,
          limit: watchdog.expired(),
          detail: failure.detail,
        },
        "chat call failed",
      );
      // Before the first piece nothing reached the client, so nothing is owed; after it, what was produced is.
      const metered = answer.hasBegun ? await meter.settleCut() : undefined;
      const { takenNano } = await close(job, sourceName, failure.status, metered);
      answer.fail({ ...failure, retry: failure.retry && takenNano === 0n });
      return;
    } finally {
      const seconds = (performance.now() - startedAt) / 1_000;
      metrics.providerSeconds.observe(
        seconds,
        source.provider,
        attempt.model?.slug ?? "unlisted",
        isStream ? "stream" : "complete",
      );
    }
    log.info(
      { request_id: job.request_id, source: sourceName, ms: Math.round(performance.now() - startedAt) },
      "chat call served",
    );
  };

  return {
    async run(job, control) {
      const answer = new Answer(context.answers, control.reply, job.model, () => meter.soFar());
      const model = context.catalogue.current().models.get(job.model);
      const source = model?.sources[0];
      const entry = source && context.catalogue.current().providers.get(source.provider);
      let request: ChatCompletionRequest;
      try {
        request = await loadRequest(context, job);
      } catch (error) {
        log.error({ err: error, request_id: job.request_id }, "the request of a call could not be read from storage");
        await close(job, null, "failed", undefined);
        answer.fail({
          code: "service_unavailable",
          message: "The request could not be read back; try again.",
          param: null,
          retry: true,
        });
        return;
      }
      const meter = new ChatMeter(
        request,
        deserializePrice(job.price as Record<string, string>),
        BigInt(job.hold_nano),
        model?.tokens_per_image_max,
        model && tokenBounds(model, job, request),
      );
      if (!model || !source || !entry) {
        await close(job, null, "failed", undefined);
        answer.fail({
          code: "upstream_error",
          message: "The model is no longer available.",
          param: "model",
          retry: false,
        });
        return;
      }
      const watchdog = startWatchdog(chatLimits(context, job, request), control.signal);
      try {
        await runAttempt({
          job,
          model,
          source,
          provider: context.providers.chat(entry),
          call: {
            request,
            sourceModel: source.model,
            adapt: (body) => applySource(body, source),
            outputTokensMax: job.output_tokens_max,
            signal: watchdog.signal,
          },
          watchdog,
          meter,
          answer,
          rendering: createRendering({
            jobId: job.job_id,
            model: model.slug,
            createdS: Math.floor(Date.now() / 1_000),
            includeUsage: request.stream_options?.include_usage === true,
          }),
        });
      } finally {
        watchdog.stop();
        discardClaim(job);
      }
    },

    async lost(job, control) {
      if (await callerTakesOver(context, control)) return;
      const finished = await closeLostCall(context.database, ledger, {
        workspaceId: job.workspace_id,
        jobId: job.job_id,
        attempt: job.attempt,
      });
      // A call that ended well is delivered again when its ack was lost.
      if (finished.wasClosed) return;
      metrics.callsLost.inc();
      log.error({ request_id: job.request_id }, "a call was lost with its worker");
    },

    async drop(job, control) {
      await close(job, null, "cancelled", undefined);
      discardClaim(job);
      // Usually nobody listens any more; where clocks disagree about the deadline, somebody does.
      new Answer(context.answers, control.reply, job.model, () => ({ nano: 0n, tokens: 0 })).fail({
        code: "overloaded",
        message: "No worker was free in time; try again shortly.",
        param: null,
        retry: true,
      });
    },
  };
}

/** Passes deltas on until the provider is done. Pieces without content wait for the first one with: until then a failure has a status. */
async function relayStream(attempt: Attempt, startedAt: number): Promise<void> {
  const { meter, rendering, answer, watchdog } = attempt;
  const bytesMax = outputBytesMax(attempt);
  let held = "";
  for await (const delta of attempt.provider.stream(attempt.call)) {
    watchdog.touch();
    if (delta.usage !== undefined) meter.report = delta.usage;
    if (delta.choices.length === 0) continue;
    const isOutput = meter.add(delta.choices);
    if (meter.outputBytes > bytesMax)
      throw new ProviderError("failed", "the stream is longer than the model can answer");
    held += rendering.chunk(delta);
    if (!isOutput && !answer.hasBegun && held.length < HELD_CHARACTERS_MAX) continue;
    answer.write(held, performance.now() - startedAt);
    held = "";
  }
}

/** Pieces without content are held back for the sake of a later failure's status, up to here. */
const HELD_CHARACTERS_MAX = 65_536;

/** What a usage report may say at most. A limit of the caller's own is below what the model declares. */
function tokenBounds(model: Model, job: JobMessage, request: ChatCompletionRequest): TokenBounds {
  return {
    input: model.max_context_tokens,
    output: Math.max(job.output_tokens_max, model.max_output_tokens * (request.n ?? 1)),
  };
}

/** No model writes more than about this many bytes a token; a stream beyond it never ends by itself. */
const BYTES_PER_TOKEN_MAX = 64;

function outputBytesMax({ model, call }: Attempt): number {
  const tokens = Math.max(call.outputTokensMax, model?.max_output_tokens ?? 0) * (call.request.n ?? 1);
  return Math.min(LIMITS.providerBytesMax, Math.max(65_536, tokens * BYTES_PER_TOKEN_MAX));
}

function chatLimits(context: WorkerContext, job: JobMessage, request: ChatCompletionRequest) {
  const totalMs = Math.max(1, job.deadline_ms - Date.now());
  // A plain answer's first byte is its last: only the total counts.
  const firstByteMs = request.stream === true ? Math.min(totalMs, context.config.chat.firstByteMs) : totalMs;
  return { totalMs, firstByteMs, stallMs: context.config.chat.stallMs };
}

/** The source's own gaps, names and defaults, as the catalogue lists them. */
function applySource(body: Record<string, unknown>, source: Source): void {
  // The hold was made for the newer name; a source that reads the older one must not be told another limit.
  if (body["max_completion_tokens"] != null) delete body["max_tokens"];
  for (const name of source.drop_params ?? []) delete body[name];
  for (const [from, to] of Object.entries(source.rename_params ?? {})) {
    if (body[from] === undefined) continue;
    body[to] ??= body[from];
    delete body[from];
  }
  Object.assign(body, source.overrides);
}

async function loadRequest(context: WorkerContext, job: JobMessage): Promise<ChatCompletionRequest> {
  if (job.request_ref === undefined) return job.request as unknown as ChatCompletionRequest;
  return JSON.parse(await readClaim(context.storage, job.request_ref)) as ChatCompletionRequest;
}

/** The ingress knows best what it has relayed; if it still lives, it settles and tells its client. */
async function callerTakesOver(context: WorkerContext, control: Pick<JobControl, "reply">): Promise<boolean> {
  if (control.reply === undefined) return false;
  try {
    const answer = await context.replies.request(control.reply, encodeFrame({ t: "lost" }), {
      timeout: LIMITS.ingressProbeMs,
    });
    return answer.string() === CALLER_LIVES;
  } catch {
    // No responder or no answer in time both mean: nobody there who could.
    return false;
  }
}
