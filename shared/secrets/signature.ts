/**
 * Signatures of webhook deliveries. Two schemes with one secret: ours, a hex HMAC of the body, and Standard Webhooks
 * (standardwebhooks.com), whose HMAC includes id and time, so that a receiver can reject replays.
 */
import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";
const SECRET_BYTES = 32;

/** Returns `whsec_` and the base64 of 32 random bytes. */
export function newSigningSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

export interface Signed {
  readonly secret: string;
  /** Secret before a rotation, while receivers may still use it; an empty one counts as absent. */
  readonly previousSecret?: string | undefined;
  readonly id: string;
  /** Unix seconds. */
  readonly timestamp: number;
  /** The exact bytes that are sent; a text is encoded as UTF-8. */
  readonly body: string | Uint8Array;
}

/**
 * Returns the headers that authenticate a delivery. `x-webhook-signature` contains one signature and changes immediately on rotation;
 * `webhook-signature` lists those of both secrets, the new one first.
 */
export function signatureHeaders(signed: Signed): Record<string, string> {
  const { secret, previousSecret, id, timestamp, body } = signed;
  const secrets = previousSecret ? [secret, previousSecret] : [secret];
  return {
    // The key is the secret as displayed, including its prefix: receivers paste it into any HMAC function.
    "x-webhook-signature": createHmac("sha256", secret).update(body).digest("hex"),
    "webhook-id": id,
    "webhook-timestamp": String(timestamp),
    "webhook-signature": secrets.map((each) => standardSignature(each, signed)).join(" "),
  };
}

/** The key is the decoded base64 after the prefix. */
function standardSignature(secret: string, { id, timestamp, body }: Signed): string {
  const key = Buffer.from(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, "base64");
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64")}`;
}
