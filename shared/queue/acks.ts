/**
 * Words about single calls, many to a message: what a process has to tell within one turn of its loop travels together.
 * Best effort, since whoever waits for a word asks when it does not come.
 */
import { tellAtTurnEnd } from "./loop-turn.ts";

/** Word of an ingress about an answer: it has it, or its caller is not there any more and it never will have it. */
export type TakenAck = "taken" | "gone";
export type SettledAck = "settled";

export interface AckBatch<Word extends string> {
  tell(subject: string, word: Word, jobId: string): void;
}

/** Connection that takes words to the server. */
export interface AckPublisher {
  isClosed(): boolean;
  publish(subject: string, bytes: Uint8Array): void;
}

/** @param lingerMs words wait so long for others; 0: until the end of the turn */
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
        // The connection closes. Those who wait for the words ask.
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

/** Nothing for what cannot be read: a process of another version, perhaps. */
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
