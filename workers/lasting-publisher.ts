/**
 * Publishes what must outlive a lost connection: frames and acknowledgements. The client drops what is published while
 * the server is away, and what it had just written may not have arrived; both are sent when the server is back. Whoever
 * receives must bear repeats: frames are numbered, and a second ack changes nothing.
 */
import type { NatsConnection } from "nats";

import { onLink } from "#shared/queue/connection.ts";

export interface LastingPublisher extends Pick<NatsConnection, "isClosed"> {
  /** In order. Of what waits for a connection only WAITING_BYTES_MAX are kept; receivers notice the gap. */
  publish(subject: string, bytes: Uint8Array): void;
  /** Sends what waits, whether its receivers are back or not: the process ends. */
  flush(): void;
}

interface Sent {
  readonly subject: string;
  readonly bytes: Uint8Array;
  readonly at: number;
}

const WAITING_BYTES_MAX = 16 * 1_048_576;
/** What was written this shortly before the loss may have died with the socket. */
const RECENT_MS = 500;
const RECENT_MAX = 1_024;

/** @param settleMs time given to receivers to come back after the server did */
export function createLastingPublisher(connection: NatsConnection, settleMs: number): LastingPublisher {
  let isHeld = false;
  let recent: Sent[] = [];
  let waiting: Sent[] = [];
  let waitingBytes = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const flush = (): void => {
    clearTimeout(timer);
    isHeld = false;
    const due = waiting;
    waiting = [];
    waitingBytes = 0;
    if (connection.isClosed()) return;
    for (const { subject, bytes } of due) connection.publish(subject, bytes);
  };

  const hold = (message: Sent): void => {
    waitingBytes += message.bytes.length;
    if (waitingBytes <= WAITING_BYTES_MAX) waiting.push(message);
  };

  onLink(connection, {
    lost() {
      clearTimeout(timer);
      isHeld = true;
      const since = performance.now() - RECENT_MS;
      for (const message of recent) if (message.at > since) hold(message);
      recent = [];
    },
    restored() {
      timer = setTimeout(flush, settleMs);
    },
  });

  return {
    isClosed: () => connection.isClosed(),
    publish(subject, bytes) {
      const message = { subject, bytes, at: performance.now() };
      if (isHeld) {
        hold(message);
        return;
      }
      connection.publish(subject, bytes);
      if (recent.length >= RECENT_MAX) recent = recent.slice(RECENT_MAX / 2);
      recent.push(message);
    },
    flush,
  };
}
