/** Synchronous calls that are not run: delivered again after a loss, or too late for anybody to wait. */
import { closeLostCall } from "#shared/ledger/lost.ts";
import { LIMITS } from "#shared/limits.ts";
import { CALLER_LIVES, encodeFrame } from "#shared/queue/frames.ts";

import { Answer } from "../runner/answer.ts";
import type { WorkerContext } from "../context.ts";
import type { JobControl, JobHandler } from "../job.ts";

import type { CloseCall } from "./close-call.ts";
import { discardRequest } from "./work-request.ts";

export function createNotRun(context: WorkerContext, closeCall: CloseCall): Pick<JobHandler, "lost" | "drop"> {
  const { ledger, log, metrics } = context;
  return {
    async lost(job, control) {
      if (await callerTakesOver(context, control)) return;
      const finished = await closeLostCall(context.database, ledger, {
        workspaceId: job.workspace_id,
        jobId: job.job_id,
        attempt: job.attempt,
      });
      // A call that ended well is delivered again when its ack was lost.
      if (finished.wasClosed) return;
      metrics.callsLost.inc();
      log.error({ request_id: job.request_id }, "a call was lost with its worker");
    },

    async drop(job, control) {
      await closeCall(job, null, "cancelled", undefined);
      discardRequest(context, job);
      // Usually nobody listens any more; where clocks disagree about the deadline, somebody does.
      new Answer(context.answers, control.reply, job.model, () => ({ nano: 0n, tokens: 0 })).fail({
        code: "overloaded",
        message: "No worker was free in time; try again shortly.",
        param: null,
        retry: true,
      });
    },
  };
}

/** The ingress knows best what it has relayed; if it still lives, it settles and tells its client. */
async function callerTakesOver(context: WorkerContext, control: Pick<JobControl, "reply">): Promise<boolean> {
  if (control.reply === undefined) return false;
  try {
    const answer = await context.replies.request(control.reply, encodeFrame({ t: "lost" }), {
      timeout: LIMITS.ingressProbeMs,
    });
    return answer.string() === CALLER_LIVES;
  } catch {
    // No responder or no answer in time both mean: nobody there who could.
    return false;
  }
}
