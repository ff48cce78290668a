/** The load of each pool and lane, and how many processes it wants. */
import type { Catalogue } from "#shared/calls/model.ts";
import type { Queryable } from "#shared/database/client.ts";
import { countLiveCalls, countPools, type FleetSlots, fleetSlots, type PoolCounts } from "#shared/database/pools.ts";
import { kindOfModality } from "#shared/calls/kinds/kinds.ts";
import { kindOfCall } from "#shared/calls/kinds/models.ts";
import { type Lane, LANES, type Pool, POOLS } from "#shared/queue/subjects.ts";

export interface PoolLoad extends PoolCounts, FleetSlots {
  readonly wanted_processes: number;
}

/** A process that is busier than this is full whenever calls come unevenly. */
const BUSY_SHARE = 0.75;

/** A row for each pool and lane, in the order of the lists. */
export async function poolLoads(target: Queryable, catalogue: Pick<Catalogue, "models">): Promise<PoolLoad[]> {
  const [counts, fleet, live] = await Promise.all([countPools(target), fleetSlots(target), countLiveCalls(target)]);
  const calls = new Map<Pool, number>();
  for (const { model, calls: more } of live) {
    const pool = poolOf(catalogue, model);
    calls.set(pool, (calls.get(pool) ?? 0) + more);
  }
  return POOLS.flatMap((pool) =>
    LANES.map((lane) => {
      const isThis = (row: { readonly pool: Pool; readonly lane: Lane }): boolean =>
        row.pool === pool && row.lane === lane;
      const jobs = counts.find(isThis) ?? { pool, lane, queued: 0, running: 0, oldest_waiting_seconds: 0 };
      const slots = fleet.find(isThis) ?? { pool, lane, slots: 0, processes: 0 };
      return loadOf(jobs, slots, lane === "live" ? (calls.get(pool) ?? 0) : 0);
    }),
  );
}

/** @param calls beside the jobs: as many of them as there are slots left are served, as far as Postgres can tell */
export function loadOf(jobs: PoolCounts, fleet: FleetSlots, calls: number): PoolLoad {
  const served = Math.min(calls, Math.max(0, fleet.slots - jobs.running));
  const load = { ...fleet, ...jobs, queued: jobs.queued + calls - served, running: jobs.running + served };
  return { ...load, wanted_processes: wantedProcesses(load) };
}

function wantedProcesses({ pool, queued, running, slots, processes }: Omit<PoolLoad, "wanted_processes">): number {
  const isAny = queued + running > 0 ? 1 : 0;
  if (slots === 0) return isAny;
  // A run holds a slot for milliseconds at a time, and none while its steps work.
  const busy = pool === "workflow" ? queued : queued + running;
  return Math.max(isAny, Math.ceil(busy / (BUSY_SHARE * (slots / processes))));
}

/** Returns the pool that serves a model's calls without a job. A model that has left the catalogue was most likely of chat. */
function poolOf({ models }: Pick<Catalogue, "models">, slug: string): Pool {
  const model = models.get(slug);
  const kind = model && (kindOfCall(model) ?? kindOfModality(model.modality));
  return kind?.pool ?? "chat";
}
