/** Common parts of the routes of operators. */
import type { Database } from "#shared/database/client.ts";
import { findWorkspaceSummary, type WorkspaceSummary } from "#shared/database/workspaces.ts";
import { ApiError } from "#shared/errors.ts";
import { isPlainText } from "#shared/plain-text.ts";

import type { RouteCall } from "../../serve.ts";
import { pathId } from "../../settings/body.ts";

const OPERATOR = { tags: ["Operator"], auth: "operator" } as const;
export const READ = { ...OPERATOR, scope: "read" } as const;
export const WRITE = { ...OPERATOR, scope: "write" } as const;
export const MONEY = { ...OPERATOR, scope: "money" } as const;

/** The workspace of the path's `id`. @throws ApiError `not_found` */
export async function workspaceOf(database: Database, call: RouteCall): Promise<WorkspaceSummary> {
  const row = await findWorkspaceSummary(database, pathId(call, "id", noWorkspace));
  if (row === undefined) throw noWorkspace();
  return row;
}

export function noWorkspace(): ApiError {
  return new ApiError("not_found", "There is no such workspace.");
}

/** @throws ApiError `unsupported_value` when the catalogue has no such preset */
export function checkPreset(presets: ReadonlyMap<string, unknown>, preset: string): void {
  if (presets.has(preset)) return;
  const names = [...presets.keys()].join(", ");
  throw new ApiError("unsupported_value", `Expected preset to be one of ${names}.`, { param: "preset" });
}

const NOTE_CHARS_MAX = 200;

/** @throws ApiError `unsupported_value` */
export function noteOf({ note }: { readonly note?: string }): string | null {
  if (note === undefined || isPlainText(note, NOTE_CHARS_MAX)) return note ?? null;
  const message = `Expected note to have 1 to ${NOTE_CHARS_MAX} characters without control characters, and without blanks at its ends.`;
  throw new ApiError("unsupported_value", message, { param: "note" });
}

export const iso = (time: Date | null): string | null => time?.toISOString() ?? null;
