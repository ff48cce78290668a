/** Stores the responses of calls in the cache, for exact repeats of their requests. */
import type { JobMessage } from "#schemas/generated/types.ts";
import { keepAnswer } from "#shared/database/response-cache.ts";

import type { WorkerContext } from "../context.ts";

/** Maximum number of concurrent cache writes of one process. Further responses are not cached. */
const CACHE_WRITES_MAX = 4;

/** Maximum size of a cached response, in bytes. */
const CACHED_ANSWER_BYTES_MAX = 256 * 1024;

/** Number of running cache writes. They use the same connections as settlements. */
let writing = 0;

/** Copies the text of one response while it is sent. The copy is dropped when it exceeds the size limit. */
export class AnswerCopy {
  private text: string | undefined = "";

  add(text: string): void {
    if (this.text === undefined) return;
    this.text += text;
    if (this.text.length > CACHED_ANSWER_BYTES_MAX) this.text = undefined;
  }

  /**
   * Stores the copied response in the cache, after the call was settled. Never throws: without a cached response, the next equal call is
   * executed again.
   */
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
      context.log.warn({ err: error, request_id: job.request_id }, "a response could not be cached");
    } finally {
      writing -= 1;
    }
  }
}
