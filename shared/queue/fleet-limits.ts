/**
 * Limits of the queue that follow the fleet: messages of each lane that workers may have unacknowledged, and messages of one
 * workspace in a lane. Constants would halt a lane, or one workspace, while workers of a large fleet wait. Both can be changed on
 * a running server. What they are at least, streams and durables are made with (topology.ts).
 */
import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "nats";

import { durableName, type Lane, LANES, type Pool, POOLS, streamName } from "./subjects.ts";

/** At the least: a lane full of messages of workers that died halts for as long as those may be silent. */
export const UNACKED_MIN: Readonly<Record<Lane, number>> = { live: 16_384, batch: 8_192 };
export const WORKSPACE_MESSAGES_MIN = 2_000;
export const POOL_MESSAGES_MIN = 200_000;
/** The servers keep a record of each. */
const UNACKED_MAX = 1_048_576;

/** A call that is answered and not yet settled holds its message beside the one in its slot; as many again may be those of the dead. */
const UNACKED_PER_SLOT = 4;
/** One workspace may have nearly all slots, and beside each call under way one that is being settled. */
const WORKSPACE_MESSAGES_PER_SLOT = 2;

/** The fields that follow the fleet, and the most that they come to. What lies between that and the least is in force, and kept. */
export const FOLLOWING: Readonly<Record<string, number>> = {
  max_ack_pending: UNACKED_MAX,
  max_msgs_per_subject: UNACKED_MAX,
  max_msgs: POOL_MESSAGES_MIN + 2 * UNACKED_MAX,
};

export interface LaneSlots {
  readonly pool: Pool;
  readonly lane: Lane;
  /** Jobs that all workers of the lane run at once. */
  readonly slots: number;
}

export interface LimitChange {
  /** Stream or durable. */
  readonly of: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Changes the limits of every pool to what its workers need. Only one process may do so at a time.
 * @param isNewer true of what a newer version made, which is left as it is
 */
export async function followFleet(
  connection: NatsConnection,
  fleet: readonly LaneSlots[],
  isNewer: (config: { readonly metadata?: Readonly<Record<string, string>> }) => boolean,
): Promise<LimitChange[]> {
  const manager = await jetstreamManager(connection, { checkAPI: false });
  const changes: LimitChange[] = [];
  for (const pool of POOLS) {
    const slotsOf = (lane: Lane): number => fleet.find((one) => one.pool === pool && one.lane === lane)?.slots ?? 0;
    let further = 0;
    for (const lane of LANES) {
      const { config } = await manager.consumers.info(streamName(pool), durableName(pool, lane));
      const from = config.max_ack_pending ?? 0;
      const to = isNewer(config) ? from : nextLimit(from, UNACKED_PER_SLOT * slotsOf(lane), UNACKED_MIN[lane]);
      further += Math.max(0, to - UNACKED_MIN[lane]);
      if (from === to) continue;
      await manager.consumers.update(streamName(pool), durableName(pool, lane), { max_ack_pending: to });
      changes.push({ of: durableName(pool, lane), from, to });
    }
    changes.push(...(await fitStream(manager, pool, Math.max(...LANES.map(slotsOf)), further, isNewer)));
  }
  return changes;
}

/** @param further unacknowledged messages that may lie in the stream beyond the usual */
async function fitStream(
  manager: JetStreamManager,
  pool: Pool,
  slots: number,
  further: number,
  isNewer: Parameters<typeof followFleet>[2],
): Promise<LimitChange[]> {
  const { config, state } = await manager.streams.info(streamName(pool));
  if (isNewer(config)) return [];
  const from = config.max_msgs_per_subject;
  const next = nextLimit(from, WORKSPACE_MESSAGES_PER_SLOT * slots, WORKSPACE_MESSAGES_MIN);
  // The server drops what is beyond a lower limit, so that waits until no workspace can be near it.
  const to = next < from && state.messages > next / 2 ? from : next;
  const messages = POOL_MESSAGES_MIN + further;
  if (from === to && config.max_msgs === messages) return [];
  await manager.streams.update(streamName(pool), { max_msgs_per_subject: to, max_msgs: messages });
  return [{ of: streamName(pool), from, to }];
}

/**
 * Returns the limit to have. It grows at once, to a power of two, and falls where a quarter would do: every change is written to the
 * disks of all servers, and a fleet that breathes would cause one with each breath.
 */
export function nextLimit(inForce: number, wanted: number, least: number): number {
  const need = Math.min(UNACKED_MAX, Math.max(least, wanted));
  if (need <= inForce && inForce < 4 * need) return inForce;
  return need === least ? least : 2 ** Math.ceil(Math.log2(need));
}
