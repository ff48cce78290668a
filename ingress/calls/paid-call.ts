/**
 * One paid synchronous call, whatever its endpoint: hold, message, wait. Routes say what is called and at which bound;
 * everything that money and queue need happens here, once.
 */
import type { Caller } from "#shared/access/authenticate.ts";
import { checkBudget } from "#shared/calls/budget-stop.ts";
import { holdOf, workHead } from "#shared/calls/work.ts";
import type { CallBound } from "#shared/calls/kinds/call-bound.ts";
import type { Kind } from "#shared/calls/kinds/kind.ts";
import type { Model } from "#shared/calls/model.ts";
import { ApiError } from "#shared/errors.ts";
import { failpoint } from "#shared/failpoint.ts";
import { LIMITS } from "#shared/limits.ts";
import type { Price } from "#shared/calls/pricing/price.ts";

import type { IngressContext } from "../context.ts";
import type { RouteCall } from "../serve.ts";

import { type CachePlan, fromCache } from "./response-cache.ts";

export interface PaidCall {
  readonly kind: Kind;
  /** Whose format the answer has. */
  readonly api: "openai" | "anthropic";
  readonly model: Model;
  readonly bound: CallBound;
  /** Of what the call asks for; absent: the model's. */
  readonly price?: Price;
  /** The request as the worker gets it: JSON. */
  readonly text: string;
  readonly textBytes: number;
  /** Told when the call is refused before it is on its way: no worker will read what was stored for it. */
  readonly onRefused?: () => void;
  /** What the response cache is to do. */
  readonly cache?: CachePlan | undefined;
}

/** @throws ApiError of whatever refuses or fails it; the call has been counted in the window by then */
export async function runPaidCall(context: IngressContext, call: RouteCall, paid: PaidCall): Promise<Response> {
  const { config } = context;
  const caller = call.caller;
  if (!caller) throw new Error("a paid route needs a caller");
  if (paid.cache) {
    const kept = await fromCache(context, caller.workspaceId, paid.cache);
    if (kept) {
      call.markCounted?.();
      await context.calls.count(caller.workspaceId, caller.preset.requests_per_minute);
      return kept;
    }
  }
  const waitMs = config.calls.totalMs;
  const { pool } = paid.kind;
  try {
    checkBudget(caller, paid.bound.holdNano);
    call.markCounted?.();
    await placeHold(context, caller, call.requestId, paid, waitMs);
  } catch (error) {
    paid.onRefused?.();
    throw error;
  }
  failpoint("call.admitted");
  const deadlineMs = Date.now() + waitMs;
  const facts = {
    pool,
    jobId: call.requestId,
    workspaceId: caller.workspaceId,
    requestId: call.requestId,
    startedAt: call.startedAt,
    // The worker ends the call at its deadline and says so; we wait a little longer for that word.
    waitMs: waitMs + DEADLINE_SLACK_MS,
    queueMs: config.calls.queueMs,
    requestBytes: paid.textBytes,
    api: paid.api,
  };
  const message = { head: workHead(caller, call.requestId, paid, deadlineMs), text: paid.text };
  const response = await context.relay.run(facts, message, call.request.signal, call.offloadInputs);
  if (paid.cache) response.headers.set("x-cache", "miss");
  return response;
}

/** Counts the call and places its hold, in one statement. @throws ApiError of the refusal */
async function placeHold(
  context: IngressContext,
  caller: Caller,
  jobId: string,
  { model, bound }: PaidCall,
  waitMs: number,
): Promise<void> {
  const { metrics } = context;
  const admissionAt = performance.now();
  try {
    const hold = holdOf({ id: jobId, caller }, model, bound, waitMs + LIMITS.holdSlackMs);
    await context.calls.place(caller.workspaceId, caller.preset.requests_per_minute, hold);
    metrics.admissions.inc("admitted");
  } catch (error) {
    metrics.admissions.inc(error instanceof ApiError ? error.code : "failed");
    throw error;
  } finally {
    metrics.admissionSeconds.observe((performance.now() - admissionAt) / 1_000);
  }
}

const DEADLINE_SLACK_MS = 5_000;
