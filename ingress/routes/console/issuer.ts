/**
 * Sign-in at an OpenID Connect issuer: authorization code with PKCE, state and nonce. The state of a started sign-in is encrypted in a
 * cookie, so that any ingress can finish the sign-in. The issuer may have any address, because the operator chooses the issuer.
 */
import { randomBytes } from "node:crypto";

import type { Configuration } from "openid-client";

import { ApiError } from "#shared/base/errors.ts";
import type { Logger } from "#shared/base/logger.ts";
import { isMailAddress } from "#shared/base/mail-address.ts";
import type { Sealer } from "#shared/secrets/sealed.ts";

export interface IssuerSettings {
  readonly issuer: string;
  readonly clientId: string;
  readonly clientSecret: string;
  /** URL of the service to which the issuer redirects people. */
  readonly redirectUri: string;
}

/** Choices of a person at the start of a sign-in. */
export interface Wish {
  /** Path in the service to which the person returns after the sign-in. */
  readonly returnTo: string;
  /** Id or name of the workspace. Undefined: the workspace that has a member with the person's mail address. */
  readonly workspace: string | undefined;
}

export interface Issuer {
  /**
   * Starts a sign-in. Returns the address to redirect to, and the encrypted state for the cookie.
   * @throws ApiError `service_unavailable` when the issuer cannot be reached
   */
  begin(wish: Wish): Promise<{ readonly location: string; readonly sealed: string }>;
  /**
   * Finishes a sign-in. Returns the person's verified mail address, and the choices made at the start.
   * @param search query string with which the issuer redirected the person to the service
   * @throws ApiError `invalid_api_key` without proof of identity, `permission_denied` for an unverified address, `service_unavailable` when
   * the issuer cannot be reached
   */
  finish(search: string, sealed: string): Promise<Wish & { readonly email: string }>;
}

/** Time in which a person must finish the sign-in, in seconds. */
export const SIGN_IN_SECONDS = 600;
/** Timeout of a request to the issuer, in milliseconds. */
const ANSWER_MAX_MS = 5_000;
/** Cache time of the issuer's configuration, and of a failure to read it, in milliseconds. */
const BELIEVED_MS = 3_600_000;
const AWAY_MS = 5_000;

/**
 * Purpose to which the encryption of the sign-in state is bound. A text that was encrypted for another purpose cannot be used as a sign-in
 * state.
 */
const PLACE = { workspaceId: "", table: "console", row: "sign-in", field: "state" } as const;

interface Begun extends Wish {
  readonly state: string;
  readonly nonce: string;
  readonly verifier: string;
  readonly endsAt: number;
}

export function openIssuer(
  settings: IssuerSettings,
  {
    sealer,
    log,
    now = () => Date.now(),
    answerMaxMs = ANSWER_MAX_MS,
  }: { sealer: Sealer; log: Logger; now?: () => number; answerMaxMs?: number | undefined },
): Issuer {
  let known: { readonly asked: Promise<Configuration>; readonly until: () => number } | undefined;

  /** Returns the issuer's configuration, from a cache if possible. Concurrent callers share one request. */
  const configuration = (): Promise<Configuration> => {
    if (known && now() < known.until()) return known.asked;
    let until = now() + BELIEVED_MS;
    const asked = discover(settings, answerMaxMs).catch((error: unknown) => {
      until = now() + AWAY_MS;
      log.warn(faultOf(error), "the OpenID issuer is unavailable");
      throw away();
    });
    known = { asked, until: () => until };
    return asked;
  };

  const readBegun = (sealed: string): Begun | undefined => {
    try {
      const begun = JSON.parse(sealer.open(PLACE, sealed)) as Begun;
      return begun.endsAt > now() ? begun : undefined;
    } catch {
      // The text is of another installation, forged, or truncated.
      return undefined;
    }
  };

  return {
    async begin(wish) {
      const config = await configuration();
      const client = await import("openid-client");
      const secret = (): string => randomBytes(32).toString("base64url");
      const begun: Begun = {
        ...wish,
        state: secret(),
        nonce: secret(),
        verifier: secret(),
        endsAt: now() + SIGN_IN_SECONDS * 1_000,
      };
      const location = client.buildAuthorizationUrl(config, {
        redirect_uri: settings.redirectUri,
        scope: "openid email",
        state: begun.state,
        nonce: begun.nonce,
        code_challenge: await client.calculatePKCECodeChallenge(begun.verifier),
        code_challenge_method: "S256",
      });
      return { location: location.href, sealed: sealer.seal(PLACE, JSON.stringify(begun)) };
    },
    async finish(search, sealed) {
      const begun = readBegun(sealed);
      if (!begun) throw unproven();
      const config = await configuration();
      const person = await askPerson(config, new URL(search, settings.redirectUri), begun).catch((error: unknown) => {
        log.warn(faultOf(error), "a sign-in with the OpenID issuer failed");
        throw isAway(error) ? away() : unproven();
      });
      if (typeof person.email !== "string" || !isMailAddress(person.email) || person.email_verified !== true) {
        throw new ApiError(
          "permission_denied",
          "The identity provider has no verified email address for this account.",
        );
      }
      return { returnTo: begun.returnTo, workspace: begun.workspace, email: person.email };
    },
  };
}

async function discover(
  { issuer, clientId, clientSecret }: IssuerSettings,
  answerMaxMs: number,
): Promise<Configuration> {
  const client = await import("openid-client");
  const address = new URL(issuer);
  // Plain http is for an issuer on the same machine; the settings check that.
  const execute = address.protocol === "http:" ? [client.allowInsecureRequests] : [];
  const config = await client.discovery(address, clientId, clientSecret, undefined, {
    execute,
    timeout: answerMaxMs / 1_000,
  });
  // Verifies signatures too, although the token comes from the issuer directly.
  client.enableNonRepudiationChecks(config);
  return config;
}

interface PersonClaims {
  readonly email?: unknown;
  readonly email_verified?: unknown;
}

/** Returns the person's mail address from the identity token, or from the issuer's userinfo endpoint. */
async function askPerson(config: Configuration, address: URL, begun: Begun): Promise<PersonClaims> {
  const client = await import("openid-client");
  const tokens = await client.authorizationCodeGrant(config, address, {
    pkceCodeVerifier: begun.verifier,
    expectedState: begun.state,
    expectedNonce: begun.nonce,
    idTokenExpected: true,
  });
  const claims = tokens.claims();
  if (!claims) throw new Error("expected an identity token");
  const { email, email_verified } = claims;
  if (email !== undefined || config.serverMetadata().userinfo_endpoint === undefined) return { email, email_verified };
  return client.fetchUserInfo(config, tokens.access_token, claims.sub);
}

/** Returns only the name and code of an error, for the log. The error's message and cause may contain tokens and claims. */
function faultOf(error: unknown): { readonly fault: string } {
  const { name, code } = error as { readonly name?: unknown; readonly code?: unknown };
  return { fault: [name, code].filter((part) => typeof part === "string").join(" ") };
}

function isAway(error: unknown): boolean {
  const { name, code } = error as { readonly name?: unknown; readonly code?: unknown };
  return (
    code === "OAUTH_TIMEOUT" ||
    name === "TimeoutError" ||
    (error instanceof ApiError && error.status === 503) ||
    isNetwork(error)
  );
}

/** Returns true for a failed connection, which `fetch` reports as a TypeError or with a system code. */
function isNetwork(error: unknown): boolean {
  if (!(error instanceof Error)) return false;
  const code: unknown = Reflect.get(error, "code");
  return (
    /^E[A-Z]+$|^Connection|^FailedToOpenSocket/.test(typeof code === "string" ? code : "") || isNetwork(error.cause)
  );
}

function away(): ApiError {
  return new ApiError("service_unavailable", "The identity provider cannot be reached; try again shortly.");
}

function unproven(): ApiError {
  return new ApiError("invalid_api_key", "The sign-in failed; start it again.");
}
