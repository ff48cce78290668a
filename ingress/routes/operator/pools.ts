/** /operator/pools: reports waiting and running jobs of each pool, and the number of worker processes that they need. */
import type { OperatorPoolList } from "#schemas/generated/types.ts";
import { ApiError } from "#shared/base/errors.ts";
import { readPools } from "#shared/database/pools.ts";
import { type PoolLoad, poolLoads } from "#shared/operators/pools.ts";

import { json } from "../../core/answers.ts";
import type { IngressContext } from "../../context.ts";
import type { OperatorRoute } from "../../core/route.ts";
import { READ } from "./common.ts";

export function pools(context: IngressContext): readonly OperatorRoute[] {
  const loads = async (): Promise<PoolLoad[]> =>
    poolLoads(await readPools(context.database), context.catalogue.current());
  return [
    {
      ...READ,
      method: "GET",
      path: "/operator/pools",
      operationId: "listOperatorPools",
      summary: "List pools",
      description: "Returns the number of queued and running tasks of every pool and lane.",
      responses: { 200: { description: "The pools with their two lanes", schema: "OperatorPoolList" } },
      errors: [],
      handle: async () => json(present(await loads())),
    },
    {
      ...READ,
      method: "GET",
      path: "/operator/pools/{pool}",
      operationId: "getOperatorPool",
      summary: "Retrieve pool",
      description: "Returns the number of queued and running tasks of a pool.",
      responses: { 200: { description: "The two lanes of the pool", schema: "OperatorPoolList" } },
      errors: ["not_found"],
      async handle({ params }) {
        const lanes = (await loads()).filter(({ pool }) => pool === params["pool"]);
        if (lanes.length === 0) throw new ApiError("not_found", "There is no such pool.");
        return json(present(lanes));
      },
    },
  ];
}

function present(loads: readonly PoolLoad[]): OperatorPoolList {
  return {
    object: "list",
    data: loads.map((load) => ({
      pool: load.pool,
      lane: load.lane,
      queued: load.queued,
      running: load.running,
      slots: load.slots,
      processes: load.processes,
      oldest_waiting_seconds: Math.max(0, Math.round(load.oldest_waiting_seconds * 10) / 10),
      wanted_processes: load.wanted_processes,
    })),
  };
}
