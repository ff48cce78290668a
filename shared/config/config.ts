/**
 * Reads all settings once from the environment, validates and freezes them. No other file reads the environment. An unknown variable with
 * the prefix SLUICE_ stops the start, because a misspelt setting must not be ignored. The variables in CLIENT_VARIABLES are ignored.
 */
import {
  createReader,
  type Environment,
  listSettings,
  readTable,
  type Server,
  type Setting,
  type Values,
} from "./reader.ts";
import { listBrokenRules } from "./rules.ts";
import { SETTINGS } from "./settings.ts";
import { nearNames } from "../base/near-names.ts";

export interface Config extends Values<typeof SETTINGS> {
  /** Secret values of the settings, which must never be printed. */
  readonly secrets: readonly string[];
  /** Returns the value of a provider-key variable such as OPENAI_API_KEY; undefined when it is unset or empty. */
  readonly providerKey: (variable: string) => string | undefined;
}

const ALL = listSettings(SETTINGS);

/**
 * Variables for clients, which the examples of the documentation read: an API key, and the NATS address of publishers. The service ignores
 * them, because a shell that exports them may also start the service.
 */
export const CLIENT_VARIABLES: readonly string[] = ["SLUICE_KEY", "SLUICE_NATS"];

/** Names of the variables of all settings. */
export const SETTING_NAMES: ReadonlySet<string> = new Set([
  ...ALL.flatMap(({ names }) => names),
  // Read only by the supervisor of `npm start`, which formats the JSON lines of the roles.
  "SLUICE_LOG_FORMAT",
]);

const ACCEPTED: ReadonlySet<string> = new Set([...SETTING_NAMES, ...CLIENT_VARIABLES]);

const PREFIX = "SLUICE_";
const withoutPrefix = (name: string): string => (name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name);

/**
 * Returns the error message for an unknown variable, with a similar setting as suggestion. Names are compared without their prefix, so that
 * SLUICE_PORT suggests PORT.
 */
function unknownSetting(name: string): string {
  const names = new Map(Array.from(ACCEPTED, (known) => [withoutPrefix(known), known]));
  const [near] = nearNames(names.keys(), withoutPrefix(name));
  const hint = near === undefined ? "" : `; did you mean ${names.get(near) ?? near}?`;
  return `${name} is not a setting of this version${hint}`;
}

/**
 * Returns the validated settings from an environment. Collects all faults, so that one start reports every fault. `needs` lists the servers
 * whose address is required; other addresses are optional but validated. `servesClients` is true if the role returns links to clients.
 * @throws Error that lists each unknown, missing or malformed variable, but never a secret value
 */
export function loadConfig(
  environment: Environment = process.env,
  {
    needs = ["database", "nats"],
    servesClients = false,
  }: { readonly needs?: readonly Server[]; readonly servesClients?: boolean } = {},
): Config {
  const faults: string[] = [];
  for (const name of Object.keys(environment)) {
    if (name.startsWith(PREFIX) && !ACCEPTED.has(name)) faults.push(unknownSetting(name));
  }
  const reader = createReader(environment, needs, faults);
  const settings = readTable(SETTINGS, reader);
  faults.push(...listBrokenRules(settings, { servesClients }));
  if (faults.length > 0) throw new Error(faults.join("\n"));
  return Object.freeze({
    ...settings,
    secrets: Object.freeze(secretsOf(environment, ALL)),
    providerKey: (variable: string) => (PROVIDER_KEY_VARIABLE.test(variable) ? reader.text(variable) : undefined),
  });
}

/**
 * Returns the factor by which tests shorten waits after a crash, silence or fault. Undefined if SLUICE_PACE is malformed. Constants for
 * limits read the factor before the Config exists.
 */
export function readPace(environment: Environment = process.env): number | undefined {
  const faults: string[] = [];
  const pace = createReader(environment, [], faults).value(SETTINGS.pace);
  return faults.length === 0 ? pace : undefined;
}

// Secrets: settings that must never be printed.

/** Names of the variables that may contain a provider key. The pattern prevents a catalogue file from naming DATABASE_URL as a key. */
export const PROVIDER_KEY_VARIABLE = /^[A-Z][A-Z0-9_]*_API_KEY$/;

/** Returns the secret values of the settings, including the passwords in URLs. */
function secretsOf(environment: Environment, settings: readonly Setting<unknown>[]): string[] {
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

/** Returns the decoded password of a URL. A password that is not validly percent-encoded is returned unchanged. */
function plainPassword(url: string): string {
  const { password } = new URL(url);
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}
