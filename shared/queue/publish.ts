/** Puts an admitted job on its pool's stream. `Nats-Msg-Id` is minted here: job, attempt, dispatch number. */
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
  /** The work message: text of a JSON object. */
  readonly body: string;
  /** Trace that whoever takes the message goes on with. */
  readonly traceparent?: string | undefined;
}

export interface Publisher {
  /**
   * Resolves with the stream sequence once the server has stored the message. When the connection is lost meanwhile it
   * is sent again under its id, which the server stores once, for as long as `isWanted` says so.
   * @throws ApiError `overloaded` when the stream or the workspace's share of it is full, else `service_unavailable`
   */
  dispatch(job: Dispatch, isWanted: () => boolean): Promise<number>;
  handedOut(pool: Pool, lane: Lane): Promise<HandedOut>;
}

export interface HandedOut {
  /** Highest stream sequence that was handed to a worker; what is above it still waits. */
  readonly upTo: number;
  /** Unix milliseconds from which on the durable exists; what was published before went with its store. */
  readonly sinceMs: number;
}

/** Workspace's share or whole stream is full; nothing was stored. */
const FULL_CODES = new Set([10_077, 10_047, 10_122]);
const PUBLISH_TIMEOUT_MS = 5_000;
/** A stream that was wiped is there again by then: every role rebuilds it when its connection is restored. */
const QUEUE_RETURN_MS = 3_000;
const QUEUE_RETRY_MS = 100;

const full = (reason: string): ApiError =>
  new ApiError("overloaded", "Too many calls are waiting; try again shortly.", { cause: new Error(reason) });

/** @param role whose connection it is: answers come in under its inbox prefix */
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

/** Sent before without a word from the server: it may have been handed out then. */
function asRepeat(body: string): string {
  return `{"repeat":true,${body.slice(1)}`;
}
