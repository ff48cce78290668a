/**
 * Every setting, read once from the environment, validated, frozen. This is the only file that reads the environment.
 * A variable that starts with SLUICE_ and is not listed here stops the start: a misspelt setting must not be ignored.
 */

import { isIP } from "node:net";

import { createReader, type Environment, type Server } from "./config/reader.ts";
import { PROVIDER_KEY_VARIABLE, secretsOf } from "./config/secrets.ts";
import { type Armed, parseFailpoint } from "./failpoint.ts";
import { isMailAddress } from "./mail-address.ts";

export interface Config {
  readonly databaseUrl: string;
  readonly databasePoolMax: number;
  /** Empty, like the one above, when it is unset and the process does not need it. */
  readonly natsUrl: string;
  readonly s3: {
    readonly endpoint: string | undefined;
    readonly region: string;
    readonly bucket: string;
    readonly accessKeyId: string | undefined;
    readonly secretAccessKey: string | undefined;
  };
  readonly port: number;
  readonly host: string;
  /** 0 lets the system choose: used where several roles share one machine. */
  readonly adminPort: number;
  readonly adminHost: string;
  readonly bootstrapKey: string | undefined;
  /** Folder of the stack that `npm start` runs, relative to the working directory. */
  readonly dataDir: string;
  /** Operators' catalogue files or folders, merged over ours in this order. */
  readonly catalogueFiles: readonly string[];
  readonly sandbox: boolean;
  /** Requests per IP address in ten minutes; 0 switches the net off. */
  readonly ipLimit: number;
  readonly trustedProxies: readonly string[];
  /** Destinations beside the public internet that callers' URLs may reach: `host:port`, addresses, ranges. */
  readonly outboundAllow: readonly string[];
  readonly logLevel: "fatal" | "error" | "warn" | "info" | "debug" | "trace" | "silent";
  readonly production: boolean;
  /** Failpoint at which this process dies (fault tests). */
  readonly failpoint: Armed | undefined;
  /** A supervisor holds our stdin open; when it closes, the supervisor is gone and so are we. */
  readonly supervised: boolean;
  readonly streamReplicas: number;
  readonly workerSlots: number;
  /** Outgoing calls that Bun has open at once; more of them wait unseen. */
  readonly outgoingMax: number;
  readonly bodyBytesMax: number;
  /** Longest wait of a caller for its media job; the job goes on. */
  readonly mediaWaitMs: number;
  /** The longest that a media job is followed at its provider, where its kind has no shorter bound. */
  readonly mediaTotalMs: number;
  /** Public address of this installation, for links; undefined: the origin that the request came to. */
  readonly publicUrl: string | undefined;
  /** One file of the file store, and all of a workspace's. */
  readonly fileBytesMax: number;
  readonly storageBytesMax: number;
  /** Results that the jobs of one pool hold in one process, in memory and on the disk. */
  readonly resultBytesMax: number;
  readonly calls: {
    readonly totalMs: number;
    /** A call that no worker has taken by then is given up. */
    readonly queueMs: number;
    readonly firstByteMs: number;
    /** Likewise, of a stream that another source or model could serve instead. */
    readonly firstByteNextMs: number;
    readonly stallMs: number;
    /** A plain answer that another source or model could give instead may take this long. */
    readonly plainMs: number;
  };
  /** Calls to providers go by a proxy, as Bun's fetch reads it from the environment. */
  readonly hasProxy: boolean;
  /** Time that running work has after SIGTERM before it is handed back. */
  readonly graceMs: number;
  /** Longest wait of a start for Postgres and NATS while they are away. */
  readonly startWaitMs: number;
  /** Ended jobs can be asked for this long; a message repeated after it makes a new job. */
  readonly jobRetentionHours: number;
  /** Hours that a run is kept after its end, and its input. */
  readonly runRetentionHours: number;
  readonly runInputHours: number;
  /** Scripts in a subset of Python are run. */
  readonly python: boolean;
  /** Capabilities without which a worker of their pool does not start. */
  readonly capabilitiesRequired: readonly string[];
  /** Engines of native code run in isolated children, or not at all. */
  readonly needsIsolation: boolean;
  /** Path of a Chromium; undefined: the packaged one. */
  readonly chromium: string | undefined;
  /** Path of soffice; undefined: as the system finds it. */
  readonly libreoffice: string | undefined;
  /** A job whose provider never tells what became of it is written off after this long; until then its hold stays. */
  readonly unknownOutcomeHours: number;
  /** Values that must never be printed, whatever they look like. */
  readonly secrets: readonly string[];
  /** Keys that seal stored credentials, of 32 bytes: the first one seals, all of them open. */
  readonly secretsKeys: readonly Uint8Array[];
  /** URL of the SMTP server; undefined: this installation sends no mail. */
  readonly smtpUrl: string | undefined;
  readonly mailFrom: string;
  /** Id or name of the workspace whose members are notified of what concerns the installation. */
  readonly adminWorkspace: string | undefined;
  /** An operator's token for /operator, with every right. */
  readonly operatorToken: string | undefined;
  /** Addresses and ranges that /operator answers; empty: all. */
  readonly operatorAllow: readonly string[];
  /** Value of a provider-key variable such as OPENAI_API_KEY; undefined when unset or empty. */
  readonly providerKey: (variable: string) => string | undefined;
}

const KNOWN = new Set([
  "SLUICE_ADMIN_HOST",
  "SLUICE_ADMIN_WORKSPACE",
  "SLUICE_ADMIN_PORT",
  "SLUICE_BODY_BYTES_MAX",
  "SLUICE_BOOTSTRAP_KEY",
  "SLUICE_CAPABILITIES_REQUIRE",
  "SLUICE_CAPABILITY_ISOLATION",
  "SLUICE_CATALOGUE",
  "SLUICE_CHROMIUM",
  "SLUICE_LIBREOFFICE",
  "SLUICE_CALL_FIRST_BYTE_MS",
  "SLUICE_CALL_FIRST_BYTE_NEXT_MS",
  "SLUICE_CALL_PLAIN_MS",
  "SLUICE_CALL_QUEUE_MS",
  "SLUICE_CALL_STALL_MS",
  "SLUICE_CALL_TOTAL_MS",
  "SLUICE_DATABASE_POOL_MAX",
  // Read by the supervisor of `npm start`.
  "SLUICE_DATA_DIR",
  "SLUICE_FAILPOINT",
  "SLUICE_FILE_BYTES_MAX",
  "SLUICE_GRACE_MS",
  "SLUICE_HOST",
  "SLUICE_IP_LIMIT",
  "SLUICE_JOB_RETENTION_HOURS",
  "SLUICE_RUN_INPUT_HOURS",
  "SLUICE_RUN_RETENTION_HOURS",
  // Read by the supervisor of `npm start`, which renders the roles' JSON lines.
  "SLUICE_LOG_FORMAT",
  "SLUICE_LOG_LEVEL",
  "SLUICE_MAIL_FROM",
  "SLUICE_OPERATOR_ALLOW",
  "SLUICE_OPERATOR_TOKEN",
  "SLUICE_OUTBOUND_ALLOW",
  "SLUICE_PACE",
  "SLUICE_MEDIA_TOTAL_MS",
  "SLUICE_MEDIA_WAIT_MS",
  "SLUICE_PRODUCTION",
  "SLUICE_PUBLIC_URL",
  "SLUICE_PYTHON",
  "SLUICE_RESULT_BYTES_MAX",
  "SLUICE_S3_BUCKET",
  "SLUICE_SANDBOX",
  "SLUICE_SECRETS_KEY",
  "SLUICE_SECRETS_KEY_PREVIOUS",
  "SLUICE_SMTP_URL",
  "SLUICE_STORAGE_BYTES_MAX",
  "SLUICE_START_WAIT_MS",
  "SLUICE_STREAM_REPLICAS",
  "SLUICE_SUPERVISED",
  "SLUICE_TRUSTED_PROXIES",
  "SLUICE_UNKNOWN_OUTCOME_HOURS",
  "SLUICE_WORKER_SLOTS",
]);

const LOG_LEVELS = ["fatal", "error", "warn", "info", "debug", "trace", "silent"] as const;

/**
 * Validated settings from an environment. Every fault is collected, so one start names them all. `needs` lists the
 * servers whose address must be set; others may be, and are validated then. `servesClients`: it answers with links.
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
    if (name.startsWith("SLUICE_") && !KNOWN.has(name)) faults.push(`${name} is not a setting of this version`);
  }
  const { text, address, url, integer, flag, list } = createReader(environment, needs, faults);

  const databaseUrl = address("database", "DATABASE_URL", "postgres://user:password@host:5432/sluice");
  url("DATABASE_URL", databaseUrl, ["postgres:", "postgresql:"]);
  const natsUrl = address("nats", "NATS_URL", "nats://host:4222");
  url("NATS_URL", natsUrl, ["nats:", "tls:"]);
  const endpoint = text("S3_ENDPOINT");
  url("S3_ENDPOINT", endpoint, ["http:", "https:"]);

  const publicUrl = text("SLUICE_PUBLIC_URL");
  url("SLUICE_PUBLIC_URL", publicUrl, ["http:", "https:"]);

  const bootstrapKey = text("SLUICE_BOOTSTRAP_KEY");
  if (bootstrapKey !== undefined && (!/^[A-Za-z0-9_-]{20,200}$/.test(bootstrapKey) || /^sl[ko]_/.test(bootstrapKey))) {
    faults.push("SLUICE_BOOTSTRAP_KEY must be 20 to 200 characters of A-Z a-z 0-9 _ - and not start with slk_ or slo_");
  }
  const operatorToken = text("SLUICE_OPERATOR_TOKEN");
  if (operatorToken !== undefined && !/^[A-Za-z0-9_-]{20,200}$/.test(operatorToken)) {
    faults.push("SLUICE_OPERATOR_TOKEN must be 20 to 200 characters of A-Z a-z 0-9 _ -");
  }
  if (operatorToken !== undefined && operatorToken === bootstrapKey) {
    faults.push(
      "SLUICE_OPERATOR_TOKEN must differ from SLUICE_BOOTSTRAP_KEY: one is of operators, the other of a workspace",
    );
  }
  for (const entry of list("SLUICE_OPERATOR_ALLOW")) {
    if (!isAddressRange(entry)) {
      faults.push(`SLUICE_OPERATOR_ALLOW expects addresses or ranges such as 10.0.0.0/8, got "${entry.slice(0, 40)}"`);
    }
  }
  const secretsKeys: Uint8Array[] = [];
  for (const name of ["SLUICE_SECRETS_KEY", "SLUICE_SECRETS_KEY_PREVIOUS"]) {
    for (const value of list(name)) {
      const key = Buffer.from(value, "base64");
      if (key.length === 32) secretsKeys.push(new Uint8Array(key));
      else faults.push(`${name} must be 32 bytes in base64, got ${key.length} bytes`);
    }
  }
  if (secretsKeys.length > 0 && text("SLUICE_SECRETS_KEY") === undefined) {
    faults.push("SLUICE_SECRETS_KEY_PREVIOUS is set without SLUICE_SECRETS_KEY, which seals");
  }
  const smtpUrl = text("SLUICE_SMTP_URL");
  url("SLUICE_SMTP_URL", smtpUrl, ["smtp:", "smtps:"]);
  const mailFrom = text("SLUICE_MAIL_FROM");
  if (smtpUrl !== undefined && mailFrom === undefined) faults.push("SLUICE_MAIL_FROM is not set; mail needs a sender");
  if (mailFrom !== undefined && !isMailAddress(mailFrom)) {
    faults.push('SLUICE_MAIL_FROM must be one address such as "sluice@example.com"');
  }
  const logLevel = LOG_LEVELS.find((level) => level === (text("SLUICE_LOG_LEVEL") ?? "info"));
  if (logLevel === undefined) faults.push(`SLUICE_LOG_LEVEL must be one of ${LOG_LEVELS.join(", ")}`);

  const workerSlots = integer("SLUICE_WORKER_SLOTS", 224, 1, 4_096);
  const outgoingMax = integer("BUN_CONFIG_MAX_HTTP_REQUESTS", 256, 1, 65_535);
  const outgoingWanted = workerSlots + Math.max(1, Math.floor(workerSlots / 8));
  if (outgoingWanted > outgoingMax) {
    // Beyond it Bun queues outgoing calls silently: a job would hold its slot while its provider call waits.
    faults.push(
      `SLUICE_WORKER_SLOTS ${workerSlots} and its batch share need BUN_CONFIG_MAX_HTTP_REQUESTS of at least ${outgoingWanted}, got ${outgoingMax}`,
    );
  }
  const production = flag("SLUICE_PRODUCTION", text("NODE_ENV") === "production");
  const sandbox = flag("SLUICE_SANDBOX", !production);
  if (sandbox && production) {
    faults.push("SLUICE_SANDBOX must not be on in production: set it to off, or SLUICE_PRODUCTION to off");
  }
  if (production && servesClients && publicUrl === undefined) {
    // A client may name any host, and a cache in front of us would hand its links to others.
    faults.push("SLUICE_PUBLIC_URL is not set; links name it in production, for example https://ai.example.com");
  }
  const failpointText = text("SLUICE_FAILPOINT");
  const failpoint = failpointText === undefined ? undefined : parseFailpoint(failpointText);
  if (failpointText !== undefined && production) faults.push("SLUICE_FAILPOINT is for tests, not for production");
  else if (failpointText !== undefined && !failpoint) {
    faults.push(
      `SLUICE_FAILPOINT expects a failpoint such as job.begun or job.begun:2, got "${failpointText.slice(0, 40)}"`,
    );
  }
  const pace = readPace(environment);
  if (pace === undefined) faults.push(`SLUICE_PACE must be a number from 0.05 to 1, got "${text("SLUICE_PACE")}"`);
  else if (pace !== 1 && production) faults.push("SLUICE_PACE is for tests, not for production");
  for (const entry of list("SLUICE_TRUSTED_PROXIES")) {
    if (!isAddressRange(entry)) {
      faults.push(`SLUICE_TRUSTED_PROXIES expects addresses or ranges such as 10.0.0.0/8, got "${entry.slice(0, 40)}"`);
    }
  }
  for (const entry of list("SLUICE_OUTBOUND_ALLOW")) {
    const isNamed = HOST_AND_PORT.test(entry) && URL.canParse(`http://${entry}/`);
    if (!isNamed && !isAddressRange(entry)) {
      faults.push(
        `SLUICE_OUTBOUND_ALLOW expects entries such as media.lan:9000, 10.1.2.3 or 10.1.0.0/16, got "${entry.slice(0, 40)}"`,
      );
    }
  }
  const totalMs = integer("SLUICE_CALL_TOTAL_MS", 600_000, 1_000, 3_600_000);
  const queueMs = integer("SLUICE_CALL_QUEUE_MS", Math.min(60_000, totalMs), 100, 3_600_000);
  const config: Config = {
    databaseUrl,
    databasePoolMax: integer("SLUICE_DATABASE_POOL_MAX", 8, 6, 200),
    natsUrl,
    s3: Object.freeze({
      endpoint,
      region: text("AWS_REGION") ?? "us-east-1",
      bucket: text("SLUICE_S3_BUCKET") ?? "sluice",
      accessKeyId: text("AWS_ACCESS_KEY_ID"),
      secretAccessKey: text("AWS_SECRET_ACCESS_KEY"),
    }),
    port: integer("PORT", 8080, 0, 65_535),
    host: text("SLUICE_HOST") ?? "0.0.0.0",
    adminPort: integer("SLUICE_ADMIN_PORT", 9464, 0, 65_535),
    adminHost: text("SLUICE_ADMIN_HOST") ?? "127.0.0.1",
    bootstrapKey,
    dataDir: text("SLUICE_DATA_DIR") ?? ".sluice",
    catalogueFiles: list("SLUICE_CATALOGUE"),
    sandbox,
    ipLimit: integer("SLUICE_IP_LIMIT", 5_000, 0, 10_000_000),
    trustedProxies: list("SLUICE_TRUSTED_PROXIES"),
    outboundAllow: list("SLUICE_OUTBOUND_ALLOW"),
    logLevel: logLevel ?? "info",
    production,
    failpoint,
    supervised: flag("SLUICE_SUPERVISED", false),
    streamReplicas: integer("SLUICE_STREAM_REPLICAS", 1, 1, 5),
    workerSlots,
    outgoingMax,
    bodyBytesMax: integer("SLUICE_BODY_BYTES_MAX", 32 * 1_048_576, 1_024, 100 * 1_048_576),
    mediaWaitMs: integer("SLUICE_MEDIA_WAIT_MS", 300_000, 0, 3_600_000),
    mediaTotalMs: integer("SLUICE_MEDIA_TOTAL_MS", 3_600_000, 100, 3_600_000),
    publicUrl: publicUrl?.replace(/\/+$/, ""),
    fileBytesMax: integer("SLUICE_FILE_BYTES_MAX", 512 * 1_048_576, 1_024, 16 * 1_073_741_824),
    storageBytesMax: integer("SLUICE_STORAGE_BYTES_MAX", 10 * 1_073_741_824, 0, 2 ** 50),
    resultBytesMax: integer("SLUICE_RESULT_BYTES_MAX", 512 * 1_048_576, 1_048_576, 2 ** 50),
    calls: Object.freeze({
      totalMs,
      queueMs,
      firstByteMs: Math.min(totalMs, integer("SLUICE_CALL_FIRST_BYTE_MS", 120_000, 100, 3_600_000)),
      firstByteNextMs: integer("SLUICE_CALL_FIRST_BYTE_NEXT_MS", 45_000, 100, 3_600_000),
      stallMs: integer("SLUICE_CALL_STALL_MS", 120_000, 100, 3_600_000),
      plainMs: Math.min(totalMs, integer("SLUICE_CALL_PLAIN_MS", 300_000, 100, 3_600_000)),
    }),
    hasProxy: PROXY_VARIABLES.some((name) => text(name) !== undefined),
    graceMs: integer("SLUICE_GRACE_MS", 30_000, 0, 3_600_000),
    startWaitMs: integer("SLUICE_START_WAIT_MS", 300_000, 0, 3_600_000),
    jobRetentionHours: integer("SLUICE_JOB_RETENTION_HOURS", 168, 1, 8_760),
    runRetentionHours: integer("SLUICE_RUN_RETENTION_HOURS", 720, 1, 8_760),
    runInputHours: integer("SLUICE_RUN_INPUT_HOURS", 24, 1, 8_760),
    python: flag("SLUICE_PYTHON", false),
    chromium: text("SLUICE_CHROMIUM"),
    libreoffice: text("SLUICE_LIBREOFFICE"),
    needsIsolation: flag("SLUICE_CAPABILITY_ISOLATION", production),
    capabilitiesRequired: list("SLUICE_CAPABILITIES_REQUIRE"),
    unknownOutcomeHours: integer("SLUICE_UNKNOWN_OUTCOME_HOURS", 24, 1, 720),
    secretsKeys: Object.freeze(secretsKeys),
    smtpUrl,
    mailFrom: mailFrom ?? "",
    adminWorkspace: text("SLUICE_ADMIN_WORKSPACE"),
    operatorToken,
    operatorAllow: list("SLUICE_OPERATOR_ALLOW"),
    secrets: Object.freeze(secretsOf(environment)),
    providerKey: (variable) => (PROVIDER_KEY_VARIABLE.test(variable) ? text(variable) : undefined),
  };
  if (queueMs > totalMs) {
    faults.push(
      `SLUICE_CALL_QUEUE_MS ${queueMs} must not exceed SLUICE_CALL_TOTAL_MS ${totalMs}: no call waits longer`,
    );
  }
  if (faults.length > 0) throw new Error(faults.join("\n"));
  return Object.freeze(config);
}

/**
 * The factor by which this process shortens its waits after a death, a silence or a fault, so that tests see them end
 * sooner. Undefined when SLUICE_PACE is malformed. Limits are constants and read it before a Config exists.
 */
export function readPace(environment: Environment = process.env): number | undefined {
  const text = environment["SLUICE_PACE"]?.trim() || "1";
  const pace = Number(text);
  return pace >= 0.05 && pace <= 1 ? pace : undefined;
}

/** A name, an IPv4 address or an IPv6 one in brackets, and a port. */
const HOST_AND_PORT = /^(?:[a-z0-9](?:[a-z0-9.-]*[a-z0-9])?|\[[0-9a-f:.]+\]):[1-9]\d{0,4}$/i;

function isAddressRange(entry: string): boolean {
  const [address = "", prefix, ...rest] = entry.split("/");
  const bits = isIP(address) === 6 ? 128 : 32;
  if (isIP(address) === 0 || rest.length > 0) return false;
  return prefix === undefined || (/^\d{1,3}$/.test(prefix) && Number(prefix) > 0 && Number(prefix) <= bits);
}

const PROXY_VARIABLES = ["HTTP_PROXY", "http_proxy", "HTTPS_PROXY", "https_proxy"];
