/**
 * Access tokens of a service account: a signed statement of who it is, exchanged for a token that lives an hour. Source:
 * developers.google.com/identity/protocols/oauth2/service-account, "HTTP/REST"; RFC 7523.
 */
import { sign } from "node:crypto";

import { beforeAbort } from "#shared/abortable.ts";

import { post } from "../http.ts";
import { parseObject } from "../json.ts";
import { ProviderError, type ProviderErrorClass } from "../provider.ts";
import { retryAfter } from "../retry-after.ts";

import type { Account } from "./account.ts";

export interface Tokens {
  /** @throws ProviderError, `isUnsent` throughout: what the token is for has not been sent */
  take(signal: AbortSignal): Promise<string>;
  /** It was not accepted: the next one is minted anew. */
  forget(token: string): void;
}

interface Held {
  readonly token: string;
  readonly useUntilMs: number;
}

/** Everything that Google Cloud offers to the account; what it may do is decided by its roles. */
const SCOPE = "https://www.googleapis.com/auth/cloud-platform";
const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
/** The longest that Google takes. */
const STATEMENT_LIFE_S = 3_600;
/** A call that begins with a token ends well before that does; those that live shorter are used for half their life. */
const MARGIN_S = 300;
const MINT_MS = 20_000;

/**
 * One mint at a time, whoever waits for it; it ends with none of its callers.
 * @param mintMs the longest that one may take
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
  // It goes into a header.
  const isToken = typeof token === "string" && /^[\u0021-\u007e]{1,16384}$/.test(token);
  if (answer.status !== 200 || !isToken) throw refusal(answer.status, answer.headers, answer.text);
  const lifeS = typeof life === "number" && life > 0 ? Math.min(life, STATEMENT_LIFE_S) : 0;
  return { token, useUntilMs: now() + 1_000 * Math.max(lifeS - MARGIN_S, lifeS / 2) };
}

/** RFC 7515, compact form. */
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

/** `{error, error_description}`: RFC 6749, 5.2. An account that is refused is set up wrongly, or its key was taken back. */
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
