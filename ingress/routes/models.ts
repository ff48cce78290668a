/** GET /v1/models and its twin without a key, GET /public/models. */
import type { Catalogue } from "#shared/catalogue/catalogue.ts";
import { listModels } from "#shared/catalogue/present.ts";

import { JSON_TYPE } from "../answers.ts";
import { capabilityRows } from "../capabilities/present.ts";
import type { IngressContext } from "../context.ts";
import type { Route, RouteCall } from "../serve.ts";

const QUERY = [
  {
    name: "include_tools",
    description: "With `true`, rows of kind tool are listed too. Other query keys are ignored.",
    schema: { type: "boolean", default: false },
  },
];

/** The list is the same for everybody until the catalogue is replaced, and costs more to write than to send. */
const rendered = new WeakMap<Catalogue, Map<boolean, string>>();

function render(catalogue: Catalogue, includeTools: boolean): string {
  const lists = rendered.get(catalogue) ?? new Map<boolean, string>();
  rendered.set(catalogue, lists);
  const known = lists.get(includeTools);
  if (known !== undefined) return known;
  const { object, data } = listModels(catalogue, { includeTools });
  const tools = includeTools ? capabilityRows(catalogue) : [];
  const text = JSON.stringify({ object, data: [...data, ...tools] });
  lists.set(includeTools, text);
  return text;
}

export function models(context: IngressContext): readonly Route[] {
  const handle = (call: RouteCall): Response => {
    const query = new URL(call.request.url).searchParams;
    const text = render(context.catalogue.current(), query.get("include_tools") === "true");
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
