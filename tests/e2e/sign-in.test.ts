/** People sign in on a service that runs on one's own machine, at an issuer of OpenID Connect. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { freePort } from "#deploy/embedded/probe.mjs";
import { newId } from "#shared/base/ids.ts";
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
  stack = await startStack({ apart: true, workers: 0, janitor: false, env });
}, 60_000);
afterAll(async () => {
  await stack.stop();
  await idp.close();
});

const cookieOf = (answer: Response): string => answer.headers.getSetCookie()[0]?.split(";")[0] ?? "";

test("a member of several workspaces chooses one on a page", async () => {
  const [other, member, key] = [newId(), newId(), newId()];
  await stack.query("insert into workspace (id, name) values ($1, 'second')", [other]);
  await stack.query(
    "insert into member (id, workspace_id, name, role, email) values ($1, $2, 'ada', 'owner', 'Ada@example.com')",
    [member, other],
  );
  await stack.query(
    `insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset)
     values ($1, $2, $3, 'test', sha256('a key'), 'x', 'standard')`,
    [key, other, member],
  );
  await stack.query("update member set email = 'ada@example.com' where name = 'first owner'");
  idp.person = { email: "ada@example.com", email_verified: true };
  const begun = await fetch(`${baseUrl}/console/oidc`, { redirect: "manual" });
  const back = await idp.visit(begun.headers.get("location") ?? "");
  const page = await fetch(back, { headers: { cookie: cookieOf(begun) } });
  const shown = await page.text();
  // Nobody has signed in to either.
  expect(shown.split("You have not signed in to this workspace before.")).toHaveLength(3);
  const [, path = ""] = new RegExp(`formaction="([^"]+/${other})"`).exec(shown) ?? [];
  const come = await fetch(baseUrl + path, {
    method: "POST",
    redirect: "manual",
    headers: { cookie: cookieOf(page), "content-type": "application/x-www-form-urlencoded" },
    body: "unasked=1",
  });
  expect([come.status, come.headers.get("location")]).toEqual([303, "/console"]);
  const headers = { cookie: cookieOf(come), "x-sluice-console": "1" };
  const session = await fetch(`${baseUrl}/console/session`, { headers });
  expect(await session.json()).toMatchObject({ workspace: { id: other, name: "second" }, member: { id: member } });
  const next = await fetch(`${baseUrl}/console/oidc`, { redirect: "manual" });
  const asked = { headers: { cookie: cookieOf(next) } };
  const again = await (await fetch(await idp.visit(next.headers.get("location") ?? ""), asked)).text();
  // The workspace that they chose comes first; the other one is marked.
  const [first = "", second = ""] = again.split("<button").slice(1);
  expect([first.includes(other), first.includes("not signed in"), second.includes("not signed in")]).toEqual([true, false, true]); // prettier-ignore
  await stack.query("update workspace set is_active = false where id = $1", [other]);
});

test("a member signs in by a mail address, acts for a key, and is signed out within a second of its end", async () => {
  await stack.query("update member set email = 'ada@example.com'");
  idp.person = { email: "ada@example.com", email_verified: true };
  const begun = await fetch(`${baseUrl}/console/oidc`, { redirect: "manual" });
  const back = await idp.visit(begun.headers.get("location") ?? "");
  const come = await fetch(back, { redirect: "manual", headers: { cookie: cookieOf(begun) } });
  expect([come.status, come.headers.get("location")]).toEqual([303, "/console"]);
  const cookie = cookieOf(come);
  expect(cookie).toMatch(/^sluice=[\w-]{43}$/);

  const ask = (path: string): Promise<Response> =>
    fetch(`${baseUrl}${path}`, { headers: { cookie, "x-sluice-console": "1" } });
  expect(await (await ask("/console/session")).json()).toMatchObject({ member: { name: "first owner" } });
  expect((await ask("/v1/models")).status).toBe(200);
  await stack.query("update api_key set revoked_at = now()");
  await Bun.sleep(1_000);
  expect((await ask("/v1/models")).status).toBe(401);
  const logs = stack.ingresses.flatMap((ingress) => ingress.logs()).join("\n");
  for (const secret of [cookie.slice("sluice=".length), CLIENT.clientSecret]) expect(logs).not.toContain(secret);
});
