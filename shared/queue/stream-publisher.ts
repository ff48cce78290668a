/**
 * Publishes to a stream and waits for the confirmation. All messages share one subscription and one timer, and headers are encoded here: a
 * request of the client library needs several times the CPU time.
 */
import { createInbox, type Msg, type MsgHdrs, type NatsConnection } from "nats";

import { InFlightMap } from "#shared/in-flight.ts";

import { INBOX_PREFIXES, type NatsRole, onLink } from "./connection.ts";
import { HEADERS } from "./subjects.ts";

export interface StreamPublisher {
  /**
   * Resolves with the sequence of the stored message, or of the earlier message with the same id. Undefined after a reconnect: the message
   * may have been stored.
   * @throws Error after a timeout or an unreadable reply
   */
  publish(
    subject: string,
    body: string,
    messageId: string,
    traceparent?: string,
  ): Promise<number | Refusal | undefined>;
}

/** Refusal of a message by the stream. */
export interface Refusal {
  /** Error text of the stream. */
  readonly reason: string;
  /** `err_code` of JetStream; undefined if no stream has the subject. */
  readonly code: number | undefined;
}

interface Waiting {
  readonly until: number;
  resolve(answer: number | Refusal | undefined): void;
  reject(error: Error): void;
}

/** Reply of JetStream to a publish (ADR-1). */
interface PublishAnswer {
  readonly seq?: number;
  readonly error?: { readonly err_code?: number; readonly description?: string };
}

const SWEEP_MS = 250;
const NO_RESPONDERS = 503;

export function createStreamPublisher(connection: NatsConnection, role: NatsRole, timeoutMs: number): StreamPublisher {
  const inbox = createInbox(INBOX_PREFIXES[role]);
  const waiting = new InFlightMap<Waiting>();
  /** Reusable reply ids: with few subjects, the server finds their subscriptions in its cache. */
  const free: string[] = [];
  let count = 0;
  let sweeping: ReturnType<typeof setTimeout> | undefined;

  connection.subscribe(`${inbox}.*`, {
    callback: (error, message) => {
      // The connection logs errors of the subscription, which have no message.
      if (error) return;
      const id = message.subject.slice(inbox.length + 1);
      const one = waiting.take(id);
      if (!one) return;
      free.push(id);
      const answer = readAnswer(message);
      if (answer instanceof Error) one.reject(answer);
      else one.resolve(answer);
    },
  });

  onLink(connection, {
    restored() {
      for (const [id, one] of waiting) {
        waiting.take(id);
        one.resolve(undefined);
      }
    },
  });

  const sweep = (): void => {
    const now = performance.now();
    // The map is ordered by deadline, because all publishes have the same timeout.
    for (const [id, one] of waiting) {
      if (one.until > now) break;
      waiting.take(id);
      one.reject(new Error(`the stream did not answer within ${timeoutMs} ms`));
    }
    sweeping = waiting.size === 0 ? undefined : setTimeout(sweep, SWEEP_MS);
  };

  return {
    publish: (subject, body, messageId, traceparent) =>
      new Promise((resolve, reject) => {
        const id = free.pop() ?? (count++).toString(36);
        connection.publish(subject, body, { reply: `${inbox}.${id}`, headers: headerOf(messageId, traceparent) });
        waiting.set(id, { until: performance.now() + timeoutMs, resolve, reject });
        sweeping ??= setTimeout(sweep, SWEEP_MS);
      }),
  };
}

function readAnswer(message: Msg): number | Refusal | Error {
  if (message.data.length === 0) {
    if (message.headers?.code === NO_RESPONDERS) return { reason: "no stream takes the subject", code: undefined };
    return new Error("the stream answered with nothing");
  }
  let answer: PublishAnswer;
  try {
    answer = message.json<PublishAnswer>();
  } catch (error) {
    return new Error("the stream's answer could not be read", { cause: error });
  }
  const { error, seq } = answer;
  if (error) return { reason: error.description ?? "refused", code: error.err_code ?? 0 };
  return typeof seq === "number" ? seq : new Error("the stream's answer names no sequence");
}

/** Returns a header that only has its encoded bytes, which is all that the client uses (3.4.0, protocol.js `publish`); a test checks this. */
function headerOf(id: string, traceparent: string | undefined): MsgHdrs {
  const trace = traceparent === undefined ? "" : `${HEADERS.traceparent}: ${traceparent}\r\n`;
  return {
    encode: () => Buffer.from(`NATS/1.0\r\n${HEADERS.messageId}: ${id}\r\n${trace}\r\n`, "latin1"),
  } as unknown as MsgHdrs;
}
