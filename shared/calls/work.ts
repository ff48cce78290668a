/** Builds the hold, the queue message and the job row of an admitted call, in the same way for every entry point. */
import type { JobMessage, ModelResponse } from "#schemas/generated/types.ts";
import type { ModelRoute } from "./model-choice.ts";
import type { Model } from "./model.ts";
import type { JobRequest } from "#shared/jobs/admission.ts";
import type { CallBound } from "#shared/calls/kinds/call-bound.ts";
import type { StoredInputs } from "#shared/calls/kinds/input-media.ts";
import type { CheckedCall } from "#shared/calls/kinds/kind.ts";
import type { Pool } from "#shared/queue/subjects.ts";
import { type Price, serializePrice } from "#shared/calls/pricing/price.ts";

import type { Caller } from "#shared/access/authenticate.ts";
import { type CallLabels, limitedIdsOf } from "./labels.ts";
import type { HoldRequest } from "#shared/ledger/call-admission.ts";
import type { CreditLineHold } from "#shared/ledger/credit-line-calls.ts";
import { jobHoldMs } from "#shared/queue/job-life.ts";
import type { StoredRequest } from "./stored-request.ts";

/** Id of the job or call, and its caller. */
interface AdmissionOf {
  readonly id: string;
  readonly caller: Caller;
  /** Labels of the call, which its usage record keeps. */
  readonly labels?: CallLabels | undefined;
}

/** Kind of a job: a kind of call, or a capability. */
export interface WorkKind {
  readonly name: JobMessage["kind"];
  readonly pool: Pool;
  readonly keepsRecord: boolean;
}

/**
 * Returns the hold of a call or job.
 * @param lifeMs lifetime of the hold, in milliseconds
 * @param chosen labels that record why a fallback chain chose the model
 */
export function holdOf(
  { id, caller, labels: own }: AdmissionOf,
  model: Pick<Model, "slug">,
  { holdNano, mayExceed, tokensMax }: CallBound,
  lifeMs: number,
  chosen?: CallLabels,
): HoldRequest {
  const labels = own || chosen ? { ...own, ...chosen } : undefined;
  const scopes = limitedIdsOf(caller, labels);
  return {
    jobId: id,
    keyId: caller.keyId,
    model: model.slug,
    amountNano: holdNano,
    mayExceed,
    tokensMax,
    dailyTokens: caller.preset.daily_tokens,
    lifeMs,
    hasSpendLimit: caller.hasSpendLimit === true,
    ...(labels === undefined ? {} : { labels }),
    ...(scopes === undefined ? {} : { scopes }),
  };
}

export interface WorkFacts {
  readonly kind: { readonly name: JobMessage["kind"] };
  /** API that defines the response format. */
  readonly api: "openai" | "anthropic" | "responses";
  readonly model: Pick<Model, "slug" | "price">;
  readonly bound: CallBound;
  /** Key under which the complete response is cached, and the lifetime of the cached response in seconds. */
  readonly cache?: { readonly key: string; readonly ttlS: number } | undefined;
  /** Price of the requested variant; absent if the model's price applies. */
  readonly price?: Price;
  /** References of the media in the object store. */
  readonly storedInputs?: StoredInputs;
  /** True if the request contains the result of its check; see `LoadedCall`. */
  readonly bringsCheck?: true;
  /** Conversation of the call if the request names none. Calls of a conversation prefer the same source, because of its prompt cache. */
  readonly affinity?: string | undefined;
  /** Response object of a Responses call, still without its result. The result is added when the call has ended. */
  readonly response?: ModelResponse;
  /** True if a response without text counts as a failure. */
  readonly needsText?: true;
  /** True if the job's states are streamed to its caller. */
  readonly isStreamed?: boolean;
  /** Fingerprint of the batch message, to detect an equal one. */
  readonly fingerprint?: string;
  /** Share of the credit line on which the call was admitted; undefined if the call has a hold. */
  readonly creditLineHold?: CreditLineHold | undefined;
  /** Fallbacks of the call. Default: the workspace's fallback chain of the model. */
  readonly route?: ModelRoute | undefined;
}

/**
 * Returns the queue message of a job without the job's request.
 * @param deadlineMs Unix time in milliseconds
 */
export function workHead(
  caller: Caller,
  jobId: string,
  {
    kind,
    api,
    model,
    bound,
    cache,
    price,
    response,
    affinity,
    needsText,
    storedInputs = {},
    bringsCheck,
    isStreamed,
    fingerprint,
    creditLineHold,
    route = chainOf(caller, model.slug),
  }: WorkFacts,
  deadlineMs: number,
): JobMessage {
  // A streamed image has no fallback models.
  const fallbacks = isStreamed === true ? undefined : route?.fallbacks;
  return {
    job_id: jobId,
    attempt: 1,
    dispatch: 1,
    kind: kind.name,
    ...(api === "openai" ? {} : { api }),
    ...(response === undefined ? {} : { response }),
    ...(affinity === undefined ? {} : { affinity }),
    ...(needsText === true ? { needs_text: true } : {}),
    request_id: jobId,
    workspace_id: caller.workspaceId,
    key_id: caller.keyId,
    model: model.slug,
    ...(fallbacks === undefined || fallbacks.length === 0 ? {} : { fallbacks: [...fallbacks] }),
    ...(kind.name === "chat" && route?.continuesStreams === true ? { continue_streams: true } : {}),
    hold_nano: bound.holdNano.toString(),
    may_exceed: bound.mayExceed,
    ...(bound.maxNano === undefined ? {} : { max_nano: bound.maxNano.toString() }),
    output_tokens_max: bound.outputTokensMax,
    price: serializePrice(price ?? model.price),
    ...(isStreamed === true ? { stream: true } : {}),
    ...(cache === undefined ? {} : { cache: { key: cache.key, ttl_s: cache.ttlS } }),
    ...(Object.keys(storedInputs).length === 0 ? {} : { stored_inputs: storedInputs }),
    ...(bringsCheck === true ? { checked: true } : {}),
    ...(fingerprint === undefined ? {} : { fingerprint }),
    ...(creditLineHold === undefined ? {} : { credit_line: creditLineHold.lineId }),
    ...(creditLineHold?.labels === undefined ? {} : { labels: creditLineHold.labels }),
    deadline_ms: deadlineMs,
  };
}

/** Returns the workspace's fallback chain of a model, without weights. */
function chainOf(caller: Caller, slug: string): ModelRoute | undefined {
  const fallbacks = caller.fallbackChains?.get(slug);
  return fallbacks && { fallbacks, continuesStreams: caller.continuedChains?.has(slug) === true };
}

/** A checked call whose inputs and large request are already stored. */
export interface PreparedJob {
  readonly kind: WorkKind;
  readonly model: Pick<Model, "slug" | "modality" | "price">;
  readonly checked: Pick<CheckedCall, "bound" | "price" | "route"> &
    Pick<WorkFacts, "bringsCheck"> &
    Partial<Pick<WorkFacts, "api">>;
  readonly stored: StoredRequest;
  /** True if the caller reads the job's states as a stream. The job cannot be queried afterwards. */
  readonly isStreamed?: boolean;
  /** Fingerprint of the batch message, to detect an equal one. */
  readonly fingerprint?: string;
  /** Longest time from admission to the start of the job, in milliseconds. */
  readonly lifeMs: number;
}

/** Returns the fields that identify a job and its caller. Rejected jobs have these fields, too. */
export function jobCallerOf({ id, caller }: AdmissionOf) {
  return {
    id,
    workspaceId: caller.workspaceId,
    keyId: caller.keyId,
    limit: caller.preset.requests_per_minute,
  } satisfies Partial<JobRequest>;
}

/** Returns the fields that describe a job's request and its maximum cost. */
export function jobWorkOf(of: AdmissionOf, job: PreparedJob) {
  const { kind, model, checked, stored, isStreamed, fingerprint, lifeMs } = job;
  const facts = { kind, api: "openai", model, ...checked, storedInputs: stored.inputs } as const;
  const marks = {
    ...(isStreamed === undefined ? {} : { isStreamed }),
    ...(fingerprint === undefined ? {} : { fingerprint }),
  };
  const hold = holdOf(of, model, checked.bound, jobHoldMs(lifeMs), checked.route?.labels);
  return {
    kind: kind.name,
    modality: model.modality,
    model: model.slug,
    // The row contains the deadline; a worker adds the time limit.
    work: workHead(of.caller, of.id, { ...facts, ...marks }, 0),
    request: stored.body,
    isHidden: isStreamed === true,
    keepsRecord: kind.keepsRecord,
    terms: { hold },
    lifeMs,
  } satisfies Partial<JobRequest>;
}
