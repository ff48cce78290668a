/**
 * Publishes to a stream and hears whether it has stored the message. One subscription and one clock for all, and its
 * headers written by hand: the client's own request costs several times as much processor time.
 */
import { createInbox, type Msg, type MsgHdrs, type NatsConnection } from "nats";

import { InFlightMap } from "#shared/in-flight.ts";

import { INBOX_PREFIXES, type NatsRole, onLink } from "./connection.ts";
import { HEADERS } from "./subjects.ts";

export interface StreamPublisher {
  /**
   * Resolves with the sequence of the stored message; of one with an id that the stream knows, with that one's. Undefined when
   * the connection was lost meanwhile and is there again: it may have been stored.
   * @throws Error when no answer came in time, or one that cannot be read
   */
  publish(
    subject: string,
    body: string,
    messageId: string,
    traceparent?: string,
  ): Promise<number | Refusal | undefined>;
}

/** The message is not stored. */
export interface Refusal {
  /** The stream's own words. */
  readonly reason: string;
  /** JetStream's `err_code`; undefined: no stream takes the subject. */
  readonly code: number | undefined;
}

interface Waiting {
  readonly until: number;
  resolve(answer: number | Refusal | undefined): void;
  reject(error: Error): void;
}

/** JetStream's answer to a publish (ADR-1). */
interface PublishAnswer {
  readonly seq?: number;
  readonly error?: { readonly err_code?: number; readonly description?: string };
}

const SWEEP_MS = 250;
const NO_RESPONDERS = 503;

export function createStreamPublisher(connection: NatsConnection, role: NatsRole, timeoutMs: number): StreamPublisher {
  const inbox = createInbox(INBOX_PREFIXES[role]);
  const waiting = new InFlightMap<Waiting>();
  /** Ids of answered publishes: with few subjects the server finds their receivers in its cache. */
  const free: string[] = [];
  let count = 0;
  let sweeping: ReturnType<typeof setTimeout> | undefined;

  connection.subscribe(`${inbox}.*`, {
    callback: (error, message) => {
      // Without a message; the connection's own log tells of it.
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
    // The map is in the order of deadlines, because every publish has the same timeout.
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

/** Returns a header with nothing but its bytes: the client asks for no more (3.4.0, protocol.js `publish`); a test holds it to that. */
function headerOf(id: string, traceparent: string | undefined): MsgHdrs {
  const trace = traceparent === undefined ? "" : `${HEADERS.traceparent}: ${traceparent}\r\n`;
  return {
    encode: () => Buffer.from(`NATS/1.0\r\n${HEADERS.messageId}: ${id}\r\n${trace}\r\n`, "latin1"),
  } as unknown as MsgHdrs;
}
