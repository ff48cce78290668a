/** Presents a file as OpenAI's file object. */
import type { StoredFile } from "#schemas/generated/types.ts";
import type { FileRow } from "#shared/database/files.ts";

export function presentFile(
  row: Pick<FileRow, "id" | "bytes" | "filename" | "purpose" | "created_at" | "expires_at">,
): StoredFile {
  return {
    id: row.id,
    object: "file",
    bytes: Number(row.bytes),
    created_at: seconds(row.created_at),
    ...(row.expires_at ? { expires_at: seconds(row.expires_at) } : {}),
    filename: row.filename,
    purpose: row.purpose as StoredFile["purpose"],
    status: "processed",
  };
}

function seconds(at: Date): number {
  return Math.floor(at.getTime() / 1_000);
}
