/** Receives callbacks of providers (`callback.<job>`). An ingress has received such a callback, so the job is polled immediately. */
import type { NatsConnection } from "nats";

import { PROVIDER_CALLBACK_FILTER } from "#shared/queue/subjects.ts";

export interface ProviderCallbacks {
  /** Adds a listener. Returns a function that removes it. */
  onProviderCallback(jobId: string, listener: () => void): () => void;
  close(): Promise<void>;
}

export function openProviderCallbacks(connection: NatsConnection): ProviderCallbacks {
  const listeners = new Map<string, () => void>();
  const subscription = connection.subscribe(PROVIDER_CALLBACK_FILTER, {
    callback: (error, message) => {
      // A lost callback costs one polling interval.
      if (!error) listeners.get(message.subject.slice(PROVIDER_CALLBACK_FILTER.length - 1))?.();
    },
  });
  return {
    onProviderCallback(jobId, listener) {
      listeners.set(jobId, listener);
      return () => {
        if (listeners.get(jobId) === listener) listeners.delete(jobId);
      };
    },
    close: () => subscription.drain(),
  };
}
