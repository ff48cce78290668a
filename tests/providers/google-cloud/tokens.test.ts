import { describe, expect, test } from "bun:test";
import { generateKeyPairSync } from "node:crypto";

import { readAccount } from "#workers/providers/google-cloud/account.ts";
import { createGoogleCloud } from "#workers/providers/google-cloud/index.ts";
import { createTokens } from "#workers/providers/google-cloud/tokens.ts";
import { createProviders } from "#workers/providers/index.ts";

import { jsonReply, ok, redirect, type Reply } from "../engine/behaviour.ts";
import { failureOf, never, queued, useServers } from "../engine/calls.ts";
import { PRIVATE_KEY, startGoogleCloudServer, type TokenScript } from "./server.ts";
import { videoCall } from "../video-calls.ts";

const own = useServers();

type Account = Readonly<Record<string, unknown>>;

function start(...scripts: readonly TokenScript[]) {
  const server = startGoogleCloudServer();
  own(server.veo);
  own(server.identity);
  server.nextTokens(...scripts);
  const endpoint = { baseUrl: server.url, headers: {} };
  const as = (credentials: string | undefined) =>
    queued(createGoogleCloud(endpoint, credentials, () => server.clock.now).video);
  const video = as(server.credentials);
  return {
    server,
    video,
    as,
    with: (members: Account) => as(JSON.stringify({ ...server.account, ...members })),
    make: (signal: AbortSignal = never) => video.start(videoCall({}, { sourceModel: "veo-3.1", signal })),
    bearers: () => server.veo.requests.map(({ headers }) => headers["authorization"]?.replace("Bearer ", "")),
  };
}

const made = (video: ReturnType<typeof start>["video"]) => video.start(videoCall({}, { sourceModel: "veo-3.1" }));

describe("a token", () => {
  test("serves all calls until shortly before its expiry", async () => {
    const { server, video, make, bearers } = start();
    const job = await make();
    server.clock.now += 3_299_000 - 1;
    await video.poll(job, never);
    expect(server.tokens.length).toBe(1);
    server.clock.now += 1;
    await video.poll(job, never);
    const [first, second] = server.tokens;
    expect(bearers()).toEqual([first, first, second]);
  });

  test("with a short lifetime is replaced before its expiry", async () => {
    const { server, make } = start({ members: { expires_in: 100 } });
    await make();
    server.clock.now += 49_999;
    await make();
    expect(server.tokens.length).toBe(1);
    server.clock.now += 1;
    await make();
    expect(server.tokens.length).toBe(2);
  });

  test.each([undefined, null, "3599", -1])("whose expiry is %p serves one call", async (expires_in) => {
    const { server, make } = start({ members: { expires_in } });
    await make();
    await make();
    expect([server.tokens.length, server.veo.charged]).toEqual([2, 2]);
  });

  test("is cached for an hour at most", async () => {
    const { server, make } = start({ members: { expires_in: 999_999 } });
    await make();
    server.clock.now += 3_300_000;
    await make();
    expect(server.tokens.length).toBe(2);
  });

  test("is requested once for all waiting calls", async () => {
    const { server, make, bearers } = start();
    await Promise.all([make(), make(), make()]);
    expect([server.identity.requests.length, server.veo.charged]).toEqual([1, 3]);
    expect(new Set(bearers())).toEqual(new Set(server.tokens));
  });

  test("is requested to its end although its first caller disconnected", async () => {
    const { server, make } = start();
    const caller = new AbortController();
    const left = failureOf(make(caller.signal));
    const stayed = make();
    caller.abort();
    expect(await left).toMatchObject({ kind: "aborted", isUnsent: true });
    await stayed;
    expect([server.identity.requests.length, server.veo.charged]).toEqual([1, 1]);
  });

  test("that never arrives is awaited up to its caller's deadline", async () => {
    const { server, make } = start("hang");
    expect(await failureOf(make(AbortSignal.timeout(20)))).toMatchObject({ kind: "aborted", isUnsent: true });
    expect(await failureOf(make(AbortSignal.abort()))).toMatchObject({ kind: "aborted", isUnsent: true });
    expect(server.veo.requests).toEqual([]);
  });

  test("that never arrives is aborted, and the next call requests another", async () => {
    const { server } = start("hang");
    const account = readAccount(server.credentials);
    if (!account) throw new Error("expected an account");
    const tokens = createTokens(account, () => server.clock.now, 1_000);
    expect(await failureOf(tokens.take(never))).toMatchObject({ kind: "failed", isUnsent: true });
    expect(await tokens.take(never)).toBe(server.tokens[0] ?? "");
  });

  test("that was revoked is dropped by the next poll, and a start requests another immediately", async () => {
    const { server, video, make } = start();
    const job = await make();
    server.revokeTokens();
    expect(await video.poll(job, never)).toMatchObject({ state: "unknown" });
    expect(await video.poll(job, never)).toMatchObject({ state: "pending" });
    server.revokeTokens();
    await make();
    expect([server.tokens.length, server.veo.charged]).toEqual([3, 2]);
  });

  test("that was revoked and cannot be replaced leaves a start unsent", async () => {
    const { server, make } = start();
    await make();
    server.revokeTokens();
    server.nextTokens(jsonReply(503, "<html>"));
    expect(await failureOf(make())).toMatchObject({ kind: "busy", isUnsent: true });
    expect(server.veo.charged).toBe(1);
  });

  test("is requested in the account's name only, and its key is never sent", async () => {
    const { server, video, make } = start();
    await video.poll(await make(), never);
    const sent = JSON.stringify([server.veo.requests, server.identity.requests]);
    for (const line of PRIVATE_KEY.split("\n").filter((text) => text !== "")) expect(sent).not.toContain(line);
    expect(server.identity.requests.map(({ headers }) => headers["authorization"])).toEqual([undefined]);
  });
});

describe("an exchange", () => {
  const grant = (error: string, description?: string): Reply =>
    jsonReply(400, { error, ...(description === undefined ? {} : { error_description: description }) });
  test.each<[string, TokenScript, string]>([
    ["an account that is gone", grant("invalid_grant", "Invalid grant: account not found"), "misconfigured"],
    ["a disabled account", jsonReply(401, { error: "unauthorized_client" }), "misconfigured"],
    ["a project without Veo", jsonReply(403, { error: { code: 403, message: "no" } }), "misconfigured"],
    ["too many", jsonReply(429, { error: "rate_limit_exceeded" }), "busy"],
    ["no room", jsonReply(503, "<html>"), "busy"],
    ["a fault", jsonReply(500, { error: "internal_failure" }), "failed"],
    ["a redirect", redirect, "failed"],
    ["no JSON", ok("<html>"), "failed"],
    ["no token", { members: { access_token: undefined } }, "failed"],
    ["a number for a token", { members: { access_token: 7 } }, "failed"],
    ["a token that is a header more", { members: { access_token: "a\r\nx-evil: 1" } }, "failed"],
    ["a token of spaces", { members: { access_token: "a b" } }, "failed"],
    ["a reset", "reset", "failed"],
    ["a cut", "cut", "failed"],
  ])("answered with %s fails its request, unsent, and the next is attempted again", async (_what, script, kind) => {
    const { server, make } = start(script);
    const error = await failureOf(make());
    expect(error).toMatchObject({ kind, isUnsent: true });
    expect(server.veo.requests).toEqual([]);
    await make();
    expect(server.veo.charged).toBe(1);
  });

  test("that fails leaves a running job open", async () => {
    const { server, video, make } = start();
    const job = await make();
    server.clock.now += 3_600_000;
    server.nextTokens(grant("invalid_grant"));
    expect(await video.poll(job, never)).toMatchObject({ state: "unknown" });
    expect(await video.poll(job, never)).toMatchObject({ state: "pending" });
  });

  test("contains Google's retry time, if any", async () => {
    const { make } = start(jsonReply(429, {}, { "retry-after": "3" }));
    expect(await failureOf(make())).toMatchObject({ kind: "busy", retryAfterMs: 3_000 });
  });

  test("signed with another key is rejected", async () => {
    const { server, with: withMembers } = start();
    const other = generateKeyPairSync("rsa", { modulusLength: 2_048 }).privateKey;
    const error = await failureOf(made(withMembers({ private_key: other.export({ type: "pkcs8", format: "pem" }) })));
    expect(error).toMatchObject({ kind: "misconfigured", isUnsent: true });
    expect(error.detail).toContain("Invalid JWT Signature.");
    expect(server.tokens).toEqual([]);
  });

  test("without a server fails unsent", async () => {
    const { server, make } = start();
    server.identity.close();
    expect(await failureOf(make())).toMatchObject({ kind: "failed", isUnsent: true });
  });
});

describe("credentials without a service account", () => {
  const ec = generateKeyPairSync("ec", { namedCurve: "P-256" }).privateKey.export({ type: "pkcs8", format: "pem" });
  const publicKey = generateKeyPairSync("rsa", { modulusLength: 2_048 }).publicKey.export({
    type: "spki",
    format: "pem",
  });
  const cases: readonly [string, (account: Account) => string | undefined][] = [
    ["none", () => undefined],
    ["an empty text", () => ""],
    ["a key of the other API", () => "AIzaSyExample"],
    ["a path", () => "/etc/keys/account.json"],
    ["a list", (account) => JSON.stringify([account])],
    ["half a file", (account) => JSON.stringify(account).slice(0, -20)],
    ["a user's", (account) => JSON.stringify({ ...account, type: "authorized_user" })],
    ...(
      [
        ["client_email", undefined],
        ["client_email", "nobody"],
        ["project_id", undefined],
        ["project_id", "../other/projects/x"],
        ["project_id", "a?b"],
        ["token_uri", undefined],
        ["token_uri", "file:///etc/passwd"],
        ["token_uri", "oauth2.googleapis.com/token"],
        ["private_key", undefined],
        ["private_key", PRIVATE_KEY.slice(0, 400)],
        ["private_key", ec],
        ["private_key", publicKey],
      ] as const
    ).map(([name, value]): [string, (account: Account) => string] => [
      `${name} ${String(value).slice(0, 24)}`,
      (account) => JSON.stringify({ ...account, [name]: value }),
    ]),
  ];

  test.each(cases)(
    "(%s) send nothing, fail starts as misconfigured and leave jobs open",
    async (_what, credentialsOf) => {
      const { server, as } = start();
      const credentials = credentialsOf(server.account);
      const video = as(credentials);
      const error = await failureOf(made(video));
      expect(error.kind).toBe("misconfigured");
      const job = { model: "veo-3.1", operation: "projects/p/operations/1" };
      const polled = await video.poll(job, never);
      expect(polled).toMatchObject({ state: "unknown" });
      expect([server.identity.requests, server.veo.requests]).toEqual([[], []]);
      const said = [Bun.inspect(error), error.stack, JSON.stringify(polled)].join("\n");
      for (const part of ["PRIVATE KEY", "AIza", "gserviceaccount", PRIVATE_KEY.slice(100, 130)]) {
        expect(said).not.toContain(part);
      }
    },
  );

  test("are valid if only the key's id is missing, and then the statement names none", async () => {
    const { server, with: withMembers } = start("reset");
    expect(await failureOf(made(withMembers({ private_key_id: undefined })))).toMatchObject({ isUnsent: true });
    const [head] = String(new URLSearchParams(String(server.identity.requests[0]?.body)).get("assertion")).split(".");
    expect(JSON.parse(Buffer.from(head ?? "", "base64url").toString())).toEqual({ alg: "RS256", typ: "JWT" });
  });
});

test("a provider of the catalogue is called with the account in its variable", async () => {
  const { server } = start();
  // Its clock is ours.
  server.clock.now = Date.now() + 1_000;
  const providers = createProviders((variable) => (variable === "OUR_API_KEY" ? server.credentials : undefined));
  const provider = {
    id: "ours",
    family: "google-cloud",
    base_url: `${server.url}/`,
    api_key_env: "OUR_API_KEY",
  } as const;
  const video = queued(providers.media(provider, "video"));
  expect(await video.poll(await made(video), never)).toEqual({ state: "pending" });
  expect(server.veo.charged).toBe(1);
  await providers.close();
});
