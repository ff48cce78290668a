/**
 * Runs one paid synchronous call of any endpoint: holds credits, sends the message to a worker, and waits for the result. Routes determine
 * the model and the price bound; all interaction with ledger and queue is in this file.
 */
import type { ModelResponse } from "#schemas/generated/types.ts";
import { admitCall } from "#shared/calls/admit.ts";
import { readTextRequest } from "#shared/calls/read.ts";
import { usageKindOf } from "#shared/calls/usage-kind.ts";
import { workHead } from "#shared/calls/work.ts";
import type { CallBound } from "#shared/calls/kinds/call-bound.ts";
import type { CallLabels } from "#shared/calls/labels.ts";
import type { Kind } from "#shared/calls/kinds/kind.ts";
import type { Model } from "#shared/calls/model.ts";
import type { ModelRoute } from "#shared/calls/model-choice.ts";
import { commonNow } from "#shared/base/clock.ts";
import { stringifyExact, stringifyingExact } from "#shared/json/serialize.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import { JSON_AT_ONCE_BYTES_MAX } from "#shared/json/tokens.ts";
import type { CreditLineHold } from "#shared/ledger/credit-line-calls.ts";
import type { Price } from "#shared/calls/pricing/price.ts";
import { paced } from "#shared/config/pace.ts";
import { asPart } from "#shared/tracing/tracing.ts";

import { exactIntegersIn, type ReadBody } from "../../core/body.ts";
import { outerMaxOf } from "../../core/max-credits.ts";
import type { IngressContext } from "../../context.ts";
import { drawOf, type RouteCall } from "../../core/call.ts";
import { readLabels } from "../../core/labels.ts";
import { failureEventsOf } from "../../core/response-object.ts";
import type { CallFacts } from "../../wait/call.ts";

import { type CachePlan, fromCache, planCache } from "./response-cache.ts";

/** Time from a synchronous call's deadline to the expiry of its hold, in milliseconds. A sweep releases expired holds. */
const HOLD_SLACK_MS = paced(30_000);

export interface PaidCall {
  readonly kind: Kind;
  /** API that defines the response's format. */
  readonly api: "openai" | "anthropic" | "responses";
  readonly model: Model;
  readonly bound: CallBound;
  /** Price of the requested variant. Default: the model's price. */
  readonly price?: Price;
  /** Fallbacks of the call. Default: the workspace's fallback chain of the model. */
  readonly route?: ModelRoute | undefined;
  /** Request for the worker, as JSON. */
  readonly text: string;
  readonly textBytes: number;
  /** Incomplete response object of a Responses call, which the model's result completes. Absent for calls of other APIs. */
  readonly response?: ModelResponse;
  /** Labels that the usage record of the call keeps. */
  readonly labels: CallLabels | undefined;
  /** Conversation that the call belongs to, used if the request names none. */
  readonly affinity?: string | undefined;
  /** True when a response without text counts as a failure. */
  readonly needsText?: true;
  /** True when the request text contains the result of its validation, so that the worker need not repeat it (see `LoadedCall`). */
  readonly bringsCheck?: true;
  /** Called when the call is refused before dispatch, to delete stored inputs that no worker will read. */
  readonly onRefused?: () => void;
  /** Use of the response cache by this call. Undefined: the cache is off. */
  readonly cache?: CachePlan | undefined;
}

/**
 * Returns the cached response of a call, or runs the call and returns its response. A cache hit also counts in the rate-limit window.
 * @throws ApiError if the call is refused or fails
 */
export async function runPaidCall(context: IngressContext, call: RouteCall, paid: PaidCall): Promise<Response> {
  const { workspaceId, preset } = call.caller;
  const cached = paid.cache && (await fromCache(context, workspaceId, paid.cache));
  if (cached) {
    call.meter.markCounted();
    await context.calls.count(workspaceId, preset.requests_per_minute);
  }
  return withLoweredLimit(context, paid, cached ?? (await runAdmitted(context, call, paid)));
}

/** Admits and dispatches a call for which the cache has no response, and waits for its result. */
async function runAdmitted(context: IngressContext, call: RouteCall, paid: PaidCall): Promise<Response> {
  const { config } = context;
  const { caller, meter } = call;
  const waitMs = config.calls.totalMs;
  const { pool } = paid.kind;
  let creditLineHold: CreditLineHold | undefined;
  try {
    const of = { id: call.requestId, caller, labels: paid.labels };
    creditLineHold = await asPart(call.span, "admit", () =>
      admitCall(context, of, paid, waitMs + HOLD_SLACK_MS, meter.markCounted),
    );
  } catch (error) {
    paid.onRefused?.();
    throw error;
  }
  failpoint("call.admitted");
  const deadlineMs = commonNow() + waitMs;
  const { response: object } = paid;
  const facts = {
    pool,
    jobId: call.requestId,
    workspaceId: caller.workspaceId,
    requestId: call.requestId,
    startedAt: call.startedAt,
    // The worker ends the call at its deadline and reports that; the ingress waits a little longer.
    waitMs: waitMs + DEADLINE_SLACK_MS,
    queueMs: config.calls.queueMs,
    requestBytes: paid.textBytes + (object === undefined ? 0 : Buffer.byteLength(JSON.stringify(object))),
    api: paid.api,
    usageKind: usageKindOf(paid.kind.name, paid.api),
    span: call.span,
    ...(object === undefined ? {} : { failureEvents: failureEventsOf(object) }),
    addCharge: meter.addCharge,
    creditLineHold,
  } satisfies CallFacts;
  const message = { head: workHead(caller, call.requestId, { ...paid, creditLineHold }, deadlineMs), text: paid.text };
  const response = await context.relay.run(facts, message, call.request.signal, meter.releaseMemory);
  if (paid.cache) response.headers.set("x-cache", "miss");
  return response;
}

/**
 * Returns the response with the header `x-max-tokens-lowered`, if the caller requested more tokens than the serving model's limit, or if
 * `max_credits` requires an output limit. The header contains the limit.
 */
export function withLoweredLimit(
  { catalogue }: Pick<IngressContext, "catalogue">,
  { model, bound }: Pick<PaidCall, "bound" | "model">,
  response: Response,
): Response {
  const { outputLimit, loweredLimit } = bound;
  const used = response.headers.get("x-model-used");
  if (loweredLimit !== undefined && (used ?? model.slug) === model.slug) {
    response.headers.set("x-max-tokens-lowered", String(loweredLimit));
  }
  if (outputLimit === undefined) return response;
  const { max_output_tokens: most } = (used === null ? undefined : catalogue.current().models.get(used)) ?? model;
  if (outputLimit > most) response.headers.set("x-max-tokens-lowered", String(most));
  return response;
}

const DEADLINE_SLACK_MS = 5_000;

/**
 * Checks the parsed body of a call against the requested model. Returns the call in the format of `runPaidCall`, with its cache settings.
 * @throws ApiError that names the invalid parameter
 */
export async function preparePaidCall(
  context: IngressContext,
  call: RouteCall,
  kind: Kind,
  body: ReadBody,
): Promise<PaidCall> {
  const { value, textBytes: bytes, pause } = body;
  const header = call.request.headers.get("x-cache");
  const read = { value, bytes, draw: drawOf(call) };
  const how = { pause, max: outerMaxOf(call) };
  const { request, model, checked } = await readTextRequest(context, call.caller, kind, read, how);
  const text = request === value ? body.text : await textOf(request, body);
  return {
    kind,
    api: "openai",
    model,
    ...checked,
    text,
    textBytes: text === body.text ? bytes : Buffer.byteLength(text),
    labels: readLabels(call, request),
    cache: await planCache(header, model, cacheScope(kind.name, checked.bound), body, request),
    affinity: call.affinity,
  };
}

/**
 * Returns the name of a call's kind for its cache key. Responses that `max_credits` may have cut are not used for calls with another output
 * limit.
 */
export function cacheScope(name: string, { loweredLimit }: CallBound): string {
  return loweredLimit === undefined ? name : `${name} ${loweredLimit}`;
}

/** Returns the JSON text of a request from which null members or `max_credits` were removed. */
async function textOf(request: object, body: ReadBody): Promise<string> {
  const integers = await exactIntegersIn(body);
  if (body.textBytes <= JSON_AT_ONCE_BYTES_MAX) return stringifyExact(request, integers);
  return body.work((slices) => slices.run(stringifyingExact(request, integers)));
}
