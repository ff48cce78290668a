/** GET /healthz and /readyz on the public port: a word for load balancers, no names of dependencies (lesson EDGE-7). */
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
      responses: { 200: { description: "They can", schema: "Health" } },
      errors: ["service_unavailable"],
      async handle() {
        if (await context.isReady()) return json({ status: "ok" });
        throw new ApiError("service_unavailable", "The service cannot accept calls right now.");
      },
    },
  ];
}
