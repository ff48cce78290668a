/**
 * Writes the output file and the error file of a batch after its last line has ended. The content comes from the batch's parts, which are
 * stored groups of line results.
 */
import { findParts, forgetParts } from "#shared/database/batch-work.ts";
import type { BatchRow } from "#shared/database/batches.ts";
import { ApiError } from "#shared/base/errors.ts";
import { failpoint } from "#shared/base/failpoint.ts";
import type { Upload } from "#shared/files/upload.ts";
import { deleteObject } from "#shared/storage/objects.ts";

import type { BatchContext } from "./context.ts";
import { batchName } from "./ids.ts";
import { readPart } from "./parts.ts";

export interface WrittenFiles {
  readonly outputFileId: string | null;
  readonly errorFileId: string | null;
}

/**
 * Writes the output file and the error file of a batch, and returns their ids; idempotent.
 * @throws ApiError `storage_limit_exceeded`; errors of the database and the object store
 */
export async function writeFiles(context: BatchContext, batch: BatchRow): Promise<WrittenFiles> {
  const outputFileId = await writeFile(context, batch, true);
  const errorFileId = await writeFile(context, batch, false);
  return { outputFileId, errorFileId };
}

/** Writes the output file or the error file of a batch and returns its id. Returns null, without a file, if the file would be empty. */
async function writeFile(context: BatchContext, batch: BatchRow, isOutput: boolean): Promise<string | null> {
  const bytes = Number(isOutput ? batch.output_bytes : batch.error_bytes);
  if (bytes === 0) return null;
  const name = isOutput ? "output" : "error";
  // The keys of clients cannot begin with a blank, because HTTP strips blanks from header values.
  const key = ` batch ${batch.id} ${name}`;
  return context.uploads.run(batch.workspace_id, key, async (begun) => {
    if (begun.kind === "done") return begun.answer;
    const { upload } = begun;
    await copyParts(context, batch.id, isOutput, upload);
    const digested = await upload.end();
    if (digested.bytes !== bytes)
      throw new Error(`the ${name} file of a batch has ${digested.bytes} of ${bytes} bytes`);
    await upload.finish({
      filename: `${batchName(batch.id)}_${name}.jsonl`,
      purpose: "batch_output",
      mediaType: "application/jsonl",
      expiresS: batch.output_expires_s,
      ownerKeyId: batch.key_id,
      repeat: { fingerprint: digested.sha256.toString("hex"), answer: upload.id },
    });
    failpoint("batch.written");
    return upload.id;
  });
}

async function copyParts(context: BatchContext, id: string, isOutput: boolean, upload: Upload): Promise<void> {
  for (let from = 0n; ;) {
    const parts = await findParts(context.database, id, isOutput, { from });
    for (const part of parts) {
      if (part.start !== from) throw new Error("a part of a batch is missing");
      await upload.write(await readPart(context, part));
      from = part.start + BigInt(part.bytes);
    }
    if (parts.length === 0) return;
  }
}

/** Deletes the parts of a batch, whose bytes are now in the output files. The janitor deletes any that remain after a failure. */
export async function discardParts(
  { database, storage, log }: BatchContext,
  id: string,
  stopping: AbortSignal,
): Promise<void> {
  try {
    for (const isOutput of [true, false]) {
      for (let parts = await findParts(database, id, isOutput); parts.length > 0;) {
        for (const { key } of parts) {
          if (stopping.aborted) return;
          await deleteObject(storage, key);
        }
        const keys = parts.map(({ key }) => key);
        await forgetParts(database, id, keys);
        parts = await findParts(database, id, isOutput);
      }
    }
  } catch (error) {
    log.warn({ err: error, batch_id: id }, "the parts of an ended batch could not be deleted");
  }
}

/** Returns true if the error says that the workspace lacks storage for the output files. */
export function isFull(error: unknown): boolean {
  return error instanceof ApiError && error.code === "storage_limit_exceeded";
}
