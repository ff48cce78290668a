/** Publishes an admitted job on the stream of its pool. Creates `Nats-Msg-Id` from job, attempt and dispatch number. */
import { jetstreamManager } from "@nats-io/jetstream";
import type { NatsConnection } from "nats";

import { ApiError } from "#shared/errors.ts";

import type { NatsRole } from "./connection.ts";
import { createStreamPublisher } from "./stream-publisher.ts";
import { durableName, type Lane, type Pool, streamName, workSubject } from "./subjects.ts";

export interface Dispatch {
  readonly pool: Pool;
  readonly lane: Lane;
  readonly workspaceId: string;
  readonly jobId: string;
  readonly attempt: number;
  readonly dispatch: number;
  /** Work message, as text of a JSON object. */
  readonly body: string;
  /** Trace context that the worker continues. */
  readonly traceparent?: string | undefined;
}

export interface Publisher {
  /**
   * Publishes a job. Resolves with the stream sequence after the server has stored the message. After a lost connection, the message is sent
   * again under the same id, which the server stores once, while `isWanted` returns true.
   * @throws ApiError `overloaded` if the stream or the share of the workspace is full, else `service_unavailable`
   */
  dispatch(job: Dispatch, isWanted: () => boolean): Promise<number>;
  handedOut(pool: Pool, lane: Lane): Promise<HandedOut>;
}

export interface HandedOut {
  /** Highest delivered stream sequence; messages above it still wait. */
  readonly upTo: number;
  /** Creation time of the durable consumer, in Unix milliseconds; earlier messages were lost with the previous store. */
  readonly sinceMs: number;
}

/** Error codes for a full stream or a full share of the workspace; nothing was stored. */
const FULL_CODES = new Set([10_077, 10_047, 10_122]);
const PUBLISH_TIMEOUT_MS = 5_000;
/** Time in which a deleted stream is created again, in milliseconds: every role does so after its reconnect. */
const QUEUE_RETURN_MS = 3_000;
const QUEUE_RETRY_MS = 100;

const full = (reason: string): ApiError =>
  new ApiError("overloaded", "Too many calls are waiting; try again shortly.", { cause: new Error(reason) });

/** @param role role of the connection, whose inbox prefix receives the replies */
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

/** Marks a message that was sent before without a confirmation and may have been delivered. */
function asRepeat(body: string): string {
  return `{"repeat":true,${body.slice(1)}`;
}
