/** Setting of a workspace or a key that says which requests and responses are kept. */
import type { BodySetting as AskedSetting } from "#schemas/generated/types.ts";

/** Setting as it is stored: all members are present. */
export interface BodySetting {
  readonly keep: AskedSetting["keep"];
  /** Hours after which a kept body is deleted. */
  readonly retention_hours: number;
  readonly redact: {
    /** Lower-case names of JSON members whose values are replaced. */
    readonly members: readonly string[];
    readonly patterns: readonly RedactedPattern[];
  };
}

export type RedactionRules = BodySetting["redact"];

/** Text that replaces a redacted value. */
export const REDACTED = "[redacted]";

export type RedactedPattern = "emails" | "card_numbers" | "phone_numbers";

/** Retention if the setting names none, in hours: a week. */
const RETENTION_HOURS = 168;

/** Setting of a workspace that keeps nothing. */
export const NO_BODIES: BodySetting = {
  keep: "none",
  retention_hours: RETENTION_HOURS,
  redact: { members: [], patterns: [] },
};

/** Returns the complete setting. Names are lower-case, sorted, and without duplicates, so that equal settings compare equal. */
export function bodySettingOf({ keep, retention_hours: hours = RETENTION_HOURS, redact }: AskedSetting): BodySetting {
  const members = [...new Set((redact?.members ?? []).map((name) => name.toLowerCase()))].toSorted();
  const patterns = [...new Set(redact?.patterns ?? [])].toSorted();
  return { keep, retention_hours: hours, redact: { members, patterns } };
}
