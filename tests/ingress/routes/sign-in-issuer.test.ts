/** Sign-ins of people at an issuer of OpenID Connect, over a real database and a stock issuer. */
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "bun:test";

import { createApp } from "#ingress/app.ts";
import { openIssuer } from "#ingress/console/issuer.ts";
import { TRIES_PER_MINUTE_MAX } from "#ingress/console/tries.ts";
import { callbackOf } from "#ingress/routes/sign-in.ts";
import { createAuthenticator } from "#shared/access/authenticate.ts";
import { newId } from "#shared/ids.ts";
import { createLogger } from "#shared/logger.ts";
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
function open(issuerUrl: string | undefined): typeof handle {
  const { context } = fake;
  const settings = { issuer: issuerUrl ?? "", ...CLIENT, redirectUri: callbackOf(PUBLIC_URL) };
  const sealer = createSealer([new Uint8Array(32)]);
  const app = createApp({
    ...context,
    config: { ...context.config, publicUrl: PUBLIC_URL },
    ipNet: { ...context.ipNet, clientAddress: () => `192.0.2.${address}` },
    issuer: issuerUrl === undefined ? undefined : openIssuer(settings, { sealer, log, now: () => clockMs }),
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

/** The person behind the session that an answer opens. */
async function whoIs(answer: Response): Promise<unknown> {
  expect(answer.status).toBe(303);
  const [session = "", begun = ""] = answer.headers.getSetCookie();
  expect(session).toMatch(/^__Host-sluice=[\w-]{43}; Path=\/; HttpOnly; Secure; SameSite=Strict; Max-Age=43200$/);
  expect(begun).toBe("__Host-sluice-sign-in=; Path=/; HttpOnly; Secure; SameSite=Lax; Max-Age=0");
  const [cookie] = session.split(";");
  return (await get("/console/session", cookie, { "x-sluice-console": "1" })).json();
}

describe("a person who signs in at the issuer", () => {
  test("has the session of the member with this mail address, in whatever case it is written", async () => {
    idp.person = { email: email.toUpperCase(), email_verified: true };
    const answer = await signIn("?return_to=/docs%23tag");
    expect(answer.headers.get("location")).toBe("/docs#tag");
    expect(await whoIs(answer)).toMatchObject({ workspace: { id: workspaceId }, member: { id: person.id } });
    const logged = await db.query("select actor->>'id' as who, after from audit_log where subject = $1", [
      person.keyId,
    ]);
    expect(logged).toEqual([{ who: person.id, after: { signed_in_by: "issuer" } }]);
  });

  test("is known by the issuer's page too, where the token has no address", async () => {
    idp.hidesEmail = true;
    expect(await whoIs(await signIn())).toMatchObject({ member: { id: person.id } });
  });

  test("may come back to another ingress", async () => {
    const begun = await begin();
    handle = open(idp.url);
    expect(await whoIs(await comeBack(begun))).toMatchObject({ member: { id: person.id } });
  });

  test("is known after the issuer turned its key", async () => {
    expect((await signIn()).status).toBe(303);
    await idp.turnKey();
    // A process looks at the issuer's keys once a minute at most, when it meets one that it does not know.
    handle = open(idp.url);
    expect((await signIn()).status).toBe(303);
  });

  test("names the workspace where the address is known in several", async () => {
    const other = await createWorkspace(db.database, 0n);
    const second = await addPerson(db, other, "owner");
    await db.query("update member set email = $2 where id = $1", [second.id, email]);
    expect(await refusal(signIn())).toBe("409 conflict");
    expect(await whoIs(await signIn(`?workspace=${other}`))).toMatchObject({ member: { id: second.id } });
    const name = encodeURIComponent(`workspace ${workspaceId}`);
    expect(await whoIs(await signIn(`?workspace=${name}`))).toMatchObject({ member: { id: person.id } });
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
  ])("is not let in where %s", async (_what, change) => {
    await change();
    expect(await refusal(signIn())).toBe("403 permission_denied");
  });
});

describe("a sign-in proves nobody", () => {
  test.each([
    ["of another nonce", { nonce: "another" }],
    ["for another client", { aud: "another" }],
    ["of another issuer", { iss: "https://elsewhere.example.com" }],
    ["that is over", { exp: Math.floor(Date.now() / 1_000) - 60 }],
    ["without a nonce", { nonce: undefined }],
  ])("by a token %s", async (_what, claims) => {
    idp.spoil = (given) => ({ ...given, ...claims });
    expect(await refusal(signIn())).toBe("401 invalid_api_key");
  });

  test("by a token that a stranger signed", async () => {
    idp.spoil = "forged";
    expect(await refusal(signIn())).toBe("401 invalid_api_key");
  });

  test.each([
    ["with another state", (back: URL) => back.searchParams.set("state", "another")],
    ["without a state", (back: URL) => back.searchParams.delete("state")],
    ["with a code that is none", (back: URL) => back.searchParams.set("code", "another")],
    ["of another issuer", (back: URL) => back.searchParams.set("iss", "https://elsewhere.example.com")],
    ["with an error", (back: URL) => back.searchParams.set("error", "access_denied")],
  ])("by coming back %s", async (_what, change) => {
    const answer = comeBack(await begin(), (back) => {
      change(back);
      return back;
    });
    expect(await refusal(answer)).toBe("401 invalid_api_key");
  });

  test("in a browser in which none has begun, or another one has", async () => {
    const [mine, others] = [await begin(), await begin()];
    expect(await refusal(comeBack({ ...mine, cookie: "" }))).toBe("401 invalid_api_key");
    expect(await refusal(comeBack({ ...mine, cookie: others.cookie }))).toBe("401 invalid_api_key");
    expect(await refusal(comeBack({ ...mine, cookie: "__Host-sluice-sign-in=v1.made.up" }))).toBe(
      "401 invalid_api_key",
    );
  });

  test("twice, or after ten minutes", async () => {
    const begun = await begin();
    const back = new URL(await idp.visit(begun.location));
    expect((await get(back.pathname + back.search, begun.cookie)).status).toBe(303);
    expect(await refusal(get(back.pathname + back.search, begun.cookie))).toBe("401 invalid_api_key");
    const late = await begin();
    clockMs += 600_001;
    expect(await refusal(comeBack(late))).toBe("401 invalid_api_key");
  });

  test("and tells the log no token, code or address", async () => {
    lines.length = 0;
    idp.spoil = (given) => ({ ...given, nonce: "another" });
    await signIn();
    const told = lines.join("");
    expect(told).toContain("a sign-in at the issuer failed");
    for (const secret of [email, "another", "eyJ", CLIENT.clientSecret]) expect(told).not.toContain(secret);
  });
});

describe("the paths of the issuer", () => {
  test("are not there without one", async () => {
    handle = open(undefined);
    for (const path of ["/console/oidc", "/console/oidc/callback?code=x"]) {
      expect(await refusal(get(path))).toBe("404 not_found");
    }
  });

  test.each([
    "//elsewhere.example.com",
    "https://elsewhere.example.com",
    "/\\elsewhere.example.com",
    "docs",
    "/a%0d%0ab",
  ])("send nobody back to %s", async (path) => {
    const query = path.includes("%") ? path : encodeURIComponent(path);
    expect(await refusal(get(`/console/oidc?return_to=${query}`))).toBe("400 invalid_request");
  });

  test.each(["%00", "", "%20a", "a".repeat(65)])("know no workspace %j", async (name) => {
    expect(await refusal(get(`/console/oidc?workspace=${name}`))).toMatch(/^4\d\d unsupported_value$/);
  });

  test("answer 503 while the issuer is away, ask it again in a few seconds, and then work", async () => {
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

  test("answer 503 where the issuer takes too long", async () => {
    idp.delayMs = 6_000;
    expect(await refusal(signIn())).toBe("503 service_unavailable");
  }, 20_000);

  test("refuse an address its eleventh return in a minute", async () => {
    for (let at = 0; at < TRIES_PER_MINUTE_MAX; at++) {
      expect(await refusal(get("/console/oidc/callback?code=x&state=y"))).toBe("401 invalid_api_key");
    }
    expect(await refusal(get("/console/oidc/callback?code=x&state=y"))).toBe("429 ip_rate_limit_exceeded");
  });

  test("stand in no document for programs", async () => {
    const document = await (await get("/openapi.json")).text();
    expect(document).toContain("/console/session");
    expect(document).not.toContain("/console/oidc");
  });
});
