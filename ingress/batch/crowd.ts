/**
 * Limits the number of batch messages of a workspace in the stream. JetStream limits the messages of a subject, which is one key; without
 * this limit a workspace with many keys could fill the stream.
 */
import { jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "nats";

import { BATCH_STREAM, type Pool } from "#shared/queue/subjects.ts";

/** Most waiting messages of one workspace and pool; a single key may have as many. */
export const WAITING_PER_WORKSPACE_MAX = 360;

/** Time for which a count is reused, in milliseconds. */
const COUNT_MS = 2_000;
/** Most counts in the cache. */
const COUNTS_MAX = 1_000;

export interface Crowds {
  /** Returns true if the workspace has more messages in the stream than may wait. Returns false if the server cannot be reached. */
  isCrowded(pool: Pool, workspaceId: string): Promise<boolean>;
}

/** @param count returns the number of messages in the stream whose subject matches */
export function createCrowds(count: (subjects: string) => Promise<number>, now = () => performance.now()): Crowds {
  const counts = new Map<string, { readonly at: number; readonly count: Promise<number> }>();
  return {
    async isCrowded(pool, workspaceId) {
      const subjects = `batch.${pool}.${workspaceId}.*`;
      let known = counts.get(subjects);
      if (!known || now() - known.at > COUNT_MS) {
        if (counts.size >= COUNTS_MAX) counts.clear();
        known = { at: now(), count: count(subjects).catch(() => 0) };
        counts.set(subjects, known);
      }
      return (await known.count) > WAITING_PER_WORKSPACE_MAX;
    },
  };
}

/** Returns the number of messages in the batch stream whose subject matches. */
export async function countBatchMessages(connection: NatsConnection, subjects: string): Promise<number> {
  const manager = await jetstreamManager(connection, { checkAPI: false });
  const { state } = await manager.streams.info(BATCH_STREAM, { subjects_filter: subjects });
  return Object.values(state.subjects ?? {}).reduce((sum, count) => sum + count, 0);
}
