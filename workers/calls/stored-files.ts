/**
 * Replaces stored files in a chat request by their bytes, because providers do not know our file ids. The worker reads the bytes, because
 * they are too large for the queue.
 */
import type { ChatCompletionRequest, JobMessage } from "#schemas/generated/types.ts";
import {
  audioFormat,
  blockKind,
  type FilePlace,
  filePlaces,
  INLINE_BYTES_MAX,
} from "#shared/calls/kinds/chat/files.ts";
import { ApiError } from "#shared/base/errors.ts";
import { findBlocks, findFiles } from "#shared/database/files.ts";
import { anyMember } from "#shared/database/viewer.ts";
import { isFileId } from "#shared/files/id.ts";
import { readFile } from "#shared/files/read.ts";

import type { WorkerContext } from "../context.ts";
import { ProviderError } from "../providers/provider.ts";

type StoredFile = Awaited<ReturnType<typeof findFiles>>[number];
type Block = Readonly<Record<string, unknown>>;

/**
 * Returns the request with the bytes of every stored file. Images become `image_url`, audio becomes `input_audio`, and any other file
 * becomes `file_data`. Returns the same object if there is no stored file.
 * @throws ProviderError `rejected` for a file that was deleted after admission, `aborted`; ApiError `service_unavailable` if the store is
 * unavailable or the bytes are damaged
 */
export async function withStoredFiles(
  context: Pick<WorkerContext, "database" | "storage" | "log">,
  { workspace_id: workspaceId, request_id: requestId }: Pick<JobMessage, "workspace_id" | "request_id">,
  request: ChatCompletionRequest,
  signal: AbortSignal,
): Promise<ChatCompletionRequest> {
  const places = filePlaces(request);
  if (places.length === 0) return request;
  const files = await filesOf(context, workspaceId, requestId, places);
  const read = new Map<string, string>();
  let remainingBytes: number = INLINE_BYTES_MAX;
  const blocks = new Map<string, Block>();
  for (const place of places) {
    const file = files.get(place.fileId);
    if (!file) throw refused("file_not_found", "There is no such file in this workspace.", place);
    remainingBytes -= Number(file.bytes);
    if (remainingBytes < 0) throw refused("unsupported_value", "The files of this call are too large in total.", place);
    const data = read.get(file.id) ?? (await readBase64(context, file, requestId, signal));
    read.set(file.id, data);
    const content = request.messages[place.message]?.content as readonly Block[] | undefined;
    const block = content?.[place.part] ?? {};
    blocks.set(`${place.message} ${place.part}`, blockOf(file, data, block, place));
  }
  const messages = request.messages.map((message, at) => {
    if (!Array.isArray(message.content)) return message;
    const content = (message.content as readonly Block[]).map((block, part) => blocks.get(`${at} ${part}`) ?? block);
    return { ...message, content } as typeof message;
  });
  return { ...request, messages };
}

async function filesOf(
  context: Pick<WorkerContext, "database" | "log">,
  workspaceId: string,
  requestId: string,
  places: readonly FilePlace[],
): Promise<Map<string, StoredFile>> {
  const ids = [...new Set(places.map(({ fileId }) => fileId))].filter(isFileId);
  try {
    return new Map((await findFiles(context.database, anyMember(workspaceId), ids)).map((row) => [row.id, row]));
  } catch (error) {
    throw unreadable(context, requestId, "the files of a call could not be looked up", error);
  }
}

async function readBase64(
  context: Pick<WorkerContext, "database" | "storage" | "log">,
  file: StoredFile,
  requestId: string,
  signal: AbortSignal,
): Promise<string> {
  try {
    const blocks = await findBlocks(context.database, file.id);
    const pieces: Uint8Array[] = [];
    for await (const piece of blocks ? readFile(context.storage, blocks) : []) {
      if (signal.aborted) throw new ProviderError("aborted", "the call was aborted");
      pieces.push(piece);
    }
    if (pieces.length === 0) throw new Error("the file has no content");
    return Buffer.concat(pieces).toString("base64");
  } catch (error) {
    if (error instanceof ProviderError) throw error;
    throw unreadable(context, requestId, `the bytes of ${file.id} could not be read`, error);
  }
}

function unreadable({ log }: Pick<WorkerContext, "log">, requestId: string, what: string, error: unknown): ApiError {
  log.error({ err: error, request_id: requestId }, what);
  const message = "A file of the request could not be read back; try again.";
  return new ApiError("service_unavailable", message, { param: "messages", cause: error });
}

/**
 * Returns a content block that contains the file's bytes.
 * @param block content block of the caller, whose further members, such as `detail`, are kept for an image
 */
function blockOf(file: StoredFile, data: string, block: Block, place: FilePlace): Block {
  const url = `data:${file.media_type};base64,${data}`;
  switch (blockKind(file.media_type)) {
    case "image":
      return { type: "image_url", image_url: { ...(block["image_url"] as Block | undefined), url } };
    case "audio":
      return { type: "input_audio", input_audio: { data, format: audioFormat(file.media_type) } };
    case "file":
      return { type: "file", file: { filename: file.filename, file_data: url } };
    default:
      throw refused("unsupported_value", `Models cannot read files of type ${file.media_type}.`, place);
  }
}

function refused(code: "file_not_found" | "unsupported_value", say: string, { param }: FilePlace): ProviderError {
  return new ProviderError("rejected", "a stored file of the call cannot be used", { code, say, param });
}
