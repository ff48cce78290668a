/** Backlog as a metric: messages waiting per lane, age of the oldest message per pool. */
import { jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "nats";

import type { Metrics } from "#shared/metrics.ts";
import { durableName, LANES, POOLS, streamName } from "#shared/queue/subjects.ts";

export async function watchQueue(context: { connection: NatsConnection; metrics: Metrics }): Promise<void> {
  const manager = await jetstreamManager(context.connection, { checkAPI: false });
  for (const pool of POOLS) {
    const { state } = await manager.streams.info(streamName(pool));
    const oldest = state.messages > 0 ? (Date.now() - Date.parse(state.first_ts)) / 1_000 : 0;
    context.metrics.queueOldestSeconds.set(Math.max(0, oldest), pool);
    for (const lane of LANES) {
      const consumer = await manager.consumers.info(streamName(pool), durableName(pool, lane));
      context.metrics.queueDepth.set(consumer.num_pending + consumer.num_ack_pending, pool, lane);
    }
  }
}
