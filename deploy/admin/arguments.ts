/** Reads arguments of the command line. Each error says what was expected. */
import type { Database } from "#shared/database/client.ts";
import { findMember, type MemberRow } from "#shared/database/members.ts";
import { findReleasedName, findWorkspace as findByWord, type WorkspaceRow } from "#shared/database/workspaces.ts";
import { isUuid } from "#shared/ids.ts";
import { isPlainText } from "#shared/plain-text.ts";

import { quote, UsageError } from "./command.ts";

/** Names must fit a line of a list. */
const NAME_CHARS_MAX = 64;

/** Reads a name. @throws UsageError for an empty or long name, or one with control characters */
export function nameOf(word: string): string {
  if (isPlainText(word, NAME_CHARS_MAX)) return word;
  throw new UsageError(
    `expected a name of 1 to ${NAME_CHARS_MAX} characters without control characters or spaces at its ends, got ${quote(word)}`,
  );
}

/** Reads the name of a workspace, which must not look like an id. @throws UsageError */
export function workspaceNameOf(word: string): string {
  if (isUuid(word.toLowerCase())) throw new UsageError(`expected a name that is not an id, got ${quote(word)}`);
  return nameOf(word);
}

/** Reads an id. The error repeats only the beginning of the word, which may be a key. @throws UsageError */
export function idOf(what: string, word: string): string {
  const id = word.toLowerCase();
  if (!isUuid(id)) throw new UsageError(`expected ${what} as a UUID, got ${quote(startOf(word))}`);
  return id;
}

/** Returns the beginning of a word that may be a secret. */
export function startOf(word: string): string {
  return word.length > SHOWN_CHARS ? `${word.slice(0, SHOWN_CHARS)}…` : word;
}

/** Characters of such a word that errors show. */
const SHOWN_CHARS = 8;

/** Reads the maximum number of rows. @throws UsageError */
export function limitOf(word: string | undefined, fallback: number): number {
  if (word === undefined) return fallback;
  const limit = Number(word);
  if (/^\d{1,5}$/.test(word) && limit >= 1 && limit <= 10_000) return limit;
  throw new UsageError(`expected --limit as a whole number from 1 to 10000, got ${quote(word)}`);
}

/** Returns the workspace of that name or id. @throws Error when there is none; it names a workspace that had this name before */
export async function findWorkspace(database: Database, word: string): Promise<WorkspaceRow> {
  const row = await findByWord(database, word);
  if (row !== undefined) return row;
  throw noWorkspace(word, await findReleasedName(database, word));
}

/** @param renamed the workspace that had this name before */
export function noWorkspace(word: string, renamed?: { readonly id?: unknown; readonly name?: unknown }): Error {
  const now = renamed && `; it was renamed to ${String(renamed.name)}, id ${String(renamed.id)}`;
  return new Error(`there is no workspace ${quote(word)}${now ?? ""}`);
}

/** @throws Error when the workspace has none of that name */
export async function memberOf(database: Database, workspace: WorkspaceRow, name: string): Promise<MemberRow> {
  const row = await findMember(database, workspace.id, name);
  if (row === undefined) throw new Error(`the workspace ${workspace.name} has no member ${quote(name)}`);
  return row;
}
