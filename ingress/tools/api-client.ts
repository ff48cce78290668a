/**
 * The API's own routes, for what a message or a turn of a model asks: a tool reads, admits, holds, settles and refuses by the route of
 * the same thing, as a call over HTTP does.
 */
import type { Caller } from "#shared/access/authenticate.ts";
import { apiErrorsOf } from "#shared/errors.ts";
import { type ExactIntegers, stringifyExact } from "#shared/exact-integers.ts";

import type { IngressContext } from "../context.ts";
import { admitUncounted, callerOf, type Route, type RouteCall, runRoute } from "../serve.ts";

export interface Asked {
  readonly params?: Readonly<Record<string, string>>;
  readonly query?: Readonly<Record<string, string>>;
  readonly body?: object;
  /** Integers of the body that a double cannot hold. */
  readonly integers?: ExactIntegers | undefined;
  /** Aborts when nobody waits for the answer any more. */
  readonly signal?: AbortSignal;
}

/** The way of a message, or of one call of a model's turns, to the routes. What it runs has the id of the request, of which there is one. */
export interface ApiClient {
  readonly context: IngressContext;
  readonly call: RouteCall;
  readonly caller: Caller;
  /** @throws ApiError as the route does */
  ask(operationId: string, asked: Asked): Promise<Response>;
  /** True if the caller's role may call the route. */
  may(operationId: string): boolean;
  /** Counts the message in the window, unless that has been done. @throws ApiError `rate_limit_exceeded` */
  count(): Promise<void>;
  /** Admits a message that runs nothing, which the window does not count. @throws ApiError `rate_limit_exceeded` */
  admitUncounted(): void;
  /** True once the message is counted, or its route will do that. */
  isCounted(): boolean;
}

/** @param isCounted the message has been counted in the window */
export function openApiClient(context: IngressContext, call: RouteCall, isCounted = false): ApiClient {
  const caller = callerOf(call);
  const find = (operationId: string): Route => {
    const route = context.routes.get(operationId);
    if (!route) throw new Error(`there is no route ${operationId}`);
    return route;
  };
  const markCounted = (): void => {
    isCounted = true;
    call.markCounted?.();
  };
  return {
    context,
    call,
    caller,
    async ask(operationId, asked) {
      const route = find(operationId);
      const inner = { ...call, params: asked.params ?? {}, request: requestOf(call.request, route, asked) };
      if (isCounted) {
        route.authorize?.(inner);
        return route.handle(inner);
      }
      markCounted();
      return runRoute(context, route, inner);
    },
    may: (operationId) => apiErrorsOf(() => find(operationId).authorize?.(call)).length === 0,
    async count() {
      if (isCounted) return;
      markCounted();
      await context.calls.count(caller.workspaceId, caller.preset.requests_per_minute);
    },
    admitUncounted() {
      markCounted();
      admitUncounted(context, caller);
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
  for (const name of ["traceparent", "tracestate"]) {
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
