/**
 * Acknowledgements of single calls, many per message: all acknowledgements of one turn of the event loop are sent together. Best effort: the
 * receiver requests a missing acknowledgement.
 */
import { tellAtTurnEnd } from "./loop-turn.ts";

/** Acknowledgement of an ingress for an answer: received, or never to be received because its caller disconnected. */
export type TakenAck = "taken" | "gone";
export type SettledAck = "settled";

export interface AckBatch<Word extends string> {
  tell(subject: string, word: Word, jobId: string): void;
}

/** Connection that sends acknowledgements. */
export interface AckPublisher {
  isClosed(): boolean;
  publish(subject: string, bytes: Uint8Array): void;
}

/** @param lingerMs time that an acknowledgement waits for others, in milliseconds; 0: until the end of the turn */
export function createAckBatch<Word extends string>(publisher: AckPublisher, lingerMs = 0): AckBatch<Word> {
  /** Subject → word → job ids. */
  let waiting = new Map<string, Map<Word, string[]>>();
  const send = (): void => {
    const batches = waiting;
    waiting = new Map();
    if (publisher.isClosed()) return;
    for (const [subject, words] of batches) {
      try {
        publisher.publish(subject, encoder.encode(JSON.stringify(Object.fromEntries(words))));
      } catch {
        // The connection is closing. Receivers request missing acknowledgements.
      }
    }
  };
  return {
    tell(subject, word, jobId) {
      if (waiting.size === 0) {
        if (lingerMs > 0) setTimeout(send, lingerMs);
        else tellAtTurnEnd(send);
      }
      const words = waiting.get(subject) ?? new Map<Word, string[]>();
      waiting.set(subject, words);
      const ids = words.get(word);
      if (ids) ids.push(jobId);
      else words.set(word, [jobId]);
    },
  };
}

/** Returns the acknowledgements of a message; empty if it is unreadable, for example from another version. */
export function readWords<Word extends string>(bytes: Uint8Array, words: readonly Word[]): [Word, string][] {
  let value: Partial<Record<Word, unknown>> | null;
  try {
    value = JSON.parse(decoder.decode(bytes)) as typeof value;
  } catch {
    return [];
  }
  return words.flatMap((word) => {
    const ids = value?.[word];
    if (!Array.isArray(ids)) return [];
    return ids.filter((id) => typeof id === "string").map((id): [Word, string] => [word, id]);
  });
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
