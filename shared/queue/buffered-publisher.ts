/**
 * Publishes what must outlive a lost connection: frames and acknowledgements. The client drops what is published while
 * the server is away, and what it had just written may not have arrived; both are sent when the server is back. Whoever
 * receives must bear repeats: frames are numbered, and a second ack changes nothing.
 */
import type { NatsConnection } from "nats";

import { onLink } from "./connection.ts";

export interface BufferedPublisher extends Pick<NatsConnection, "isClosed"> {
  /** In order. Of what waits for a connection only WAITING_BYTES_MAX are kept; receivers notice the gap. */
  publish(subject: string, bytes: Uint8Array): void;
  /**
   * Undefined while the server takes what is published about as fast as it comes. Otherwise it resolves when there is room
   * again, or the connection is lost; whoever publishes much waits for it, since the client itself keeps whatever it is given.
   */
  room(): Promise<void> | undefined;
  /** Sends what waits, whether its receivers are back or not: the process ends. */
  flush(): void;
}

interface Sent {
  readonly subject: string;
  readonly bytes: Uint8Array;
  readonly at: number;
}

const WAITING_BYTES_MAX = 16 * 1_048_576;
/** Age up to which a message may have died with the socket when the connection is lost. */
const RECENT_MS = 500;
const RECENT_MAX = 1_024;
const RECENT_BYTES_MAX = 4 * 1_048_576;
/** Published and not known to be taken. From half of it on the server is asked. */
const OUT_BYTES_MAX = 8 * 1_048_576;

/** @param settleMs time given to receivers to come back after the server did */
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

  /** The server answers once it has read everything before the question. */
  const ask = async (): Promise<void> => {
    const before = published;
    try {
      await connection.flush();
    } catch {
      // The connection is lost, and with it what was on its way.
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
    room() {
      const out = published - taken;
      if (isHeld || connection.isClosed() || out <= OUT_BYTES_MAX / 2) return undefined;
      asking ??= ask();
      return out > OUT_BYTES_MAX ? asking : undefined;
    },
    flush,
  };
}
