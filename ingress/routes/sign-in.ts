/** /console/session: people in browsers sign in with a key once, and their pages keep a cookie that no script reads. */
import type { ConsoleSession } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { endSession, openSession, readSession, SESSION_HOURS } from "#shared/database/console-sessions.ts";
import { ApiError } from "#shared/errors.ts";
import { hashKey, mintSessionToken } from "#shared/secrets/api-keys.ts";

import { json, NEVER_KEPT } from "../answers.ts";
import { cookie, type Place, requireConsole, SESSION, sessionTokenOf } from "../console/cookies.ts";
import { createTries } from "../console/tries.ts";
import type { IngressContext } from "../context.ts";
import { errorsOf } from "../route-errors.ts";
import { actorOf, type Route, type RouteCall } from "../serve.ts";
import { parsedBody } from "../settings/body.ts";

const PATH = "/console/session";
const SESSION_SECONDS = SESSION_HOURS * 3_600;

export function consoleSession(context: IngressContext): readonly Route[] {
  const tries = createTries();
  const common = {
    path: PATH,
    tags: ["Sign-in of people"],
    auth: "none",
    requestHeaders: [
      {
        name: "X-Sluice-Console",
        description: "`1`, which pages of this origin send with every request: without it the cookie does not count.",
        schema: { const: "1" },
      },
    ],
  } as const;
  return [
    {
      ...common,
      method: "POST",
      operationId: "createConsoleSession",
      summary: "Sign in with a key",
      description:
        "The cookie that it sets stands for the key on every path that takes one, where `X-Sluice-Console: 1` comes with it and " +
        "neither `Authorization` nor `x-api-key` does. It lasts twelve hours, an hour unused, and no longer than the key.",
      request: { schema: "ConsoleSessionCreateRequest" },
      responses: { 204: { description: "Signed in: the cookie is set" } },
      errors: errorsOf(["reads_json"], "invalid_api_key", "permission_denied", "service_unavailable"),
      handle: (call) => open(context, call, () => tries.take(call.ip ?? "")),
    },
    {
      ...common,
      method: "GET",
      operationId: "getConsoleSession",
      summary: "Say who is signed in",
      responses: { 200: { description: "The session", schema: "ConsoleSession" } },
      errors: ["invalid_api_key", "permission_denied", "service_unavailable"],
      handle: (call) => read(context, call),
    },
    {
      ...common,
      method: "DELETE",
      operationId: "deleteConsoleSession",
      summary: "Sign out",
      responses: { 204: { description: "Signed out, or nobody was signed in" } },
      errors: ["permission_denied", "service_unavailable"],
      handle: (call) => end(context, call),
    },
  ];
}

async function open(context: IngressContext, call: RouteCall, countTry: () => void): Promise<Response> {
  const place = placeOf(context);
  requireConsole(call.request, place);
  countTry();
  const { api_key } = await parsedBody(call, "ConsoleSessionCreateRequest");
  const caller = await context.authenticator.authenticate(`Bearer ${api_key}`);
  const value = mintSessionToken();
  await openSession(context.database, {
    sha256: hashKey(value),
    keyId: caller.keyId,
    by: "key",
    actor: actorOf({ ...call, caller }),
  });
  return signedIn(call, place, value);
}

/** The answer that sets the session's cookie. */
function signedIn({ request }: RouteCall, place: Place, value: string): Response {
  const header = cookie(request, place, { name: SESSION, value, seconds: SESSION_SECONDS, site: "Strict" });
  return new Response(null, { status: 204, headers: { ...NEVER_KEPT, "set-cookie": header } });
}

async function read(context: IngressContext, call: RouteCall): Promise<Response> {
  requireConsole(call.request, placeOf(context));
  const token = sessionTokenOf(call.request, placeOf(context));
  if (token === undefined) throw notSignedIn();
  const { workspaceId, workspaceName, memberId, role, keyId, preset } =
    await context.authenticator.authenticateSession(token);
  const facts = await readSession(context.database, hashKey(token));
  if (!facts) throw notSignedIn();
  const session = {
    object: "console_session",
    workspace: { id: workspaceId, name: workspaceName },
    member: { id: memberId, name: facts.member_name },
    role,
    key: { id: keyId, name: facts.key_name },
    preset: preset.name,
    ends_at: facts.ends_at.toISOString(),
  } satisfies ConsoleSession;
  return json(session, NEVER_KEPT);
}

async function end(context: IngressContext, call: RouteCall): Promise<Response> {
  requireConsole(call.request, placeOf(context));
  const token = sessionTokenOf(call.request, placeOf(context));
  const caller = token === undefined ? undefined : await signedInAs(context, token);
  if (token !== undefined && caller) await endSession(context.database, hashKey(token), actorOf({ ...call, caller }));
  return signedIn(call, placeOf(context), "");
}

/** @returns undefined when nobody is. @throws ApiError `service_unavailable` */
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
  return new ApiError("invalid_api_key", "Nobody is signed in.");
}
