/** Puts an admitted job on its pool's stream. `Nats-Msg-Id` is minted here: job, attempt, dispatch number. */
import { jetstream, JetStreamApiError, jetstreamManager, type PubAck } from "@nats-io/jetstream";
import { headers, type MsgHdrs, type NatsConnection } from "nats";

import { ApiError } from "#shared/errors.ts";

import { onLink } from "./connection.ts";
import { durableName, HEADERS, type Lane, type Pool, streamName, workSubject } from "./subjects.ts";

export interface Dispatch {
  readonly pool: Pool;
  readonly lane: Lane;
  readonly workspaceId: string;
  readonly jobId: string;
  readonly attempt: number;
  readonly dispatch: number;
  readonly reply: string;
  /** Unix milliseconds after which nobody waits for the answer any more. */
  readonly deadlineMs: number;
  readonly body: string;
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

export function createPublisher(connection: NatsConnection): Publisher {
  const stream = jetstream(connection, { timeout: PUBLISH_TIMEOUT_MS });
  const unanswered = new Set<() => void>();
  onLink(connection, {
    restored() {
      for (const sendAgain of unanswered) sendAgain();
    },
  });

  /** undefined when the connection was lost and is there again. */
  const publish = (job: Dispatch, head: MsgHdrs): Promise<PubAck | undefined> =>
    new Promise((resolve, reject) => {
      const sendAgain = (): void => resolve(undefined);
      unanswered.add(sendAgain);
      stream
        .publish(workSubject(job.pool, job.lane, job.workspaceId), job.body, {
          msgID: `${job.jobId}:${job.attempt}:${job.dispatch}`,
          headers: head,
          timeout: PUBLISH_TIMEOUT_MS,
          retries: 0,
        })
        .then(resolve, reject)
        .finally(() => unanswered.delete(sendAgain));
    });

  return {
    async dispatch(job, isWanted) {
      const head = headers();
      head.set(HEADERS.reply, job.reply);
      head.set(HEADERS.deadline, String(job.deadlineMs));
      try {
        for (const until = performance.now() + QUEUE_RETURN_MS; ;) {
          const ack = await publish(job, head).catch((error: unknown) => {
            if (!isStreamMissing(error) || performance.now() > until) throw error;
            return Bun.sleep(QUEUE_RETRY_MS);
          });
          if (ack) return ack.seq;
          if (!isWanted()) throw new Error("nobody waits for it any more");
          head.set(HEADERS.repeat, "1");
        }
      } catch (error) {
        if (error instanceof JetStreamApiError && FULL_CODES.has(error.code)) {
          throw new ApiError("overloaded", "Too many calls are waiting; try again shortly.", { cause: error });
        }
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

/** No stream takes the subject; the client words it differently. */
function isStreamMissing(error: unknown): boolean {
  return error instanceof Error && error.name === "JetStreamNotEnabled";
}
