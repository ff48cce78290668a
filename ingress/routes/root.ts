/** GET /: describes the service to a person or program that knows only the address. */
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
    responses: { 200: { description: "Name, version and links", schema: "Service" } },
    errors: [],
    handle: () => json(service),
  };
}
