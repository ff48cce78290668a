/** GET /v1/models and its twin without a key, GET /public/models. */
import { usableTools } from "#shared/access/tools.ts";
import type { Capability } from "#shared/calls/capabilities/entry.ts";
import type { Catalogue } from "#shared/calls/model.ts";
import { listModels } from "#shared/calls/present-model.ts";

import { JSON_TYPE } from "../answers.ts";
import { capabilityRows } from "../capabilities/present.ts";
import type { IngressContext } from "../context.ts";
import { rememberPairs } from "#shared/remembered.ts";
import type { Route, RouteCall } from "../serve.ts";

const QUERY = [
  {
    name: "include_tools",
    description:
      "With `true` or `1`, capabilities are listed too, as rows of kind `tool`. Other query keys are ignored.",
    schema: { type: "boolean", default: false },
  },
];

/** @param tools undefined where they are not asked for */
function listText(catalogue: Catalogue, tools: readonly Capability[] | undefined): string {
  const { object, data } = listModels(catalogue, { includeTools: tools !== undefined });
  return JSON.stringify({ object, data: [...data, ...capabilityRows(catalogue, tools ?? [])] });
}

const withoutTools = rememberPairs((catalogue: Catalogue, _none: object) => listText(catalogue, undefined));
const withTools = rememberPairs((catalogue: Catalogue, tools: readonly Capability[]) => listText(catalogue, tools));
const NO_TOOLS = {};

export function models(context: IngressContext): readonly Route[] {
  const toolText = (catalogue: Catalogue, { caller }: RouteCall): string => {
    const all = context.offered.current();
    const usable = caller ? usableTools(caller, all) : all;
    return (usable === all ? withTools : listText)(catalogue, usable);
  };
  const handle = (call: RouteCall): Response => {
    const query = new URL(call.request.url).searchParams;
    const catalogue = context.catalogue.current();
    const hasTools = /^(true|1)$/i.test(query.get("include_tools") ?? "");
    const text = hasTools ? toolText(catalogue, call) : withoutTools(catalogue, NO_TOOLS);
    return new Response(text, { headers: { "content-type": JSON_TYPE } });
  };
  const common = {
    method: "GET",
    tags: ["Models"],
    query: QUERY,
    responses: { 200: { description: "The catalogue", schema: "ModelList" } },
    handle,
  } as const;
  return [
    {
      ...common,
      path: "/v1/models",
      operationId: "listModels",
      summary: "List the models that can be called",
      auth: "key",
      errors: [],
    },
    {
      ...common,
      path: "/public/models",
      operationId: "listPublicModels",
      summary: "The same catalogue without a key",
      auth: "none",
      errors: [],
    },
  ];
}
