/** GET /healthz and /readyz on the public port. Load balancers receive a short text without names of dependencies. */
import { requiredBy } from "#shared/net/dependencies.ts";
import { ApiError } from "#shared/base/errors.ts";

import { json } from "../core/answers.ts";
import type { IngressContext } from "../context.ts";
import type { OpenRoute } from "../core/route.ts";

export function health(context: IngressContext): readonly OpenRoute[] {
  return [
    {
      method: "GET",
      path: "/healthz",
      operationId: "getHealth",
      summary: "Retrieve liveness",
      tags: ["Health"],
      auth: "none",
      isProbe: true,
      responses: { 200: { description: "The process is live", schema: "Health" } },
      errors: [],
      handle: () => json({ status: "ok" }),
    },
    {
      method: "GET",
      path: "/readyz",
      operationId: "getReadiness",
      summary: "Retrieve readiness",
      tags: ["Health"],
      auth: "none",
      isProbe: true,
      query: [
        {
          name: "require",
          description:
            "Additional dependencies, separated by commas. The object store is only checked with `storage`, " +
            "because calls without files do not need it.",
          schema: { type: "string", enum: ["storage"] },
        },
      ],
      responses: { 200: { description: "The process accepts calls", schema: "Health" } },
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
