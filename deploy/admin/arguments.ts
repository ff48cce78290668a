/** Reads arguments of the command line. Each error says what was expected. */
import type { Database, Queryable } from "#shared/database/client.ts";
import { findMember, type MemberRow } from "#shared/database/members.ts";
import { findReleasedName, findWorkspace as findByWord, type WorkspaceRow } from "#shared/database/workspaces.ts";
import { isUuid } from "#shared/base/ids.ts";
import { isPlainText } from "#shared/base/plain-text.ts";

import { quote, UsageError } from "./command.ts";

/** Maximum length of a name, in characters. A name must fit on one line of a list. */
const NAME_CHARS_MAX = 64;

/** Reads a name. @throws UsageError for an empty or long name, or one with control characters */
export function nameOf(value: string): string {
  if (isPlainText(value, NAME_CHARS_MAX)) return value;
  throw new UsageError(
    `expected a name of 1 to ${NAME_CHARS_MAX} characters without control characters or spaces at its ends, got ${quote(value)}`,
  );
}

/** Reads the name of a workspace, which must not look like an id. @throws UsageError */
export function workspaceNameOf(value: string): string {
  if (isUuid(value.toLowerCase())) throw new UsageError(`expected a name that is not an id, got ${quote(value)}`);
  return nameOf(value);
}

/** Reads an id. The error repeats only the beginning of the word, which may be a key. @throws UsageError */
export function idOf(what: string, value: string): string {
  const id = value.toLowerCase();
  if (!isUuid(id)) throw new UsageError(`expected ${what} as a UUID, got ${quote(startOf(value))}`);
  return id;
}

/** Returns the beginning of a word that may be a secret. */
export function startOf(value: string): string {
  return value.length > PREVIEW_CHARS ? `${value.slice(0, PREVIEW_CHARS)}…` : value;
}

/** Number of characters of a possible secret that errors show. */
const PREVIEW_CHARS = 8;

/** Reads the maximum number of rows. @throws UsageError */
export function limitOf(value: string | undefined, fallback: number): number {
  if (value === undefined) return fallback;
  const limit = Number(value);
  if (/^\d{1,5}$/.test(value) && limit >= 1 && limit <= 10_000) return limit;
  throw new UsageError(`expected --limit as a whole number from 1 to 10000, got ${quote(value)}`);
}

/** Reads the value of a yes-or-no option. @throws UsageError for other values */
export function yesNoOf(name: string, value: string): boolean {
  if (value === "no" || value === "yes") return value === "yes";
  throw new UsageError(`expected --${name} yes or no, got ${quote(value)}`);
}

/**
 * Returns the workspace with that name or id.
 * @throws Error when no workspace has that name or id; the error names the workspace that had this name before, if any
 */
export async function findWorkspace(database: Database, nameOrId: string): Promise<WorkspaceRow> {
  const row = await findByWord(database, nameOrId);
  if (row !== undefined) return row;
  throw noWorkspace(nameOrId, await findReleasedName(database, nameOrId));
}

/**
 * Returns the error for an unknown workspace name or id.
 * @param renamed the workspace that had this name before
 */
export function noWorkspace(nameOrId: string, renamed?: { readonly id?: unknown; readonly name?: unknown }): Error {
  const now = renamed && `; it was renamed to ${String(renamed.name)}, id ${String(renamed.id)}`;
  return new Error(`there is no workspace ${quote(nameOrId)}${now ?? ""}`);
}

/** Returns the workspace's member with that name. @throws Error when the workspace has no such member */
export async function memberOf(database: Queryable, workspace: WorkspaceRow, name: string): Promise<MemberRow> {
  const row = await findMember(database, workspace.id, name);
  if (row === undefined) throw new Error(`the workspace ${workspace.name} has no member ${quote(name)}`);
  return row;
}
