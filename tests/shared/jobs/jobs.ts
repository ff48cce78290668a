/** Requests for durable jobs in tests, and the rows they become. */
import { ApiError } from "#shared/base/errors.ts";
import { newId } from "#shared/base/ids.ts";
import type { NewRun } from "#shared/database/runs.ts";
import type { JobRequest } from "#shared/jobs/admission.ts";
import type { KindName } from "#shared/calls/kinds/kind.ts";
import { KINDS } from "#shared/calls/kinds/kinds.ts";

export interface TestJob extends Partial<Omit<JobRequest, "terms">> {
  readonly workspaceId: string;
  readonly amount?: bigint;
  readonly tokens?: number;
  readonly cap?: number | null;
  /** Refused by validation. */
  readonly isRefused?: boolean;
}

const KEY_ID = newId();

/** A job of the batch lane that holds one nano-credit unless told otherwise. */
export function jobRequest(members: TestJob): JobRequest {
  const { amount = 1n, tokens = 1, cap = null, isRefused = false, ...rest } = members;
  const id = members.id ?? newId();
  const kind = members.kind ?? "chat";
  return {
    keyId: KEY_ID,
    pool: "chat",
    lane: "batch",
    kind,
    keepsRecord: KINDS[kind as KindName].keepsRecord,
    modality: "text",
    model: "one",
    work: { job_id: id },
    request: { text: '{"a":"\\u0000"}' },
    publisherKey: null,
    reply: null,
    limit: null,
    ifFull: "wait",
    lifeMs: 60_000,
    ...rest,
    id,
    terms: isRefused
      ? { refusal: new ApiError("unsupported_value", "Not \u0000 this \ud800.", { param: "a\u0000" }) }
      : {
          hold: {
            jobId: id,
            keyId: KEY_ID,
            model: "one",
            amountNano: amount,
            mayExceed: false,
            tokensMax: tokens,
            dailyTokens: cap,
            lifeMs: 120_000,
          },
        },
  };
}

/** A run that nothing is asked of yet, of a workflow without a name. */
export function newRun(owner: Pick<NewRun, "workspaceId" | "memberId" | "keyId">, more: Partial<NewRun> = {}): NewRun {
  const { workspaceId, memberId, keyId } = owner;
  return {
    id: newId(),
    workspaceId,
    keyId,
    memberId,
    workflow: null,
    definition: "{}",
    mode: "async",
    lane: "batch",
    maxAttempts: 1,
    input: null,
    inputBytes: 0,
    depth: 0,
    ...more,
  };
}
