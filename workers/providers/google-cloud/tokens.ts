/**
 * Requests access tokens for a service account. A signed assertion is exchanged for a token that is valid for an hour. Source:
 * developers.google.com/identity/protocols/oauth2/service-account, "HTTP/REST"; RFC 7523.
 */
import { sign } from "node:crypto";

import { beforeAbort } from "#shared/base/abortable.ts";

import { post } from "../http.ts";
import { parseObject } from "../json.ts";
import { ProviderError, type ProviderErrorClass } from "../provider.ts";
import { retryAfter } from "../retry-after.ts";

import type { Account } from "./account.ts";

export interface Tokens {
  /**
   * Returns a valid access token.
   * @throws ProviderError, always `isUnsent`, because the actual request has not been sent
   */
  take(signal: AbortSignal): Promise<string>;
  /** Discards a token that Google rejected, so that the next call requests a new token. */
  forget(token: string): void;
}

interface Held {
  readonly token: string;
  readonly useUntilMs: number;
}

/** OAuth scope for all of Google Cloud. The roles of the service account limit its permissions. */
const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/** Maximum lifetime of an assertion that Google accepts, in seconds. */
const STATEMENT_LIFE_S = 3_600;
/**
 * Time before expiry at which a token is replaced, in seconds. It is longer than any call. Tokens with a shorter lifetime are replaced
 * after half of it.
 */
const MARGIN_S = 300;
const MINT_MS = 20_000;

/**
 * Creates the token source of an account. Only one token is requested at a time, for all waiting callers. The request continues even if
 * these callers abort.
 * @param mintMs timeout of a request for a token, in milliseconds
 */
export function createTokens(account: Account, now: () => number, mintMs: number = MINT_MS): Tokens {
  let held: Held | undefined;
  let minting: Promise<Held> | undefined;
  const renew = async (): Promise<Held> => {
    try {
      held = await mint(account, now, AbortSignal.timeout(mintMs));
      return held;
    } finally {
      minting = undefined;
    }
  };
  return {
    async take(signal) {
      if (held && now() < held.useUntilMs) return held.token;
      minting ??= renew();
      const { token } = await beforeAbort(minting, signal).catch((error: unknown) => {
        if (!signal.aborted) throw error;
        throw new ProviderError("aborted", "the call was aborted").unsent();
      });
      return token;
    },
    forget(token) {
      if (held?.token === token) held = undefined;
    },
  };
}

async function mint(account: Account, now: () => number, signal: AbortSignal): Promise<Held> {
  const body = new URLSearchParams({ grant_type: GRANT, assertion: statement(account, now()) }).toString();
  const headers = { "content-type": "application/x-www-form-urlencoded" };
  const endpoint = { baseUrl: account.tokenUri, headers: {} };
  const answer = await post(endpoint, { path: "", body, headers }, signal).catch((error: unknown) => {
    if (!(error instanceof ProviderError)) throw error;
    throw new ProviderError("failed", `no token was had: ${error.detail}`, { cause: error }).unsent();
  });
  const { access_token: token, expires_in: life } = parseObject(answer.text) ?? {};
  // The token is sent in a header, so it must be printable ASCII.
  const isToken = typeof token === "string" && /^[\u0021-\u007e]{1,16384}$/.test(token);
  if (answer.status !== 200 || !isToken) throw refusal(answer.status, answer.headers, answer.text);
  const lifeS = typeof life === "number" && life > 0 ? Math.min(life, STATEMENT_LIFE_S) : 0;
  return { token, useUntilMs: now() + 1_000 * Math.max(lifeS - MARGIN_S, lifeS / 2) };
}

/** Returns a signed assertion in the compact form of RFC 7515. */
function statement({ email, tokenUri, key, keyId }: Account, nowMs: number): string {
  const issued = Math.floor(nowMs / 1_000);
  const header = { alg: "RS256", typ: "JWT", ...(keyId === undefined ? {} : { kid: keyId }) };
  const claims = { iss: email, scope: SCOPE, aud: tokenUri, iat: issued, exp: issued + STATEMENT_LIFE_S };
  const signed = `${encoded(JSON.stringify(header))}.${encoded(JSON.stringify(claims))}`;
  return `${signed}.${encoded(sign("sha256", Buffer.from(signed), key))}`;
}

function encoded(part: string | Uint8Array): string {
  return Buffer.from(part).toString("base64url");
}

/**
 * Returns the error of a rejected token request, `{error, error_description}` (RFC 6749, 5.2). A rejection means that the account is
 * misconfigured or its key was revoked.
 */
function refusal(status: number, headers: Headers, text: string): ProviderError {
  const { error, error_description: why } = parseObject(text) ?? {};
  const said = [error, why].filter((part) => typeof part === "string").join(": ");
  const retryAfterMs = retryAfter(headers);
  return new ProviderError(classOf(status), `no token was had: ${said || `status ${status}`}`, {
    status,
    ...(retryAfterMs === undefined ? {} : { retryAfterMs }),
  }).unsent();
}

function classOf(status: number): ProviderErrorClass {
  if (status === 429 || status === 503) return "busy";
  return status >= 400 && status < 500 ? "misconfigured" : "failed";
}
