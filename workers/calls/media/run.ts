/**
 * Serves a job in a media pool through the first source that can. Its results are stored as files, the delivered quantity is charged, and
 * the response is sent once. The worker that owns a job polls it at its provider.
 */
import type { JobMessage, MediaOutcome } from "#schemas/generated/types.ts";
import { inputBytesMax } from "#shared/calls/kinds/input-media.ts";
import { isResumed } from "#shared/calls/kinds/kinds.ts";
import { decisiveInputs } from "#shared/calls/kinds/media-check.ts";
import type { Model } from "#shared/calls/model.ts";
import { deserializePrice } from "#shared/calls/pricing/price.ts";
import { canonicalJson } from "#shared/json/serialize.ts";
import { commonNow } from "#shared/base/clock.ts";
import { storedBytes } from "#shared/database/files.ts";
import { ApiError } from "#shared/base/errors.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import { newId } from "#shared/base/ids.ts";
import { discardResults } from "#shared/jobs/kept-results.ts";
import type { UsageStatus } from "#shared/ledger/settle.ts";
import type { Fallback } from "#shared/queue/frames.ts";

import type { WorkerContext } from "../../context.ts";
import { abortReasonOf, type JobControl, type JobHandler, type LiveCaller, type ProviderJobSlot } from "../../job.ts";
import type { Failure, Outcome, Success } from "../../outcome.ts";
import type {
  Artifact,
  MediaAdapter,
  MediaCall,
  MediaKinds,
  MediaResult,
  MediaUsage,
  NoteStart,
  ProviderJob,
  SpeechFormat,
} from "../../providers/media.ts";
import { ProviderError, type ProviderErrorClass } from "../../providers/provider.ts";
import { SPEECH_TYPES } from "../../providers/speech.ts";
import { type Candidate, candidatesOf } from "../../routing/candidates.ts";
import type { Attempt, Serving } from "../../routing/try-candidates.ts";
import type { FailureFrame } from "../answer.ts";
import { withinLimit } from "../attempt-limit.ts";
import { noteFailedAttempt } from "../failed-attempts.ts";
import { explainFailure } from "../failure.ts";
import { modelGone, reportFailure, serveCall } from "../serve-call.ts";
import { adaptTo } from "../source-params.ts";
import { startWatchdog } from "../watchdog.ts";
import { isStoreAway, keepArtifacts, type Kept, LIVE_FREE_STORAGE_BYTES } from "./artifacts.ts";
import { AtProvider, LostForGood, POLL_MS, pollOnce, type Queue, refreshing, runMsOf, startOf } from "./at-provider.ts";
import { CallChecks } from "./checks.ts";
import {
  checkedOf,
  type HeldPrice,
  heldPriceOf,
  moveHold,
  type ProviderJobRecord,
  providerJobRecordOf,
} from "./held-price.ts";
import { createInputReader, type InputReader } from "./inputs.ts";
import type { GeneratedKind, MediaJobKind } from "./kinds.ts";
import { type HeldMedia, meterMedia } from "./meter.ts";
import { inOneExchange } from "./one-exchange.ts";
import type { Holding } from "./result-budget.ts";

type Adapter<Kind extends GeneratedKind> = MediaAdapter<MediaKinds[Kind][0], MediaKinds[Kind][1]>;

interface ServedResult<Kind extends GeneratedKind> {
  readonly result: MediaResult<MediaKinds[Kind][1]>;
  readonly source: string;
  /** Slug of the model that produced the result. */
  readonly model: string;
  readonly refresh?: () => Promise<readonly Artifact[] | undefined>;
}

export function createMediaHandler<Kind extends GeneratedKind>(
  context: WorkerContext,
  kind: MediaJobKind<Kind>,
): JobHandler {
  return { run: (job, control) => new MediaRun(context, kind, job, control).serve() };
}

class MediaRun<Kind extends GeneratedKind> {
  private readonly context: WorkerContext;
  private readonly kind: MediaJobKind<Kind>;
  private readonly job: JobMessage;
  private readonly control: JobControl;
  private readonly slot: ProviderJobSlot;
  private readonly checks: CallChecks<unknown>;
  private inputs: InputReader | undefined;
  private held: HeldPrice;
  private source: string | undefined;
  /** Number of fallback models tried, including the current one; 0 for the requested model. */
  private depth = 0;
  private readonly holding: Holding;
  private readonly there: AtProvider;
  /** Time of the request to the current provider, from `performance.now()`; undefined before the request. */
  private askedAt: number | undefined;
  /** Deadline of the job, in Unix milliseconds. */
  private deadlineMs = 0;

  constructor(context: WorkerContext, kind: MediaJobKind<Kind>, job: JobMessage, control: JobControl) {
    if (!control.providerJob) throw new Error("media is made by durable jobs only");
    this.context = context;
    this.kind = kind;
    this.job = job;
    this.control = control;
    this.slot = control.providerJob;
    this.checks = new CallChecks(job, (request, model) => kind.call.check(request, model));
    this.held = {
      price: deserializePrice(job.price as Record<string, string>),
      holdNano: BigInt(job.hold_nano),
    };
    this.holding = context.results.open(job.workspace_id);
    this.there = new AtProvider(context, job, this.slot);
  }

  /**
   * Serves the job and returns its outcome.
   * @throws the error if the job has not ended: it continues at its provider or in another worker, or its outcome is unknown
   */
  async serve(): Promise<Outcome> {
    const watchdog = this.watch();
    const { signal } = watchdog;
    const askedAt = performance.now();
    try {
      const { record } = this.there;
      const served = record === null ? await this.ask(signal) : await this.resumeOrFallBack(record, signal);
      failpoint("job.made");
      return await this.deliver(served, performance.now() - askedAt);
    } catch (error) {
      return this.afterError(error, signal);
    } finally {
      watchdog.stop();
      this.inputs?.release();
      this.holding.keep(0);
    }
  }

  private watch() {
    const { kind, context, slot, there, control } = this;
    const totalMs = runMsOf(kind.output, context.config, slot, there.record);
    this.deadlineMs = commonNow() + totalMs;
    return startWatchdog({ totalMs, firstByteMs: totalMs, stallMs: totalMs }, control.signal);
  }

  /** Resumes a job at its provider. If the job fails there, the next source is tried, even if another worker started the job. */
  private async resumeOrFallBack(begun: ProviderJobRecord, signal: AbortSignal): Promise<ServedResult<Kind>> {
    const startedAt = performance.now();
    try {
      return await this.resume(begun, signal);
    } catch (error) {
      noteFailedAttempt(this.job, { source: begun.source, error, signal, startedAt });
      const candidates = this.candidates();
      const at = candidates.findIndex(({ name, model }) => name === begun.source && model.slug === begun.model);
      const [failed, next] = [candidates[at], candidates[at + 1]];
      // A job that is late or has ended is not started again.
      const isOver = this.slot.isLate || signal.aborted || !mayServeElsewhere(error);
      if (!failed || !next || isOver) throw error;
      reportFailure(this.context, this.job, failed, error, "moved");
      const { job_id: id, workspace_id: workspaceId } = this.job;
      await discardResults(this.context, { id, workspaceId });
      return await this.ask(signal, candidates.slice(at + 1), { model: failed.model, depth: begun.depth, error });
    }
  }

  private candidates(): Candidate<Adapter<Kind>>[] {
    const { context, job, kind } = this;
    const inputs = decisiveInputs(this.checks.request, kind.call.name);
    return candidatesOf(context.catalogue.current(), { job, inputs }, (provider) =>
      context.providers.media(provider, kind.kind),
    ) as Candidate<Adapter<Kind>>[];
  }

  private async ask(
    signal: AbortSignal,
    remaining?: readonly Candidate<Adapter<Kind>>[],
    from?: Serving<Adapter<Kind>, ServedResult<Kind>>["from"],
  ): Promise<ServedResult<Kind>> {
    const { context, job, kind } = this;
    const all = this.candidates();
    const [first] = all;
    if (!first) throw modelGone();
    const inputs = await kind.call.inputs(this.checks.request, first.model, job.stored_inputs);
    this.inputs = createInputReader(context, job.workspace_id, inputs, (one) => inputBytesMax(one.kind, first.model));
    const limits = { kind: job.kind, deadlineMs: this.deadlineMs, plainMs: context.config.calls.plainMs, signal };
    return serveCall<Adapter<Kind>, ServedResult<Kind>>(context, job, {
      candidates: remaining ?? all,
      ...(from ? { from } : {}),
      signal,
      mayRepeat: false,
      mode: "plain",
      askedAt: () => this.askedAt,
      enter: (model) => this.enter(model),
      attempt: (attempt) => withinLimit(attempt, limits, (limited) => this.attempt(attempt, limited)),
    });
  }

  private async attempt(attempt: Attempt<Adapter<Kind>>, signal: AbortSignal): Promise<ServedResult<Kind>> {
    const { adapter, model, name } = attempt.candidate;
    [this.source, this.depth] = [name, attempt.depth];
    const served = { source: name, model: model.slug, depth: attempt.depth };
    this.askedAt = undefined;
    this.held = { ...this.held, checked: checkedOf(this.checks.by(model)) };
    if ("run" in adapter) {
      const result = await this.calling(attempt.candidate, signal, (call) =>
        inOneExchange(signal, () => adapter.run(call)),
      );
      return { result, ...served };
    }
    const { provider } = attempt.candidate;
    const queue = { adapter, provider };
    const record = providerJobRecordOf(this.held, served, provider);
    const job = await this.calling(attempt.candidate, signal, (call, startId) => {
      const start = (noteStart: NoteStart) => startOf(adapter, { ...call, noteStart });
      return this.there.begin(start, { ...queue, record, startId, signal, onDoubt: attempt.onDoubt });
    });
    attempt.onBegun();
    // The job may run there for an hour. The provider has its inputs by now, and a fallback reads them again.
    this.inputs?.release();
    return { ...served, ...(await this.follow(queue, job, signal)) };
  }

  /** Calls the provider. This is a separate function so that the call's inputs, which may be large, are freed after the response. */
  private async calling<T>(
    candidate: Candidate<Adapter<Kind>>,
    signal: AbortSignal,
    ask: (call: MediaCall<MediaKinds[Kind][0]>, startId: string) => Promise<T>,
  ): Promise<T> {
    const read = (await this.inputs?.read(candidate.adapter.takesUrls === true, signal)) ?? {};
    // Removes the record of a previous provider, which a worker that takes the job over must not resume.
    if (this.there.record !== null) await this.there.keep(null);
    const input = this.kind.input(this.checks.by(candidate.model).params, read);
    this.holding.keep(0);
    const startId = newId();
    const { holding } = this;
    const call = mediaCallOf(this.context, this.job, candidate, input, { signal, holding, startId });
    this.askedAt = performance.now();
    return ask(call, startId);
  }

  private async follow(queue: Queue<MediaKinds[Kind][1]>, job: ProviderJob, signal: AbortSignal) {
    const { there, kind } = this;
    const { pollMinMs, pollMaxMs } = kind.output;
    const followed = await there.follow(job, queue, { pollMinMs, pollMaxMs, signal });
    return { result: followed.result, refresh: refreshing(queue.adapter, followed.job, kind.artifacts) };
  }

  private async resume(begun: ProviderJobRecord, signal: AbortSignal): Promise<ServedResult<Kind>> {
    const { context, job, kind } = this;
    const { source, model, depth } = begun;
    [this.source, this.depth] = [source, depth];
    this.held = heldPriceOf(begun);
    // The provider that has the job is polled even if the catalogue has changed its model or source.
    const catalogue = context.catalogue.current();
    const provider = catalogue.providers.get(source.slice(0, source.indexOf("/")));
    const adapter = provider && (context.providers.media(provider, kind.kind) as Adapter<Kind> | undefined);
    // An operator who removed the provider may add it again before the job's attempts are used up.
    if (!adapter) throw new Error(`the provider of ${source}, where a job runs, has left the catalogue`);
    if (!this.held.checked) {
      const now = catalogue.models.get(model);
      if (!now) throw new Error(`the model ${model} of a job that an older worker began has left the catalogue`);
      this.held = { ...this.held, checked: checkedOf(this.checks.by(now)) };
    }
    context.log.info({ job_id: job.job_id, source }, "following a job at its provider");
    const served = { source, model, depth };
    if ("run" in adapter) {
      throw new ProviderError(this.slot.isLate ? "unknown" : "failed", "its source keeps no jobs any more");
    }
    const queue = { adapter, provider };
    const theirs = await this.there.recover(begun, { ...queue, signal });
    if (!this.slot.isLate) return { ...served, ...(await this.follow(queue, theirs, signal)) };
    // The cancelling worker may not have received the cancellation.
    if (this.slot.wasCancelled) await adapter.cancel?.(theirs, AbortSignal.timeout(POLL_MS)).catch(() => undefined);
    const result = await pollOnce(adapter, theirs);
    if (!result) throw new ProviderError("unknown", "its provider has no verdict yet");
    return { ...served, result, refresh: refreshing(adapter, theirs, kind.artifacts) };
  }

  private async enter(model: Model): Promise<boolean> {
    const moved = await moveHold(this.context, this.job, model, () => this.checks.anew(model));
    this.held = moved ?? this.held;
    return moved !== undefined;
  }

  private async deliver(served: ServedResult<Kind>, upstreamMs: number): Promise<Outcome> {
    const { context, job, kind, control } = this;
    const { result, model, refresh } = served;
    const artifacts = kind.artifacts(result.output);
    if (artifacts.length === 0) throw new ProviderError("failed", "the provider made nothing");
    const { checked } = this.held;
    if (!checked) throw new Error("made without having been checked");
    const held = { ...this.held, ...checked };
    const from = { model, ...this.fallback };
    const live = await progressiveOutputOf(context, job, { caller: control.caller, held, usage: result.usage, from, artifacts, wanted: checked }); // prettier-ignore
    const kept = await keepArtifacts(context, job, artifacts, kind.output, {
      signal: control.signal,
      holding: this.holding,
      refresh,
      canResume: this.there.record !== null,
      // Canonical form, since the database does not preserve the order of the members for a later worker.
      work: `${served.source} ${canonicalJson(this.there.record?.job ?? null)}`,
      expiresS: job.stream === true ? STREAMED_LIFE_S : null,
      onBytes: live?.onBytes,
    }).catch((error: unknown): Failure => {
      // The caller received the audio, and only its storage failed, so it is charged (spec "POST /v1/audio/speech", artifact_unreadable).
      if (!live?.hasBegun() || error instanceof ProviderError) throw error;
      const charge = meterMedia(held, [{}], result.usage);
      context.log.error({ err: error, job_id: job.job_id }, "delivered audio could not be stored");
      const failure = { ...whyNotKept(error, control.signal), ...this.fallback };
      return { status: "succeeded", source: served.source, charge, failure };
    });
    if ("failure" in kept) return kept;
    context.log.info(
      { job_id: job.job_id, source: served.source, ms: Math.round(upstreamMs) },
      `${kind.output.noun} generated`,
    );
    const success: Success = {
      status: "succeeded",
      source: served.source,
      charge: meterMedia(held, kept, result.usage),
      holdNano: held.holdNano,
      result: { text: JSON.stringify(outcomeOf(from, kept)), upstreamMs },
    };
    return success;
  }

  /** Requested model and number of fallbacks; empty unless fallbacks were tried. */
  private get fallback(): Partial<Pick<MediaOutcome, "fallback">> {
    const { depth, job } = this;
    return depth > 0 ? { fallback: { from: job.model, depth } } : {};
  }

  private afterError(error: unknown, signal: AbortSignal): Failure {
    const { there, job } = this;
    if (error instanceof LostForGood) {
      this.context.metrics.creditsWrittenOff.addNano(this.held.holdNano);
      return { ...this.fail(error, signal), status: "lost" };
    }
    const { reason } = signal as { readonly reason: unknown };
    const situation = { reason, kind: job.kind, isAtProvider: there.record !== null, isAsking: there.isAsking };
    const continuationError = outcomeAfterError(error, situation);
    if (continuationError !== undefined) throw continuationError;
    return this.fail(error, signal);
  }

  /** Returns the failure of the job, which is free because nothing was delivered. */
  private fail(error: unknown, signal: AbortSignal): Failure {
    const { failure, status } = explained(error, signal);
    this.context.log.warn(
      { err: error, job_id: this.job.job_id, source: this.source, code: failure.code },
      `generating ${this.kind.output.noun} failed`,
    );
    const param = asSent(failure.param, this.checks.request);
    return { status, source: this.source ?? null, charge: undefined, failure: { ...failure, param, ...this.fallback } };
  }
}

/**
 * Lifetime of the files of a streamed job, in seconds. It equals the lifetime of file links, about an hour (see "Limits" in the API
 * specification).
 */
const STREAMED_LIFE_S = 3_600;

// Streams a result to the waiting caller while it arrives, if its price is already known and it has the requested format: speech starts to
// play before its last word is generated.

/** Price units with which the charge is known before the result is complete. Only results with these units are streamed to the caller. */
const KNOWN_AHEAD: ReadonlySet<string> = new Set(["per_character", "per_request"]);

interface Live {
  readonly onBytes: (bytes: Uint8Array) => void;
  /** True if the caller has already received the beginning of the result. */
  readonly hasBegun: () => boolean;
}

/** Returns a writer that streams a result to the caller. Returns undefined if the result must be stored before it is sent. */
async function progressiveOutputOf(
  { database, config, log }: Pick<WorkerContext, "database" | "config" | "log">,
  job: { readonly job_id: string; readonly workspace_id: string },
  about: {
    readonly caller: LiveCaller | undefined;
    readonly held: HeldMedia;
    readonly usage: MediaUsage;
    readonly from: { readonly model: string; readonly fallback?: Fallback };
    readonly artifacts: readonly Artifact[];
    /** Requested audio format. If it is absent, the result is not streamed. */
    readonly wanted: { readonly format?: string };
  },
): Promise<Live | undefined> {
  const { caller, held, usage, from, artifacts, wanted } = about;
  const [only, ...others] = artifacts;
  if (!caller || !only || others.length > 0 || !KNOWN_AHEAD.has(held.price.unit)) return undefined;
  const asked = wanted.format === undefined ? undefined : SPEECH_TYPES[wanted.format as SpeechFormat];
  // A result at an address is checked before it is passed on.
  if (asked === undefined || "url" in only || only.contentType !== asked) return undefined;
  try {
    // A full workspace could play the result, but neither store it nor be charged for it.
    const stored = await storedBytes(database, job.workspace_id);
    if (BigInt(config.storageBytesMax) - stored < LIVE_FREE_STORAGE_BYTES) return undefined;
  } catch (error) {
    log.warn({ err: error, job_id: job.job_id }, "progressive output is unavailable for a job");
    return undefined;
  }
  const { nano } = meterMedia(held, [{}], usage);
  let hasBegun = false;
  return {
    onBytes(bytes) {
      if (!hasBegun) caller.begin({ contentType: asked, ...from, nano: nano.toString() });
      hasBegun = true;
      caller.write(bytes);
    },
    hasBegun: () => hasBegun,
  };
}

/** Number of copies in memory of a response with inline results while it is read: its chunks, its text and its parsed value. */
const ANSWER_COPIES = 3;

/**
 * Returns the arguments for one call of the provider's adapter.
 * @param input input of the call, checked against the candidate's model
 * @param startId id of the start request, for sources that queue jobs; it is part of the callback URL
 */
function mediaCallOf<Input>(
  context: Pick<WorkerContext, "config" | "callbackTokens">,
  { job_id: id }: Pick<JobMessage, "job_id">,
  { source }: Pick<Candidate<unknown>, "source">,
  input: Input,
  { signal, holding, startId }: { readonly signal: AbortSignal; readonly holding: Holding; readonly startId: string },
): MediaCall<Input> {
  const { publicUrl } = context.config;
  return {
    input,
    sourceModel: source.model,
    signal,
    reserveBytes: (more) => holding.add(more * ANSWER_COPIES, signal),
    traits: new Set(source.traits),
    ...(source.fields ? { fields: source.fields } : {}),
    adapt: (body) => adaptTo(source, body),
    ...(publicUrl === undefined
      ? {}
      : { callbackUrl: `${publicUrl}/v1/provider-callbacks/${id}/${context.callbackTokens.of(id)}?start=${startId}` }),
  };
}

/** Returns the outcome that is stored in the row of a successful job. It contains file ids, because links are created for each response. */
function outcomeOf(
  from: Pick<MediaOutcome, "model"> & Partial<Pick<MediaOutcome, "fallback">>,
  kept: readonly Kept[],
): MediaOutcome {
  return { object: "media.outcome", created: Math.floor(Date.now() / 1_000), ...from, data: kept.map(describe) };
}

function describe({ fileId, contentType, bytes, seconds }: Kept): MediaOutcome["data"][number] {
  return {
    file_id: fileId,
    content_type: contentType,
    bytes,
    ...(seconds === undefined ? {} : { duration_seconds: Math.round(seconds * 1_000) / 1_000 }),
  };
}

// Errors of a job that may have been paid for: whether they end the job, and what the caller and the ledger receive.

interface Situation {
  /** Reason with which the job's signal was aborted; undefined if it was not aborted. */
  readonly reason: unknown;
  readonly kind: string;
  /** True when the job runs or has run at a provider and can be polled. */
  readonly isAtProvider: boolean;
  /** True if a start request was sent to a provider's queue and its response has not arrived. */
  readonly isAsking: boolean;
}

/**
 * Returns the error to throw if the job has not ended: it continues at its provider or in another worker, or its outcome is unknown.
 * Returns undefined if the job has failed.
 */
function outcomeAfterError(error: unknown, { reason: why, kind, isAtProvider, isAsking }: Situation): unknown {
  if (error instanceof ProviderError && error.kind === "unknown") return error;
  const reason = abortReasonOf(why);
  // The store is unavailable, but the provider still has the result.
  if (isAtProvider && (reason === "shutdown" || isStoreAway(error))) return error;
  const hasNoVerdict = error instanceof ProviderError && error.kind === "aborted";
  if (hasNoVerdict && isAtProvider && reason !== undefined) return unknown(error);
  // A caller that disconnected is not charged; we bear the cost. After our own deadline or shutdown, the outcome is unknown.
  const isOpen = isAsking && (reason === "deadline" || reason === "shutdown");
  return isOpen && isResumed(kind) ? unknown(error) : undefined;
}

/**
 * True if another provider may serve the call in spite of this error. These are the errors after which `tryCandidates` tries the next
 * candidate.
 */
function mayServeElsewhere(error: unknown): error is ProviderError {
  return error instanceof ProviderError && !STAYS.has(error.kind);
}

const STAYS: ReadonlySet<ProviderErrorClass> = new Set(["aborted", "unknown", "rejected", "no_route"]);

function unknown(cause: unknown): ProviderError {
  return new ProviderError("unknown", "paid work may exist that nobody has a verdict on", { cause });
}

/**
 * Returns the name of the parameter in which the caller sent an input. Adapters report the name for a URL or base64, for example
 * `image_url`. If the caller sent a stored file instead, this function returns `image_file_id`.
 */
function asSent(param: string | null, request: Readonly<Record<string, unknown>>): string | null {
  if (param === null || param in request) return param;
  const stored = param.replace(/_(?:url|base64)$/, "_file_id");
  return stored in request ? stored : param;
}

/**
 * Converts an error to the failure that the caller receives.
 * @throws `error` if it is an internal error of this service; another worker may then run the job again
 */
function explained(
  error: unknown,
  signal: AbortSignal,
): { readonly failure: FailureFrame; readonly status: UsageStatus } {
  if (error instanceof ApiError) {
    const { code, message, param } = error;
    return { failure: { code, message, param, retry: false }, status: "failed" };
  }
  if (!(error instanceof ProviderError) && !signal.aborted) throw error;
  const failure = explainFailure(error, signal.reason);
  return { failure, status: failure.status };
}

/**
 * Returns the failure of a streamed job whose result could not be stored. An internal error also becomes a failure, because the job has
 * already ended.
 */
function whyNotKept(error: unknown, signal: AbortSignal): FailureFrame {
  const isNoRoute = error instanceof ProviderError && error.kind === "no_route";
  const isOurs = !(error instanceof ApiError || isNoRoute) && !signal.aborted;
  if (!isOurs) return explained(error, signal).failure;
  return { code: "internal_error", message: "The result could not be stored.", param: null, retry: false };
}
