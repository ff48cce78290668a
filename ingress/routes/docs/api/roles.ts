/** Determines the roles that may call each route, from the access checks of the routes themselves. */
import { apiErrorsOf } from "#shared/base/errors.ts";
import { NO_SPAN } from "#shared/tracing/tracing.ts";

import { ANY_ROLE } from "../../../core/roles.ts";
import { type RouteCall, UNMETERED } from "../../../core/call.ts";
import type { Route } from "../../../core/route.ts";
import type { OperationFacts } from "./operation.ts";

const WORKSPACE = "00000000-0000-7000-8000-000000000000";

/** Returns facts about operations by operationId. A route that every role may call has no entry. */
export function factsOf(routes: readonly Route[]): Readonly<Record<string, OperationFacts>> {
  return Object.fromEntries(
    routes.flatMap((route) => {
      if (!route.authorize) return [];
      const roles = ANY_ROLE.filter((role) => apiErrorsOf(() => route.authorize?.(callAs(role))).length === 0);
      return roles.length === ANY_ROLE.length ? [] : [[route.operationId, { roles }]];
    }),
  );
}

function callAs(role: (typeof ANY_ROLE)[number]): RouteCall {
  const caller = {
    keyId: WORKSPACE,
    workspaceId: WORKSPACE,
    workspaceName: "default",
    memberId: WORKSPACE,
    role,
    preset: { name: "none", requests_per_minute: null, daily_tokens: null },
  };
  return {
    request: new Request("http://localhost/"),
    params: { workspaceId: WORKSPACE },
    requestId: WORKSPACE,
    startedAt: 0,
    span: NO_SPAN,
    ip: "",
    caller,
    meter: UNMETERED,
  };
}
