/** GET /operator/status: reports versions, reachable dependencies, and counts. */
import type { OperatorStatus } from "#schemas/generated/types.ts";
import { databaseStatus } from "#shared/operators/status.ts";

import manifest from "../../../package.json" with { type: "json" };
import { json } from "../../core/answers.ts";
import type { IngressContext } from "../../context.ts";
import type { OperatorRoute } from "../../core/route.ts";
import { READ } from "./common.ts";

export function status(context: IngressContext): OperatorRoute {
  return {
    ...READ,
    method: "GET",
    path: "/operator/status",
    operationId: "getOperatorStatus",
    summary: "Retrieve status",
    description:
      "Returns versions, dependencies and counts as seen by the answering process. With the token of the settings " +
      "it also answers while Postgres is not reachable.",
    responses: { 200: { description: "The status", schema: "OperatorStatus" } },
    errors: [],
    async handle() {
      const [{ ok, checks }, { schema, postgres, counts }] = await Promise.all([
        context.readiness(),
        databaseStatus(context.database),
      ]);
      const nats = context.connection.info?.version ?? null;
      return json({
        ok,
        versions: { sluice: manifest.version, schema, postgres, nats },
        dependencies: checks.map(({ name, ok: isUp, detail }) => ({ name, ok: isUp, detail })),
        counts,
      } satisfies OperatorStatus);
    },
  };
}
