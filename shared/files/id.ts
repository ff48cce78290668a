/** Ids of files and where their bytes lie. No word of a user's ever reaches a path. */
import { newId } from "#shared/ids.ts";

export function newFileId(): string {
  return `file-${newId().replaceAll("-", "")}`;
}

const FILE_ID = /^file-[0-9a-f]{32}$/;

/** True if the text has the form of a file id; anything else need not be looked up. */
export function isFileId(text: string): boolean {
  return FILE_ID.test(text);
}

export const FILES_PREFIX = "files/";

export function objectKey(fileId: string): string {
  return FILES_PREFIX + fileId;
}

/** Undefined for a key that is not of the file store. */
export function fileIdOf(key: string): string | undefined {
  const id = key.slice(FILES_PREFIX.length);
  return key.startsWith(FILES_PREFIX) && isFileId(id) ? id : undefined;
}
