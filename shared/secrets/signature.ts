/**
 * Signs webhook deliveries with two schemes and one secret. Ours is a hex HMAC of the body. The HMAC of Standard Webhooks
 * (standardwebhooks.com) includes id and time, so that a receiver can reject replays.
 */
import { createHmac, randomBytes } from "node:crypto";

const PREFIX = "whsec_";
const SECRET_BYTES = 32;

/** Returns a new signing secret: `whsec_` and the base64 of 32 random bytes. */
export function newSigningSecret(): string {
  return PREFIX + randomBytes(SECRET_BYTES).toString("base64");
}

export interface Signed {
  readonly secret: string;
  /** Secret before a rotation, for receivers that still use it. An empty text counts as absent. */
  readonly previousSecret?: string | undefined;
  readonly id: string;
  /** Time of the delivery, in Unix seconds. */
  readonly timestamp: number;
  /** Exact bytes that are sent. A text is encoded as UTF-8. */
  readonly body: string | Uint8Array;
}

/**
 * Returns the headers that authenticate a webhook delivery. `x-webhook-signature` contains only the signature of the new secret, even
 * immediately after a rotation. `webhook-signature` lists the signatures of both secrets, the new one first.
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

/** Returns the signature of Standard Webhooks. Its key is the decoded base64 after the prefix of the secret. */
function standardSignature(secret: string, { id, timestamp, body }: Signed): string {
  const key = Buffer.from(secret.startsWith(PREFIX) ? secret.slice(PREFIX.length) : secret, "base64");
  return `v1,${createHmac("sha256", key).update(`${id}.${timestamp}.`).update(body).digest("base64")}`;
}
