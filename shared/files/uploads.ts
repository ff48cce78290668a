/** Uploads of one process: limits their number, renews their leases, and cleans up after failures. */

import type { Database } from "#shared/database/client.ts";
import { knownFiles } from "#shared/database/file-sweeps.ts";
import { beginUpload, endUpload, keepUploads } from "#shared/database/files.ts";
import { ApiError } from "#shared/base/errors.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import { FairLimit } from "#shared/limits/fair-limit.ts";
import type { Logger } from "#shared/base/logger.ts";
import { tooMany } from "#shared/limits/request-limit.ts";
import type { Storage } from "#shared/storage/client.ts";
import { UPLOAD_PART_BYTES } from "#shared/storage/objects.ts";
import { paced } from "#shared/config/pace.ts";

import { eraseBytes } from "./erase.ts";
import { newFileId } from "./id.ts";
import { checkTaking, Upload, type UploadLimits, UPLOAD_LEASE_MS, UPLOAD_BEAT_MS } from "./upload.ts";

/**
 * Maximum concurrent uploads of one process (UPLOADS_MAX), and of one workspace in it. Each uses a buffer of UPLOAD_PART_BYTES; together
 * 120 MB.
 */
export const UPLOADS_MAX = 24;
export const UPLOADS_PER_WORKSPACE_MAX = 8;

/** Maximum time that the caller of a failed upload waits for the deletion of its bytes before it receives the error, in milliseconds. */
const UPLOAD_ERASE_MS = paced(2_000);

export type BegunUpload =
  | { readonly kind: "upload"; readonly upload: Upload }
  /** The first call with the idempotency key has succeeded. `answer` is its response, for an identical repeat. */
  | { readonly kind: "done"; readonly fingerprint: string; readonly answer: string };

export interface Uploads {
  /**
   * Runs an upload under its limits and lease.
   * @param key the client's Idempotency-Key, null if absent
   * @param bytes size of the upload, if known: a small file is then reserved at the start
   * @throws ApiError `upload_in_progress` while the key's first call runs, `overloaded` above the maximum of concurrent uploads
   */
  run<T>(workspaceId: string, key: string | null, work: (begun: BegunUpload) => Promise<T>, bytes?: number): Promise<T>;
  close(): void;
}

export function openUploads(tools: {
  readonly database: Database;
  readonly storage: Storage;
  readonly log: Logger;
  readonly limits: UploadLimits;
}): Uploads {
  const { database, storage, log, limits } = tools;
  const running = new Set<string>();
  const places: FairLimit = new FairLimit({
    max: UPLOADS_MAX,
    mayHave: ({ taken }) => taken < UPLOADS_PER_WORKSPACE_MAX,
    mayWait: () => false,
    refusal: () => tooMany("Too many uploads run at once"),
  });

  const beat = setInterval(() => {
    if (running.size === 0) return;
    keepUploads(database, [...running], UPLOAD_LEASE_MS).catch((error: unknown) =>
      log.warn({ err: error }, "running uploads could not be kept alive"),
    );
  }, UPLOAD_BEAT_MS);

  /**
   * Cleans up after a failed upload. Releases its storage reservation before its caller receives the error. Usually deletes its bytes by
   * then too; during an outage of the store, the janitor deletes them. If the janitor has already ended the upload, bytes written since
   * then are deleted as well, because no row refers to them.
   */
  const giveUp = async (id: string): Promise<void> => {
    const deferToJanitor = (error: unknown): void =>
      log.warn({ err: error, file_id: id }, "a failed upload could not be deleted; the janitor retries");
    try {
      const ended = await endUpload(database, id, false);
      if (!ended && (await knownFiles(database, [id])).length > 0) return;
      failpoint("upload.ended");
      const erased = eraseBytes(storage, database, ended ?? { id, upload_id: null }).catch(deferToJanitor);
      await Promise.race([erased, Bun.sleep(UPLOAD_ERASE_MS)]);
    } catch (error) {
      deferToJanitor(error);
    }
  };

  return {
    async run(workspaceId, key, work, bytes = Infinity) {
      const place = places.enter({ owner: workspaceId });
      const id = newFileId();
      running.add(id);
      try {
        const take = bytes <= UPLOAD_PART_BYTES ? { bytes, limitBytes: limits.storageBytesMax } : undefined;
        const begun = await beginUpload(database, { id, workspaceId, leaseMs: UPLOAD_LEASE_MS, key }, take);
        if (begun.verdict === "busy") {
          throw new ApiError(
            "upload_in_progress",
            "The first upload with this Idempotency-Key is still in progress; try again when it has ended.",
            {
              headers: { "retry-after": "1" },
            },
          );
        }
        if (begun.verdict === "done") return await work({ kind: "done", ...begun });
        failpoint("upload.begun");
        const upload = new Upload(tools, id, begun.at, take?.bytes);
        try {
          if (take) checkTaking(begun.taking, limits.storageBytesMax);
          return await work({ kind: "upload", upload });
        } catch (error) {
          upload.abandon();
          await giveUp(id);
          throw error;
        } finally {
          upload.close();
        }
      } finally {
        running.delete(id);
        place.release();
      }
    },
    close: () => clearInterval(beat),
  };
}
