/** What ingresses say of answers that a runner has sent before they are settled. */
import type { NatsConnection } from "nats";

import { newId } from "#shared/ids.ts";
import { takenSubject } from "#shared/queue/subjects.ts";
import { readWords, type TakenWord } from "#shared/queue/words.ts";

export interface TakenWords {
  /** Where they are heard. */
  readonly subject: string;
  /** Runs `listener` at the next word about the job. Returns what takes it back. */
  onWord(jobId: string, listener: (word: TakenWord) => void): () => void;
  close(): void;
}

export function openTakenWords(connection: Pick<NatsConnection, "subscribe">): TakenWords {
  const listeners = new Map<string, (word: TakenWord) => void>();
  const subject = takenSubject(newId());
  const subscription = connection.subscribe(subject, {
    callback: (error, message) => {
      // Without a message; the connection's own log tells of it.
      if (error) return;
      for (const [word, jobId] of readWords<TakenWord>(message.data, ["taken", "gone"])) listeners.get(jobId)?.(word);
    },
  });
  return {
    subject,
    onWord(jobId, listener) {
      listeners.set(jobId, listener);
      return () => {
        // A repeat of the same job may have taken its place.
        if (listeners.get(jobId) === listener) listeners.delete(jobId);
      };
    },
    close: () => subscription.unsubscribe(),
  };
}
