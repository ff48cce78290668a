/**
 * Limits of the queue that depend on the number of workers: unacknowledged messages per lane, and messages of one workspace per lane. Fixed
 * limits would stop a lane or a workspace while workers of a large fleet are idle. Both limits can be changed on a running server. Streams
 * and durable consumers are created with the minimum (topology.ts).
 */
import { type JetStreamManager, jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "nats";

import { durableName, type Lane, LANES, type Pool, POOLS, streamName } from "./subjects.ts";

/**
 * Minimum of each lane's limit of unacknowledged messages. If all these messages belong to crashed workers, the lane delivers nothing until
 * their ack deadlines have passed.
 */
export const UNACKED_MIN: Readonly<Record<Lane, number>> = { live: 16_384, batch: 8_192 };
export const WORKSPACE_MESSAGES_MIN = 2_000;
export const POOL_MESSAGES_MIN = 200_000;
/** Maximum limit of unacknowledged messages. The server keeps a record of each. */
const UNACKED_MAX = 1_048_576;

/** Unacknowledged messages allowed per slot: one running, one waiting for its settlement, and two of crashed workers. */
const UNACKED_PER_SLOT = 4;
/** Maximum messages of a workspace per slot. It may use nearly all slots, with one running call and one call being settled per slot. */
const WORKSPACE_MESSAGES_PER_SLOT = 2;

/**
 * Configuration fields of streams and consumers whose values follow the number of workers, each with its maximum. A value on the server
 * between the minimum and this maximum is kept.
 */
export const FOLLOWING: Readonly<Record<string, number>> = {
  max_ack_pending: UNACKED_MAX,
  max_msgs_per_subject: UNACKED_MAX,
  max_msgs: POOL_MESSAGES_MIN + 2 * UNACKED_MAX,
};

export interface LaneSlots {
  readonly pool: Pool;
  readonly lane: Lane;
  /** Number of slots of all workers of the lane. */
  readonly slots: number;
}

export interface LimitChange {
  /** Name of the stream or durable consumer. */
  readonly of: string;
  readonly from: number;
  readonly to: number;
}

/**
 * Changes the limits of every pool to values that suffice for its workers. Only one process may do so at a time.
 * @param isNewer returns true for a stream that a newer version configured; such a stream is not changed
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

/**
 * Adjusts the message limits of a pool's stream to the number of its slots.
 * @param further unacknowledged messages that the lanes allow above their minimum; the stream must have capacity for them
 */
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
  // The server drops messages above a lower limit, so a limit is lowered only when no workspace can be near it.
  const to = next < from && state.messages > next / 2 ? from : next;
  const messages = POOL_MESSAGES_MIN + further;
  if (from === to && config.max_msgs === messages) return [];
  await manager.streams.update(streamName(pool), { max_msgs_per_subject: to, max_msgs: messages });
  return [{ of: streamName(pool), from, to }];
}

/**
 * Returns the limit that replaces `inForce`. A limit that is too low grows immediately, to a power of two. It shrinks only when a quarter
 * of it suffices. Every change is written to the disks of all servers, so that frequent changes would be costly.
 */
export function nextLimit(inForce: number, wanted: number, least: number): number {
  const need = Math.min(UNACKED_MAX, Math.max(least, wanted));
  if (need <= inForce && inForce < 4 * need) return inForce;
  return need === least ? least : 2 ** Math.ceil(Math.log2(need));
}
