/**
 * GET /v1/models and /v1/models/{slug}, and GET /public/models without a key. With a key, models are also available in Anthropic's format.
 */
import { mayCallModel } from "#shared/access/access-lists.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { usableTools } from "#shared/access/tools.ts";
import type { Capability } from "#shared/calls/capabilities/entry.ts";
import type { Catalogue } from "#shared/calls/model.ts";
import { findCallable, listModels, modelEntry } from "#shared/calls/present-model.ts";
import { ApiError } from "#shared/base/errors.ts";

import { json, JSON_TYPE } from "../core/answers.ts";
import { capabilityRows } from "./media/present-capability.ts";
import type { IngressContext } from "../context.ts";
import { isTextModel, listInfos, modelInfo, PAGE_QUERY } from "./messages/models.ts";
import { rememberPairs } from "#shared/base/remembered.ts";
import type { RequestFacts, RouteCall } from "../core/call.ts";
import type { Route } from "../core/route.ts";
import { BOOLEAN_QUERY, booleanIn } from "../core/page.ts";

const INCLUDE_TOOLS = "include_tools";

const QUERY = [
  {
    name: INCLUDE_TOOLS,
    description: "True to include capabilities as rows of kind `tool`.",
    schema: { ...BOOLEAN_QUERY, default: false },
  },
];

/**
 * Returns the model list as JSON text.
 * @param tools capabilities to include in the list; undefined includes none
 * @param caller caller whose models are listed; absent for all models
 */
function listText(catalogue: Catalogue, tools: readonly Capability[] | undefined, caller?: Caller): string {
  const { object, data } = listModels(catalogue, { includeTools: tools !== undefined }, caller);
  return JSON.stringify({ object, data: [...data, ...capabilityRows(catalogue, tools ?? [])] });
}

const withoutTools = rememberPairs((catalogue: Catalogue, _none: object) => listText(catalogue, undefined));
const withTools = rememberPairs((catalogue: Catalogue, tools: readonly Capability[]) => listText(catalogue, tools));
const NO_TOOLS = {};

export function models(context: IngressContext): readonly Route[] {
  const toolText = (catalogue: Catalogue, { caller }: Partial<Pick<RouteCall, "caller">>): string => {
    const all = context.availableCapabilities.current();
    const usable = caller ? usableTools(caller, all) : all;
    if (caller?.accessLists) return listText(catalogue, usable, caller);
    return (usable === all ? withTools : listText)(catalogue, usable);
  };
  const modelText = (catalogue: Catalogue, { caller }: Partial<Pick<RouteCall, "caller">>): string =>
    caller?.accessLists ? listText(catalogue, undefined, caller) : withoutTools(catalogue, NO_TOOLS);
  const handle = (call: RequestFacts & Partial<Pick<RouteCall, "caller">>): Response => {
    const catalogue = context.catalogue.current();
    const hasTools = booleanIn(call, INCLUDE_TOOLS) === true;
    const text = hasTools ? toolText(catalogue, call) : modelText(catalogue, call);
    return new Response(text, { headers: { "content-type": JSON_TYPE, ...(call.caller ? VARIES : {}) } });
  };
  const common = {
    method: "GET",
    tags: ["Models"],
    query: QUERY,
    responses: { 200: { description: "The models", schema: "ModelList" } },
    handle,
  } as const;
  return [
    {
      ...common,
      path: "/v1/models",
      operationId: "listModels",
      summary: "List models",
      description: `Lists the models that the key may call. With \`anthropic-version\`: text models, newest first, as \`data\` of ${INFO}, with \`first_id\`, \`last_id\` and \`has_more\`.`,
      auth: "key",
      query: [...QUERY, ...PAGE_QUERY],
      requestHeaders: [VERSION],
      errors: ["unsupported_value"],
      handle: (call) =>
        asksAnthropic(call) ? json(listInfos(context.catalogue.current(), call), VARIES) : handle(call),
    },
    {
      ...common,
      path: "/v1/models/{slug}",
      operationId: "getModel",
      summary: "Retrieve model",
      description: `With \`anthropic-version\`: a text model as ${INFO}.`,
      auth: "key",
      query: [],
      requestHeaders: [VERSION],
      pathExamples: { slug: "sandbox-chat" },
      responses: { 200: { description: "The model", schema: "ModelEntry" } },
      errors: ["not_found"],
      handle: (call) => one(context, call),
    },
    {
      ...common,
      path: "/public/models",
      operationId: "listPublicModels",
      summary: "List public models",
      auth: "none",
      errors: ["unsupported_value"],
    },
  ];
}

const INFO = "`{id, type, display_name, created_at, max_input_tokens, max_tokens}`";

const VERSION = {
  name: "anthropic-version",
  description: "Version header of Anthropic's clients. Responses and errors have the format of Anthropic's API.",
  schema: { type: "string" },
} as const;

const VARIES = { vary: "anthropic-version" };

function asksAnthropic({ request }: RouteCall): boolean {
  return request.headers.has(VERSION.name);
}

function one({ catalogue }: IngressContext, call: RouteCall): Response {
  const found = findCallable(catalogue.current(), call.params["slug"] ?? "");
  const model = found && mayCallModel(call.caller, found.slug) ? found : undefined;
  if (model && !asksAnthropic(call)) return json(modelEntry(model), VARIES);
  if (model && isTextModel(model)) return json(modelInfo(model), VARIES);
  throw new ApiError("not_found", "There is no such model; GET /v1/models lists the models.", { param: "slug" });
}
