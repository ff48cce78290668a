/** Publishes an admitted job to the stream of its pool. Creates `Nats-Msg-Id` from job, attempt and dispatch number. */
import { jetstreamManager } from "@nats-io/jetstream";
import { createInbox, type Msg, type MsgHdrs, type NatsConnection } from "nats";

import { ApiError } from "#shared/base/errors.ts";
import { InFlightMap } from "#shared/limits/in-flight.ts";

import { INBOX_PREFIXES, type NatsRole, onLink } from "./connection.ts";
import { durableName, HEADERS, type Lane, type Pool, streamName, workSubject } from "./subjects.ts";

export interface Dispatch {
  readonly pool: Pool;
  readonly lane: Lane;
  readonly workspaceId: string;
  readonly jobId: string;
  readonly attempt: number;
  readonly dispatch: number;
  /** Job message, as the text of a JSON object. */
  readonly body: string;
  /** Trace context that the worker continues; undefined without tracing. */
  readonly traceparent?: string | undefined;
}

export interface Publisher {
  /**
   * Publishes a job. Resolves with the stream sequence after the server has stored the message. After a lost connection, sends the message
   * again under the same id while `isWanted` returns true. The server stores it only once.
   * @throws ApiError `overloaded` if the stream is full, or the workspace has its maximum of messages in it; otherwise
   * `service_unavailable`
   */
  dispatch(job: Dispatch, isWanted: () => boolean): Promise<number>;
  handedOut(pool: Pool, lane: Lane): Promise<HandedOut>;
}

export interface HandedOut {
  /** Highest stream sequence that was delivered to a worker. Messages with higher sequences still wait in the stream. */
  readonly upTo: number;
  /**
   * Creation time of the durable consumer, in Unix milliseconds. Messages published before this time were lost together with the server's
   * previous store.
   */
  readonly sinceMs: number;
}

/** JetStream's error codes if the stream is full, or if the workspace has its maximum of messages in it. The message was not stored. */
const FULL_CODES = new Set([10_077, 10_047, 10_122]);
const PUBLISH_TIMEOUT_MS = 5_000;
/** Time within which a deleted stream is created again, in milliseconds. Every role does so after it reconnects. */
const QUEUE_RETURN_MS = 3_000;
const QUEUE_RETRY_MS = 100;

const full = (reason: string): ApiError =>
  new ApiError("overloaded", "Too many calls are waiting; try again shortly.", { cause: new Error(reason) });

/**
 * Creates a publisher of jobs.
 * @param role role of the connection, whose inbox prefix receives the replies
 */
export function createPublisher(connection: NatsConnection, role: NatsRole): Publisher {
  const stream = createStreamPublisher(connection, role, PUBLISH_TIMEOUT_MS);

  return {
    async dispatch(job, isWanted) {
      const subject = workSubject(job.pool, job.lane, job.workspaceId);
      const messageId = `${job.jobId}:${job.attempt}:${job.dispatch}`;
      let { body } = job;
      try {
        for (const until = performance.now() + QUEUE_RETURN_MS; ;) {
          const answer = await stream.publish(subject, body, messageId, job.traceparent);
          if (typeof answer === "number") return answer;
          if (answer) {
            if (FULL_CODES.has(answer.code ?? 0)) throw full(answer.reason);
            if (answer.code !== undefined || performance.now() > until) throw new Error(answer.reason);
            await Bun.sleep(QUEUE_RETRY_MS);
          }
          if (!isWanted()) throw new Error("nobody waits for it any more");
          body = asRepeat(job.body);
        }
      } catch (error) {
        if (error instanceof ApiError) throw error;
        throw new ApiError("service_unavailable", "The service cannot queue calls right now; try again shortly.", {
          cause: error,
        });
      }
    },
    async handedOut(pool, lane) {
      const manager = await jetstreamManager(connection, { checkAPI: false, timeout: PUBLISH_TIMEOUT_MS });
      const info = await manager.consumers.info(streamName(pool), durableName(pool, lane));
      return { upTo: info.delivered.stream_seq, sinceMs: Date.parse(info.created) };
    },
  };
}

/**
 * Returns the body with `"repeat":true`, for a message that is sent again. The first copy was not confirmed, but a worker may have received
 * it.
 */
function asRepeat(body: string): string {
  return `{"repeat":true,${body.slice(1)}`;
}

// Publishes to a stream and waits for the confirmation. All messages share one subscription and one timer, and headers are encoded here: a
// request of the client library needs several times the CPU time.

interface StreamPublisher {
  /**
   * Publishes a message. Resolves with the sequence of the stored message, or of an earlier message with the same id. Resolves with a
   * Refusal if the stream rejects the message. Resolves with undefined after a reconnect, because the message may have been stored.
   * @throws Error after a timeout or an unreadable reply
   */
  publish(
    subject: string,
    body: string,
    messageId: string,
    traceparent?: string,
  ): Promise<number | Refusal | undefined>;
}

/** Rejection of a message by the stream. */
interface Refusal {
  /** Error text of the stream. */
  readonly reason: string;
  /** `err_code` of JetStream; undefined if no stream accepts the subject. */
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
  /**
   * Reply ids that can be used again. Reuse keeps the number of reply subjects small, so that the server finds their subscriptions in its
   * cache.
   */
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

/**
 * Returns a header object that contains only its encoded bytes. The client library reads nothing else from it (3.4.0, protocol.js
 * `publish`); a test checks this.
 */
function headerOf(id: string, traceparent: string | undefined): MsgHdrs {
  const trace = traceparent === undefined ? "" : `${HEADERS.traceparent}: ${traceparent}\r\n`;
  return {
    encode: () => Buffer.from(`NATS/1.0\r\n${HEADERS.messageId}: ${id}\r\n${trace}\r\n`, "latin1"),
  } as unknown as MsgHdrs;
}
