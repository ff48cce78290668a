/** Sends the signed JSON envelope to a receiver of the workspace, with the credentials of the channel. */
import { commonNow } from "#shared/base/clock.ts";
import type { Resolve } from "#shared/net/fetch.ts";
import { isReservedHeader } from "#shared/notifications/channel-config.ts";
import { signatureHeaders } from "#shared/secrets/signature.ts";

import { type AttemptResult, failed, type OpenChannel, type Outgoing, type Send } from "../channel.ts";
import { type Answer, isRedirect, isSuccess, post } from "../post.ts";

/**
 * Creates the webhook sender.
 * @param resolve replaces the system's DNS resolver in tests
 */
export function webhookSender(resolve?: Resolve): Send {
  return async (channel, outgoing, { signal }) => {
    const credentials = credentialsOf(channel);
    if (!isSendable(credentials)) return failed("final", "misconfigured");
    const posted = await post({
      url: channel.secrets["url"] ?? "",
      // The proof of the delivery overrides headers of the channel.
      headers: { ...credentials, ...proofOf(channel, outgoing) },
      body: outgoing.body,
      // A receiver may echo a credential without its scheme.
      secrets: [
        ...Object.values(channel.secrets),
        ...Object.values(credentials).flatMap((one) => [one, ...one.split(" ")]),
      ],
      signal,
      resolve,
    });
    return "failure" in posted ? posted.failure : resultOf(posted.answer);
  };
}

function resultOf({ status, responseStart, retryAfterMs }: Answer): AttemptResult {
  if (isSuccess(status)) return { ok: true, status, responseStart };
  const facts = { status, responseStart };
  if (isRedirect(status)) return failed("again", "redirect", facts);
  if (status === 410) return failed("gone", "refused", facts);
  const hint = retryAfterMs === undefined ? {} : { retryAfterMs };
  if (status === 429) return failed("again", "rate_limited", { ...facts, ...hint });
  return failed("again", "status", status === 503 ? { ...facts, ...hint } : facts);
}

/**
 * Returns the headers with the delivery's id, time and signatures. Signatures are missing if the channel is older than signing and has no
 * secret.
 */
function proofOf({ secrets }: OpenChannel, { deliveryId: id, body }: Outgoing): Record<string, string> {
  const timestamp = Math.floor(commonNow() / 1_000);
  const { signingSecret: secret, previousSigningSecret: previousSecret } = secrets;
  if (!secret) return { "webhook-id": id, "webhook-timestamp": String(timestamp) };
  return signatureHeaders({ secret, previousSecret, id, timestamp, body });
}

/** Returns the header for the channel's `authType`. Empty when its credential is missing, because the credential may have been cleared. */
function credentialsOf({ config, secrets }: OpenChannel): Record<string, string> {
  const { authType, authUsername = "", authHeaderName } = config;
  const { authToken, authPassword, authApiKey, authHeaderValue } = secrets;
  switch (authType) {
    case "bearer":
      return header("authorization", authToken && `Bearer ${authToken}`);
    case "basic":
      return header("authorization", authPassword && `Basic ${base64(`${authUsername}:${authPassword}`)}`);
    case "api_key":
      return header(authHeaderName || "x-api-key", authApiKey);
    case "custom_header":
      return header(authHeaderName, authHeaderValue);
    default:
      return {};
  }
}

function header(name: string | undefined, value: string | undefined): Record<string, string> {
  // A channel without a signing secret must not set a signature by its own header either.
  if (!name || !value || isReservedHeader(name)) return {};
  return { [name.toLowerCase()]: value };
}

/** Returns true if HTTP can carry the header names and values. A line break would begin a further header. */
function isSendable(headers: Readonly<Record<string, string>>): boolean {
  return Object.entries(headers).every(
    ([name, value]) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value),
  );
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
