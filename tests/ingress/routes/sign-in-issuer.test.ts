/** Sign-ins of people at an issuer of OpenID Connect, over a real database and a stock issuer. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";

import { createApp } from "#ingress/app.ts";
import { openIssuer } from "#ingress/routes/console/issuer.ts";
import { callbackOf } from "#ingress/routes/console/sign-in.ts";
import { TRIES_PER_MINUTE_MAX } from "#ingress/routes/console/sign-in-tries.ts";
import { createAuthenticator } from "#shared/access/authenticate.ts";
import { SIGN_IN_CHOICES_MAX } from "#shared/database/console-sessions.ts";
import { newId } from "#shared/base/ids.ts";
import { createLogger } from "#shared/base/logger.ts";
import { createSealer } from "#shared/secrets/sealed.ts";
import { CLIENT, startIssuer, type TestIssuer } from "#tests/support/issuer.ts";
import { createTestDatabase, type TestDatabase } from "#tests/support/postgres.ts";
import { createWorkspace } from "#tests/shared/accounts.ts";

import { envelopeOf, type FakeContext, fakeContext } from "../fake-context.ts";
import { addPerson, type Person } from "./managed-bed.ts";

const PUBLIC_URL = "https://ai.example.com";

let db: TestDatabase;
let fake: FakeContext;
let idp: TestIssuer;
let clockMs = Date.now();
let address = 0;
const lines: string[] = [];
const log = createLogger({ level: "debug", role: "test", write: (line) => void lines.push(line) });
let handle: (request: Request) => Promise<Response>;

/** An ingress with this issuer; several of them have the keys of one installation. */
function open(issuerUrl: string | undefined, answerMaxMs?: number): typeof handle {
  const { context } = fake;
  const settings = { issuer: issuerUrl ?? "", ...CLIENT, redirectUri: callbackOf(PUBLIC_URL) };
  const sealer = createSealer([new Uint8Array(32)]);
  const app = createApp({
    ...context,
    config: { ...context.config, publicUrl: PUBLIC_URL },
    ipNet: { ...context.ipNet, clientAddress: () => `192.0.2.${address}` },
    issuer:
      issuerUrl === undefined ? undefined : openIssuer(settings, { sealer, log, now: () => clockMs, answerMaxMs }),
    authenticator: createAuthenticator({ database: db.database, catalogue: context.catalogue, log }),
    database: db.database,
  });
  return (request) => app.handle(request);
}

beforeAll(async () => {
  db = await createTestDatabase();
  fake = fakeContext();
  idp = await startIssuer(callbackOf(PUBLIC_URL));
});
afterAll(async () => {
  await idp.close();
  fake.close();
  await db.drop();
});

let workspaceId: string;
let person: Person;
let email: string;
beforeEach(async () => {
  address += 1;
  handle = open(idp.url);
  Object.assign(idp, { spoil: undefined, delayMs: 0, hidesEmail: false });
  workspaceId = await createWorkspace(db.database, 0n);
  person = await addPerson(db, workspaceId, "developer");
  email = `ada.${newId()}@example.com`;
  await db.query("update member set email = $2 where id = $1", [person.id, email]);
  idp.person = { email, email_verified: true };
});

const get = (path: string, cookie = "", headers: Readonly<Record<string, string>> = {}): Promise<Response> =>
  handle(new Request(`http://10.0.0.1:8080${path}`, { headers: { ...headers, cookie } }));

interface Begun {
  readonly location: string;
  readonly cookie: string;
}

async function begin(query = ""): Promise<Begun> {
  const answer = await get(`/console/oidc${query}`);
  expect(answer.status).toBe(303);
  const header = answer.headers.get("set-cookie") ?? "";
  expect(header).toMatch(/^__Host-sluice-sign-in=[\w.-]+; Path=\/; HttpOnly; Secure; SameSite=Lax; Max-Age=600$/);
  return { location: answer.headers.get("location") ?? "", cookie: header.split(";")[0] ?? "" };
}

/** Comes back from the issuer, with whatever `edit` makes of the address. */
async function comeBack(begun: Begun, edit = (back: URL): URL => back): Promise<Response> {
  const back = edit(new URL(await idp.visit(begun.location)));
  expect(back.origin).toBe(PUBLIC_URL);
  return get(back.pathname + back.search, begun.cookie);
}

const signIn = async (query = ""): Promise<Response> => comeBack(await begin(query));

/** The status and code of a refusal, which sets no cookie. */
async function refusal(answered: Response | Promise<Response>): Promise<string> {
  const answer = await answered;
  expect(answer.headers.getSetCookie()).toEqual([]);
  return `${answer.status} ${(await envelopeOf(answer)).code}`;
}

const BEGUN_ENDED = "__Host-sluice-sign-in=; Path=/; HttpOnly; Secure; SameSite=Lax; Max-Age=0";
const CHOICE_ENDED = "__Host-sluice-choice=; Path=/; HttpOnly; Secure; SameSite=Strict; Max-Age=0";

/** The person behind the session that an answer opens. */
async function whoIs(answer: Response, wasEnded = BEGUN_ENDED): Promise<unknown> {
  expect(answer.status).toBe(303);
  const [session = "", ended] = answer.headers.getSetCookie();
  expect(session).toMatch(/^__Host-sluice=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict; Max-Age=43200$/);
  expect(ended).toBe(wasEnded);
  const [cookie] = session.split(";");
  return (await get("/console/session", cookie, { "x-sluice-console": "1" })).json();
}

describe("a person who signs in with the OpenID issuer", () => {
  test("has the session of the member with this mail address, regardless of its case", async () => {
    idp.person = { email: email.toUpperCase(), email_verified: true };
    const answer = await signIn("?return_to=/docs%23tag");
    expect(answer.headers.get("location")).toBe("/docs#tag");
    expect(await whoIs(answer)).toMatchObject({ workspace: { id: workspaceId }, member: { id: person.id } });
    const logged = await db.query("select actor->>'id' as who, after from audit_log where subject = $1", [
      person.keyId,
    ]);
    expect(logged).toEqual([{ who: person.id, after: { signed_in_by: "issuer" } }]);
  });

  test("is found by the issuer's user info too, if the token has no address", async () => {
    idp.hidesEmail = true;
    expect(await whoIs(await signIn())).toMatchObject({ member: { id: person.id } });
  });

  test("may return to another ingress", async () => {
    const begun = await begin();
    handle = open(idp.url);
    expect(await whoIs(await comeBack(begun))).toMatchObject({ member: { id: person.id } });
  });

  test("is found after the issuer rotated its key", async () => {
    expect((await signIn()).status).toBe(303);
    await idp.turnKey();
    // A process looks at the issuer's keys once a minute at most, when it meets one that it does not know.
    handle = open(idp.url);
    expect((await signIn()).status).toBe(303);
  });

  test("continues directly to its named workspace, if the address is known in several", async () => {
    const second = await addElsewhere();
    expect(await whoIs(await signIn(`?workspace=${second.workspaceId}`))).toMatchObject({ member: { id: second.id } });
    const name = encodeURIComponent(`workspace ${workspaceId}`);
    expect(await whoIs(await signIn(`?workspace=${name}`))).toMatchObject({ member: { id: person.id } });
    const foreign = await createWorkspace(db.database, 0n);
    await addPerson(db, foreign, "owner");
    expect(await refusal(signIn(`?workspace=${foreign}`))).toBe("403 permission_denied");
    expect(await db.query("select 1 from sign_in_choice where email = $1", [email])).toEqual([]);
  });

  test.each([
    ["its address is nobody's", () => void (idp.person = { email: "nobody@example.com", email_verified: true })],
    ["its address is not verified", () => void (idp.person = { email, email_verified: false })],
    ["its address is not said to be verified", () => void (idp.person = { email })],
    ["it has no address", () => void (idp.person = {})],
    ["its address is none", () => void (idp.person = { email: "a\0b@example.com", email_verified: true })],
    ["its member is disabled", () => db.query("update member set is_active = false where id = $1", [person.id])],
    [
      "its workspace is disabled",
      () => db.query("update workspace set is_active = false where id = $1", [workspaceId]),
    ],
    ["its keys are revoked", () => db.query("update api_key set revoked_at = now() where id = $1", [person.keyId])],
  ])("is rejected if %s", async (_what, change) => {
    await change();
    expect(await refusal(signIn())).toBe("403 permission_denied");
  });
});

/** Adds a member with the person's address in a workspace of its own. */
async function addElsewhere(): Promise<Person & { readonly workspaceId: string }> {
  const other = await createWorkspace(db.database, 0n);
  const added = await addPerson(db, other, "owner");
  await db.query("update member set email = upper($2) where id = $1", [added.id, email]);
  return { ...added, workspaceId: other };
}

interface Offer {
  readonly html: string;
  /** Addresses of the buttons. */
  readonly paths: readonly string[];
  readonly cookie: string;
}

/** The page that a sign-in ends on where there is a choice. */
async function offered(answer: Response): Promise<Offer> {
  const html = await answer.text();
  expect([answer.status, html]).toEqual([200, expect.stringContaining('<form method="post">')]);
  const [kept = "", ended] = answer.headers.getSetCookie();
  expect(kept).toMatch(/^__Host-sluice-choice=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict; Max-Age=600$/);
  expect(ended).toBe(BEGUN_ENDED);
  const paths = [...html.matchAll(/formaction="([^"]*)"/g)].map(([, path = ""]) => path);
  return { html, paths, cookie: kept.split(";")[0] ?? "" };
}

/** Presses a button as a browser does. */
const press = (path: string | undefined, cookie: string): Promise<Response> =>
  handle(
    new Request(`http://10.0.0.1:8080${path}`, {
      method: "POST",
      headers: { cookie, "content-type": "application/x-www-form-urlencoded" },
      body: "",
    }),
  );

describe("a person whose address several workspaces know", () => {
  let second: Person & { readonly workspaceId: string };
  beforeEach(async () => {
    second = await addElsewhere();
  });

  const buttonOf = ({ paths }: Offer, workspace: string): string | undefined =>
    paths.find((path) => path.endsWith(`/${workspace}`));

  test("chooses one, at any ingress, and continues to the requested page", async () => {
    const offer = await offered(await signIn("?return_to=/docs%23tag"));
    expect(offer.paths.map((path) => path.split("/").at(-1) ?? "").toSorted()).toEqual(
      [workspaceId, second.workspaceId].toSorted(),
    );
    expect(await db.query("select 1 from audit_log where subject = $1", [second.keyId])).toEqual([]);
    handle = open(idp.url);
    const answer = await press(buttonOf(offer, second.workspaceId), offer.cookie);
    expect(answer.headers.get("location")).toBe("/docs#tag");
    expect(await whoIs(answer, CHOICE_ENDED)).toMatchObject({
      workspace: { id: second.workspaceId },
      member: { id: second.id },
    });
    const logged = await db.query("select actor->>'id' as who, after from audit_log where subject = $1", [
      second.keyId,
    ]);
    expect(logged).toEqual([{ who: second.id, after: { signed_in_by: "issuer" } }]);
    expect(await db.query("select 1 from sign_in_choice where email = $1", [email])).toEqual([]);
  });

  test("sees the names of its own workspaces only, as texts, on a page without scripts and assets", async () => {
    const name = `<b>"Ada" & 'co'</b> ${newId()}`;
    await db.query("update workspace set name = $2 where id = $1", [second.workspaceId, name]);
    const [off, foreign] = [await addElsewhere(), await createWorkspace(db.database, 0n)];
    await db.query("update workspace set is_active = false where id = $1", [off.workspaceId]);
    await addPerson(db, foreign, "owner");
    idp.person = { email: email.replace("ada", "ada&co"), email_verified: true };
    await db.query("update member set email = $2 where id = any($1)", [[person.id, second.id], idp.person.email ?? ""]);
    const answer = await signIn();
    expect(Object.fromEntries(answer.headers)).toMatchObject({
      "cache-control": "no-store",
      "content-security-policy": "default-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'",
      "content-type": "text/html; charset=utf-8",
      "referrer-policy": "no-referrer",
      "x-content-type-options": "nosniff",
    });
    const { html, paths } = await offered(answer);
    expect(html).toContain(`<bdi>&lt;b&gt;&quot;Ada&quot; &amp; &#x27;co&#x27;&lt;/b&gt; ${name.slice(-36)}</bdi>`);
    expect(html).toContain(`<bdi>workspace ${workspaceId}</bdi>`);
    expect(html).toContain(`<bdi>${email.replace("ada", "ada&amp;co")}</bdi>`);
    expect(html).not.toMatch(/<b>|<script|<style|\son\w+=|style=|src=|href=/);
    expect(paths).toHaveLength(2);
  });

  test("is informed if there are more than the page lists", async () => {
    await db.query(
      `with made as (
         insert into workspace (id, name) select new_id(), 'z ' || $1::text || n from generate_series(1, $2::int) n returning id
       ), joined as (
         insert into member (id, workspace_id, name, role, email) select new_id(), id, 'ada', 'owner', $1::text from made
         returning id, workspace_id
       )
       insert into api_key (id, workspace_id, member_id, name, sha256, hint, preset)
       select new_id(), workspace_id, id, 'test', sha256(id::text::bytea), 'x', 'standard' from joined`,
      [email, SIGN_IN_CHOICES_MAX - 2],
    );
    const whole = await offered(await signIn());
    expect([whole.paths.length, whole.html.includes("?workspace=")]).toEqual([SIGN_IN_CHOICES_MAX, false]);
    await addElsewhere();
    const cut = await offered(await signIn());
    expect([cut.paths.length, cut.html.includes("?workspace=")]).toEqual([SIGN_IN_CHOICES_MAX, true]);
  });

  test("chooses once, also concurrently", async () => {
    const offer = await offered(await signIn());
    const answers = await Promise.all(
      offer.paths.flatMap((path) => [path, path]).map((path) => press(path, offer.cookie)),
    );
    expect(answers.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([303, 401, 401, 401]);
    expect(await refusal(press(offer.paths[0], offer.cookie))).toBe("401 invalid_api_key");
  });

  test("cannot choose after ten minutes", async () => {
    const offer = await offered(await signIn());
    const age = (minutes: string) =>
      db.query("update sign_in_choice set created_at = now() - $2::interval where email = $1", [email, minutes]);
    await age("10 minutes");
    expect(await refusal(press(offer.paths[0], offer.cookie))).toBe("401 invalid_api_key");
    await age("590 seconds");
    expect((await press(offer.paths[0], offer.cookie)).status).toBe(303);
  });

  test("cannot choose the workspace of another, and must start again", async () => {
    const offer = await offered(await signIn());
    const foreign = await createWorkspace(db.database, 0n);
    await addPerson(db, foreign, "owner");
    const [own = ""] = offer.paths;
    const other = own.replace(/[^/]+$/, foreign);
    expect(await refusal(press(other, offer.cookie))).toBe("403 permission_denied");
    expect(await refusal(press(own, offer.cookie))).toBe("401 invalid_api_key");
  });

  test.each([
    ["its member", "update member set is_active = false where id = $1", "id"],
    ["its key", "update api_key set revoked_at = now() where id = $1", "keyId"],
    ["its workspace", "update workspace set is_active = false where id = $1", "workspaceId"],
  ] as const)("cannot choose a workspace if %s has ended meanwhile", async (_what, sql, of) => {
    const offer = await offered(await signIn());
    await db.query(sql, [second[of]]);
    expect(await refusal(press(buttonOf(offer, second.workspaceId), offer.cookie))).toBe("403 permission_denied");
  });

  test("chooses in the same browser, from the latest page", async () => {
    const first = await offered(await signIn());
    const later = await offered(await signIn());
    const [path = ""] = first.paths;
    const token = first.cookie.split("=")[1] ?? "";
    for (const [at, cookie] of [
      [path, ""],
      [path, later.cookie],
      [path, `__Host-sluice-choice=${"A".repeat(43)}`],
      [path, `__Host-sluice-sign-in=${token}`],
      [path, `sluice-choice=${token}`],
    ] as const) {
      address += 1;
      expect([cookie, await refusal(press(at, cookie))]).toEqual([cookie, "401 invalid_api_key"]);
    }
    const [, , , , choice = "", workspace = ""] = path.split("/");
    for (const changed of [
      path.replace(choice, token),
      path.replace(choice, choice.toUpperCase()),
      path.replace(choice, choice.slice(1)),
      path.replace(choice, "0".repeat(64)),
    ]) {
      address += 1;
      expect([changed, await refusal(press(changed, first.cookie))]).toEqual([changed, "401 invalid_api_key"]);
    }
    for (const name of [encodeURIComponent(`workspace ${workspace}`), "x", "%00"]) {
      expect(await refusal(press(path.replace(workspace, name), first.cookie))).toBe("403 permission_denied");
    }
    expect(await refusal(get(path, first.cookie))).toBe("405 method_not_allowed");
    // None of that has used it up.
    expect((await press(path, first.cookie)).status).toBe(303);
  });

  test("is rejected at the eleventh choice in a minute", async () => {
    const path = `/console/oidc/choices/${"0".repeat(64)}/${workspaceId}`;
    for (let at = 0; at < TRIES_PER_MINUTE_MAX; at++) {
      expect(await refusal(press(path, ""))).toBe("401 invalid_api_key");
    }
    expect(await refusal(press(path, ""))).toBe("429 ip_rate_limit_exceeded");
  });
});

describe("a sign-in is rejected", () => {
  test.each([
    ["of another nonce", { nonce: "another" }],
    ["for another client", { aud: "another" }],
    ["of another issuer", { iss: "https://elsewhere.example.com" }],
    ["that is over", { exp: Math.floor(Date.now() / 1_000) - 60 }],
    ["without a nonce", { nonce: undefined }],
  ])("with a token %s", async (_what, claims) => {
    idp.spoil = (given) => ({ ...given, ...claims });
    expect(await refusal(signIn())).toBe("401 invalid_api_key");
  });

  test("with a token that a stranger signed", async () => {
    idp.spoil = "forged";
    expect(await refusal(signIn())).toBe("401 invalid_api_key");
  });

  test.each([
    ["with another state", (back: URL) => back.searchParams.set("state", "another")],
    ["without a state", (back: URL) => back.searchParams.delete("state")],
    ["with a code that is none", (back: URL) => back.searchParams.set("code", "another")],
    ["of another issuer", (back: URL) => back.searchParams.set("iss", "https://elsewhere.example.com")],
    ["with an error", (back: URL) => back.searchParams.set("error", "access_denied")],
  ])("when it returns %s", async (_what, change) => {
    const answer = comeBack(await begin(), (back) => {
      change(back);
      return back;
    });
    expect(await refusal(answer)).toBe("401 invalid_api_key");
  });

  test("in a browser without a started sign-in, or with another one", async () => {
    const [mine, others] = [await begin(), await begin()];
    expect(await refusal(comeBack({ ...mine, cookie: "" }))).toBe("401 invalid_api_key");
    expect(await refusal(comeBack({ ...mine, cookie: others.cookie }))).toBe("401 invalid_api_key");
    expect(await refusal(comeBack({ ...mine, cookie: "__Host-sluice-sign-in=v1.made.up" }))).toBe(
      "401 invalid_api_key",
    );
  });

  test("for the second time, or after ten minutes", async () => {
    const begun = await begin();
    const back = new URL(await idp.visit(begun.location));
    expect((await get(back.pathname + back.search, begun.cookie)).status).toBe(303);
    expect(await refusal(get(back.pathname + back.search, begun.cookie))).toBe("401 invalid_api_key");
    const late = await begin();
    clockMs += 600_001;
    expect(await refusal(comeBack(late))).toBe("401 invalid_api_key");
  });

  test("without token, code or address in the log", async () => {
    lines.length = 0;
    idp.spoil = (given) => ({ ...given, nonce: "another" });
    await signIn();
    const told = lines.join("");
    expect(told).toContain("a sign-in with the OpenID issuer failed");
    for (const secret of [email, "another", "eyJ", CLIENT.clientSecret]) expect(told).not.toContain(secret);
  });
});

describe("the paths of the issuer", () => {
  test("do not exist without an issuer", async () => {
    handle = open(undefined);
    for (const path of ["/console/oidc", "/console/oidc/callback?code=x"]) {
      expect(await refusal(get(path))).toBe("404 not_found");
    }
    expect(await refusal(press(`/console/oidc/choices/${"0".repeat(64)}/${workspaceId}`, ""))).toBe("404 not_found");
  });

  test.each([
    "//elsewhere.example.com",
    "https://elsewhere.example.com",
    "/\\elsewhere.example.com",
    "docs",
    "/a%0d%0ab",
  ])("redirect no browser to %s", async (path) => {
    const query = path.includes("%") ? path : encodeURIComponent(path);
    expect(await refusal(get(`/console/oidc?return_to=${query}`))).toBe("400 invalid_request");
  });

  test.each(["%00", "", "%20a", "a".repeat(65)])("know no workspace %j", async (name) => {
    expect(await refusal(get(`/console/oidc?workspace=${name}`))).toMatch(/^4\d\d unsupported_value$/);
  });

  test("answer 503 during an outage of the issuer, retry within seconds, and then work", async () => {
    let [isAway, asked] = [true, 0];
    const server = Bun.serve({
      port: 0,
      hostname: "127.0.0.1",
      fetch({ url }) {
        asked += 1;
        const issuer = new URL(url).origin;
        const page = { issuer, authorization_endpoint: `${issuer}/auth`, token_endpoint: `${issuer}/token` };
        return isAway ? new Response("away", { status: 503 }) : Response.json(page);
      },
    });
    handle = open(`http://127.0.0.1:${server.port}`);
    const answers = [get("/console/oidc"), get("/console/oidc"), get("/console/oidc")];
    for (const answer of answers) expect(await refusal(answer)).toBe("503 service_unavailable");
    isAway = false;
    expect(await refusal(get("/console/oidc"))).toBe("503 service_unavailable");
    expect(asked).toBe(1);
    clockMs += 5_001;
    expect((await begin()).location).toStartWith(`http://127.0.0.1:${server.port}/auth?`);
    await server.stop(true);
    handle = open(`http://127.0.0.1:${server.port}`);
    expect(await refusal(get("/console/oidc"))).toBe("503 service_unavailable");
  });

  test("answer 503 if the issuer is too slow", async () => {
    handle = open(idp.url, 1_000);
    idp.delayMs = 6_000;
    expect(await refusal(signIn())).toBe("503 service_unavailable");
  }, 20_000);

  test("reject an address's eleventh return in a minute", async () => {
    for (let at = 0; at < TRIES_PER_MINUTE_MAX; at++) {
      expect(await refusal(get("/console/oidc/callback?code=x&state=y"))).toBe("401 invalid_api_key");
    }
    expect(await refusal(get("/console/oidc/callback?code=x&state=y"))).toBe("429 ip_rate_limit_exceeded");
  });

  test("are in no document for programs", async () => {
    const document = await (await get("/openapi.json")).text();
    expect(document).toContain("/console/session");
    expect(document).not.toContain("/console/oidc");
  });
});
