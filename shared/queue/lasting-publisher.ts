/**
 * Publishes what must outlive a lost connection: frames and acknowledgements. The client drops what is published while
 * the server is away, and what it had just written may not have arrived; both are sent when the server is back. Whoever
 * receives must bear repeats: frames are numbered, and a second ack changes nothing.
 */
import type { NatsConnection } from "nats";

import { onLink } from "./connection.ts";

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
const RECENT_BYTES_MAX = 4 * 1_048_576;

/** @param settleMs time given to receivers to come back after the server did */
export function createLastingPublisher(connection: NatsConnection, settleMs: number): LastingPublisher {
  let isHeld = false;
  let recent: Sent[] = [];
  let recentBytes = 0;
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

  const forgetOld = (): void => {
    const since = performance.now() - RECENT_MS;
    recent = recent.slice(recent.length >> 1).filter((message) => message.at > since);
    recentBytes = recent.reduce((sum, message) => sum + message.bytes.length, 0);
  };

  onLink(connection, {
    lost() {
      clearTimeout(timer);
      isHeld = true;
      const since = performance.now() - RECENT_MS;
      for (const message of recent) if (message.at > since) hold(message);
      recent = [];
      recentBytes = 0;
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
      recent.push(message);
      recentBytes += bytes.length;
      if (recent.length > RECENT_MAX || recentBytes > RECENT_BYTES_MAX) forgetOld();
    },
    flush,
  };
}
