/** What a durable job asks of admission, built the same way at every entry point. */
import type { JobMessage } from "#schemas/generated/types.ts";
import type { Model, Preset } from "#shared/catalogue/catalogue.ts";
import type { JobRequest } from "#shared/jobs/admission.ts";
import type { CallBound } from "#shared/kinds/call-bound.ts";
import type { CheckedCall } from "#shared/kinds/kind.ts";
import type { Pool } from "#shared/queue/subjects.ts";
import { LIMITS } from "#shared/limits.ts";

import type { Caller } from "./authenticate.ts";
import type { HoldRequest } from "./calls.ts";
import type { StoredRequest } from "./stored-request.ts";
import { workHead } from "./work-head.ts";

/** Who asks for a job, and under which limits. */
export interface JobAdmissionOf {
  readonly id: string;
  readonly caller: Caller;
  readonly preset: Preset;
}

/** What does the work: a kind of call, or a capability. */
export interface WorkKind {
  readonly name: JobMessage["kind"];
  readonly pool: Pool;
}

/** A checked call whose inputs and large request are already stored. */
export interface PreparedJob {
  readonly kind: WorkKind;
  readonly model: Pick<Model, "slug" | "modality" | "price">;
  readonly checked: Pick<CheckedCall, "bound" | "price">;
  readonly stored: StoredRequest;
  /** The caller reads its states as a stream. The job has no address afterwards. */
  readonly isStreamed?: boolean;
  /** Of a batch message. */
  readonly fingerprint?: string;
  /** How long it may wait to be begun, in milliseconds. */
  readonly lifeMs: number;
}

/** @param lifeMs how long the hold lives */
export function holdOf(
  { id, caller, preset }: JobAdmissionOf,
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
    dailyTokens: preset.daily_tokens,
    lifeMs,
  };
}

/** The fields that name a job's caller. Refused jobs have them too. */
export function jobCallerOf({ id, caller, preset }: JobAdmissionOf) {
  return {
    id,
    workspaceId: caller.workspaceId,
    keyId: caller.keyId,
    limit: preset.requests_per_minute,
  } satisfies Partial<JobRequest>;
}

/** What it says of its work and of what it may cost. */
export function jobWorkOf(of: JobAdmissionOf, job: PreparedJob) {
  const { kind, model, checked, stored, isStreamed, fingerprint, lifeMs } = job;
  const facts = { kind, api: "openai", model, ...checked, storedInputs: stored.inputs } as const;
  const marks = {
    ...(isStreamed === undefined ? {} : { isStreamed }),
    ...(fingerprint === undefined ? {} : { fingerprint }),
  };
  // A job may start at the end of its life and still gets the full run time, so the hold covers both.
  const hold = holdOf(of, model, checked.bound, lifeMs + LIMITS.mediaJobLifeMs + LIMITS.jobHoldSlackMs);
  return {
    kind: kind.name,
    modality: model.modality,
    model: model.slug,
    // The deadline is the row's; a worker puts in how long it may take.
    work: workHead(of.caller, of.id, { ...facts, ...marks }, 0),
    request: stored.body,
    isHidden: isStreamed === true,
    terms: { hold },
    lifeMs,
  } satisfies Partial<JobRequest>;
}
