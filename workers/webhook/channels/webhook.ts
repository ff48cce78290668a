/** A receiver of the workspace's own: the envelope as JSON, signed, with the credentials that the channel names. */
import { commonNow } from "#shared/clock.ts";
import type { Resolve } from "#shared/outbound/fetch.ts";
import { isReservedHeader } from "#shared/notifications/channel-config.ts";
import { signatureHeaders } from "#shared/secrets/signature.ts";

import { type AttemptResult, failed, type OpenChannel, type Outgoing, type Send } from "../channel.ts";
import { type Answer, isRedirect, isSuccess, post } from "../post.ts";

/** @param resolve stands in for the system's resolver in tests */
export function webhookSender(resolve?: Resolve): Send {
  return async (channel, outgoing, { signal }) => {
    const credentials = credentialsOf(channel);
    if (!isSendable(credentials)) return failed("final", "misconfigured");
    const posted = await post({
      url: channel.secrets["url"] ?? "",
      // What proves the delivery wins over a header of the channel's.
      headers: { ...credentials, ...proofOf(channel, outgoing) },
      body: outgoing.body,
      // A receiver may show a credential without its scheme.
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

/** Id and time always; signatures unless the channel is older than signing and has no secret. */
function proofOf({ secrets }: OpenChannel, { deliveryId: id, body }: Outgoing): Record<string, string> {
  const timestamp = Math.floor(commonNow() / 1_000);
  const { signingSecret: secret, previousSigningSecret: previousSecret } = secrets;
  if (!secret) return { "webhook-id": id, "webhook-timestamp": String(timestamp) };
  return signatureHeaders({ secret, previousSecret, id, timestamp, body });
}

/** The header that the channel's `authType` asks for. None when its credential is missing: it may have been cleared. */
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
  // Without a signing secret a channel must not get a signature from its own header either.
  if (!name || !value || isReservedHeader(name)) return {};
  return { [name.toLowerCase()]: value };
}

/** Names and values that HTTP can carry; a line break would begin a header of the channel's choice. */
function isSendable(headers: Readonly<Record<string, string>>): boolean {
  return Object.entries(headers).every(
    ([name, value]) => /^[\w!#$%&'*+.^`|~-]+$/.test(name) && /^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value),
  );
}

function base64(text: string): string {
  return Buffer.from(text).toString("base64");
}
