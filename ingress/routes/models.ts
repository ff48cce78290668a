/** GET /v1/models and its twin without a key, GET /public/models. */
import { listModels } from "#shared/catalogue/present.ts";

import { json } from "../answers.ts";
import type { IngressContext } from "../context.ts";
import type { Route, RouteCall } from "../serve.ts";

const QUERY = [
  {
    name: "include_tools",
    description: "With `true`, rows of kind tool are listed too. Other query keys are ignored.",
    schema: { type: "boolean", default: false },
  },
];

export function models(context: IngressContext): readonly Route[] {
  const handle = (call: RouteCall): Response => {
    const query = new URL(call.request.url).searchParams;
    return json(listModels(context.catalogue.current(), { includeTools: query.get("include_tools") === "true" }));
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
