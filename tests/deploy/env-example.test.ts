import { describe, expect, test } from "bun:test";
import { join } from "node:path";

import { loadConfig, PROVIDER_KEY_VARIABLE } from "#shared/config/config.ts";
import { listSettings } from "#shared/config/reader.ts";
import { SETTINGS } from "#shared/config/settings.ts";

const ROOT = join(import.meta.dir, "../..");
const EXAMPLE = await Bun.file(join(ROOT, "deploy/env.example")).text();
const COMPOSE = await Bun.file(join(ROOT, "deploy/compose.yaml")).text();

interface Line {
  readonly name: string;
  readonly value: string;
  /** The line above it. */
  readonly comment: string;
}

const lines: readonly Line[] = EXAMPLE.split("\n").flatMap((line, index, all) => {
  const [, name, value] = /^([A-Z0-9_]+)=(.*)$/.exec(line) ?? [];
  return name === undefined ? [] : [{ name, value: value ?? "", comment: all[index - 1] ?? "" }];
});
const documented = new Set(lines.map(({ name }) => name));
const providerKeys = new Set([...documented].filter((name) => PROVIDER_KEY_VARIABLE.test(name)));

/** The names `loadConfig` asks for, learnt by watching it. */
function settings(): Set<string> {
  const asked = new Set<string>();
  const given: Record<string, string> = { DATABASE_URL: "postgres://db/sluice", NATS_URL: "nats://queue:4222" };
  loadConfig(
    new Proxy(given, {
      get(target, name) {
        if (typeof name === "string") asked.add(name);
        return Reflect.get(target, name);
      },
    }),
  );
  return asked;
}

const composeVariables = new Set(Array.from(COMPOSE.matchAll(/\$\{([A-Z0-9_]+)/g), (match) => match[1] ?? ""));

/** Read by the scripts of `npm start`: tests/deploy/start.nightly.test.ts and tests/deploy/embedded. */
const supervisorSettings = new Set(["SLUICE_DATA_DIR", "NATS_RELEASES_URL"]);

/** Set by the image. An empty line copied from the example would take it away, so a comment alone names it. */
const ofTheSystem = new Set(["NODE_ENV"]);

describe("deploy/env.example", () => {
  test("names every setting that is read", () => {
    // http_proxy is HTTP_PROXY in the spelling that some systems use.
    const names = [...settings()].map((name) => name.toUpperCase());
    expect(names.filter((name) => !documented.has(name) && !ofTheSystem.has(name))).toEqual([]);
  });

  test("names only settings, provider keys and variables of compose.yaml", () => {
    const known = settings().union(supervisorSettings);
    const strangers = [...documented].filter(
      (name) => !known.has(name) && !providerKeys.has(name) && !composeVariables.has(name),
    );
    expect(strangers).toEqual([]);
  });

  test("names every variable that compose.yaml reads", () => {
    expect([...composeVariables].filter((name) => !documented.has(name))).toEqual([]);
  });

  test("names each variable once, under a comment that begins with one line", () => {
    expect(documented.size).toBe(lines.length);
    for (const { name, comment } of lines) expect(comment, name).toMatch(/^# \S.{3,118}[.;:]?$/);
  });

  test("contains the actual defaults", () => {
    const { providerKey: _a, ...shown } = loadConfig(Object.fromEntries(lines.map(({ name, value }) => [name, value])));
    const { providerKey: _b, ...defaults } = loadConfig({ DATABASE_URL: shown.databaseUrl, NATS_URL: shown.natsUrl });
    expect(shown).toEqual(defaults);
  });

  test("has every variable of the table of settings, with its default", () => {
    const rows = listSettings(SETTINGS).flatMap(({ names, usual }) => names.map((name) => [name.toUpperCase(), usual]));
    const { DATABASE_URL: _a, NATS_URL: _b, ...expected } = Object.fromEntries(rows) as Record<string, string>;
    const shown = lines.filter(({ name }) => name in expected).map(({ name, value }) => [name, value]);
    expect(Object.fromEntries(shown)).toEqual(expected);
  });

  test("contains a value for every setting with a default", () => {
    const { DATABASE_URL, NATS_URL, ...rest } = Object.fromEntries(lines.map(({ name, value }) => [name, value]));
    expect(DATABASE_URL).toStartWith("postgres://");
    expect(NATS_URL).toStartWith("nats://");
    const empty = Object.keys(rest).filter((name) => rest[name] === "" && name.startsWith("SLUICE_"));
    // These have no fixed default: unset means none, or follows another setting.
    expect(new Set(empty)).toEqual(
      new Set([
        "SLUICE_FAILPOINT",
        "SLUICE_TRUSTED_PROXIES",
        "SLUICE_OUTBOUND_ALLOW",
        "SLUICE_PRODUCTION",
        "SLUICE_SANDBOX",
        "SLUICE_CATALOGUE",
        "SLUICE_CAPABILITIES_REQUIRE",
        "SLUICE_CAPABILITY_ISOLATION",
        "SLUICE_CHROMIUM",
        "SLUICE_LIBREOFFICE",
        "SLUICE_BOOTSTRAP_KEY",
        "SLUICE_PUBLIC_URL",
        "SLUICE_ADMIN_WORKSPACE",
        "SLUICE_LAG_TOKEN",
        "SLUICE_MAIL_FROM",
        "SLUICE_NATS_AUTH_SEED",
        "SLUICE_NATS_AUTH_XKEY_SEED",
        "SLUICE_OIDC_CLIENT_ID",
        "SLUICE_OIDC_CLIENT_SECRET",
        "SLUICE_OIDC_ISSUER",
        "SLUICE_OPERATOR_ALLOW",
        "SLUICE_OPERATOR_TOKEN",
        "SLUICE_POD_NAME",
        "SLUICE_SECRETS_KEY",
        "SLUICE_SECRETS_KEY_PREVIOUS",
        "SLUICE_SMTP_URL",
        "SLUICE_URL",
      ]),
    );
  });

  test("names the key of every provider in the catalogue, and no other", async () => {
    const text = await Bun.file(join(ROOT, "shared/calls/catalogue/providers.yaml")).text();
    const wanted = Array.from(text.matchAll(/^\s*api_key_env:\s*([A-Z0-9_]+)/gm), (match) => match[1] ?? "");
    expect(wanted.length).toBeGreaterThan(0);
    expect(providerKeys).toEqual(new Set(wanted));
  });
});
