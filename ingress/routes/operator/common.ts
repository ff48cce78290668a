/** Checks that several operator routes share. */
import { ApiError } from "#shared/base/errors.ts";
import { isPlainText } from "#shared/base/plain-text.ts";

const OPERATOR = { tags: ["Operator"], auth: "operator" } as const;
export const READ = { ...OPERATOR, scope: "read" } as const;
export const WRITE = { ...OPERATOR, scope: "write" } as const;
export const MONEY = { ...OPERATOR, scope: "money" } as const;

/** Checks that a preset exists. @throws ApiError `unsupported_value` if the catalogue has no such preset */
export function checkPreset(presets: ReadonlyMap<string, unknown>, preset: string): void {
  if (presets.has(preset)) return;
  const names = [...presets.keys()].join(", ");
  throw new ApiError("unsupported_value", `Expected preset to be one of ${names}.`, { param: "preset" });
}

const NOTE_CHARS_MAX = 200;

/** Checks the operator's note in a request and returns it; null if absent. @throws ApiError `unsupported_value` for an invalid note */
export function noteOf({ note }: { readonly note?: string }): string | null {
  if (note === undefined || isPlainText(note, NOTE_CHARS_MAX)) return note ?? null;
  const message = `Expected note to have 1 to ${NOTE_CHARS_MAX} characters, without control characters and without spaces at its ends.`;
  throw new ApiError("unsupported_value", message, { param: "note" });
}

export const iso = (time: Date | null): string | null => time?.toISOString() ?? null;
