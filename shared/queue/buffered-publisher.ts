/**
 * Publishes messages that must survive a lost connection: frames and acknowledgements. The client drops messages while the server is
 * unavailable, and recently written messages may be lost. Both are sent again after the reconnect. Receivers must tolerate repeats: frames
 * are numbered, and a second acknowledgement has no effect.
 */
import type { NatsConnection } from "nats";

import { onLink } from "./connection.ts";

export interface BufferedPublisher extends Pick<NatsConnection, "isClosed"> {
  /** Publishes a message in order. At most WAITING_BYTES_MAX bytes wait for a connection; receivers detect the gap if more are lost. */
  publish(subject: string, bytes: Uint8Array): void;
  /**
   * Returns undefined while the server keeps up. Otherwise returns a promise that resolves when the server has received enough of the data,
   * or when the connection is lost. Publishers of large data wait for this promise, because the client library buffers without a limit.
   */
  waitForDrain(): Promise<void> | undefined;
  /** Sends all waiting messages before the process stops, even if their receivers have not reconnected yet. */
  flush(): void;
}

interface Sent {
  readonly subject: string;
  readonly bytes: Uint8Array;
  readonly at: number;
}

const WAITING_BYTES_MAX = 16 * 1_048_576;
/** Maximum age of a sent message that may have been lost with the socket, in milliseconds. */
const RECENT_MS = 500;
const RECENT_MAX = 1_024;
const RECENT_BYTES_MAX = 4 * 1_048_576;
/** Maximum bytes published without the server's confirmation. A confirmation is requested when half of them are reached. */
const OUT_BYTES_MAX = 8 * 1_048_576;

/**
 * Creates a buffered publisher.
 * @param settleMs time for receivers to reconnect after the server is back, in milliseconds
 */
export function createBufferedPublisher(connection: NatsConnection, settleMs: number): BufferedPublisher {
  let isHeld = false;
  let recent: Sent[] = [];
  let recentBytes = 0;
  let waiting: Sent[] = [];
  let waitingBytes = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;
  let published = 0;
  let taken = 0;
  let asking: Promise<void> | undefined;

  /** Requests a confirmation: the server replies after it has read all previous messages. */
  const ask = async (): Promise<void> => {
    const before = published;
    try {
      await connection.flush();
    } catch {
      // The connection is lost, with all messages in transit.
    } finally {
      taken = Math.max(taken, before);
      asking = undefined;
    }
  };

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
      taken = published;
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
      published += bytes.length;
      recent.push(message);
      recentBytes += bytes.length;
      if (recent.length > RECENT_MAX || recentBytes > RECENT_BYTES_MAX) forgetOld();
    },
    waitForDrain() {
      const out = published - taken;
      if (isHeld || connection.isClosed() || out <= OUT_BYTES_MAX / 2) return undefined;
      asking ??= ask();
      return out > OUT_BYTES_MAX ? asking : undefined;
    },
    flush,
  };
}
