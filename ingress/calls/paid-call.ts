/**
 * One paid synchronous call, whatever its endpoint: hold, message, wait. Routes say what is called and at which bound;
 * everything that money and queue need happens here, once.
 */
import type { ModelResponse } from "#schemas/generated/types.ts";
import { admitCall } from "#shared/calls/admit.ts";
import { readWords } from "#shared/calls/read.ts";
import { workHead } from "#shared/calls/work.ts";
import type { CallBound } from "#shared/calls/kinds/call-bound.ts";
import type { Kind } from "#shared/calls/kinds/kind.ts";
import type { Model } from "#shared/calls/model.ts";
import { commonNow } from "#shared/clock.ts";
import { stringifyExact, stringifyingExact } from "#shared/exact-integers.ts";
import { failpoint } from "#shared/failpoint.ts";
import { JSON_AT_ONCE_BYTES_MAX } from "#shared/json-tokens.ts";
import type { LinedHold } from "#shared/ledger/lined-calls.ts";
import type { Price } from "#shared/calls/pricing/price.ts";
import { paced } from "#shared/pace.ts";
import { asPart } from "#shared/tracing/tracing.ts";

import { exactIntegersIn, type ReadBody } from "../body.ts";
import type { IngressContext } from "../context.ts";
import { failureEventsOf } from "../responses/object.ts";
import { callerOf, type RouteCall } from "../serve.ts";

import { type CachePlan, fromCache } from "./response-cache.ts";

/** A hold of a synchronous call is swept this long after its deadline. */
const HOLD_SLACK_MS = paced(30_000);

export interface PaidCall {
  readonly kind: Kind;
  /** API whose format the response has. */
  readonly api: "openai" | "anthropic" | "responses";
  readonly model: Model;
  readonly bound: CallBound;
  /** Price of the variant that the call asks for; absent: the model's. */
  readonly price?: Price;
  /** The request as the worker gets it: JSON. */
  readonly text: string;
  readonly textBytes: number;
  /** The object that the answer of a Responses call completes. */
  readonly response?: ModelResponse;
  /** Name of the conversation that it belongs to, where its request says none. */
  readonly affinity?: string | undefined;
  /** An answer without text is a failure. */
  readonly needsText?: true;
  /** It has what the check found, see `LoadedCall`. */
  readonly bringsCheck?: true;
  /** Told when the call is refused before it is on its way: no worker will read what was stored for it. */
  readonly onRefused?: () => void;
  /** Use of the response cache; undefined: it is not used. */
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
      return withLoweredLimit(context, paid, kept);
    }
  }
  const waitMs = config.calls.totalMs;
  const { pool } = paid.kind;
  let lined: LinedHold | undefined;
  try {
    const of = { id: call.requestId, caller };
    lined = await asPart(call.span, "admit", () =>
      admitCall(context, of, paid, waitMs + HOLD_SLACK_MS, call.markCounted),
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
    // The worker ends the call at its deadline and says so; we wait a little longer for that word.
    waitMs: waitMs + DEADLINE_SLACK_MS,
    queueMs: config.calls.queueMs,
    requestBytes: paid.textBytes + (object === undefined ? 0 : Buffer.byteLength(JSON.stringify(object))),
    api: paid.api,
    ...(call.span === undefined ? {} : { span: call.span }),
    ...(object === undefined ? {} : { failureEvents: failureEventsOf(object) }),
    ...(call.onCharged ? { onCharged: call.onCharged } : {}),
    lined,
  };
  const message = { head: workHead(caller, call.requestId, { ...paid, lined }, deadlineMs), text: paid.text };
  const response = await context.relay.run(facts, message, call.request.signal, call.offloadInputs);
  if (paid.cache) response.headers.set("x-cache", "miss");
  return withLoweredLimit(context, paid, response);
}

/** Returns the response. Its header `x-max-tokens-lowered` names the limit of the model that served, where the caller asked for more. */
export function withLoweredLimit(
  { catalogue }: Pick<IngressContext, "catalogue">,
  { model, bound }: Pick<PaidCall, "bound" | "model">,
  response: Response,
): Response {
  const { outputLimit } = bound;
  if (outputLimit === undefined) return response;
  const used = response.headers.get("x-model-used");
  const { max_output_tokens: most } = (used === null ? undefined : catalogue.current().models.get(used)) ?? model;
  if (outputLimit > most) response.headers.set("x-max-tokens-lowered", String(most));
  return response;
}

const DEADLINE_SLACK_MS = 5_000;

/** A parsed body → a paid call that its model takes. @throws ApiError naming the parameter at fault */
export async function preparePaidCall(
  context: IngressContext,
  call: RouteCall,
  kind: Kind,
  body: ReadBody,
): Promise<PaidCall> {
  const { value, textBytes: bytes, pause } = body;
  const { request, model, checked } = await readWords(context, callerOf(call), kind, { value, bytes }, pause);
  const text = request === value ? body.text : await textOf(request, body);
  return {
    kind,
    api: "openai",
    model,
    ...checked,
    text,
    textBytes: text === body.text ? bytes : Buffer.byteLength(text),
  };
}

/** The text of a request of which nulls were left out. */
async function textOf(request: object, body: ReadBody): Promise<string> {
  const integers = await exactIntegersIn(body);
  if (body.textBytes <= JSON_AT_ONCE_BYTES_MAX) return stringifyExact(request, integers);
  return body.work((slices) => slices.run(stringifyingExact(request, integers)));
}
