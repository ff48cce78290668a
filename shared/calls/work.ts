/** Parts of an admitted call, the same for every entry point: its hold, its work message, and the row of a durable job. */
import type { JobMessage, ModelResponse } from "#schemas/generated/types.ts";
import type { Model } from "./model.ts";
import type { JobRequest } from "#shared/jobs/admission.ts";
import type { CallBound } from "#shared/calls/kinds/call-bound.ts";
import type { StoredInputs } from "#shared/calls/kinds/input-media.ts";
import type { CheckedCall } from "#shared/calls/kinds/kind.ts";
import type { Pool } from "#shared/queue/subjects.ts";
import { type Price, serializePrice } from "#shared/calls/pricing/price.ts";

import type { Caller } from "#shared/access/authenticate.ts";
import type { HoldRequest } from "#shared/ledger/call-admission.ts";
import type { CreditLineHold } from "#shared/ledger/credit-line-calls.ts";
import { jobHoldMs } from "#shared/queue/job-life.ts";
import type { StoredRequest } from "./stored-request.ts";

/** The job or call, and its caller. */
interface AdmissionOf {
  readonly id: string;
  readonly caller: Caller;
}

/** Kind of work: a kind of call, or a capability. */
export interface WorkKind {
  readonly name: JobMessage["kind"];
  readonly pool: Pool;
  readonly keepsRecord: boolean;
}

/** @param lifeMs lifetime of the hold in milliseconds */
export function holdOf(
  { id, caller }: AdmissionOf,
  model: Pick<Model, "slug">,
  { holdNano, mayExceed, tokensMax }: CallBound,
  lifeMs: number,
): HoldRequest {
  return {
    jobId: id,
    keyId: caller.keyId,
    model: model.slug,
    amountNano: holdNano,
    mayExceed,
    tokensMax,
    dailyTokens: caller.preset.daily_tokens,
    lifeMs,
  };
}

export interface WorkFacts {
  readonly kind: { readonly name: JobMessage["kind"] };
  /** API that defines the response format. */
  readonly api: "openai" | "anthropic" | "responses";
  readonly model: Pick<Model, "slug" | "price">;
  readonly bound: CallBound;
  /** Key under which the complete response is cached, and for how many seconds. */
  readonly cache?: { readonly key: string; readonly ttlS: number } | undefined;
  /** Price of the requested variant; absent: the model's. */
  readonly price?: Price;
  /** Media in the object store. */
  readonly storedInputs?: StoredInputs;
  /** True if its request contains the result of its check, see `LoadedCall`. */
  readonly bringsCheck?: true;
  /** Name of its conversation, if the request has none. */
  readonly affinity?: string | undefined;
  /** The object that the result of a Responses call completes. */
  readonly response?: ModelResponse;
  /** True: a response without text is a failure. */
  readonly needsText?: true;
  /** True: its states are streamed to its caller. */
  readonly isStreamed?: boolean;
  /** Fingerprint of a batch message. */
  readonly fingerprint?: string;
  /** Its share of the credit line on which it was admitted. */
  readonly creditLineHold?: CreditLineHold | undefined;
}

/**
 * Returns the work message without its request.
 * @param deadlineMs Unix milliseconds
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
  }: WorkFacts,
  deadlineMs: number,
): JobMessage {
  // A streamed image has no fallback models.
  const fallbacks = isStreamed === true ? undefined : caller.fallbackChains?.get(model.slug);
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
    ...(fallbacks === undefined ? {} : { fallbacks: [...fallbacks] }),
    ...(kind.name === "chat" && caller.continuedChains?.has(model.slug) === true ? { continue_streams: true } : {}),
    hold_nano: bound.holdNano.toString(),
    may_exceed: bound.mayExceed,
    output_tokens_max: bound.outputTokensMax,
    price: serializePrice(price ?? model.price),
    ...(isStreamed === true ? { stream: true } : {}),
    ...(cache === undefined ? {} : { cache: { key: cache.key, ttl_s: cache.ttlS } }),
    ...(Object.keys(storedInputs).length === 0 ? {} : { stored_inputs: storedInputs }),
    ...(bringsCheck === true ? { checked: true } : {}),
    ...(fingerprint === undefined ? {} : { fingerprint }),
    ...(creditLineHold === undefined ? {} : { credit_line: creditLineHold.lineId }),
    deadline_ms: deadlineMs,
  };
}

/** A checked call whose inputs and large request are already stored. */
export interface PreparedJob {
  readonly kind: WorkKind;
  readonly model: Pick<Model, "slug" | "modality" | "price">;
  readonly checked: Pick<CheckedCall, "bound" | "price"> &
    Pick<WorkFacts, "bringsCheck"> &
    Partial<Pick<WorkFacts, "api">>;
  readonly stored: StoredRequest;
  /** True if the caller reads its states as a stream. The job cannot be queried afterwards. */
  readonly isStreamed?: boolean;
  /** Fingerprint of a batch message. */
  readonly fingerprint?: string;
  /** Longest time from admission to its start, in milliseconds. */
  readonly lifeMs: number;
}

/** Returns the fields that identify a job's caller, also for rejected jobs. */
export function jobCallerOf({ id, caller }: AdmissionOf) {
  return {
    id,
    workspaceId: caller.workspaceId,
    keyId: caller.keyId,
    limit: caller.preset.requests_per_minute,
  } satisfies Partial<JobRequest>;
}

/** Returns the fields that describe a job's work, and bound its cost. */
export function jobWorkOf(of: AdmissionOf, job: PreparedJob) {
  const { kind, model, checked, stored, isStreamed, fingerprint, lifeMs } = job;
  const facts = { kind, api: "openai", model, ...checked, storedInputs: stored.inputs } as const;
  const marks = {
    ...(isStreamed === undefined ? {} : { isStreamed }),
    ...(fingerprint === undefined ? {} : { fingerprint }),
  };
  const hold = holdOf(of, model, checked.bound, jobHoldMs(lifeMs));
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
