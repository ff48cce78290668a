/** Caller of a request: the member whose key or session it has, or an operator. */
import { checkAddress } from "#shared/access/access-lists.ts";
import type { Authenticator, Caller } from "#shared/access/authenticate.ts";
import type { Actor } from "#shared/database/audit-log.ts";

import { type Place, sessionTokenOf } from "./cookies.ts";
import type { Operator } from "./authenticate-operator.ts";
import type { RequestFacts, SettingsCall } from "./call.ts";

/** Returns the member who made a call to a route for members and operators. @throws Error if an operator made the call */
export function callerOf(call: SettingsCall): Caller {
  if ("caller" in call) return call.caller;
  throw new Error("a route with roles needs a key");
}

/** Returns the operator who made a call to a route for operators. @throws Error if a member made the call */
export function operatorOf(call: SettingsCall): Operator {
  if ("operator" in call) return call.operator;
  throw new Error("a route of operators needs an operator token");
}

/** Part of a call that names its author. */
type ActingCall = Pick<RequestFacts, "ip" | "requestId"> &
  ({ readonly operator: Pick<Operator, "name"> } | { readonly caller: Pick<Caller, "memberId" | "keyId"> });

/** Returns the actor that the audit log records for this call. */
export function actorOf(call: ActingCall): Actor {
  const ip = call.ip === "" ? {} : { ip: call.ip };
  if ("operator" in call) return { type: "operator", id: call.operator.name, ...ip, request_id: call.requestId };
  const { memberId, keyId } = call.caller;
  return { type: "member", id: memberId, key_id: keyId, ...ip, request_id: call.requestId };
}

/**
 * Authenticates a request and returns its caller. A browser session is used only if the request has no key. @throws ApiError for an invalid
 * key or session, and for a key that may not be used from the client's address
 */
export async function authenticate(
  { authenticator, config }: { readonly authenticator: Keys; readonly config: Place },
  { request, ip }: Pick<RequestFacts, "request" | "ip">,
): Promise<Caller> {
  const token = sessionTokenOf(request, config);
  const caller =
    token === undefined
      ? await authenticator.authenticate(authorizationOf(request.headers))
      : await authenticator.authenticateSession(token);
  checkAddress(caller, ip);
  return caller;
}

type Keys = Pick<Authenticator, "authenticate" | "authenticateSession">;

/** Returns the caller's credential. The `Authorization` header takes precedence over `x-api-key`; an empty header counts as absent. */
function authorizationOf(headers: Headers): string | null {
  const [authorization, key] = [headers.get("authorization") ?? "", headers.get("x-api-key") ?? ""];
  if (authorization !== "") return authorization;
  return key === "" ? null : `Bearer ${key}`;
}
