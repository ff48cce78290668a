/** Settings that must never be printed. */

/** Provider keys come from variables of this form only, so a catalogue file cannot name DATABASE_URL as a key. */
export const PROVIDER_KEY_VARIABLE = /^[A-Z][A-Z0-9_]*_API_KEY$/;

const SECRET_VARIABLES = [
  "SLUICE_BOOTSTRAP_KEY",
  "SLUICE_OPERATOR_TOKEN",
  "SLUICE_SECRETS_KEY",
  "SLUICE_SECRETS_KEY_PREVIOUS",
  "AWS_SECRET_ACCESS_KEY",
];
const URL_VARIABLES = ["DATABASE_URL", "NATS_URL", "S3_ENDPOINT", "SLUICE_SMTP_URL"];

/** Values of settings that are secrets, passwords in URLs among them. */
export function secretsOf(environment: Readonly<Record<string, string | undefined>>): string[] {
  const found: (string | undefined)[] = SECRET_VARIABLES.map((name) => environment[name]);
  for (const [name, value] of Object.entries(environment)) if (PROVIDER_KEY_VARIABLE.test(name)) found.push(value);
  for (const name of URL_VARIABLES) {
    for (const part of (environment[name] ?? "").split(",")) {
      if (URL.canParse(part)) found.push(plainPassword(part));
    }
  }
  // Shorter values would blank ordinary words.
  return found.filter((value): value is string => value !== undefined && value.length >= 8);
}

/** A password that is not percent-encoded as URLs want it is kept as it stands. */
function plainPassword(url: string): string {
  const { password } = new URL(url);
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}
