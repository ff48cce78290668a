/**
 * Cancels for every runner of this process: `cancel.<job>`, which all workers hear, and those of calls that are known to be here. A cancel may overtake its job (it travels on core NATS), so
 * the last ones are remembered for a while. One without its token is not ours: JetStream, too, publishes to subjects
 * that others choose (deploy/decisions/0105).
 */
import type { NatsConnection, Subscription } from "nats";

import { newId } from "#shared/ids.ts";
import { InFlightMap } from "#shared/in-flight.ts";
import { CANCEL_FILTER, workerCancels } from "#shared/queue/subjects.ts";
import type { JobTokens } from "#shared/secrets/job-token.ts";

const REMEMBERED_MAX = 10_000;

export interface Cancels {
  /** Subject below which this process alone is told. */
  readonly subject: string;
  /** Returns the function that takes the listener back. */
  onCancel(jobId: string, listener: () => void): () => void;
  wasCancelled(jobId: string): boolean;
  close(): Promise<void>;
}

/** @param tokens of cancels: what an ingress of the installation shows */
export function openCancels(connection: NatsConnection, tokens: Pick<JobTokens, "isOf">): Cancels {
  const listeners = new InFlightMap<() => void>();
  const remembered = new Set<string>();
  const subject = workerCancels(newId());
  const subscribe = (filter: string): Subscription =>
    connection.subscribe(filter, {
      callback: (error, message) => {
        // Without a message; the connection's own log tells of it.
        if (error) return;
        const jobId = message.subject.slice(message.subject.lastIndexOf(".") + 1);
        if (!tokens.isOf(jobId, message.string())) return;
        const listener = listeners.get(jobId);
        if (listener) {
          listener();
          return;
        }
        if (remembered.size >= REMEMBERED_MAX) {
          for (const oldest of remembered) {
            remembered.delete(oldest);
            break;
          }
        }
        remembered.add(jobId);
      },
    });
  const subscriptions = [CANCEL_FILTER, `${subject}.*`].map(subscribe);
  return {
    subject,
    onCancel(jobId, listener) {
      listeners.set(jobId, listener);
      return () => void listeners.take(jobId);
    },
    wasCancelled: (jobId) => remembered.has(jobId),
    async close() {
      await Promise.all(subscriptions.map((one) => one.drain()));
    },
  };
}
