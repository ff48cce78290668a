/** GET /operator/status: reports versions, running processes, reachable dependencies, and counts. */
import type { OperatorStatus } from "#schemas/generated/types.ts";
import type { WorkerVersion } from "#shared/database/pools.ts";
import { databaseStatus } from "#shared/operators/status.ts";

import manifest from "../../../package.json" with { type: "json" };
import { json } from "../../core/answers.ts";
import type { IngressContext } from "../../context.ts";
import type { OperatorRoute } from "../../core/route.ts";
import type { IngressProcess } from "../../wait/call-counts.ts";
import { READ } from "./common.ts";

export function status(context: IngressContext): OperatorRoute {
  return {
    ...READ,
    method: "GET",
    path: "/operator/status",
    operationId: "getOperatorStatus",
    summary: "Retrieve status",
    description:
      "Returns versions, running processes, dependencies and counts as seen by the answering process. With the token of " +
      "the settings it also answers while Postgres is not reachable.",
    responses: { 200: { description: "The status", schema: "OperatorStatus" } },
    errors: [],
    async handle() {
      const [{ ok, checks }, { schema, postgres, workers, counts }] = await Promise.all([
        context.readiness(),
        databaseStatus(context.database),
      ]);
      const nats = context.connection.info?.version ?? null;
      return json({
        ok,
        versions: { sluice: manifest.version, schema, postgres, nats },
        processes: [...ingressVersions(context.fleet.ingresses()), ...(workers ?? []).map(presentWorkers)],
        dependencies: checks.map(({ name, ok: isUp, detail }) => ({ name, ok: isUp, detail })),
        counts,
      } satisfies OperatorStatus);
    },
  };
}

type Processes = OperatorStatus["processes"][number];

/** Returns the ingresses by version. */
function ingressVersions(ingresses: readonly IngressProcess[]): Processes[] {
  return Array.from(
    Map.groupBy(ingresses, ({ version }) => version),
    ([version, all]): Processes => {
      const starts = all.flatMap(({ startedAt }) => startedAt ?? []).toSorted((a, b) => a - b);
      const at = (index: number): string | null => {
        const start = starts.at(index);
        return start === undefined ? null : new Date(start).toISOString();
      };
      return {
        role: "ingress",
        pool: null,
        version,
        count: all.length,
        first_started_at: at(0),
        last_started_at: at(-1),
      };
    },
  );
}

function presentWorkers(row: WorkerVersion): Processes {
  return {
    role: "worker",
    pool: row.pool,
    version: row.version,
    count: row.count,
    first_started_at: row.first_started_at.toISOString(),
    last_started_at: row.last_started_at.toISOString(),
  };
}
