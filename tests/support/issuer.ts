/** Starts a local OpenID Connect issuer (oidc-provider) that signs in without a page. Tests can change its tokens. */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

import { exportJWK, generateKeyPair, type JWK, SignJWT, decodeJwt } from "jose";
import { Provider, type Context } from "oidc-provider";

export const CLIENT = { clientId: "sluice", clientSecret: "a-secret-of-the-client" } as const;

export interface Person {
  readonly email?: string;
  readonly email_verified?: boolean;
}

export interface TestIssuer {
  readonly url: string;
  /** Person who signs in next. */
  person: Person;
  /**
   * Changes the claims of the next identity tokens, which are then signed again. "forged" signs them with a key that the issuer does not
   * publish.
   */
  spoil: ((claims: Readonly<Record<string, unknown>>) => Record<string, unknown>) | "forged" | undefined;
  /** Delay of token responses, in milliseconds. */
  delayMs: number;
  /** True if only the userinfo endpoint returns the email address. */
  hidesEmail: boolean;
  /** Replaces the signing key by a new one, and publishes the new key. */
  turnKey(): Promise<void>;
  /** Follows the issuer's redirects like a browser. @returns the address of the final redirect */
  visit(location: string): Promise<string>;
  close(): Promise<void>;
}

interface SigningKey {
  readonly secret: CryptoKey;
  readonly page: JWK;
}

async function makeKey(kid: string): Promise<SigningKey> {
  const { privateKey, publicKey } = await generateKeyPair("RS256", { extractable: true });
  return { secret: privateKey, page: { ...(await exportJWK(publicKey)), kid, alg: "RS256", use: "sig" } };
}

/** Starts the issuer. @param redirectUri the client's only redirect URI */
export async function startIssuer(redirectUri: string): Promise<TestIssuer> {
  let keys = [await makeKey("first")];
  const stranger = await makeKey("first");
  let handle: (request: IncomingMessage, response: ServerResponse) => void = (_request, response) => response.end();
  const server = createServer((request, response) => handle(request, response));
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;

  const provider = new Provider(url, {
    clients: [
      {
        client_id: CLIENT.clientId,
        client_secret: CLIENT.clientSecret,
        redirect_uris: [redirectUri],
        token_endpoint_auth_method: "client_secret_post",
      },
    ],
    claims: { openid: ["sub"], email: ["email", "email_verified"] },
    conformIdTokenClaims: false,
    features: { devInteractions: { enabled: false } },
    pkce: { required: () => true },
    cookies: { keys: ["a key of the test"] },
    findAccount: (_context: Context, accountId: string) => ({
      accountId,
      claims: () => ({ sub: accountId, ...issuer.person }),
    }),
    async loadExistingGrant({ oidc }: Context) {
      const grant = new oidc.provider.Grant({ clientId: oidc.client.clientId, accountId: oidc.session.accountId });
      grant.addOIDCScope("openid email");
      await grant.save();
      return grant;
    },
    // Set explicitly, because the library warns about defaults.
    ttl: { AccessToken: 600, AuthorizationCode: 60, Grant: 600, IdToken: 600, Interaction: 600, Session: 600 },
    interactions: { url: () => "/interaction" },
  });
  const answer = provider.callback();

  /** Returns the token response with a newly signed identity token. Applies the changes that the test has set. */
  const signAnew = async (text: string): Promise<string> => {
    const tokens = JSON.parse(text) as { id_token?: string };
    if (tokens.id_token === undefined) return text;
    const { email, email_verified, ...claims } = decodeJwt(tokens.id_token);
    const whole = issuer.hidesEmail ? claims : { ...claims, email, email_verified };
    const key = issuer.spoil === "forged" ? stranger : keys.at(-1);
    if (!key) throw new Error("the issuer has no key");
    const said = typeof issuer.spoil === "function" ? issuer.spoil(whole) : whole;
    const id_token = await new SignJWT(said)
      .setProtectedHeader({ alg: "RS256", kid: key.page.kid ?? "" })
      .sign(key.secret);
    return JSON.stringify({ ...tokens, id_token });
  };

  handle = (request, response) => {
    const path = request.url?.split("?")[0];
    if (path === "/jwks") {
      response.setHeader("content-type", "application/jwk-set+json");
      response.end(JSON.stringify({ keys: keys.map(({ page }) => page) }));
    } else if (path === "/interaction") {
      void provider
        .interactionResult(request, response, { login: { accountId: "somebody" } })
        .then((location) => response.writeHead(303, { location }).end());
    } else if (path === "/token") {
      const end = response.end.bind(response);
      response.end = ((body?: string | Buffer) => {
        void (async () => {
          await Bun.sleep(issuer.delayMs);
          const text = response.statusCode === 200 ? await signAnew(String(body)) : String(body);
          response.setHeader("content-length", Buffer.byteLength(text));
          end(text);
        })();
        return response;
      }) as typeof response.end;
      answer(request, response);
    } else answer(request, response);
  };

  const issuer: TestIssuer = {
    url,
    person: {},
    spoil: undefined,
    delayMs: 0,
    hidesEmail: false,
    async turnKey() {
      keys = [...keys, await makeKey(`turned ${keys.length}`)];
    },
    async visit(location) {
      const jar = new Map<string, string>();
      for (let at = location, steps = 0; steps < 10; steps++) {
        if (!at.startsWith(url)) return at;
        const cookie = [...jar].map(([name, value]) => `${name}=${value}`).join("; ");
        const page = await fetch(at, { redirect: "manual", headers: { cookie } });
        for (const one of page.headers.getSetCookie()) {
          const [, name = "", value = ""] = /^([^=]+)=([^;]*)/.exec(one) ?? [];
          jar.set(name, value);
        }
        const next = page.headers.get("location");
        if (next === null) throw new Error(`the issuer answered ${page.status}: ${await page.text()}`);
        at = new URL(next, url).href;
      }
      throw new Error("the issuer sends people round");
    },
    close: () =>
      new Promise((resolve) => {
        server.close(() => resolve());
        server.closeAllConnections();
      }),
  };
  return issuer;
}
