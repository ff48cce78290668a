/** Call of a route for tests that need no server. */
import { type RouteCall, UNMETERED } from "#ingress/core/call.ts";
import { newId } from "#shared/base/ids.ts";
import { NO_SPAN } from "#shared/tracing/tracing.ts";

/** Returns a call of `caller` without a trace, an address or a meter. */
export function routeCall(call: Pick<RouteCall, "caller"> & Partial<RouteCall>): RouteCall {
  return {
    request: new Request("http://sluice/"),
    params: {},
    requestId: newId(),
    startedAt: 0,
    span: NO_SPAN,
    ip: "",
    meter: UNMETERED,
    ...call,
  };
}
