/** /console/operator-session: signs operators in with a browser, using an operator token. Scripts cannot read the session cookie. */
import type { OperatorSession } from "#schemas/generated/types.ts";
import { ApiError } from "#shared/base/errors.ts";
import {
  endOperatorSession,
  OPERATOR_SESSION_HOURS,
  openOperatorSession,
  useOperatorSession,
} from "#shared/database/operator-sessions.ts";
import { hashKey, mintSessionToken } from "#shared/secrets/api-keys.ts";

import { json, NEVER_KEPT } from "../../core/answers.ts";
import type { Operator } from "../../core/authenticate-operator.ts";
import type { RequestFacts } from "../../core/call.ts";
import { actorOf } from "../../core/caller.ts";
import { cookie, OPERATOR_SESSION, requireConsole, sessionTokenOf } from "../../core/cookies.ts";
import type { IngressContext } from "../../context.ts";
import { errorsOf } from "../../core/route-errors.ts";
import type { OpenRoute } from "../../core/route.ts";
import { parsedBody } from "../settings/body.ts";
import { createTries } from "./sign-in-tries.ts";
import { CONSOLE_HEADER } from "./sign-in.ts";

const SESSION_SECONDS = OPERATOR_SESSION_HOURS * 3_600;

export function operatorSession(context: IngressContext): readonly OpenRoute[] {
  const tries = createTries(context.database);
  const common = {
    path: "/console/operator-session",
    tags: ["Console sessions"],
    auth: "none",
    isForOperators: true,
    requestHeaders: [CONSOLE_HEADER],
  } as const;
  return [
    {
      ...common,
      method: "POST",
      operationId: "createOperatorSession",
      summary: "Create operator session",
      description:
        "Sets a cookie that replaces the operator token on every path below `/operator`. It requires the header " +
        "`X-Sluice-Console: 1`, and neither `Authorization` nor `x-api-key`. The session lasts twelve hours, fifteen " +
        "minutes without a request, and not longer than the token.",
      request: { schema: "OperatorSessionCreateRequest" },
      responses: { 204: { description: "The session was created and the cookie is set" } },
      errors: errorsOf(
        ["reads_json"],
        "invalid_api_key",
        "not_found",
        "permission_denied",
        "rate_limit_exceeded",
        "service_unavailable",
      ),
      handle: (call) => open(context, call, () => tries.take(call.ip)),
    },
    {
      ...common,
      method: "GET",
      operationId: "getOperatorSession",
      summary: "Retrieve operator session",
      responses: { 200: { description: "The session", schema: "OperatorSession" } },
      errors: ["invalid_api_key", "not_found", "permission_denied", "rate_limit_exceeded", "service_unavailable"],
      handle: (call) => read(context, call),
    },
    {
      ...common,
      method: "DELETE",
      operationId: "deleteOperatorSession",
      summary: "Delete operator session",
      responses: { 204: { description: "The session was deleted, or there was none" } },
      errors: ["not_found", "permission_denied", "rate_limit_exceeded", "service_unavailable"],
      handle: (call) => end(context, call),
    },
  ];
}

async function open(context: IngressContext, call: RequestFacts, countTry: () => Promise<void>): Promise<Response> {
  requireConsole(call.request, context.config);
  await countTry();
  const { token } = await parsedBody(call, "OperatorSessionCreateRequest");
  const operator = await context.operators.authenticate(`Bearer ${token}`, call.ip);
  const value = mintSessionToken();
  await openOperatorSession(context.database, {
    sha256: hashKey(value),
    tokenSha256: hashKey(token),
    actor: actorOf({ ...call, operator }),
  });
  return withSession(context, call, value);
}

async function read(context: IngressContext, call: RequestFacts): Promise<Response> {
  const signedIn = await signedInAs(context, call);
  const facts = signedIn && (await useOperatorSession(context.database, hashKey(signedIn.token)));
  if (!signedIn || !facts) throw new ApiError("invalid_api_key", "No operator is signed in; sign in first.");
  const { name, scope, expires_at } = signedIn.operator;
  const endsAt = expires_at !== null && expires_at < facts.ends_at ? expires_at : facts.ends_at;
  const session = { object: "operator_session", name, scope, ends_at: endsAt.toISOString() } satisfies OperatorSession;
  return json(session, NEVER_KEPT);
}

async function end(context: IngressContext, call: RequestFacts): Promise<Response> {
  const signedIn = await signedInAs(context, call);
  if (signedIn) {
    const { token, operator } = signedIn;
    await endOperatorSession(context.database, hashKey(token), actorOf({ ...call, operator }));
  }
  return withSession(context, call, "");
}

/** Returns the response that sets the session cookie. The value "" deletes the cookie. */
function withSession({ config }: IngressContext, { request }: RequestFacts, value: string): Response {
  const kept = { name: OPERATOR_SESSION, value, seconds: SESSION_SECONDS, site: "Strict" } as const;
  const headers = { ...NEVER_KEPT, "set-cookie": cookie(request, config, kept) };
  return new Response(null, { status: 204, headers });
}

/**
 * Returns the session token of a request and its operator; undefined if the request has no open session.
 * @throws ApiError `permission_denied`, `rate_limit_exceeded`, `service_unavailable`
 */
async function signedInAs(
  { operators, config }: IngressContext,
  { request, ip }: RequestFacts,
): Promise<{ readonly token: string; readonly operator: Operator } | undefined> {
  requireConsole(request, config);
  const token = sessionTokenOf(request, config, OPERATOR_SESSION);
  if (token === undefined) return undefined;
  try {
    return { token, operator: await operators.authenticate(null, ip, token) };
  } catch (error) {
    if (error instanceof ApiError && error.code === "invalid_api_key") return undefined;
    throw error;
  }
}
