/** Ids of files, and the object keys of their bytes. A key never contains text of a user. */
import { newId } from "#shared/base/ids.ts";

export function newFileId(): string {
  return `file-${newId().replaceAll("-", "")}`;
}

const FILE_ID = /^file-[0-9a-f]{32}$/;

/** Returns true if a text has the format of a file id. A text in another format needs no query. */
export function isFileId(text: string): boolean {
  return FILE_ID.test(text);
}

export const FILES_PREFIX = "files/";

export function objectKey(fileId: string): string {
  return FILES_PREFIX + fileId;
}

/** Returns the file id of an object key; undefined for a key outside of the file store. */
export function fileIdOf(key: string): string | undefined {
  const id = key.slice(FILES_PREFIX.length);
  return key.startsWith(FILES_PREFIX) && isFileId(id) ? id : undefined;
}
