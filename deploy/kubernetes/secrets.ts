/** Environment variables of pods: settings of all roles, and the secrets of each role. Operators create the Secrets. */
import { readFileSync } from "node:fs";

export interface SecretGroup {
  readonly variables: readonly string[];
  /** True when a role also starts without the Secret. */
  readonly isOptional: boolean;
}

/** Variables that contain providers' keys, as named in the catalogue. */
const PROVIDER_KEYS: readonly string[] = providerKeys();

/** Variables in each Secret, by the Secret's name. */
export const SECRETS = {
  "sluice-database": { variables: ["DATABASE_URL"], isOptional: false },
  /** Secret of the object store. It is optional: not needed when the object store accepts the machine's own cloud role. */
  "sluice-storage": { variables: ["AWS_ACCESS_KEY_ID", "AWS_SECRET_ACCESS_KEY"], isOptional: true },
  "sluice-nats-ingress": { variables: ["NATS_URL"], isOptional: false },
  "sluice-nats-worker": { variables: ["NATS_URL"], isOptional: false },
  "sluice-nats-workflow": { variables: ["NATS_URL"], isOptional: false },
  "sluice-nats-janitor": { variables: ["NATS_URL"], isOptional: false },
  "sluice-nats-auth": {
    variables: ["NATS_URL", "SLUICE_NATS_AUTH_SEED", "SLUICE_NATS_AUTH_XKEY_SEED"],
    isOptional: false,
  },
  "sluice-provider-keys": { variables: [...PROVIDER_KEYS, "HTTP_PROXY", "HTTPS_PROXY"], isOptional: false },
  "sluice-sealing": { variables: ["SLUICE_SECRETS_KEY", "SLUICE_SECRETS_KEY_PREVIOUS"], isOptional: false },
  "sluice-oidc": { variables: ["SLUICE_OIDC_CLIENT_SECRET"], isOptional: true },
  "sluice-operator": { variables: ["SLUICE_OPERATOR_TOKEN"], isOptional: true },
  "sluice-mail": { variables: ["SLUICE_SMTP_URL"], isOptional: true },
  "sluice-bootstrap": { variables: ["SLUICE_BOOTSTRAP_KEY"], isOptional: true },
  "sluice-lag": { variables: ["SLUICE_LAG_TOKEN"], isOptional: true },
} as const satisfies Readonly<Record<string, SecretGroup>>;

export type SecretName = keyof typeof SECRETS;

/** Variables of the NATS server (deploy/nats/server.conf): passwords of its users, and the public keys of nats-auth. */
export const NATS_SECRET = "sluice-nats-server";
export const NATS_VARIABLES: readonly string[] = [
  ...["INGRESS", "WORKER", "WORKFLOW", "JANITOR", "AUTH"].map((user) => `NATS_${user}_PASSWORD`),
  "NATS_AUTH_ISSUER",
  "NATS_AUTH_XKEY",
];

/** Name of the ConfigMap with the settings of every role. Overlays change its values. */
export const SETTINGS_MAP = "sluice-settings";
export const SETTINGS: Readonly<Record<string, string>> = {
  SLUICE_PRODUCTION: "on",
  SLUICE_PUBLIC_URL: "https://sluice.example.com",
  SLUICE_TRUSTED_PROXIES: "",
  SLUICE_STREAM_REPLICAS: "1",
  SLUICE_LOG_LEVEL: "info",
  S3_ENDPOINT: "",
  AWS_REGION: "us-east-1",
  SLUICE_S3_BUCKET: "sluice",
  SLUICE_MAIL_FROM: "",
};

/**
 * Name of the ConfigMap for roles that list models. It says which provider keys workers have and whether mail is configured, but contains
 * no key.
 */
export const KNOWN_MAP = "sluice-known-to-workers";
export const KNOWN: Readonly<Record<string, string>> = Object.fromEntries(
  [...PROVIDER_KEYS, ...SECRETS["sluice-mail"].variables].map((name) => [name, ""]),
);

function providerKeys(): string[] {
  const file = new URL("../../shared/calls/catalogue/providers.yaml", import.meta.url);
  const found = readFileSync(file, "utf8").matchAll(/^\s*api_key_env:\s*([A-Z0-9_]+)/gm);
  return [...new Set(Array.from(found, ([, name = ""]) => name))];
}
