/** Assembles the API: every route, and the responses to unknown paths and wrong methods. */
import { Elysia } from "elysia";

import { ApiError } from "#shared/base/errors.ts";

import type { IngressContext } from "./context.ts";
import { batches } from "./routes/batches/batches.ts";
import { calls } from "./routes/calls/calls.ts";
import { capabilities } from "./routes/capabilities/capabilities.ts";
import { conversations } from "./routes/responses/conversation-routes.ts";
import { consoleFault, consolePages, opensConsole } from "./routes/console/pages.ts";
import { operatorSession } from "./routes/console/operator-session.ts";
import { consoleSession } from "./routes/console/sign-in.ts";
import { docs } from "./routes/docs/openapi.ts";
import { estimate } from "./routes/calls/estimate.ts";
import { files } from "./routes/files/files.ts";
import { health } from "./routes/health.ts";
import { jobs } from "./routes/media/job-routes.ts";
import { key } from "./routes/key.ts";
import { keySpend } from "./routes/key-spend.ts";
import { mcp } from "./routes/mcp/mcp.ts";
import { mediaContent } from "./routes/media/content.ts";
import { messages } from "./routes/messages/messages.ts";
import { models } from "./routes/models.ts";
import { providerCallbacks } from "./routes/provider-callbacks.ts";
import { operator } from "./routes/operator/index.ts";
import { responses } from "./routes/responses/responses.ts";
import { root } from "./routes/root.ts";
import { settings } from "./routes/settings/index.ts";
import { videos } from "./routes/media/videos.ts";
import { workflowEstimate } from "./routes/workflows/estimate.ts";
import { workflowRuns } from "./routes/workflows/runs.ts";
import { workflowTemplates } from "./routes/workflows/templates.ts";
import { workflows } from "./routes/workflows/workflows.ts";
import type { OperatorCall, RouteCall } from "./core/call.ts";
import type { OpenRoute, Route } from "./core/route.ts";
import { createServe, type Serve } from "./core/serve.ts";
import { unknownPath } from "./core/unknown-path.ts";

/** Returns every registered route. The OpenAPI document is built from this list too. */
export function routesOf(context: IngressContext): readonly Route[] {
  const api = [
    ...calls(context),
    estimate(context),
    ...messages(context),
    ...responses(context),
    ...conversations(context),
    ...models(context),
    ...videos(context),
    ...capabilities(context),
    ...jobs(context),
    mediaContent(context),
    providerCallbacks(context),
    ...files(context),
    ...batches(context),
    key(context),
    ...keySpend(context),
    ...workflows(context),
    workflowEstimate(context),
    workflowTemplates(context),
    ...workflowRuns(context),
    ...consoleSession(context),
    ...consolePages(),
    ...operatorSession(context),
    ...settings(context),
    ...operator(context),
    ...health(context),
    root(context),
  ];
  for (const route of api) context.routes.set(route.operationId, route);
  const described = [...api, ...mcp(context)];
  return [...described, ...docs(context, described)];
}

/** Parts of the app: its routes, and the handler that runs each of them. */
export interface Parts {
  readonly routes: readonly Route[];
  readonly serve: Serve;
}

export function partsOf(context: IngressContext): Parts {
  return { routes: routesOf(context), serve: createServe(context) };
}

export function createApp(context: IngressContext, { routes, serve }: Parts = partsOf(context)) {
  const app = new Elysia();
  app.onError(({ error, request, server }) =>
    serve(failing("unmatched", error, request.url), request, {}, () => peerOf(server, request)),
  );
  const allowed = new Map<string, Set<string>>();
  for (const route of routes) {
    const path = patternOf(route);
    app.route(
      route.method,
      path,
      ({ request, params, server }) => serve(route, request, params, () => peerOf(server, request)),
      {
        parse: "none",
      },
    );
    const methods = allowed.get(path) ?? new Set();
    allowed.set(path, methods.add(route.method));
  }
  for (const [path, methods] of allowed) {
    const allow = [...methods, ...(methods.has("GET") ? ["HEAD"] : []), "OPTIONS"].join(", ");
    app.all(
      path,
      ({ request, params, server }) => {
        const peer = (): string => peerOf(server, request);
        const onPath = routes.filter((route) => patternOf(route) === path);
        const get = onPath.find((route) => route.method === "GET");
        // Hidden paths of operators show none of their methods.
        const gate = onPath.some(({ auth }) => auth === "operator") ? OPERATORS_ONLY : isForOperators(onPath);
        if (request.method === "HEAD" && get) return serve(headOf(get), request, params, peer);
        if (request.method === "OPTIONS") return serve({ ...optionsOf(path, allow), ...gate }, request, params, peer);
        return serve({ ...failing(path, notAllowed(request.method, allow)), ...gate }, request, params, peer);
      },
      { parse: "none" },
    );
  }
  return app;
}

/** Returns the flag of the open routes on a path that exist only where /operator exists. */
function isForOperators(onPath: readonly Route[]): Pick<OpenRoute, "isForOperators"> {
  return onPath.some((route) => route.auth === "none" && route.isForOperators === true) ? { isForOperators: true } : {};
}

/** Returns the route's path in router syntax, with `:name` for a parameter. */
export function patternOf({ path }: Pick<Route, "path">): string {
  return path.replaceAll(/\{(\w+)\}/g, ":$1");
}

/**
 * Returns a route that always fails with this error. Unknown paths, wrong methods and framework errors thus pass the same checks as other
 * routes.
 * @param asked URL or path as the client sent it; `path` is the label in metrics
 */
export function failing(path: string, error: unknown, asked = path): OpenRoute {
  return {
    ...SILENT,
    path,
    isAnthropic: /^(https?:\/\/[^/]*)?\/v1\/messages(\/|\?|$)/.test(asked),
    handle: ({ request }) => {
      const fault = isNotFound(error) ? unknownPath(asked) : error;
      if (fault instanceof ApiError && opensConsole(request, asked)) return consoleFault(fault);
      throw fault;
    },
  };
}

export function peerOf(
  server: { requestIP(request: Request): { address: string } | null } | null,
  request: Request,
): string {
  return server?.requestIP(request)?.address ?? "";
}

function headOf(route: Route): Route {
  return {
    ...route,
    async handle(call: RouteCall & OperatorCall) {
      const response = await route.handle(call);
      return new Response(null, { status: response.status, headers: response.headers });
    },
  };
}

function optionsOf(path: string, allow: string): OpenRoute {
  return { ...SILENT, path, handle: () => new Response(null, { status: 204, headers: { allow } }) };
}

function notAllowed(method: string, allow: string): ApiError {
  return new ApiError(
    "method_not_allowed",
    `This path does not support ${method.slice(0, 20)}; it supports ${allow}.`,
    {
      headers: { allow },
    },
  );
}

function isNotFound(error: unknown): boolean {
  return (error as { code?: unknown } | null)?.code === "NOT_FOUND";
}

const OPERATORS_ONLY = { auth: "operator", scope: "read" } as const;

const SILENT = {
  method: "GET",
  operationId: "",
  summary: "",
  tags: [],
  auth: "none",
  responses: {},
  errors: [],
} as const;
