/** People sign in on a service that runs on one's own machine, at an issuer of OpenID Connect. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { freePort } from "#deploy/embedded/probe.mjs";
import { CLIENT, startIssuer, type TestIssuer } from "#tests/support/issuer.ts";
import { type Stack, startStack } from "#tests/support/stack.ts";

let idp: TestIssuer;
let stack: Stack;
let baseUrl: string;

beforeAll(async () => {
  const port = await freePort();
  baseUrl = `http://127.0.0.1:${port}`;
  idp = await startIssuer(`${baseUrl}/console/oidc/callback`);
  const oidc = {
    SLUICE_OIDC_ISSUER: idp.url,
    SLUICE_OIDC_CLIENT_ID: CLIENT.clientId,
    SLUICE_OIDC_CLIENT_SECRET: CLIENT.clientSecret,
  };
  const env = { ...oidc, PORT: String(port), SLUICE_PUBLIC_URL: baseUrl };
  stack = await startStack({ workers: 0, janitor: false, env });
}, 60_000);
afterAll(async () => {
  await stack.stop();
  await idp.close();
});

test("a member comes in by a mail address, acts for a key, and is out within a second of its end", async () => {
  await stack.query("update member set email = 'ada@example.com'");
  idp.person = { email: "ada@example.com", email_verified: true };
  const begun = await fetch(`${baseUrl}/console/oidc`, { redirect: "manual" });
  const cookieOf = (answer: Response): string => answer.headers.getSetCookie()[0]?.split(";")[0] ?? "";
  const back = await idp.visit(begun.headers.get("location") ?? "");
  const come = await fetch(back, { redirect: "manual", headers: { cookie: cookieOf(begun) } });
  expect([come.status, come.headers.get("location")]).toEqual([303, "/docs"]);
  const cookie = cookieOf(come);
  expect(cookie).toMatch(/^sluice=[\w-]{43}$/);

  const ask = (path: string): Promise<Response> =>
    fetch(`${baseUrl}${path}`, { headers: { cookie, "x-sluice-console": "1" } });
  expect(await (await ask("/console/session")).json()).toMatchObject({ member: { name: "bootstrap" } });
  expect((await ask("/v1/models")).status).toBe(200);
  await stack.query("update api_key set revoked_at = now()");
  await Bun.sleep(1_000);
  expect((await ask("/v1/models")).status).toBe(401);
  const logs = stack.ingresses.flatMap((ingress) => ingress.logs()).join("\n");
  for (const secret of [cookie.slice("sluice=".length), CLIENT.clientSecret]) expect(logs).not.toContain(secret);
});
