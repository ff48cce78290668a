/** Computes the load of each pool and lane, and the number of processes that it needs. */
import type { Catalogue } from "#shared/calls/model.ts";
import type { FleetSlots, PoolCounts, PoolFigures } from "#shared/database/pools.ts";
import { kindOfModality } from "#shared/calls/kinds/kinds.ts";
import { kindOfCall } from "#shared/calls/kinds/models.ts";
import { type Lane, LANES, type Pool, POOLS } from "#shared/queue/subjects.ts";

export interface PoolLoad extends PoolCounts, FleetSlots {
  readonly wanted_processes: number;
}

/** Target utilisation of a process. A busier process would be full whenever calls arrive unevenly. */
const BUSY_SHARE = 0.75;

/** Returns the load of each pool and lane, in the order of POOLS and LANES. */
export function poolLoads({ counts, fleet, live }: PoolFigures, catalogue: Pick<Catalogue, "models">): PoolLoad[] {
  const calls = new Map<Pool, number>();
  for (const { model, calls: more } of live) {
    const pool = poolOf(catalogue, model);
    calls.set(pool, (calls.get(pool) ?? 0) + more);
  }
  return POOLS.flatMap((pool) =>
    LANES.map((lane) => {
      const isThis = (row: { readonly pool: Pool; readonly lane: Lane }): boolean =>
        row.pool === pool && row.lane === lane;
      const jobs = counts.find(isThis) ?? { pool, lane, queued: 0, deferred: 0, running: 0, oldest_waiting_seconds: 0 };
      const slots = fleet.find(isThis) ?? { pool, lane, slots: 0, processes: 0 };
      return loadOf(jobs, slots, lane === "live" ? (calls.get(pool) ?? 0) : 0);
    }),
  );
}

/**
 * Returns the load of one pool and lane.
 * @param calls number of live calls without a job row. Calls that fit into the free slots count as running, all others as queued
 */
export function loadOf(jobs: PoolCounts, fleet: FleetSlots, calls: number): PoolLoad {
  const served = Math.min(calls, Math.max(0, fleet.slots - jobs.running));
  const load = { ...fleet, ...jobs, queued: jobs.queued + calls - served, running: jobs.running + served };
  return { ...load, wanted_processes: wantedProcesses(load) };
}

function wantedProcesses(load: Omit<PoolLoad, "wanted_processes">): number {
  const { queued, deferred, running, slots, processes } = load;
  const isAny = queued - deferred + running > 0 ? 1 : 0;
  if (slots === 0) return isAny;
  return Math.max(isAny, Math.ceil(wantedSlots(load) / (BUSY_SHARE * (slots / processes))));
}

/**
 * Returns the number of slots that the load needs. Running workflow runs are not counted, because a run uses a slot only for milliseconds
 * at a time. Deferred jobs are not counted, because they wait for a source and more slots would not help.
 */
export function wantedSlots({ pool, queued, deferred, running }: PoolCounts): number {
  return queued - deferred + (pool === "workflow" ? 0 : running);
}

/** Returns the pool that serves the live calls of a model. A model that is no longer in the catalogue was most likely a chat model. */
function poolOf({ models }: Pick<Catalogue, "models">, slug: string): Pool {
  const model = models.get(slug);
  const kind = model && (kindOfCall(model) ?? kindOfModality(model.modality));
  return kind?.pool ?? "chat";
}
