/**
 * Receives cancels of jobs for the runners of this process. All workers receive `cancel.<job>`. Only this process receives `subject`, which
 * is used for calls that are known to run here. A cancel is sent over core NATS and may arrive before its job, so recent cancels are
 * remembered. A cancel without a valid token of its job is ignored, because JetStream also publishes to subjects that others choose
 * (deploy/decisions/0105).
 */
import type { NatsConnection, Subscription } from "nats";

import { newId } from "#shared/base/ids.ts";
import { InFlightMap } from "#shared/limits/in-flight.ts";
import { CANCEL_FILTER, workerCancels } from "#shared/queue/subjects.ts";
import type { JobTokens } from "#shared/secrets/job-token.ts";

const REMEMBERED_MAX = 10_000;

export interface Cancels {
  /** Prefix of the subject that only this process receives. */
  readonly subject: string;
  /** Calls `listener` when the job is cancelled. Returns a function that removes the listener. */
  onCancel(jobId: string, listener: () => void): () => void;
  wasCancelled(jobId: string): boolean;
  close(): Promise<void>;
}

/**
 * Subscribes to cancels.
 * @param tokens checks the token with which an ingress of the installation signs a cancel
 */
export function openCancels(connection: NatsConnection, tokens: Pick<JobTokens, "isOf">): Cancels {
  const listeners = new InFlightMap<() => void>();
  const remembered = new Set<string>();
  const subject = workerCancels(newId());
  const subscribe = (filter: string): Subscription =>
    connection.subscribe(filter, {
      callback: (error, message) => {
        // The connection logs errors of the subscription, which have no message.
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
