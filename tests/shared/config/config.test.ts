import { describe, expect, test } from "bun:test";

import { CLIENT_VARIABLES, loadConfig } from "#shared/config/config.ts";

const MINIMAL = { DATABASE_URL: "postgres://sluice:hunter2hunter2@db:5432/sluice", NATS_URL: "nats://queue:4222" };

/** Returns the error of a start in this environment; undefined when it is accepted. */
function complaint(environment: Record<string, string>): string | undefined {
  try {
    loadConfig({ ...MINIMAL, ...environment });
    return undefined;
  } catch (error) {
    return error instanceof Error ? error.message : String(error);
  }
}

describe("settings", () => {
  test("have defaults for everything except the two addresses", () => {
    const config = loadConfig(MINIMAL);
    expect(config).toMatchObject({
      port: 8080,
      host: "0.0.0.0",
      adminPort: 9464,
      adminHost: "127.0.0.1",
      sandbox: true,
      production: false,
      ipLimit: 5_000,
      logLevel: "info",
      catalogueFiles: [],
    });
    expect(config.s3).toMatchObject({ region: "us-east-1", bucket: "sluice" });
  });

  test("are frozen, including nested ones", () => {
    const config = loadConfig({ ...MINIMAL, SLUICE_CATALOGUE: "a.yaml, b.yaml" });
    expect(Object.isFrozen(config)).toBe(true);
    expect(Object.isFrozen(config.s3)).toBe(true);
    expect(Object.isFrozen(config.calls)).toBe(true);
    expect(Object.isFrozen(config.catalogueFiles)).toBe(true);
    expect(config.catalogueFiles).toEqual(["a.yaml", "b.yaml"]);
  });

  test("treat an empty variable as unset", () => {
    expect(loadConfig({ ...MINIMAL, PORT: "", SLUICE_BOOTSTRAP_KEY: " " })).toMatchObject({ port: 8080 });
  });

  test("disable the sandbox in production, and reject its activation there", () => {
    for (const production of [{ SLUICE_PRODUCTION: "on" }, { NODE_ENV: "production" }]) {
      const loaded = loadConfig({ ...MINIMAL, ...production });
      expect([loaded.production, loaded.sandbox]).toEqual([true, false]);
      expect(complaint({ ...production, SLUICE_SANDBOX: "on" })).toStartWith("SLUICE_SANDBOX ");
    }
  });

  test("use the operator's address for links in production, not the client's", () => {
    const production = { ...MINIMAL, SLUICE_PRODUCTION: "on" };
    const serving = { servesClients: true };
    expect(() => loadConfig(production, serving)).toThrow(/^SLUICE_PUBLIC_URL is not set; .* https:\/\//);
    const { publicUrl } = loadConfig({ ...production, SLUICE_PUBLIC_URL: "https://ai.example.com/" }, serving);
    expect(publicUrl).toBe("https://ai.example.com");
    expect(loadConfig(MINIMAL, serving).publicUrl).toBeUndefined();
    expect(loadConfig(production).publicUrl).toBeUndefined();
  });

  test("prefer SLUICE_PRODUCTION to NODE_ENV", () => {
    const loaded = loadConfig({ ...MINIMAL, NODE_ENV: "production", SLUICE_PRODUCTION: "off", SLUICE_SANDBOX: "on" });
    expect([loaded.production, loaded.sandbox]).toEqual([false, true]);
    expect(loadConfig({ ...MINIMAL, NODE_ENV: "development" }).production).toBe(false);
  });

  test("require isolation for engines of native code in production, unless disabled", () => {
    expect(loadConfig(MINIMAL).needsIsolation).toBe(false);
    expect(loadConfig({ ...MINIMAL, SLUICE_PRODUCTION: "on" }).needsIsolation).toBe(true);
    const off = { SLUICE_PRODUCTION: "on", SLUICE_CAPABILITY_ISOLATION: "off" };
    expect(loadConfig({ ...MINIMAL, ...off }).needsIsolation).toBe(false);
    expect(complaint({ SLUICE_CAPABILITY_ISOLATION: "no" })).toBe(
      'SLUICE_CAPABILITY_ISOLATION must be on or off, got "no"',
    );
  });

  test("reject failpoints in production", () => {
    const SLUICE_FAILPOINT = "job.begun:2";
    expect(loadConfig({ ...MINIMAL, SLUICE_FAILPOINT }).failpoint).toEqual({ at: "job.begun", pass: 2 });
    expect(complaint({ SLUICE_FAILPOINT, SLUICE_PRODUCTION: "on" })).toStartWith("SLUICE_FAILPOINT ");
    expect(complaint({ SLUICE_PACE: "0.2", SLUICE_PRODUCTION: "on" })).toStartWith("SLUICE_PACE ");
    expect(complaint({ SLUICE_JANITOR_PACE: "0.2", SLUICE_PRODUCTION: "on" })).toStartWith("SLUICE_JANITOR_PACE ");
    expect(loadConfig({ ...MINIMAL, SLUICE_PACE: "0.2" }).janitorPace).toBe(0.2);
    expect(loadConfig({ ...MINIMAL, SLUICE_PACE: "0.2", SLUICE_JANITOR_PACE: "1" }).janitorPace).toBe(1);
  });

  test("require a client for an OpenID issuer, and a public address, if clients are served", () => {
    const issuer = { ...MINIMAL, SLUICE_OIDC_ISSUER: "https://id.example.com", SLUICE_OIDC_CLIENT_ID: "sluice" };
    const serving = { servesClients: true };
    const whole = { ...issuer, SLUICE_OIDC_CLIENT_SECRET: "a-secret", SLUICE_PUBLIC_URL: "https://ai.example.com" };
    expect(loadConfig(whole, serving).oidc.clientId).toBe("sluice");
    expect(() => loadConfig({ ...whole, SLUICE_OIDC_CLIENT_SECRET: "" }, serving)).toThrow("are set together");
    expect(() => loadConfig({ ...whole, SLUICE_PUBLIC_URL: "" }, serving)).toThrow("SLUICE_PUBLIC_URL is not set");
    expect(loadConfig(issuer).oidc.clientSecret).toBeUndefined();
  });

  test("reject a workspace key as token of operators", () => {
    const SLUICE_OPERATOR_TOKEN = "one-and-the-same-secret";
    const faults = complaint({ SLUICE_OPERATOR_TOKEN, SLUICE_BOOTSTRAP_KEY: SLUICE_OPERATOR_TOKEN });
    expect(faults).toStartWith("SLUICE_OPERATOR_TOKEN must differ");
    expect(faults).not.toContain(SLUICE_OPERATOR_TOKEN);
  });

  test("limit the first byte to the time of the whole call", () => {
    const { calls } = loadConfig({ ...MINIMAL, SLUICE_CALL_TOTAL_MS: "1000", SLUICE_CALL_FIRST_BYTE_MS: "5000" });
    expect(calls.firstByteMs).toBe(1_000);
  });

  test("abort a silent stream within a minute if another source could serve it", () => {
    expect(loadConfig(MINIMAL).calls).toMatchObject({ firstByteMs: 120_000, firstByteNextMs: 45_000 });
  });

  test.each(["DATABASE_URL", "NATS_URL"])("name a missing %s", (name) => {
    expect(complaint({ [name]: "" })).toStartWith(`${name} `);
  });

  test.each([
    ["DATABASE_URL", "mysql://db/sluice"],
    ["DATABASE_URL", "not a url"],
    ["NATS_URL", "http://queue:4222"],
    ["NATS_URL", "nats://a:4222,queue"],
    ["S3_ENDPOINT", "objects:9000x"],
    ["PORT", "80a"],
    ["PORT", "65536"],
    ["PORT", "-1"],
    ["SLUICE_ADMIN_PORT", "1e3"],
    ["SLUICE_SANDBOX", "maybe"],
    ["SLUICE_PRODUCTION", "yes"],
    ["SLUICE_LOG_LEVEL", "verbose"],
    ["SLUICE_RUN_INPUT_HOURS", "0"],
    ["SLUICE_RUN_INPUT_HOURS", "8761"],
    ["SLUICE_DELIVERY_RETENTION_DAYS", "0"],
    ["SLUICE_AUDIT_LOG_RETENTION_DAYS", "29"],
    ["SLUICE_FAULT_RETENTION_DAYS", "-1"],
    ["SLUICE_RESPONSE_RETENTION_HOURS", "0"],
    ["SLUICE_BODY_RETENTION_HOURS_MAX", "721"],
    ["SLUICE_RESPONSE_RETENTION_HOURS", "8761"],
    ["SLUICE_BATCH_RETENTION_HOURS", "0"],
    ["SLUICE_BATCH_PRICE_FACTOR", "0"],
    ["SLUICE_BATCH_PRICE_FACTOR", "1.5"],
    ["SLUICE_BOOTSTRAP_KEY", "short"],
    ["SLUICE_BOOTSTRAP_KEY", "slk_0123456789012345678901234567890123"],
    ["SLUICE_BOOTSTRAP_KEY", "slo_0123456789012345678901234567890123"],
    ["SLUICE_OPERATOR_TOKEN", "short"],
    ["SLUICE_LAG_TOKEN", "short"],
    ["OTEL_EXPORTER_OTLP_ENDPOINT", "grpc://collector:4317"],
    ["SLUICE_TRACE_SAMPLE", "2"],
    ["SLUICE_TRACE_TRUST", "maybe"],
    ["SLUICE_OIDC_ISSUER", "http://id.example.com"],
    ["SLUICE_OIDC_ISSUER", "id.example.com"],
    ["SLUICE_NATS_AUTH_SEED", "SUAGPEKHRTFC4NKG2OOPRXCZNHCVHNGY2LFB2QEKLDDMHS7BG7YXZDCO3U"],
    ["SLUICE_NATS_AUTH_XKEY_SEED", "SX"],
    ["SLUICE_PUBLISHER_CONNECTIONS_MAX", "0"],
    ["SLUICE_OPERATOR_ALLOW", "10.0.0.0/33"],
    ["SLUICE_IP_LIMIT", "many"],
    ["SLUICE_DATABASE_POOL_MAX", "2"],
    ["SLUICE_STREAM_REPLICAS", "0"],
    ["SLUICE_WORKER_SLOTS", "0"],
    ["SLUICE_BODY_BYTES_MAX", "1023"],
    ["SLUICE_CALL_TOTAL_MS", "999"],
    ["SLUICE_CALL_FIRST_BYTE_MS", "0.5"],
    ["SLUICE_CALL_STALL_MS", "∞"],
    ["SLUICE_GRACE_MS", "30s"],
    ["SLUICE_PACE", "0"],
    ["SLUICE_PACE", "2"],
    ["SLUICE_JANITOR_PACE", "2"],
    ["SLUICE_FAILPOINT", "job.nowhere"],
    ["SLUICE_FAILPOINT", "job.begun:0"],
    ["SLUICE_FAILPOINT", "job.begun:1:2"],
  ])("%s rejects %p by name", (name, value) => {
    expect(complaint({ [name]: value })).toStartWith(`${name} `);
  });

  test.each([
    ["SLUICE_SANDBX", "; did you mean SLUICE_SANDBOX?"],
    ["SLUICE_PORT", "; did you mean PORT?"],
    ["SLUICE_DATABASE_URL", "; did you mean DATABASE_URL?"],
    ["SLUICE_WORD_OF_ANOTHER_VERSION", ""],
    [`SLUICE_${"X".repeat(5_000)}`, ""],
  ])("%.40s stops the start, with the nearest setting", (name, hint) => {
    expect(complaint({ [name]: "on" })).toBe(`${name} is not a setting of this version${hint}`);
  });

  test.each(CLIENT_VARIABLES)("%s of a client is ignored", (name) => {
    expect(complaint({ [name]: "sk_local_canary" })).toBeUndefined();
    expect(complaint({ [`${name}S`]: "1" })).toBe(`${name}S is not a setting of this version; did you mean ${name}?`);
  });

  test("ignore variables of other programs", () => {
    expect(complaint({ PATH: "/bin", SLUICELIKE: "1", OPENAI_API_KEY: "sk-x" })).toBeUndefined();
  });

  test("report every error of a start", () => {
    const lines = complaint({ PORT: "x", SLUICE_SANDBOX: "x", SLUICE_TYPO: "x" })?.split("\n") ?? [];
    expect(new Set(lines.map((line) => line.split(" ")[0]))).toEqual(
      new Set(["PORT", "SLUICE_SANDBOX", "SLUICE_TYPO"]),
    );
  });

  test("do not repeat rejected secrets", () => {
    const secrets = {
      DATABASE_URL: "http://sluice:canary-database@db/sluice",
      NATS_URL: "ftp://user:canary-queue@queue",
      SLUICE_BOOTSTRAP_KEY: "canary key",
      SLUICE_CANARY_TYPO: "canary-value",
      S3_ENDPOINT: "ftp://canary-user:canary-objects@s3",
      AWS_SECRET_ACCESS_KEY: "canary-aws",
    };
    const said = complaint(secrets) ?? "";
    expect(said).toContain("SLUICE_BOOTSTRAP_KEY");
    for (const value of Object.values(secrets)) expect(said).not.toContain(value);
    expect(said).not.toMatch(/canary-(database|queue|objects|value|aws)|canary key/);
  });
});

describe("provider keys", () => {
  const config = loadConfig({ ...MINIMAL, OPENAI_API_KEY: " sk-live ", EMPTY_API_KEY: "", lower_api_key: "x" });

  test("are read from variables that end in _API_KEY", () => {
    expect(config.providerKey("OPENAI_API_KEY")).toBe("sk-live");
    expect(config.providerKey("EMPTY_API_KEY")).toBeUndefined();
    expect(config.providerKey("UNSET_API_KEY")).toBeUndefined();
  });

  test("no other variable can be read through a catalogue file", () => {
    for (const name of ["DATABASE_URL", "lower_api_key", "SLUICE_BOOTSTRAP_KEY", "AWS_SECRET_ACCESS_KEY", "PATH"]) {
      expect(config.providerKey(name)).toBeUndefined();
    }
  });
});
