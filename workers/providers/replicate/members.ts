/** What JSON of Replicate's may turn out to be. */

export type Members = Readonly<Record<string, unknown>>;

export function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** A text; empty for everything else. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
