/** Downloads responses of the API as files. A link could not send the console's header. */
import { toast } from "./toast.tsx";
import { type CallOptions, send } from "../api/client.ts";
import type { Operations } from "../api/operations.ts";

/** Media types of tables. */
export const CSV = "text/csv";
export const JSON_LINES = "application/jsonl";

/**
 * Saves a response as a file.
 * @param accept media type of the response; absent for a response with only one
 */
export async function download<Operation extends keyof Operations>(
  operation: Operation,
  options: CallOptions<Operation>,
  { name, accept }: { readonly name: string; readonly accept?: string },
): Promise<void> {
  try {
    const response = await send(operation, { ...options, ...(accept === undefined ? {} : { headers: { accept } }) });
    save(await response.blob(), name);
  } catch (error) {
    toast(error instanceof Error ? error.message : "The download failed.", "bad");
  }
}

/** Saves a stored file. */
export function downloadFile(id: string, name: string): void {
  void download("GET /v1/files/{file_id}/content", { path: { file_id: id } }, { name });
}

function save(blob: Blob, name: string): void {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  URL.revokeObjectURL(link.href);
}
