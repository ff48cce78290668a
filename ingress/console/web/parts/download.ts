/** Downloads responses of the API as files. A link could not send the console's header. */
import { toast } from "./toast.tsx";
import { type CallOptions, faultIn, send } from "../api/client.ts";
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
  await save(name, () => send(operation, { ...options, ...(accept === undefined ? {} : { headers: { accept } }) }));
}

/** Saves a stored file. */
export function downloadFile(id: string, name: string): Promise<void> {
  return download("GET /v1/files/{file_id}/content", { path: { file_id: id } }, { name });
}

/** Downloads a link of the service or a blob under this name. The `content-disposition` of the link would replace the name. */
export function downloadLink(src: string, name: string): Promise<void> {
  return save(name, async () => {
    const response = await fetch(src);
    if (!response.ok) throw faultIn(response.status, await response.text(), null);
    return response;
  });
}

async function save(name: string, load: () => Promise<Response>): Promise<void> {
  try {
    const link = document.createElement("a");
    link.href = URL.createObjectURL(await (await load()).blob());
    link.download = name;
    link.click();
    URL.revokeObjectURL(link.href);
  } catch (error) {
    toast(error instanceof Error ? error.message : "The download failed.", "bad");
  }
}
