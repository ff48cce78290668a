/** GET /openapi.json, /schemas/{name}.json and the page at /docs that shows them. */
import components from "#schemas/generated/components.json";
import { ApiError } from "#shared/errors.ts";

import { JSON_TYPE } from "../answers.ts";
import { docsAsset, docsPage } from "../openapi/docs-page.ts";
import { buildOpenApi } from "../openapi/document.ts";
import { standalone } from "../openapi/references.ts";
import type { Route } from "../serve.ts";

/** @param api every other route; these are described in the document too */
export function docs(api: readonly Route[]): readonly Route[] {
  const common = { method: "GET", tags: ["Documentation"], auth: "none" } as const;
  const routes: readonly Route[] = [
    {
      ...common,
      path: "/openapi.json",
      operationId: "getOpenApi",
      summary: "This description",
      responses: { 200: { description: "OpenAPI 3.1", isAnyJson: true } },
      errors: [],
      handle: () => cached(document()),
    },
    {
      ...common,
      path: "/schemas/{file}",
      operationId: "getSchema",
      summary: "One JSON Schema, complete in itself",
      description: "`file` is the schema's title followed by `.json`, such as `ChatCompletionRequest.json`.",
      responses: { 200: { description: "JSON Schema 2020-12", isAnyJson: true } },
      errors: ["not_found"],
      handle({ params }) {
        const file = params["file"] ?? "";
        const schema = file.endsWith(".json")
          ? standalone(file.slice(0, -".json".length), components.schemas)
          : undefined;
        if (!schema) throw new ApiError("not_found", "There is no such schema; /openapi.json names them all.");
        return cached(JSON.stringify(schema));
      },
    },
    {
      ...common,
      path: "/docs",
      operationId: "getDocs",
      summary: "This description as a page",
      responses: { 200: { description: "A page", texts: ["text/html"] } },
      errors: [],
      handle: () => docsPage(),
    },
    {
      ...common,
      path: "/docs/assets/{name}",
      operationId: "getDocsAsset",
      summary: "Scripts and styles of the page",
      responses: { 200: { description: "The asset", bytes: ["*/*"] } },
      errors: ["not_found"],
      handle({ params }) {
        const asset = docsAsset(params["name"] ?? "");
        if (!asset) throw new ApiError("not_found", "There is no such asset.");
        return asset;
      },
    },
  ];
  let text: string | undefined;
  // Built on the first request: the build takes 30 ms of a process's start.
  const document = (): string => (text ??= JSON.stringify(buildOpenApi([...api, ...routes], components)));
  return routes;
}

function cached(body: string): Response {
  return new Response(body, { headers: { "content-type": JSON_TYPE, "cache-control": "public, max-age=300" } });
}
