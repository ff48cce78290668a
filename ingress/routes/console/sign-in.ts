/**
 * /console: signs people in with a browser, using an API key, a sign-in code or the operator's OpenID Connect issuer. The session cookie cannot be read by
 * scripts.
 */
import type { ConsoleSession } from "#schemas/generated/types.ts";
import { checkAddress, heldLists } from "#shared/access/access-lists.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { takeSignInCode } from "#shared/access/sign-in-codes.ts";
import {
  endSession,
  findMembersByEmail,
  keepSignInChoice,
  type KnownMember,
  openSession,
  readSession,
  SESSION_HOURS,
  SIGN_IN_CHOICE_MINUTES,
  SIGN_IN_CHOICES_MAX,
  takeSignInChoice,
} from "#shared/database/console-sessions.ts";
import { ApiError } from "#shared/base/errors.ts";
import { hashKey, mintSessionToken } from "#shared/secrets/api-keys.ts";

import manifest from "../../../package.json" with { type: "json" };
import { json, NEVER_KEPT } from "../../core/answers.ts";
import { cookie, type Place, readCookie, requireConsole, SESSION, sessionTokenOf } from "../../core/cookies.ts";
import { type Issuer, SIGN_IN_SECONDS } from "./issuer.ts";
import type { IngressContext } from "../../context.ts";
import { htmlPage } from "../../core/html-page.ts";
import { errorsOf } from "../../core/route-errors.ts";
import type { RequestFacts } from "../../core/call.ts";
import { actorOf } from "../../core/caller.ts";
import type { OpenRoute } from "../../core/route.ts";
import { parsedBody, pathId, plainName } from "../settings/body.ts";
import { createTries } from "./sign-in-tries.ts";
import { unknownPath } from "../../core/unknown-path.ts";

const PATH = "/console/session";
const ISSUER_PATH = "/console/oidc";
const CALLBACK = "/callback";
const CHOICE_PATH = `${ISSUER_PATH}/choices`;

/** Returns the URL to which the OpenID issuer redirects after a sign-in. */
export function callbackOf(publicUrl: string): string {
  return `${publicUrl}${ISSUER_PATH}${CALLBACK}`;
}

const SESSION_SECONDS = SESSION_HOURS * 3_600;

/** Header of the requests of the console's pages. */
export const CONSOLE_HEADER = {
  name: "X-Sluice-Console",
  description: "Always `1`. Pages of this origin send it with every request; without it the cookie is ignored.",
  schema: { const: "1" },
} as const;

export function consoleSession(context: IngressContext): readonly OpenRoute[] {
  const tries = createTries(context.database);
  const common = {
    path: PATH,
    tags: ["Console sessions"],
    auth: "none",
    requestHeaders: [CONSOLE_HEADER],
  } as const;
  return [
    {
      ...common,
      method: "POST",
      operationId: "createConsoleSession",
      summary: "Create console session",
      description:
        "Sets a cookie that replaces the key on every path. It requires the header `X-Sluice-Console: 1`, and " +
        "neither `Authorization` nor `x-api-key`. The session lasts twelve hours, one hour without a request, and " +
        "not longer than the key. A sign-in code is deleted by its first use.",
      request: { schema: "ConsoleSessionCreateRequest" },
      responses: { 204: { description: "The session was created and the cookie is set" } },
      errors: errorsOf(["reads_json"], "invalid_api_key", "permission_denied", "service_unavailable"),
      handle: (call) => open(context, call, () => tries.take(call.ip)),
    },
    {
      ...common,
      method: "GET",
      operationId: "getConsoleSession",
      summary: "Retrieve console session",
      responses: { 200: { description: "The session", schema: "ConsoleSession" } },
      errors: ["invalid_api_key", "permission_denied", "service_unavailable"],
      handle: (call) => read(context, call),
    },
    {
      ...common,
      method: "DELETE",
      operationId: "deleteConsoleSession",
      summary: "Delete console session",
      responses: { 204: { description: "The session was deleted, or there was none" } },
      errors: ["permission_denied", "service_unavailable"],
      handle: (call) => end(context, call),
    },
    // Routes for browsers, which the OpenAPI document omits.
    {
      ...common,
      path: ISSUER_PATH,
      method: "GET",
      operationId: "beginSignIn",
      summary: "Go to the issuer to sign in",
      isHidden: true,
      responses: { 303: { description: "The issuer" } },
      errors: ["not_found", "permission_denied", "service_unavailable"],
      handle: (call) => begin(context, call),
    },
    {
      ...common,
      path: `${ISSUER_PATH}${CALLBACK}`,
      method: "GET",
      operationId: "finishSignIn",
      summary: "Come back from the issuer",
      isHidden: true,
      responses: {
        200: { description: "A page on which to choose one of several workspaces", texts: ["text/html"] },
        303: { description: "The page that was asked for; the cookie is set" },
      },
      errors: ["not_found", "invalid_api_key", "permission_denied", "service_unavailable"],
      handle: (call) => finish(context, call, () => tries.take(call.ip)),
    },
    {
      ...common,
      path: `${CHOICE_PATH}/{choice}/{workspaceId}`,
      method: "POST",
      operationId: "chooseWorkspace",
      summary: "Choose the workspace to sign in to",
      isHidden: true,
      responses: { 303: { description: "The page that was asked for; the cookie is set" } },
      errors: ["not_found", "invalid_api_key", "permission_denied", "service_unavailable"],
      handle: (call) => choose(context, call, () => tries.take(call.ip)),
    },
  ];
}

/** Name of the cookie of a started sign-in. The cookie is not `SameSite=Strict`, because the issuer's redirect comes from another site. */
const BEGUN = "sluice-sign-in";
/** Name of the cookie of a person who has signed in but not chosen a workspace yet. */
const CHOICE = "sluice-choice";

async function begin(context: IngressContext, { request }: RequestFacts): Promise<Response> {
  const issuer = issuerOf(context);
  const asked = new URL(request.url).searchParams;
  const returnTo = asked.get("return_to") ?? "/console";
  if (!isOwnPath(returnTo)) {
    throw new ApiError("invalid_request", "Expected return_to to be a path of this service.", { param: "return_to" });
  }
  const name = asked.get("workspace");
  // The name is part of a cookie, which browsers limit to 4 KB.
  const workspace = name === null ? undefined : plainName(name, "workspace");
  const { location, sealed } = await issuer.begin({ returnTo, workspace });
  const kept = { name: BEGUN, value: sealed, seconds: SIGN_IN_SECONDS, site: "Lax" } as const;
  return goTo(location, [cookie(request, placeOf(context), kept)]);
}

async function finish(context: IngressContext, call: RequestFacts, countTry: () => Promise<void>): Promise<Response> {
  const { request } = call;
  const issuer = issuerOf(context);
  await countTry();
  const place = placeOf(context);
  const sealed = readCookie(request, place, BEGUN);
  if (sealed === undefined)
    throw new ApiError("invalid_api_key", "This browser has no open sign-in; start the sign-in again.");
  const { email, workspace, returnTo } = await issuer.finish(new URL(request.url).search, sealed);
  const members = await findMembersByEmail(context.database, email, workspace ?? null);
  const [known, another] = members;
  const ended = cookie(request, place, { name: BEGUN, value: "", seconds: 0, site: "Lax" });
  if (known && another) {
    const token = mintSessionToken();
    await keepSignInChoice(context.database, hashKey(token), { email, return_to: returnTo });
    const page = choicePage(email, members.slice(0, SIGN_IN_CHOICES_MAX), {
      pathOf: (id) => `${CHOICE_PATH}/${choiceOf(token)}/${id}`,
      hasMore: members.length > SIGN_IN_CHOICES_MAX,
    });
    const kept = { name: CHOICE, value: token, seconds: SIGN_IN_CHOICE_MINUTES * 60, site: "Strict" } as const;
    return withCookies(page, [cookie(request, place, kept), ended]);
  }
  return openFor(context, call, { known, returnTo, ended });
}

/**
 * Finishes a sign-in after the person has chosen a workspace. The URL path contains the hash of a token. The browser has the token in a
 * cookie that other sites cannot make it send. The choice is therefore valid only in that browser, and only on the choice page that it
 * loaded last.
 */
async function choose(context: IngressContext, call: RequestFacts, countTry: () => Promise<void>): Promise<Response> {
  const { request, params } = call;
  issuerOf(context);
  const workspaceId = pathId(call, "workspaceId", nobody);
  await countTry();
  const token = readCookie(request, placeOf(context), CHOICE);
  const isOurs = token !== undefined && choiceOf(token) === params["choice"];
  const choice = isOurs ? await takeSignInChoice(context.database, hashKey(token)) : undefined;
  if (!choice)
    throw new ApiError("invalid_api_key", "This choice was already made or has expired; start the sign-in again.");
  // The membership may have changed while the page was open.
  const [known] = await findMembersByEmail(context.database, choice.email, workspaceId);
  const ended = cookie(request, placeOf(context), { name: CHOICE, value: "", seconds: 0, site: "Strict" });
  return openFor(context, call, { known, returnTo: choice.return_to, ended });
}

/** Returns the hash of a sign-in token for use in a URL path, where it does not reveal the token. */
function choiceOf(token: string): string {
  return Buffer.from(hashKey(token)).toString("hex");
}

/**
 * Opens a session for a person whom the OpenID issuer has authenticated. @throws ApiError `permission_denied` if the workspace has no such
 * member
 */
async function openFor(
  context: IngressContext,
  call: RequestFacts,
  {
    known,
    returnTo,
    ended,
  }: { readonly known: KnownMember | undefined; readonly returnTo: string; readonly ended: string },
): Promise<Response> {
  if (!known) throw nobody();
  const value = mintSessionToken();
  const { member_id: id, key_id } = known;
  const ip = call.ip === "" ? {} : { ip: call.ip };
  await openSession(context.database, {
    sha256: hashKey(value),
    keyId: key_id,
    by: "issuer",
    actor: { type: "member", id, key_id, ...ip, request_id: call.requestId },
  });
  const kept = { name: SESSION, value, seconds: SESSION_SECONDS, site: "Strict" } as const;
  return goTo(returnTo, [cookie(call.request, placeOf(context), kept), ended]);
}

function nobody(): ApiError {
  return new ApiError("permission_denied", "No active member with an active key has this email address.");
}

/** Returns the OpenID issuer. @throws ApiError `not_found` if none is configured */
function issuerOf({ issuer }: IngressContext): Issuer {
  if (!issuer) throw unknownPath();
  return issuer;
}

/** True if the text is a path on this site. False for text that a browser would interpret as a URL of another site. */
function isOwnPath(path: string): boolean {
  return path.length <= 500 && /^\/(?![/\\])[\x21-\x5b\x5d-\x7e]*$/.test(path);
}

function goTo(location: string, cookies: readonly string[]): Response {
  return withCookies(new Response(null, { status: 303, headers: { ...NEVER_KEPT, location } }), cookies);
}

function withCookies(response: Response, cookies: readonly string[]): Response {
  for (const one of cookies) response.headers.append("set-cookie", one);
  return response;
}

async function open(context: IngressContext, call: RequestFacts, countTry: () => Promise<void>): Promise<Response> {
  const place = placeOf(context);
  requireConsole(call.request, place);
  await countTry();
  const { api_key, code } = await parsedBody(call, "ConsoleSessionCreateRequest");
  if (api_key !== undefined && code !== undefined)
    throw new ApiError("invalid_request", "Expected either api_key or code, got both.", { param: "code" });
  const { by, ...key } = code === undefined ? await holderOfKey(context, api_key) : await holderOfCode(context, code);
  checkAddress(key, call.ip);
  const value = mintSessionToken();
  await openSession(context.database, {
    sha256: hashKey(value),
    keyId: key.keyId,
    by,
    actor: actorOf({ ...call, caller: key }),
  });
  return signedIn(call, place, value);
}

/** Key for which a person signs in with a secret. */
type SignInKey = Pick<Caller, "keyId" | "memberId" | "accessLists"> & { readonly by: "key" | "code" };

/** Finds an API key. @throws ApiError for an absent or invalid key */
async function holderOfKey({ authenticator }: IngressContext, key: string | undefined): Promise<SignInKey> {
  if (key === undefined)
    throw new ApiError("missing_required_parameter", "Missing required parameter: api_key or code.", {
      param: "api_key",
    });
  return { ...(await authenticator.authenticate(`Bearer ${key}`)), by: "key" };
}

/** Deletes a sign-in code and returns its key. @throws ApiError `invalid_api_key` */
async function holderOfCode({ database }: IngressContext, code: string): Promise<SignInKey> {
  const taken = await takeSignInCode(database, code);
  if (!taken) {
    const message =
      "The sign-in code is unknown, used or expired, or its key is not active; create another code with `admin console link`, or sign in with a key.";
    throw new ApiError("invalid_api_key", message);
  }
  const { key_id: keyId, member_id: memberId, key_lists, member_lists } = taken;
  return { keyId, memberId, ...heldLists(key_lists, member_lists), by: "code" };
}

/** Returns the response that sets the session cookie. */
function signedIn({ request }: RequestFacts, place: Place, value: string): Response {
  const header = cookie(request, place, { name: SESSION, value, seconds: SESSION_SECONDS, site: "Strict" });
  return new Response(null, { status: 204, headers: { ...NEVER_KEPT, "set-cookie": header } });
}

async function read(context: IngressContext, call: RequestFacts): Promise<Response> {
  requireConsole(call.request, placeOf(context));
  const token = sessionTokenOf(call.request, placeOf(context));
  if (token === undefined) throw notSignedIn();
  const { workspaceId, workspaceName, memberId, role, keyId, preset, tools } =
    await context.authenticator.authenticateSession(token);
  const facts = await readSession(context.database, hashKey(token));
  if (!facts) throw notSignedIn();
  const session = {
    object: "console_session",
    workspace: { id: workspaceId, name: workspaceName },
    member: { id: memberId, name: facts.member_name, email: facts.email },
    role,
    key: { id: keyId, name: facts.key_name, tools: tools === undefined ? null : [...tools] },
    preset: preset.name,
    ends_at: facts.ends_at.toISOString(),
    time: new Date().toISOString(),
    version: manifest.version,
  } satisfies ConsoleSession;
  return json(session, NEVER_KEPT);
}

async function end(context: IngressContext, call: RequestFacts): Promise<Response> {
  requireConsole(call.request, placeOf(context));
  const token = sessionTokenOf(call.request, placeOf(context));
  const caller = token === undefined ? undefined : await signedInAs(context, token);
  if (token !== undefined && caller) await endSession(context.database, hashKey(token), actorOf({ ...call, caller }));
  return signedIn(call, placeOf(context), "");
}

/** Returns the caller of a browser session; undefined if the session is invalid. @throws ApiError `service_unavailable` */
async function signedInAs({ authenticator }: IngressContext, token: string): Promise<Caller | undefined> {
  try {
    return await authenticator.authenticateSession(token);
  } catch (error) {
    if (error instanceof ApiError && error.code !== "service_unavailable") return undefined;
    throw error;
  }
}

function placeOf({ config }: IngressContext): Place {
  return { publicUrl: config.publicUrl };
}

function notSignedIn(): ApiError {
  return new ApiError("invalid_api_key", "Nobody is signed in; sign in first.");
}

// Page on which a person chooses the workspace to sign in to. It has no script.

/**
 * Warning next to a workspace in which the person has not signed in before. Any manager of a workspace can add a person's mail address, so
 * the person may not know that workspace.
 */
const UNPROVEN = " You have not signed in to this workspace before.";

/**
 * Returns the HTML of the page on which a person chooses a workspace.
 * @param pathOf returns the path to which the choice of a workspace is posted
 * @param hasMore true if the page does not show all workspaces
 */
function choicePage(
  email: string,
  members: readonly Pick<KnownMember, "workspace_id" | "workspace_name" | "is_proven">[],
  { pathOf, hasMore }: { readonly pathOf: (workspaceId: string) => string; readonly hasMore: boolean },
): Response {
  // A name may contain characters that change the text direction of its neighbours.
  const buttons = members.map(
    ({ workspace_id, workspace_name, is_proven }) =>
      `<p><button formaction="${Bun.escapeHTML(pathOf(workspace_id))}"><bdi>${Bun.escapeHTML(workspace_name)}</bdi></button>${is_proven ? "" : UNPROVEN}</p>`,
  );
  const more = hasMore
    ? "<p>There are more workspaces. To sign in to one that is not listed, start again with <code>?workspace=</code> and its name.</p>\n"
    : "";
  const page = `<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Choose a workspace</title>
</head>
<body>
<h1>Choose a workspace</h1>
<p><bdi>${Bun.escapeHTML(email)}</bdi> is a member of several workspaces. Choose one:</p>
<form method="post">
${buttons.join("\n")}
</form>
${more}</body>
</html>
`;
  return htmlPage(page, { loads: [], formAction: "'self'" }, NEVER_KEPT);
}
