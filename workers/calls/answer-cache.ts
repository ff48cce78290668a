/** Keeps what a client was sent, for exact repeats of its request. */
import type { JobMessage } from "#schemas/generated/types.ts";
import { keepAnswer } from "#shared/database/response-cache.ts";

import type { WorkerContext } from "../context.ts";

/** Answers being written to the cache at once in one process; beyond it they are not kept. */
const CACHE_WRITES_MAX = 4;

/** Larger answers are not kept. */
const CACHED_ANSWER_BYTES_MAX = 256 * 1024;

/** Writes under way: money needs the same connections. */
let writing = 0;

/** The text of one answer as it goes out; forgotten when it grows beyond what is kept. */
export class AnswerCopy {
  private text: string | undefined = "";

  add(text: string): void {
    if (this.text === undefined) return;
    this.text += text;
    if (this.text.length > CACHED_ANSWER_BYTES_MAX) this.text = undefined;
  }

  /** Called once the call is settled. Never throws: an answer that is not kept is only asked for again. */
  async keep(
    context: Pick<WorkerContext, "database" | "log">,
    job: JobMessage,
    answer: { readonly model: string; readonly isStream: boolean },
  ): Promise<void> {
    if (job.cache === undefined || this.text === undefined) return;
    if (Buffer.byteLength(this.text) > CACHED_ANSWER_BYTES_MAX || writing >= CACHE_WRITES_MAX) return;
    writing += 1;
    try {
      await keepAnswer(context.database, {
        workspaceId: job.workspace_id,
        key: job.cache.key,
        ttlS: job.cache.ttl_s,
        text: this.text,
        ...answer,
      });
    } catch (error) {
      context.log.warn({ err: error, request_id: job.request_id }, "an answer was not kept in the response cache");
    } finally {
      writing -= 1;
    }
  }
}
