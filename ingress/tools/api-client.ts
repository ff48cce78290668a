/**
 * Calls the service's own API routes for MCP messages and for model turns. A tool therefore has the same admission, holds, settlement and
 * errors as a call over HTTP.
 */
import type { Caller } from "#shared/access/authenticate.ts";
import { TAGS_HEADER } from "#shared/calls/labels.ts";
import { apiErrorsOf } from "#shared/base/errors.ts";
import { type ExactIntegers, stringifyExact } from "#shared/json/serialize.ts";

import type { IngressContext } from "../context.ts";
import type { RouteCall } from "../core/call.ts";
import { MAX_CREDITS_HEADER } from "../core/max-credits.ts";
import type { KeyRoute, Route } from "../core/route.ts";
import { admitUncounted, authorizeCall, runRoute } from "../core/serve.ts";

export interface Asked {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Integers of the body that a floating-point number cannot represent exactly. */
  readonly integers?: ExactIntegers | undefined;
  /** Signal that aborts when no caller waits for the response any more. */
  readonly signal?: AbortSignal;
}

/**
 * API client for one MCP message, or for one call during a model's turns. All its calls have the same request id, so the client can start
 * only one run.
 */
export interface ApiClient {
  readonly context: IngressContext;
  readonly call: RouteCall;
  readonly caller: Caller;
  /** Calls a route of the API. @throws the errors of the route */
  ask(operationId: string, asked: Asked): Promise<Response>;
  /** True if the caller's role and limits allow the route. */
  may(operationId: string): boolean;
  /** Counts the message in the rate-limit window; further calls have no effect. @throws ApiError `rate_limit_exceeded` */
  count(): Promise<void>;
  /** Admits a message that starts no run and so does not count in the rate-limit window. @throws ApiError `rate_limit_exceeded` */
  admitUncounted(): void;
  /** True if the message has been counted in the rate-limit window, or if the called route counts itself. */
  isCounted(): boolean;
}

/** Creates a client for one message or call. @param isCounted true if the rate-limit window has already counted the message */
export function openApiClient(context: IngressContext, call: RouteCall, isCounted = false): ApiClient {
  const { caller } = call;
  const find = (operationId: string): KeyRoute => {
    const route = context.routes.get(operationId);
    if (route?.auth !== "key") throw new Error(`there is no route ${operationId} for keys`);
    return route;
  };
  const markCounted = (): void => {
    isCounted = true;
    call.meter.markCounted();
  };
  return {
    context,
    call,
    caller,
    async ask(operationId, asked) {
      const route = find(operationId);
      const inner = { ...call, params: asked.params ?? {}, request: requestOf(call.request, route, asked) };
      if (isCounted) {
        authorizeCall(route, inner);
        return route.handle(inner);
      }
      markCounted();
      return runRoute(context, route, inner);
    },
    may: (operationId) => apiErrorsOf(() => authorizeCall(find(operationId), call)).length === 0,
    async count() {
      if (isCounted) return;
      markCounted();
      await context.calls.count(caller.workspaceId, caller.preset.requests_per_minute);
    },
    admitUncounted() {
      markCounted();
      admitUncounted(context, call);
    },
    isCounted: () => isCounted,
  };
}

function requestOf(
  outer: Request,
  { method, path }: Route,
  { params = {}, query, body, integers, signal }: Asked,
): Request {
  const filled = path.replaceAll(/\{(\w+)\}/g, (_whole, name: string) => encodeURIComponent(params[name] ?? ""));
  const url = new URL(filled, outer.url);
  for (const [name, value] of Object.entries(query ?? {})) url.searchParams.set(name, value);
  const headers = new Headers();
  for (const name of ["traceparent", "tracestate", MAX_CREDITS_HEADER, TAGS_HEADER]) {
    const value = outer.headers.get(name);
    if (value !== null) headers.set(name, value);
  }
  const init = { method, headers, ...(signal ? { signal } : {}) };
  if (body === undefined) return new Request(url.href, init);
  const text = stringifyExact(body, integers);
  headers.set("content-type", "application/json");
  headers.set("content-length", String(Buffer.byteLength(text)));
  return new Request(url.href, { ...init, body: text });
}
