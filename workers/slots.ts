/** Computes the number of concurrent jobs of a worker process, by pool and lane. */
import type { Config } from "#shared/config/config.ts";
import { type CallPool, type Lane, LANES, type Pool, WEBHOOK_POOL } from "#shared/queue/subjects.ts";

import { POOL_TABLE } from "./pools.ts";
import { WORKFLOW_SHARES } from "./workflows/runner.ts";

export type WorkerPool = Pool | typeof WEBHOOK_POOL;

type Slots = Pick<Config, "workerSlots">;

export function slotsOf(pool: Pool, lane: Lane, { workerSlots }: Slots): number {
  const { liveShare, batchShare } = isCallPool(pool) ? POOL_TABLE[pool] : WORKFLOW_SHARES;
  return Math.max(1, Math.floor(workerSlots * (lane === "live" ? liveShare : batchShare)));
}

export function slotsOfAll(pools: readonly Pool[], config: Slots): number {
  return pools.flatMap((pool) => LANES.map((lane) => slotsOf(pool, lane, config))).reduce((sum, n) => sum + n, 0);
}

export function isCallPool(pool: Pool): pool is CallPool {
  return pool !== "workflow";
}

/**
 * Checks that the process can send a request to a provider for every slot. Bun queues further requests silently, and a queued job would
 * block its slot.
 * @throws Error when the pools have more slots than Bun sends requests at once
 */
export function checkOutgoing(pools: readonly Pool[], config: Slots & Pick<Config, "outgoingMax">): void {
  const wanted = outgoingOf(pools, config);
  if (wanted <= config.outgoingMax) return;
  throw new Error(
    `the pools ${pools.join(", ")} in one process need BUN_CONFIG_MAX_HTTP_REQUESTS of at least ${wanted}, got ${config.outgoingMax}; give them processes of their own, or lower SLUICE_WORKER_SLOTS`,
  );
}

/**
 * Returns the largest number of slots that fits, up to the configured number. All pools together must not need more requests than Bun sends
 * at once.
 */
export function fitSlots(named: readonly WorkerPool[], config: Slots & Pick<Config, "outgoingMax">): number {
  const pools = named.filter((pool) => pool !== WEBHOOK_POOL);
  let { workerSlots } = config;
  while (workerSlots > 1 && outgoingOf(pools, { workerSlots }) > config.outgoingMax) workerSlots -= 1;
  return workerSlots;
}

/** Returns the number of concurrent requests to providers. Capabilities and workflow runs send none. */
function outgoingOf(pools: readonly Pool[], config: Slots): number {
  return slotsOfAll(
    pools.filter((pool) => pool !== "capability" && pool !== "workflow"),
    config,
  );
}
