/**
 * Table of all settings: the field in Config, the variable, default and bounds. rules.ts contains the rules between several settings.
 * deploy/env.example describes each setting for operators; a test compares its names and defaults with this table.
 */

import { isIP } from "node:net";

import { type Armed, parseFailpoint } from "../base/failpoint.ts";
import { isMailAddress } from "../base/mail-address.ts";
import { choice, convert, decimal, flag, integer, list, serverUrl, splitEntries, text, url } from "./kinds.ts";
import type { Reader, Setting, Table } from "./reader.ts";

const HTTP = ["http:", "https:"];
const HOUR_MS = 3_600_000;
const MIB = 1_048_576;
const GIB = 1_073_741_824;
const ADDRESS_RANGES = { accepts: isAddressRange, description: "addresses or ranges such as 10.0.0.0/8" };

// Defaults of other settings depend on these three.
const production = flag("SLUICE_PRODUCTION", { usual: (reader) => reader.text("NODE_ENV") === "production" });
const pace = decimal("SLUICE_PACE", { usual: 1, least: 0.05, most: 1 });
const callTotalMs = integer("SLUICE_CALL_TOTAL_MS", { usual: 600_000, least: 1_000, most: HOUR_MS });

export const SETTINGS = {
  /** Address of Postgres; empty when it is not set and the process does not need it. */
  databaseUrl: serverUrl("DATABASE_URL", {
    server: "database",
    example: "postgres://user:password@host:5432/sluice",
    protocols: ["postgres:", "postgresql:"],
  }),
  /** Maximum number of connections in the main pool of a process. */
  databasePoolMax: integer("SLUICE_DATABASE_POOL_MAX", { usual: 8, least: 6, most: 200 }),
  /** Address of NATS; empty when it is not set and the process does not need it. */
  natsUrl: serverUrl("NATS_URL", { server: "nats", example: "nats://host:4222", protocols: ["nats:", "tls:"] }),
  /** Passwords of the users in deploy/nats/server.conf, for roles whose NATS_URL contains no user. */
  natsPasswords: {
    ingress: text("NATS_INGRESS_PASSWORD", { secret: "value" }),
    worker: text("NATS_WORKER_PASSWORD", { secret: "value" }),
    workflow: text("NATS_WORKFLOW_PASSWORD", { secret: "value" }),
    janitor: text("NATS_JANITOR_PASSWORD", { secret: "value" }),
    auth: text("NATS_AUTH_PASSWORD", { secret: "value" }),
  },
  /** Private keys with which nats-auth signs its responses to NATS and decrypts requests. server.conf contains the public keys. */
  natsAuth: {
    issuerSeed: text("SLUICE_NATS_AUTH_SEED", {
      secret: "value",
      mustBe: {
        accepts: (seed) => /^SA[A-Z2-7]{56}$/.test(seed),
        description: "the seed of an account key, 58 characters that begin with SA",
      },
    }),
    curveSeed: text("SLUICE_NATS_AUTH_XKEY_SEED", {
      secret: "value",
      mustBe: {
        accepts: (seed) => /^SX[A-Z2-7]{56}$/.test(seed),
        description: "the seed of an xkey, 58 characters that begin with SX",
      },
    }),
    /** Maximum number of open connections of a workspace's batch publishers. */
    connectionsMax: integer("SLUICE_PUBLISHER_CONNECTIONS_MAX", { usual: 100, least: 1, most: 10_000 }),
  },
  s3: {
    endpoint: url("S3_ENDPOINT", { protocols: HTTP, secret: "password" }),
    region: text("AWS_REGION", { usual: "us-east-1" }),
    bucket: text("SLUICE_S3_BUCKET", { usual: "sluice" }),
    accessKeyId: text("AWS_ACCESS_KEY_ID"),
    secretAccessKey: text("AWS_SECRET_ACCESS_KEY", { secret: "value" }),
  },
  /** Public port of the ingress; 0 lets the system choose. */
  port: integer("PORT", { usual: 8080, least: 0, most: 65_535 }),
  host: text("SLUICE_HOST", { usual: "0.0.0.0" }),
  /** Port of `/metrics`, `/healthz` and `/readyz`; 0 lets the system choose, for several roles on one machine. */
  adminPort: integer("SLUICE_ADMIN_PORT", { usual: 9464, least: 0, most: 65_535 }),
  adminHost: text("SLUICE_ADMIN_HOST", { usual: "127.0.0.1" }),
  bootstrapKey: text("SLUICE_BOOTSTRAP_KEY", {
    secret: "value",
    mustBe: {
      accepts: (key) => isToken(key) && !/^sl[ko]_/.test(key),
      description: "20 to 200 characters of A-Z a-z 0-9 _ - that do not start with slk_ or slo_",
    },
  }),
  /**
   * Folder for the data of the services that `npm start` runs, relative to the working directory. The supervisor of `npm start` reads the
   * setting, too.
   */
  dataDir: text("SLUICE_DATA_DIR", { usual: ".sluice" }),
  /** Operator's catalogue files or folders, merged in this order over the files that ship with the service. */
  catalogueFiles: list("SLUICE_CATALOGUE"),
  /** True when sandbox models are offered. Default: not in production. */
  sandbox: flag("SLUICE_SANDBOX", { usual: (reader) => !reader.value(production) }),
  /** Maximum number of requests per IP address in ten minutes; 0 disables the limit. */
  ipLimit: integer("SLUICE_IP_LIMIT", { usual: 5_000, least: 0, most: 10_000_000 }),
  /** Addresses and ranges of proxies whose `X-Forwarded-For` is used. */
  trustedProxies: list("SLUICE_TRUSTED_PROXIES", { expects: ADDRESS_RANGES }),
  /** Private destinations that URLs from callers may reach, as `host:port`, addresses or address ranges. */
  outboundAllow: list("SLUICE_OUTBOUND_ALLOW", {
    expects: {
      accepts: (entry) => isHostAndPort(entry) || isAddressRange(entry),
      description: "entries such as media.lan:9000, 10.1.2.3 or 10.1.0.0/16",
    },
  }),
  logLevel: choice("SLUICE_LOG_LEVEL", {
    usual: "info",
    values: ["fatal", "error", "warn", "info", "debug", "trace", "silent"],
  }),
  /** True when the stricter defaults of production apply. Default: NODE_ENV is `production`. */
  production,
  /** Failpoint at which this process kills itself, for fault tests. */
  failpoint: { names: ["SLUICE_FAILPOINT"], usual: "", read: readFailpoint },
  /** Factor by which tests shorten waits. Constants for limits call readPace instead, because the Config does not exist yet. */
  pace,
  /** Factor by which tests shorten the time between two sweeps of a janitor. Default: the value of `pace`. */
  janitorPace: convert(decimal("SLUICE_JANITOR_PACE", { usual: 1, least: 0.05, most: 1 }), (value, reader) =>
    reader.text("SLUICE_JANITOR_PACE") === undefined ? reader.value(pace) : value,
  ),
  /** True when the process must exit once stdin closes. Stdin closes when its supervisor has ended. */
  supervised: flag("SLUICE_SUPERVISED", { usual: false }),
  /** Number of replicas of each stream on the NATS servers. */
  streamReplicas: integer("SLUICE_STREAM_REPLICAS", { usual: 1, least: 1, most: 5 }),
  /** True when an ingress reserves credits of busy workspaces, so that not every call needs its own hold. */
  creditLines: flag("SLUICE_CREDIT_LINES", { usual: true }),
  /** Maximum number of concurrent jobs of a worker process. */
  workerSlots: integer("SLUICE_WORKER_SLOTS", { usual: 224, least: 1, most: 4_096 }),
  /** Maximum number of outgoing calls that Bun opens at once. Further calls wait inside Bun. */
  outgoingMax: integer("BUN_CONFIG_MAX_HTTP_REQUESTS", { usual: 256, least: 1, most: 65_535 }),
  /** Maximum size of a request body, in bytes. Uploads have fileBytesMax. */
  bodyBytesMax: integer("SLUICE_BODY_BYTES_MAX", { usual: 32 * MIB, least: 1_024, most: 100 * MIB }),
  /** Maximum time that a caller waits for its media job, in milliseconds. Afterwards, the job continues without the caller. */
  mediaWaitMs: integer("SLUICE_MEDIA_WAIT_MS", { usual: 300_000, least: 0, most: HOUR_MS }),
  /** Maximum time that a media job is followed at its provider, in milliseconds. Some kinds of jobs have a shorter limit. */
  mediaTotalMs: integer("SLUICE_MEDIA_TOTAL_MS", { usual: HOUR_MS, least: 100, most: HOUR_MS }),
  /** Public URL of this installation, for links. If undefined, links use the origin of the request. */
  publicUrl: convert(url("SLUICE_PUBLIC_URL", { protocols: HTTP }), (value) => value?.replace(/\/+$/, "")),
  /** Maximum size of a stored file, in bytes. */
  fileBytesMax: integer("SLUICE_FILE_BYTES_MAX", { usual: 512 * MIB, least: 1_024, most: 16 * GIB }),
  /** Maximum storage of a workspace, in bytes. */
  storageBytesMax: integer("SLUICE_STORAGE_BYTES_MAX", { usual: 10 * GIB, least: 0, most: 2 ** 50 }),
  /** Maximum size of all media results that one pool of a process keeps in memory and on disk, in bytes. */
  resultBytesMax: integer("SLUICE_RESULT_BYTES_MAX", { usual: 512 * MIB, least: MIB, most: 2 ** 50 }),
  calls: {
    /** Maximum duration of a call, in milliseconds. */
    totalMs: callTotalMs,
    /** Maximum time that a call waits for a worker, in milliseconds. Afterwards, the call is rejected. */
    queueMs: integer("SLUICE_CALL_QUEUE_MS", { usual: 60_000, usualAtMost: callTotalMs, least: 100, most: HOUR_MS }),
    /** Maximum wait for the first byte of a stream, in milliseconds. */
    firstByteMs: limitToCall(integer("SLUICE_CALL_FIRST_BYTE_MS", { usual: 120_000, least: 100, most: HOUR_MS })),
    /** Maximum wait for the first byte of a stream that another source or model could serve, in milliseconds. */
    firstByteNextMs: integer("SLUICE_CALL_FIRST_BYTE_NEXT_MS", { usual: 45_000, least: 100, most: HOUR_MS }),
    /** Maximum time between two bytes of a stream, in milliseconds. */
    stallMs: integer("SLUICE_CALL_STALL_MS", { usual: 120_000, least: 100, most: HOUR_MS }),
    /** Maximum duration of a response without streaming, in milliseconds. It applies when another source or model could serve the call. */
    plainMs: limitToCall(integer("SLUICE_CALL_PLAIN_MS", { usual: 300_000, least: 100, most: HOUR_MS })),
  },
  /** True when calls to providers use a proxy. Bun's fetch reads the proxy from the environment. */
  hasProxy: presence(["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"]),
  /** Time for running work to end after SIGTERM before it returns to the queue, in milliseconds. */
  graceMs: integer("SLUICE_GRACE_MS", { usual: 30_000, least: 0, most: HOUR_MS }),
  /** Maximum time that a starting role waits for Postgres and NATS, in milliseconds. */
  startWaitMs: integer("SLUICE_START_WAIT_MS", { usual: 300_000, least: 0, most: HOUR_MS }),
  /** Hours that a job is kept after its end. A batch message that is repeated later creates a new job. */
  jobRetentionHours: integer("SLUICE_JOB_RETENTION_HOURS", { usual: 168, least: 1, most: 8_760 }),
  /** Hours that a workflow run is kept after its end. */
  runRetentionHours: integer("SLUICE_RUN_RETENTION_HOURS", { usual: 720, least: 1, most: 8_760 }),
  /** Hours that the input of a workflow run is kept after its end. */
  runInputHours: integer("SLUICE_RUN_INPUT_HOURS", { usual: 24, least: 1, most: 8_760 }),
  /** Days that a delivery of a notification is kept after its end, with its attempts. */
  deliveryRetentionDays: integer("SLUICE_DELIVERY_RETENTION_DAYS", { usual: 30, least: 1, most: 3_650 }),
  /** Days that entries of the audit log and records of reached budgets are kept. */
  auditLogRetentionDays: integer("SLUICE_AUDIT_LOG_RETENTION_DAYS", { usual: 730, least: 30, most: 36_500 }),
  /** Days that dead letters and resolved settle faults are kept. */
  faultRetentionDays: integer("SLUICE_FAULT_RETENTION_DAYS", { usual: 90, least: 1, most: 3_650 }),
  /** Hours that a stored response is kept. */
  responseRetentionHours: integer("SLUICE_RESPONSE_RETENTION_HOURS", { usual: 720, least: 1, most: 8_760 }),
  /** Maximum hours that workspaces may keep requests and responses of calls; 0 forbids it. */
  bodyRetentionHoursMax: integer("SLUICE_BODY_RETENTION_HOURS_MAX", { usual: 720, least: 0, most: 720 }),
  /** Hours that an ended batch is kept, with its lines. Its files have their own expiry. */
  batchRetentionHours: integer("SLUICE_BATCH_RETENTION_HOURS", { usual: 720, least: 1, most: 8_760 }),
  /** Price of a batch line relative to the normal price, in millionths. */
  batchPriceMillionths: convert(decimal("SLUICE_BATCH_PRICE_FACTOR", { usual: 1, least: 0.01, most: 1 }), (factor) =>
    Math.round(factor * 1_000_000),
  ),
  /** True when the capability code.run_python is available. */
  python: flag("SLUICE_PYTHON", { usual: false }),
  /** Capabilities that are required. A worker of the capabilities' pool does not start without them. */
  capabilitiesRequired: list("SLUICE_CAPABILITIES_REQUIRE"),
  /** True when engines of native code are only available with process isolation. */
  needsIsolation: flag("SLUICE_CAPABILITY_ISOLATION", { usual: (reader) => reader.value(production) }),
  /** Path of a Chromium executable. If undefined, the packaged one is used. */
  chromium: text("SLUICE_CHROMIUM"),
  /** Path of the soffice executable. If undefined, it is searched on PATH. */
  libreoffice: text("SLUICE_LIBREOFFICE"),
  /** Hours after which a job without a known result is written off. Its credits are held until then. */
  unknownOutcomeHours: integer("SLUICE_UNKNOWN_OUTCOME_HOURS", { usual: 24, least: 1, most: 720 }),
  /** Encryption keys of stored credentials, 32 bytes each. The first key encrypts; all keys decrypt. */
  secretsKeys: sealingKeys("SLUICE_SECRETS_KEY", "SLUICE_SECRETS_KEY_PREVIOUS"),
  /** URL of the SMTP server. If undefined, no mail is sent. */
  smtpUrl: url("SLUICE_SMTP_URL", { protocols: ["smtp:", "smtps:"], secret: "password" }),
  mailFrom: text("SLUICE_MAIL_FROM", {
    usual: "",
    mustBe: { accepts: isMailAddress, description: 'one address such as "sluice@example.com"' },
  }),
  /** Id or name of the workspace whose channels receive events of the installation. */
  adminWorkspace: text("SLUICE_ADMIN_WORKSPACE"),
  /** Token with every right under /operator. */
  operatorToken: text("SLUICE_OPERATOR_TOKEN", {
    secret: "value",
    mustBe: { accepts: isToken, description: "20 to 200 characters of A-Z a-z 0-9 _ -" },
  }),
  traces: {
    /** Base URL of an OpenTelemetry collector (OTLP over HTTP). If undefined, no traces are sent. */
    endpoint: url("OTEL_EXPORTER_OTLP_ENDPOINT", { protocols: HTTP }),
    /** Share of calls that are traced, from 0 to 1. */
    sample: decimal("SLUICE_TRACE_SAMPLE", { usual: 0.01, least: 0, most: 1 }),
    /** True when the `traceparent` of a request is the parent of its trace and decides whether it is traced. */
    trust: flag("SLUICE_TRACE_TRUST", { usual: false }),
  },
  /** Token that `/lag` on a janitor's admin port requires. If undefined, the page does not exist. */
  lagToken: text("SLUICE_LAG_TOKEN", {
    secret: "value",
    mustBe: { accepts: isToken, description: "20 to 200 characters of A-Z a-z 0-9 _ -" },
  }),
  /** Name of the worker's pod on Kubernetes. The worker reports the deletion cost of this pod; if undefined, it reports none. */
  podName: text("SLUICE_POD_NAME"),
  /** OpenID Connect issuer at which people sign in. If undefined, people can only sign in with keys. */
  oidc: {
    issuer: text("SLUICE_OIDC_ISSUER", {
      mustBe: { accepts: isIssuer, description: "an https address, or http on this machine" },
    }),
    clientId: text("SLUICE_OIDC_CLIENT_ID"),
    clientSecret: text("SLUICE_OIDC_CLIENT_SECRET", { secret: "value" }),
  },
  /** URL of the service that the admin command calls. If undefined, it calls the service on this machine. */
  serviceUrl: url("SLUICE_URL", { protocols: HTTP }),
  /** IP addresses and ranges that may call /operator. If empty, all may. */
  operatorAllow: list("SLUICE_OPERATOR_ALLOW", { expects: ADDRESS_RANGES }),
} satisfies Table;

/** Limits the timeout of one part of a call to the maximum duration of the whole call. */
function limitToCall(setting: Setting<number>): Setting<number> {
  return convert(setting, (ms, reader) => Math.min(ms, reader.value(callTotalMs)));
}

/** Returns a setting that is true when one of these variables is set. */
function presence(names: readonly string[]): Setting<boolean> {
  return { names, usual: "", read: (reader) => names.some((name) => reader.text(name) !== undefined) };
}

function sealingKeys(current: string, previous: string): Setting<readonly Uint8Array[]> {
  const names = [current, previous];
  const read = (reader: Reader): readonly Uint8Array[] => {
    const keys: Uint8Array[] = [];
    for (const name of names) {
      for (const value of splitEntries(reader.text(name))) {
        const key = Buffer.from(value, "base64");
        if (key.length === 32) keys.push(new Uint8Array(key));
        else reader.addFault(`${name} must be 32 bytes in base64, got ${key.length} bytes`);
      }
    }
    if (keys.length > 0 && reader.text(current) === undefined) {
      reader.addFault(`${previous} is set without ${current}, which encrypts`);
    }
    return Object.freeze(keys);
  };
  return { names, usual: "", secret: "value", read };
}

function readFailpoint(reader: Reader): Armed | undefined {
  const value = reader.text("SLUICE_FAILPOINT");
  if (value === undefined) return undefined;
  const failpoint = parseFailpoint(value);
  if (reader.value(production)) reader.addFault("SLUICE_FAILPOINT is for tests, not for production");
  else if (!failpoint) {
    reader.addFault(
      `SLUICE_FAILPOINT expects a failpoint such as job.begun or job.begun:2, got "${value.slice(0, 40)}"`,
    );
  }
  return failpoint;
}

function isIssuer(value: string): boolean {
  if (!URL.canParse(value)) return false;
  const { protocol, hostname } = new URL(value);
  return protocol === "https:" || (protocol === "http:" && ["localhost", "127.0.0.1", "[::1]"].includes(hostname));
}

function isToken(value: string): boolean {
  return /^[A-Za-z0-9_-]{20,200}$/.test(value);
}

/** Matches a port after a host name, an IPv4 address or an IPv6 address in brackets. */
const HOST_AND_PORT = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\]):[1-9]\d{0,4}$/i;

function isHostAndPort(entry: string): boolean {
  return HOST_AND_PORT.test(entry) && URL.canParse(`http://${entry}/`);
}

function isAddressRange(entry: string): boolean {
  const [address = "", prefix, ...rest] = entry.split("/");
  const bits = isIP(address) === 6 ? 128 : 32;
  if (isIP(address) === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) > 0 && Number(prefix) <= bits);
}
