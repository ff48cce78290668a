/** Audio of a call. The worker reads it here, since its bytes do not travel on the queue. */
import { findReadable } from "#shared/database/files.ts";
import { anyMember } from "#shared/database/viewer.ts";
import { ApiError } from "#shared/errors.ts";
import { readFile } from "#shared/files/read.ts";
import { mediaSize, deleteCallMedia, readCallMedia } from "#shared/storage/call-media.ts";
import { INPUT_PROCESS_BYTES_MAX } from "#workers/calls/media/inputs.ts";

import type { WorkerContext } from "../../context.ts";
import { openByteBudget } from "../../providers/byte-budget.ts";
import type { TranscriptionInput } from "../../providers/media.ts";
import { ProviderError } from "../../providers/provider.ts";

/** Location of stored audio: beside the call's claim, or in the file store. */
export type StoredAudio = { readonly contentType: string; readonly filename: string } & (
  | { readonly reference: string }
  | { readonly fileId: string }
);

export interface CallAudio {
  readonly audio: TranscriptionInput["audio"];
  /** Releases its memory. */
  release(): void;
  /** Deletes the audio that was stored for this call only. */
  discard(): void;
}

const budget = openByteBudget(INPUT_PROCESS_BYTES_MAX);

/** @throws ApiError `service_unavailable` when the audio cannot be read, `file_not_found`; ProviderError `aborted` */
export async function readStoredAudio(
  context: Pick<WorkerContext, "database" | "storage" | "log">,
  workspaceId: string,
  place: StoredAudio,
  signal: AbortSignal,
): Promise<CallAudio> {
  const { contentType, filename } = place;
  const source =
    "reference" in place ? ofCall(context, place.reference) : await ofStore(context, workspaceId, place.fileId);
  const lease = await budget.take({ amount: Math.min(source.size, INPUT_PROCESS_BYTES_MAX) }, signal);
  try {
    const audio = { bytes: await source.read(signal), contentType, filename };
    return {
      audio,
      release: () => lease.release(),
      discard: () => source.discard(),
    };
  } catch (error) {
    lease.release();
    if (error instanceof ProviderError || error instanceof ApiError) throw error;
    context.log.error({ err: error }, "a call's audio could not be read");
    throw new ApiError("service_unavailable", "The audio could not be read back; try again.");
  }
}

interface Source {
  readonly size: number;
  read(signal: AbortSignal): Promise<Uint8Array>;
  discard(): void;
}

function ofCall({ storage, log }: Pick<WorkerContext, "storage" | "log">, reference: string): Source {
  return {
    size: mediaSize(reference),
    read: () => readCallMedia(storage, reference),
    discard: () =>
      void deleteCallMedia(storage, reference).catch((error: unknown) =>
        log.warn({ err: error }, "a call's audio could not be deleted"),
      ),
  };
}

async function ofStore(
  { database, storage }: Pick<WorkerContext, "database" | "storage">,
  workspaceId: string,
  fileId: string,
): Promise<Source> {
  const stored = await findReadable(database, anyMember(workspaceId), fileId);
  if (!stored) throw new ApiError("file_not_found", "There is no such file in this workspace.", { param: "file_id" });
  const { blocks } = stored;
  return {
    size: blocks.bytes,
    async read(signal) {
      const pieces: Uint8Array[] = [];
      for await (const piece of readFile(storage, blocks)) {
        if (signal.aborted) throw new ProviderError("aborted", "the call was aborted", { cause: signal.reason });
        pieces.push(piece);
      }
      return Buffer.concat(pieces);
    },
    discard: () => undefined,
  };
}
