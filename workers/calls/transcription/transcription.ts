/** Serves a transcription call in the audio pool through the first source that can answer it. */
import type { JobMessage, TranscriptionRequest } from "#schemas/generated/types.ts";
import { NO_FILES } from "#shared/calls/kinds/chat/files.ts";
import { type MeasuredAudio, TRANSCRIPTION, type TranscriptionParams } from "#shared/calls/kinds/transcription.ts";
import type { Model } from "#shared/calls/model.ts";
import { deserializePrice } from "#shared/calls/pricing/price.ts";
import { NO_USAGE } from "#shared/calls/pricing/usage.ts";
import { findReadable } from "#shared/database/files.ts";
import { anyMember } from "#shared/database/viewer.ts";
import { ApiError } from "#shared/base/errors.ts";
import { readFile } from "#shared/files/read.ts";
import { type Charge, priceAt } from "#shared/ledger/charge.ts";
import { deleteCallMedia, mediaSize, readCallMedia } from "#shared/storage/call-media.ts";
import { INPUT_PROCESS_BYTES_MAX } from "#workers/calls/media/inputs.ts";

import type { WorkerContext } from "../../context.ts";
import type { JobControl, JobHandler } from "../../job.ts";
import type { Failure, Outcome, Success } from "../../outcome.ts";
import { openByteBudget } from "../../providers/byte-budget.ts";
import type { MediaAdapter, MediaResult, MediaUsage, Transcript, TranscriptionInput } from "../../providers/media.ts";
import { ProviderError } from "../../providers/provider.ts";
import { candidatesOf } from "../../routing/candidates.ts";
import type { Attempt } from "../../routing/try-candidates.ts";
import type { Answer } from "../answer.ts";
import { withinLimit } from "../attempt-limit.ts";
import { CallChecks } from "../media/checks.ts";
import { type HeldPrice, moveHold } from "../media/held-price.ts";
import { type HeldMedia, meterMedia } from "../media/meter.ts";
import { failedCall, serveCall, watchCall } from "../serve-call.ts";
import { adaptTo } from "../source-params.ts";
import { renderTranscript, streamTranscript, transcriptDelta } from "./formats.ts";

/** The client's request, with the ingress's measurements of its audio. */
interface Call extends TranscriptionRequest {
  readonly recording: StoredAudio & MeasuredAudio;
}

type Adapter = MediaAdapter<TranscriptionInput, Transcript>;

/** Audio tokens per second that are assumed for an estimate: the lowest figure of all providers. */
const AUDIO_TOKENS_A_SECOND = 10;
const CHARACTERS_A_TOKEN = 4;

interface Served {
  readonly result: MediaResult<Transcript>;
  readonly attempt: Attempt<Adapter>;
}

export function createTranscriptionHandler(context: WorkerContext): JobHandler {
  return { run: (job, control) => new Transcribing(context, job, control).serve() };
}

class Transcribing {
  private readonly context: WorkerContext;
  private readonly job: JobMessage;
  private readonly control: JobControl;
  private readonly call: Call;
  private readonly checks: CallChecks<TranscriptionParams, Call>;
  private readonly answer: Answer;
  /** Text that the caller has received so far. */
  private sentText = "";
  private held: HeldPrice;
  private last: Attempt<Adapter> | undefined;

  constructor(context: WorkerContext, job: JobMessage, control: JobControl) {
    this.context = context;
    this.job = job;
    this.control = control;
    this.checks = new CallChecks(job, (call, model) =>
      TRANSCRIPTION.check(call, model, {
        bodyBytes: 0,
        files: NO_FILES,
        recording: call.recording,
      }),
    );
    this.call = this.checks.request;
    this.answer = control.answer;
    this.held = {
      price: deserializePrice(job.price as Record<string, string>),
      holdNano: BigInt(job.hold_nano),
    };
  }

  async serve(): Promise<Outcome> {
    const { context, job, call } = this;
    const watchdog = watchCall(job, this.control.signal);
    const { signal } = watchdog;
    const askedAt = performance.now();
    let recording: CallAudio | undefined;
    try {
      recording = await readStoredAudio(context, job.workspace_id, call.recording, signal);
      const served = await this.ask(recording, signal);
      return this.succeed(served, performance.now() - askedAt);
    } catch (error) {
      return this.fail(error, signal);
    } finally {
      recording?.release();
      // The end of a durable job deletes its audio, since the job may be handed back before.
      if (job.stored_inputs === undefined) recording?.discard();
      watchdog.stop();
    }
  }

  private ask(recording: CallAudio, signal: AbortSignal): Promise<Served> {
    const { context, job } = this;
    const candidates = candidatesOf(context.catalogue.current(), { job }, (provider) =>
      context.providers.media(provider, "transcription"),
    );
    if (candidates.length === 0) throw new ProviderError("misconfigured", "the model has no source any more");
    const { kind, deadline_ms: deadlineMs } = job;
    const limits = { kind, deadlineMs, plainMs: context.config.calls.plainMs, signal };
    return serveCall<Adapter, Served>(context, job, {
      candidates,
      signal,
      hasBegun: () => this.answer.hasBegun,
      mayRepeat: true,
      mode: "plain",
      enter: (model) => this.enter(model),
      attempt: (attempt) => withinLimit(attempt, limits, (limited) => this.attempt(attempt, recording, limited)),
    });
  }

  private async attempt(attempt: Attempt<Adapter>, recording: CallAudio, signal: AbortSignal): Promise<Served> {
    const { adapter, model, source } = attempt.candidate;
    this.last = attempt;
    if (!("run" in adapter)) throw new ProviderError("misconfigured", "the source queues what is waited for");
    this.answer.server = {
      model: model.slug,
      ...(attempt.depth > 0 ? { fallback: { from: this.job.model, depth: attempt.depth } } : {}),
    };
    const { format: _ours, ...params } = this.checks.by(model).params;
    const startedAt = performance.now();
    const result = await adapter.run({
      input: { ...params, audio: recording.audio },
      sourceModel: source.model,
      signal,
      traits: new Set(source.traits),
      ...(source.fields ? { fields: source.fields } : {}),
      adapt: (body) => adaptTo(source, body),
      ...(this.call.stream === true
        ? { onText: (piece: string) => this.sendPiece(piece, performance.now() - startedAt) }
        : {}),
    });
    return { result, attempt };
  }

  private async enter(model: Model): Promise<boolean> {
    const moved = await moveHold(this.context, this.job, model, () => this.checks.anew(model));
    this.held = moved ?? this.held;
    return moved !== undefined;
  }

  private sendPiece(piece: string, upstreamMs: number): void {
    if (piece === "") return;
    this.sentText += piece;
    this.answer.write(transcriptDelta(piece), upstreamMs);
  }

  private meter(model: Model, usage: MediaUsage): Charge {
    const { most, tokensMax, secondsOf } = this.checks.by(model);
    const held: HeldMedia = { ...this.held, most, tokensMax, secondsOf };
    const { seconds = this.call.recording.seconds } = usage;
    return meterMedia(held, [{ seconds }], { ...usage, seconds });
  }

  /**
   * Returns the charge for a stream whose caller disconnected. Charges the whole audio; if the price is per token, charges a low estimate
   * of the tokens instead.
   */
  private meterCut(model: Model): Charge {
    if (this.held.price.unit !== "per_token") return this.meter(model, {});
    const audioInput = Math.ceil(this.call.recording.seconds * AUDIO_TOKENS_A_SECOND);
    const output = Math.ceil(this.sentText.length / CHARACTERS_A_TOKEN);
    const tokens = { ...NO_USAGE, audioInput, output, estimated: true };
    return { ...this.meter(model, { tokens }), estimated: "missing" };
  }

  private succeed({ result, attempt }: Served, upstreamMs: number): Success {
    const { call, job, context } = this;
    const { model, name: source } = attempt.candidate;
    const { params } = this.checks.by(model);
    // The provider's length counts before ours, as the provider charges us by it. It cannot be zero, since our own length is above zero.
    const { seconds: reportedSeconds = 0 } = result.usage;
    const seconds = reportedSeconds > 0 ? reportedSeconds : call.recording.seconds;
    const reported = { ...result.usage, seconds };
    const metered = this.meter(model, reported);
    const usage = result.usage.tokens ? result.usage : reported;
    const creditsNano = priceAt(metered.nano, job.batch_line);
    const options = { usage, creditsNano, wantsWords: params.wantsWords, wantsSegments: params.wantsSegments };
    const transcript = { ...result.output, seconds: result.output.seconds || call.recording.seconds };
    const plain = renderTranscript(transcript, params.format, options);
    const events =
      call.stream === true
        ? this.writeEvents(streamTranscript(transcript, options, this.sentText), upstreamMs)
        : undefined;
    context.log.info({ request_id: job.request_id, source, ms: Math.round(upstreamMs) }, "audio transcribed");
    return {
      status: "succeeded",
      source,
      charge: metered,
      holdNano: this.held.holdNano,
      result:
        events !== undefined
          ? { text: events, upstreamMs }
          : { text: plain.body, upstreamMs, contentType: plain.contentType },
    };
  }

  /**
   * Sends events to the caller, and returns the remaining text that ends the response. If nothing was sent before, the last event is sent
   * too, so that the stream begins before the response ends.
   */
  private writeEvents(events: readonly string[], upstreamMs: number): string {
    const last = events.at(-1) ?? "";
    for (const event of events.slice(0, -1)) this.control.answer.write(event, upstreamMs);
    if (this.control.answer.hasBegun) return last;
    this.control.answer.write(last, upstreamMs);
    return "";
  }

  /**
   * Returns the failure of the call. An incomplete transcript is free, but a caller that disconnects is charged for the text that was sent.
   */
  private fail(error: unknown, signal: AbortSignal): Failure {
    const { context, job, last } = this;
    const failed = failedCall(context, job, error, signal, last);
    const hasDisconnected = failed.status === "cancelled" && this.sentText !== "" && last !== undefined;
    const { failure } = failed;
    return {
      ...failed,
      charge: hasDisconnected ? this.meterCut(last.candidate.model) : undefined,
      // Adapters name the audio as forms do; the caller may have sent it by another parameter.
      failure: { ...failure, param: failure.param === "file" ? this.call.recording.param : failure.param },
    };
  }
}

// Audio of a call. The worker reads it here, since its bytes do not travel on the queue.

/** Location of stored audio: an object that belongs to the call's claim check, or a file in the file store. */
type StoredAudio = { readonly contentType: string; readonly filename: string } & (
  | { readonly reference: string }
  | { readonly fileId: string }
);

interface CallAudio {
  readonly audio: TranscriptionInput["audio"];
  /** Frees the memory of the audio. */
  release(): void;
  /** Deletes the audio if it was stored for this call only. */
  discard(): void;
}

const budget = openByteBudget(INPUT_PROCESS_BYTES_MAX);

/**
 * Reads the stored audio of a call. @throws ApiError `service_unavailable` if the audio cannot be read, `file_not_found`; ProviderError
 * `aborted`
 */
async function readStoredAudio(
  context: Pick<WorkerContext, "database" | "storage" | "log">,
  workspaceId: string,
  place: StoredAudio,
  signal: AbortSignal,
): Promise<CallAudio> {
  const { contentType, filename } = place;
  const source =
    "reference" in place ? ofCall(context, place.reference) : await ofStore(context, workspaceId, place.fileId);
  const lease = await budget.take({ amount: Math.min(source.size, INPUT_PROCESS_BYTES_MAX) }, signal);
  try {
    const audio = { bytes: await source.read(signal), contentType, filename };
    return {
      audio,
      release: () => lease.release(),
      discard: () => source.discard(),
    };
  } catch (error) {
    lease.release();
    if (error instanceof ProviderError || error instanceof ApiError) throw error;
    context.log.error({ err: error }, "a call's audio could not be read");
    throw new ApiError("service_unavailable", "The audio could not be read back; try again.");
  }
}

interface Source {
  readonly size: number;
  read(signal: AbortSignal): Promise<Uint8Array>;
  discard(): void;
}

function ofCall({ storage, log }: Pick<WorkerContext, "storage" | "log">, reference: string): Source {
  return {
    size: mediaSize(reference),
    read: () => readCallMedia(storage, reference),
    discard: () =>
      void deleteCallMedia(storage, reference).catch((error: unknown) =>
        log.warn({ err: error }, "a call's audio could not be deleted"),
      ),
  };
}

async function ofStore(
  { database, storage }: Pick<WorkerContext, "database" | "storage">,
  workspaceId: string,
  fileId: string,
): Promise<Source> {
  const stored = await findReadable(database, anyMember(workspaceId), fileId);
  if (!stored) throw new ApiError("file_not_found", "There is no such file in this workspace.", { param: "file_id" });
  const { blocks } = stored;
  return {
    size: blocks.bytes,
    async read(signal) {
      const pieces: Uint8Array[] = [];
      for await (const piece of readFile(storage, blocks)) {
        if (signal.aborted) throw new ProviderError("aborted", "the call was aborted", { cause: signal.reason });
        pieces.push(piece);
      }
      return Buffer.concat(pieces);
    },
    discard: () => undefined,
  };
}
