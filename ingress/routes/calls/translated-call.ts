/** Runs one paid chat call that arrived in another API's format. Errors name the parameters of that format. */
import type { ChatCompletionRequest, ModelResponse, ResponsesItem } from "#schemas/generated/types.ts";
import { CHAT } from "#shared/calls/kinds/chat.ts";
import { checkChat } from "#shared/calls/kinds/chat/constraints.ts";
import { findStoredFiles } from "#shared/calls/kinds/chat/files.ts";
import { costMaxOf } from "#shared/calls/max-credits.ts";
import type { Model } from "#shared/calls/model.ts";
import { chooseModels, firstAccepting } from "#shared/calls/model-choice.ts";
import { stringifyExact } from "#shared/json/serialize.ts";
import type { RenamedTool } from "#shared/responses/tool-names.ts";

import { exactIntegersIn, type ReadBody } from "../../core/body.ts";
import type { IngressContext } from "../../context.ts";
import { drawOf, type RouteCall } from "../../core/call.ts";
import { readLabels } from "../../core/labels.ts";
import { outerMaxOf } from "../../core/max-credits.ts";
import { withParam } from "../../core/with-param.ts";

import { cacheScope, type PaidCall, runPaidCall } from "./paid-call.ts";
import type { CachePlan } from "./response-cache.ts";

interface TranslatedCall {
  readonly api: "anthropic" | "responses";
  readonly request: ChatCompletionRequest;
  /** Returns the name that the caller's API format has for a parameter of the chat request. */
  readonly paramOf: (param: string) => string;
  /** Maximum cost in the body of the call, in nano-credits. */
  readonly maxNano?: bigint | undefined;
  /** @param scope suffix of the cache key that contains what changes the response but is not in the request */
  readonly planCache: (model: Model, scope: string) => Promise<CachePlan | undefined>;
  /** Incomplete response object of a Responses call, which the model's result completes. Absent for calls of other APIs. */
  readonly response?: ModelResponse;
  /** Conversation that the call belongs to, used if the request names none. */
  readonly affinity?: string;
  /** True when a response without text counts as a failure and is not charged. */
  readonly needsText?: true;
  /** Items of the request that are stored with the response. */
  readonly input?: readonly ResponsesItem[];
  /** Tools whose names in the response differ from their names for the model. */
  readonly renamed?: readonly RenamedTool[];
  /** Runs the validated call in the background. Absent: the call is synchronous. */
  readonly run?: (paid: CheckedTranslation) => Promise<Response>;
}

export type CheckedTranslation = Pick<PaidCall, "bound" | "kind" | "labels" | "model" | "route" | "text">;

/**
 * Validates and runs the call.
 * @throws the errors of `runPaidCall`, with the parameter names of the caller's API format
 */
export async function runTranslatedCall(
  context: IngressContext,
  call: RouteCall,
  body: ReadBody,
  {
    api,
    request,
    paramOf,
    maxNano,
    planCache,
    response,
    affinity,
    input,
    renamed = [],
    needsText,
    run,
  }: TranslatedCall,
): Promise<Response> {
  const draw = { ...drawOf(call), conversation: affinity ?? (api === "anthropic" ? request.user : undefined) };
  const choice = chooseModels(CHAT, context.catalogue.current(), call.caller, request, draw);
  const labels = readLabels(call, body.value);
  await body.pause();
  const integers = await exactIntegersIn(body);
  await body.pause();
  const text = stringifyExact(request, integers);
  const textBytes = Buffer.byteLength(text);
  await body.pause();
  try {
    const files = await findStoredFiles(context.database, call.caller, request);
    const max = costMaxOf(maxNano, outerMaxOf(call));
    const accepting = firstAccepting(choice, (one) => checkChat(request, one, textBytes, files, max));
    const { model, checked: bound, route } = accepting;
    const named = renamed.length === 0 ? text : withMember(text, "response_tools", JSON.stringify(renamed));
    if (run) return await run({ kind: CHAT, model, bound, route, labels, text: named });
    const cache = await planCache(model, cacheScope("", bound));
    const whole = input === undefined ? named : withMember(named, "response_input", stringifyExact(input, integers));
    const wholeBytes = whole === text ? textBytes : Buffer.byteLength(whole);
    const needs = needsText === undefined ? {} : { needsText };
    const paid = {
      kind: CHAT,
      api,
      model,
      bound,
      route,
      text: whole,
      textBytes: wholeBytes,
      labels,
      cache,
      affinity,
      ...needs,
    };
    return await runPaidCall(context, call, response === undefined ? paid : { ...paid, response });
  } catch (error) {
    throw withParam(error, paramOf);
  }
}

/** Adds a member to the request's JSON text. The worker removes it before it calls a provider, so the member counts towards no limit. */
function withMember(text: string, name: string, value: string): string {
  return `${text.slice(0, -1)},"${name}":${value}}`;
}
