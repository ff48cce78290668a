/** GET /: describes the service to a program that knows only the address, and opens the console in a browser. */
import type { Service } from "#schemas/generated/types.ts";

import manifest from "../../package.json" with { type: "json" };
import type { IngressContext } from "../context.ts";
import { json } from "../core/answers.ts";
import type { OpenRoute } from "../core/route.ts";

export function root({ issuer }: Pick<IngressContext, "issuer">): OpenRoute {
  const service: Service = {
    name: "Sluice",
    description: manifest.description,
    version: manifest.version,
    docs: "/docs",
    openapi: "/openapi.json",
    models: "/public/models",
    has_issuer: issuer !== undefined,
  };
  return {
    method: "GET",
    path: "/",
    operationId: "getService",
    summary: "Retrieve service information",
    tags: ["Documentation"],
    auth: "none",
    description: "Redirects browsers, which accept `text/html`, to the console.",
    responses: {
      200: { description: "Name, version and links", schema: "Service" },
      303: { description: "The console, for browsers" },
    },
    errors: [],
    handle: ({ request }) =>
      request.headers.get("accept")?.includes("text/html") === true
        ? new Response(null, { status: 303, headers: { location: "/console", vary: "accept" } })
        : json(service),
  };
}
