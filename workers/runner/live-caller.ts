/** Tells the ingress whose caller waits for a durable job how it goes. Best effort: the job's row is the sure way. */
import type { NatsConnection } from "nats";

import { encodeJobFrame, type JobFrame } from "#shared/queue/job-frames.ts";
import { isIngressReply } from "#shared/queue/subjects.ts";
import { FRAME_BYTES_MAX } from "#shared/queue/frames.ts";

import type { LiveCaller } from "../job.ts";

/**
 * Says at once that a worker has the job. Undefined where no ingress of ours waits for it.
 * @param run tells the bytes of this owner from those of another
 */
export function openLiveCaller(
  connection: Pick<NatsConnection, "publish" | "isClosed">,
  reply: string | null,
  run: number,
): LiveCaller | undefined {
  if (reply === null || !isIngressReply(reply)) return undefined;
  const send = (frame: JobFrame, bytes?: Uint8Array): void => {
    if (!connection.isClosed()) connection.publish(reply, encodeJobFrame(frame, bytes));
  };
  let at = 0;
  send({ t: "begun" });
  return {
    begin: (head) => send({ t: "made", run, ...head }),
    write(bytes) {
      for (let from = 0; from < bytes.length; from += FRAME_BYTES_MAX) {
        const piece = bytes.subarray(from, from + FRAME_BYTES_MAX);
        send({ t: "bytes", run, at }, piece);
        at += piece.length;
      }
    },
  };
}
