/** The ingress that waits for one synchronous call: watched while the call runs, then asked to confirm the answer. */
import { commonNow } from "#shared/clock.ts";
import type { JobMessage } from "#schemas/generated/types.ts";

import { abortReasonOf, jobAbort } from "../job.ts";

import type { CallerWatch, CallWatch, TakenAcks } from "./caller-watch.ts";

/** Most repeats of an answer to an ingress that waits for it and does not receive it. */
const SENT_AGAIN_MAX = 5;
/** Time after the deadline by which the ingress has ended the call, in milliseconds. */
const UNTOLD_MS = 5_000;

export class Caller {
  readonly reply: string;
  isGone = false;
  private readonly watch: CallWatch;
  private readonly forget: () => void;
  private readonly deadlineMs: number;
  private readonly told = Promise.withResolvers<boolean>();
  private timer: ReturnType<typeof setTimeout> | undefined;
  private sendAgain: (() => void) | undefined;
  private sentAgain = 0;

  constructor(
    job: JobMessage,
    reply: string,
    controller: AbortController,
    callers: Pick<CallerWatch, "watch">,
    takenAcks: Pick<TakenAcks, "onWord">,
  ) {
    this.reply = reply;
    this.deadlineMs = job.deadline_ms;
    this.told.promise.catch(() => undefined);
    this.watch = callers.watch(reply, {
      gone: () => {
        this.isGone = true;
        this.told.resolve(false);
        controller.abort(jobAbort("caller_gone"));
      },
      taken: () => this.told.resolve(true),
      untaken: () => this.onUntaken(),
    });
    this.forget = takenAcks.onWord(job.job_id, (word) => this.told.resolve(word === "taken"));
    controller.signal.addEventListener("abort", () => {
      const { reason } = controller.signal as { readonly reason: unknown };
      // If the process must end before the confirmation, the next delivery finds out.
      if (abortReasonOf(reason) === "shutdown") this.told.reject(reason);
    });
  }

  /**
   * Resolves with true when the ingress has received the answer that is sent next, and with false when it never will.
   * @param sendAgain called when the ingress has lost a part of the answer
   * @throws the signal's reason when the process must end before the confirmation
   */
  taken(sendAgain: () => void): Promise<boolean> {
    this.sendAgain = sendAgain;
    this.watch.expectTaken();
    this.timer = setTimeout(() => this.told.resolve(false), Math.max(0, this.deadlineMs - commonNow()) + UNTOLD_MS);
    return this.told.promise;
  }

  private onUntaken(): void {
    this.sentAgain += 1;
    if (this.sentAgain > SENT_AGAIN_MAX) this.told.resolve(false);
    else this.sendAgain?.();
  }

  end(): void {
    clearTimeout(this.timer);
    this.watch.end();
    this.forget();
  }
}
