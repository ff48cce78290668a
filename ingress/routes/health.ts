/** GET /healthz and /readyz on the public port: a word for load balancers, no names of dependencies. */
import { requiredBy } from "#shared/dependencies.ts";
import { ApiError } from "#shared/errors.ts";

import { json } from "../answers.ts";
import type { IngressContext } from "../context.ts";
import type { Route } from "../serve.ts";

export function health(context: IngressContext): readonly Route[] {
  return [
    {
      method: "GET",
      path: "/healthz",
      operationId: "getHealth",
      summary: "Whether the process lives",
      tags: ["Health"],
      auth: "none",
      isProbe: true,
      responses: { 200: { description: "It lives", schema: "Health" } },
      errors: [],
      handle: () => json({ status: "ok" }),
    },
    {
      method: "GET",
      path: "/readyz",
      operationId: "getReadiness",
      summary: "Whether calls can be accepted right now",
      tags: ["Health"],
      auth: "none",
      isProbe: true,
      query: [
        {
          name: "require",
          description:
            "What must be there too, separated by commas. Calls without files are served while the object store is away, so only `storage` asks for it.",
          schema: { type: "string", enum: ["storage"] },
        },
      ],
      responses: { 200: { description: "They can", schema: "Health" } },
      errors: ["invalid_request", "service_unavailable"],
      async handle({ request }) {
        const required = requiredBy(new URL(request.url));
        if (!required) throw new ApiError("invalid_request", "Expected require to be `storage`.", { param: "require" });
        if (await context.isReady(required)) return json({ status: "ok" });
        throw new ApiError("service_unavailable", "The service cannot accept calls right now.");
      },
    },
  ];
}
