/** What JSON of a provider or a client may turn out to be. */

export type Members = Record<string, unknown>;

export function isMembers(value: unknown): value is Members {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The objects of a list; anything else in it is passed over. */
export function membersOf(value: unknown): Members[] {
  return Array.isArray(value) ? value.filter(isMembers) : [];
}

/** The text, or the empty one for everything that is none. */
export function textOf(value: unknown): string {
  return typeof value === "string" ? value : "";
}
