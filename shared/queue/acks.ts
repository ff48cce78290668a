/**
 * Acknowledgements of single calls, many in one message. All acknowledgements of one turn of the event loop are sent together. Delivery is
 * best effort: the receiver requests a missing acknowledgement.
 */
import { publishAtTickEnd } from "./tick-end.ts";

/**
 * Acknowledgement of a response by an ingress. `taken`: the ingress has received the response. `gone`: the caller disconnected, so that the
 * ingress will never receive the response.
 */
export type TakenAck = "taken" | "gone";
export type SettledAck = "settled";

export interface AckBatch<Ack extends string> {
  add(subject: string, ack: Ack, jobId: string): void;
}

/** Connection that sends acknowledgements. */
export interface AckPublisher {
  isClosed(): boolean;
  publish(subject: string, bytes: Uint8Array): void;
}

/**
 * Creates a collector of acknowledgements.
 * @param lingerMs time that an acknowledgement waits for others, in milliseconds; 0: until the end of the event loop's turn
 */
export function createAckBatch<Ack extends string>(publisher: AckPublisher, lingerMs = 0): AckBatch<Ack> {
  /** Job ids that wait to be acknowledged, by subject and acknowledgement. */
  let waiting = new Map<string, Map<Ack, string[]>>();
  const send = (): void => {
    const batches = waiting;
    waiting = new Map();
    if (publisher.isClosed()) return;
    for (const [subject, idsByAck] of batches) {
      try {
        publisher.publish(subject, encoder.encode(JSON.stringify(Object.fromEntries(idsByAck))));
      } catch {
        // The connection is closing. Receivers request missing acknowledgements.
      }
    }
  };
  return {
    add(subject, ack, jobId) {
      if (waiting.size === 0) {
        if (lingerMs > 0) setTimeout(send, lingerMs);
        else publishAtTickEnd(send);
      }
      const idsByAck = waiting.get(subject) ?? new Map<Ack, string[]>();
      waiting.set(subject, idsByAck);
      const ids = idsByAck.get(ack);
      if (ids) ids.push(jobId);
      else idsByAck.set(ack, [jobId]);
    },
  };
}

/** Parses the acknowledgements of a message. Returns an empty list if the message is unreadable, for example from another version. */
export function parseAcks<Ack extends string>(bytes: Uint8Array, acks: readonly Ack[]): [Ack, string][] {
  let value: Partial<Record<Ack, unknown>> | null;
  try {
    value = JSON.parse(decoder.decode(bytes)) as typeof value;
  } catch {
    return [];
  }
  return acks.flatMap((ack) => {
    const ids = value?.[ack];
    if (!Array.isArray(ids)) return [];
    return ids.filter((id) => typeof id === "string").map((id): [Ack, string] => [ack, id]);
  });
}

const encoder = new TextEncoder();
const decoder = new TextDecoder();
