/** Rings for jobs at providers (`ring.<job>`): a provider told an ingress that something has moved, so it is asked at once. */
import type { NatsConnection } from "nats";

import { RING_FILTER } from "#shared/queue/subjects.ts";

export interface Doorbells {
  /** Returns the function that takes the listener back. */
  onRing(jobId: string, listener: () => void): () => void;
  close(): Promise<void>;
}

export function openDoorbells(connection: NatsConnection): Doorbells {
  const listeners = new Map<string, () => void>();
  const subscription = connection.subscribe(RING_FILTER, {
    callback: (error, message) => {
      // A ring that is lost costs a pause between two questions.
      if (!error) listeners.get(message.subject.slice(RING_FILTER.length - 1))?.();
    },
  });
  return {
    onRing(jobId, listener) {
      listeners.set(jobId, listener);
      return () => {
        if (listeners.get(jobId) === listener) listeners.delete(jobId);
      };
    },
    close: () => subscription.drain(),
  };
}
