/**
 * All settings, read once from the environment, validated and frozen. Only this file reads the environment. An unknown variable with the
 * prefix SLUICE_ stops the start: a misspelt setting must not be ignored. Variables of clients (CLIENT_VARIABLES) are ignored.
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
  /** Values that must never be printed. */
  readonly secrets: readonly string[];
  /** Value of a provider-key variable such as OPENAI_API_KEY; undefined when unset or empty. */
  readonly providerKey: (variable: string) => string | undefined;
}

const ALL = listSettings(SETTINGS);

/**
 * Variables that the documentation's examples read in the shell of a client: an API key, and the NATS address of publishers. A shell that
 * exports them can also start the service, so they are ignored.
 */
export const CLIENT_VARIABLES: readonly string[] = ["SLUICE_KEY", "SLUICE_NATS"];

/** Names of all settings. */
export const SETTING_NAMES: ReadonlySet<string> = new Set([
  ...ALL.flatMap(({ names }) => names),
  // Read only by the supervisor of `npm start`, which formats the JSON lines of the roles.
  "SLUICE_LOG_FORMAT",
]);

const ACCEPTED: ReadonlySet<string> = new Set([...SETTING_NAMES, ...CLIENT_VARIABLES]);

const PREFIX = "SLUICE_";
const withoutPrefix = (name: string): string => (name.startsWith(PREFIX) ? name.slice(PREFIX.length) : name);

/** Compares names without the prefix: SLUICE_PORT is near PORT. */
function unknownSetting(name: string): string {
  const names = new Map(Array.from(ACCEPTED, (known) => [withoutPrefix(known), known]));
  const [near] = nearNames(names.keys(), withoutPrefix(name));
  const hint = near === undefined ? "" : `; did you mean ${names.get(near) ?? near}?`;
  return `${name} is not a setting of this version${hint}`;
}

/**
 * Returns validated settings from an environment. Collects all faults, so that one start reports every one. `needs` lists the servers whose
 * address is required; other addresses are optional, but validated. `servesClients`: the role returns links to clients.
 * @throws Error naming each unknown, missing or malformed variable, never a secret's value
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
 * Returns the factor that shortens waits after a crash, silence or fault, for tests. Undefined if SLUICE_PACE is malformed. Limits are
 * constants and read the factor before a Config exists.
 */
export function readPace(environment: Environment = process.env): number | undefined {
  const faults: string[] = [];
  const pace = createReader(environment, [], faults).value(SETTINGS.pace);
  return faults.length === 0 ? pace : undefined;
}

// Secrets: settings that must never be printed.

/** Provider keys come from variables of this form only, so a catalogue file cannot name DATABASE_URL as a key. */
export const PROVIDER_KEY_VARIABLE = /^[A-Z][A-Z0-9_]*_API_KEY$/;

/** Values of settings that are secrets, passwords in URLs among them. */
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

/** A password that is not percent-encoded as URLs want it is kept unchanged. */
function plainPassword(url: string): string {
  const { password } = new URL(url);
  try {
    return decodeURIComponent(password);
  } catch {
    return password;
  }
}
