/** Words about runs, for those who wait for one or read its stream. They are best effort: what is so stands in rows. */
import type { NatsConnection } from "nats";

import type { Logger } from "#shared/logger.ts";
import { runSubject } from "#shared/queue/subjects.ts";

/** A piece of what a chat step answers. */
export interface RunDelta {
  readonly stepId: string;
  readonly attempt: number;
  readonly index?: number;
  readonly content: string;
}

export interface FollowedRun {
  /** Resolves at the next word, after that time, or when the waiting is over; at once when a word has come since the last time. */
  wait(ms: number, over: AbortSignal): Promise<void>;
  /** Those that came since the last time. */
  takeDeltas(): readonly RunDelta[];
  close(): void;
}

export interface RunFollower {
  follow(runId: string): FollowedRun;
}

/** Pieces beyond these are not told: what the step gave is told as a whole when it ends. */
const DELTAS_MAX = 1_000;
const DECODER = new TextDecoder();

export function createRunFollower(connection: Pick<NatsConnection, "subscribe">, log: Logger): RunFollower {
  return {
    follow(runId) {
      let deltas: RunDelta[] = [];
      let hasWord = false;
      let wake: (() => void) | undefined;
      const subscription = connection.subscribe(runSubject(runId), {
        callback: (error, message) => {
          if (error) {
            log.error({ err: error, run_id: runId }, "the subscription to a run failed");
            return;
          }
          const { delta } = JSON.parse(DECODER.decode(message.data)) as { delta?: RunDelta };
          if (delta && deltas.length < DELTAS_MAX) deltas.push(delta);
          hasWord = true;
          wake?.();
        },
      });
      return {
        async wait(ms, over) {
          if (!hasWord && !over.aborted) {
            const { promise, resolve } = Promise.withResolvers<void>();
            wake = resolve;
            const timer = setTimeout(resolve, ms);
            over.addEventListener("abort", () => resolve(), { once: true });
            await promise;
            clearTimeout(timer);
            wake = undefined;
          }
          hasWord = false;
        },
        takeDeltas() {
          const taken = deltas;
          deltas = [];
          return taken;
        },
        close: () => subscription.unsubscribe(),
      };
    },
  };
}
