/** Represents the ingress that waits for one synchronous call. It is watched while the call runs, and then asked to confirm the answer. */
import { commonNow } from "#shared/base/clock.ts";
import type { JobMessage } from "#schemas/generated/types.ts";

import { abortReasonOf, jobAbort } from "../job.ts";

import type { CallerLiveness, CallWatch, TakenAcks } from "./caller-liveness.ts";

/** Maximum number of times that an answer is sent again to an ingress that waits for it and does not receive it. */
const SENT_AGAIN_MAX = 5;
/** Time after the deadline of a call by which the ingress has ended the call, in milliseconds. */
export const CONFIRMATION_MARGIN_MS = 5_000;

export class Caller {
  readonly reply: string;
  isGone = false;
  private readonly watch: CallWatch;
  private readonly forget: () => void;
  private readonly deadlineMs: number;
  private readonly confirmation = Promise.withResolvers<boolean>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private sendAgain: (() => void) | undefined;
  private sentAgain = 0;

  constructor(
    job: JobMessage,
    reply: string,
    controller: AbortController,
    callers: Pick<CallerLiveness, "watch">,
    takenAcks: Pick<TakenAcks, "onAck">,
  ) {
    this.reply = reply;
    this.deadlineMs = job.deadline_ms;
    this.confirmation.promise.catch(() => undefined);
    this.watch = callers.watch(reply, {
      gone: () => {
        this.isGone = true;
        this.confirmation.resolve(false);
        controller.abort(jobAbort("caller_gone"));
      },
      taken: () => this.confirmation.resolve(true),
      untaken: () => this.onUntaken(),
    });
    this.forget = takenAcks.onAck(job.job_id, (ack) => this.confirmation.resolve(ack === "taken"));
    controller.signal.addEventListener("abort", () => {
      const { reason } = controller.signal as { readonly reason: unknown };
      // If the process must end before the confirmation, the next delivery finds out.
      if (abortReasonOf(reason) === "shutdown") this.confirmation.reject(reason);
    });
  }

  /**
   * Waits for the confirmation of the answer that is sent next. True: the ingress has received it. False: the ingress is gone, has lost
   * parts of the answer too often, or has not confirmed it by the deadline of the call.
   * @param sendAgain called when the ingress has lost a part of the answer
   * @throws the signal's reason when the process must end before the confirmation
   */
  taken(sendAgain: () => void): Promise<boolean> {
    this.sendAgain = sendAgain;
    this.watch.expectTaken();
    this.timer = setTimeout(
      () => this.confirmation.resolve(false),
      Math.max(0, this.deadlineMs - commonNow()) + CONFIRMATION_MARGIN_MS,
    );
    return this.confirmation.promise;
  }

  private onUntaken(): void {
    this.sentAgain += 1;
    if (this.sentAgain > SENT_AGAIN_MAX) this.confirmation.resolve(false);
    else this.sendAgain?.();
  }

  end(): void {
    clearTimeout(this.timer);
    this.watch.end();
    this.forget();
  }
}
