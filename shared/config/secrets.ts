/** Settings that must never be printed. */

import type { Environment, Setting } from "./reader.ts";

/** Provider keys come from variables of this form only, so a catalogue file cannot name DATABASE_URL as a key. */
export const PROVIDER_KEY_VARIABLE = /^[A-Z][A-Z0-9_]*_API_KEY$/;

/** Values of settings that are secrets, passwords in URLs among them. */
export function secretsOf(environment: Environment, settings: readonly Setting<unknown>[]): string[] {
  const namesOf = (part: "value" | "password"): string[] =>
    settings.filter(({ secret }) => secret === part).flatMap(({ names }) => names);
  const found: (string | undefined)[] = namesOf("value").map((name) => environment[name]);
  for (const [name, value] of Object.entries(environment)) if (PROVIDER_KEY_VARIABLE.test(name)) found.push(value);
  for (const name of namesOf("password")) {
    for (const part of (environment[name] ?? "").split(",")) {
      if (URL.canParse(part)) found.push(plainPassword(part));
    }
  }
  // Shorter values would blank ordinary words.
  return found.filter((value): value is string => value !== undefined && value.length >= 8);
}

/** A password that is not percent-encoded as URLs want it is kept unchanged. */
function plainPassword(url: string): string {
  const { password } = new URL(url);
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}
