/** Rings for jobs at providers (`callback.<job>`): a provider told an ingress that something has moved, so it is asked at once. */
import type { NatsConnection } from "nats";

import { PROVIDER_CALLBACK_FILTER } from "#shared/queue/subjects.ts";

export interface ProviderCallbacks {
  /** Returns the function that takes the listener back. */
  onProviderCallback(jobId: string, listener: () => void): () => void;
  close(): Promise<void>;
}

export function openProviderCallbacks(connection: NatsConnection): ProviderCallbacks {
  const listeners = new Map<string, () => void>();
  const subscription = connection.subscribe(PROVIDER_CALLBACK_FILTER, {
    callback: (error, message) => {
      // A ring that is lost costs a pause between two questions.
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
