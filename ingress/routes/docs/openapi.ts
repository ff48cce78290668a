/** GET /openapi.json and /schemas/{name}.json, and the documentation pages, whose API reference is generated from openapi.json. */
import components from "#schemas/generated/components.json";
import { ApiError } from "#shared/base/errors.ts";

import { JSON_TYPE } from "../../core/answers.ts";
import { factsOf } from "./api/roles.ts";
import { createRenderer } from "./renderer.ts";
import type { IngressContext } from "../../context.ts";
import { createGzipResponder } from "../../gzip.ts";
import { buildOpenApi } from "../../openapi/document.ts";
import { EXAMPLES } from "../../openapi/examples.ts";
import { standalone } from "../../openapi/references.ts";
import type { OpenRoute, Route } from "../../core/route.ts";
import { docsPages } from "./routes.ts";

/**
 * Returns the documentation routes.
 * @param config `publicUrl`: base URL of the service in the pages. Undefined: the origin of the request is used
 * @param api all other routes. The OpenAPI document describes them and the documentation routes
 */
export function docs({ config }: Pick<IngressContext, "config">, api: readonly Route[]): readonly OpenRoute[] {
  const common = { method: "GET", tags: ["Documentation"], auth: "none" } as const;
  let text: string | undefined;
  // Built at the first request: the build would add 30 ms to the start of a process.
  const document = (): string => (text ??= JSON.stringify(buildOpenApi([...api, ...routes], components, EXAMPLES)));
  const respond = createGzipResponder();
  const renderer = createRenderer(() => ({ document: document(), facts: factsOf([...api, ...routes]) }));
  const routes: readonly OpenRoute[] = [
    {
      ...common,
      path: "/openapi.json",
      operationId: "getOpenApi",
      summary: "Retrieve OpenAPI document",
      responses: { 200: { description: "The OpenAPI 3.1 document", isAnyJson: true } },
      errors: [],
      handle: ({ request }) => respond(request, document(), CACHED),
    },
    {
      ...common,
      path: "/schemas/{file}",
      operationId: "getSchema",
      summary: "Retrieve JSON Schema",
      description: "Returns one self-contained JSON Schema.",
      responses: { 200: { description: "The JSON Schema (2020-12)", isAnyJson: true } },
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
    ...docsPages(renderer, config),
  ];
  return routes;
}

const CACHED = { "content-type": JSON_TYPE, "cache-control": "public, max-age=300" };

function cached(body: string): Response {
  return new Response(body, { headers: CACHED });
}
