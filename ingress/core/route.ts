/** Routes: the declaration, from which the OpenAPI document and the routing table are built, and the handler. */
import type { SchemaName } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import type { Scope } from "#shared/database/operator-tokens.ts";
import type { FormParts } from "#shared/calls/kinds/kind.ts";
import type { Code } from "#shared/base/errors.ts";

import type { OperatorCall, RequestFacts, RouteCall } from "./call.ts";
import type { HeaderName } from "./response-headers.ts";

/** Route with its handler. The handler receives only calls of the callers that `auth` admits. */
export type Route = KeyRoute | OperatorRoute | OpenRoute;

export interface KeyRoute extends RouteRules {
  readonly auth: "key";
  handle(call: RouteCall): Promise<Response> | Response;
}

export interface OperatorRoute extends RouteRules {
  readonly auth: "operator";
  handle(call: OperatorCall): Promise<Response> | Response;
}

export interface OpenRoute extends RouteRules {
  readonly auth: "none";
  /** True for a route that exists only where /operator exists: for allowed addresses, and while an operator token exists. */
  readonly isForOperators?: true;
  handle(call: RequestFacts): Promise<Response> | Response;
}

/** Rules of a route that serve.ts applies before and after the handler. */
interface RouteRules extends RouteSpec {
  /** Rejects callers without permission, before the call is counted (design part 5). Absent if every caller is allowed. @throws ApiError */
  authorize?(call: RouteCall): void;
  /** Returns headers for every response to an authenticated caller, including errors. Called after the route has finished. */
  extraHeaders?(caller: Caller): Promise<Readonly<Record<string, string>>>;
  /** True if the route itself counts its call in the rate-limit window, in the same step in which it holds credits. */
  readonly countsItself?: true;
  /** True if a call may load stored content, so that a small body can become a large request. */
  readonly canLoadStoredContent?: true;
  /** Value of the `www-authenticate` header in responses with status 401. */
  readonly challenge?: string;
}

export interface RouteSpec {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** URL path with `{name}` for parameters. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly auth: "key" | "operator" | "none";
  /** Scope that an operator's token needs. Default: `money`, which includes all other scopes. */
  readonly scope?: Scope;
  /** True for routes of Anthropic's API. Their errors also have that API's format, and `request-id` repeats `x-request-id`. */
  readonly isAnthropic?: boolean;
  /** True for routes that load balancers poll, so that no rate limit counts their requests. */
  readonly isProbe?: true;
  /** True for routes that only providers or browsers use, so that the OpenAPI document omits them. */
  readonly isHidden?: true;
  /** Valid values of path parameters, used in examples. */
  readonly pathExamples?: Readonly<Record<string, string>>;
  readonly request?: RouteRequest;
  readonly query?: readonly { readonly name: string; readonly description: string; readonly schema: object }[];
  /** Request headers of this route, in addition to the headers of every route. */
  readonly requestHeaders?: readonly RequestHeader[];
  readonly responses: Readonly<Record<number, RouteResponse>>;
  /** Error codes of this route. The OpenAPI builder adds the codes of every route. */
  readonly errors: readonly Code[];
}

export interface RequestHeader {
  readonly name: string;
  readonly description: string;
  readonly schema: object;
  /** Value of the header in documentation examples. */
  readonly example?: string;
}

export interface RouteRequest {
  readonly schema: SchemaName;
  readonly mediaType?: string;
  /** True if the request may omit the body. */
  readonly isOptional?: true;
  /** Parts of the multipart form that the route accepts instead of JSON. */
  readonly form?: FormParts;
  /** Valid example of a body. */
  readonly example?: object;
}

export interface RouteResponse {
  readonly description: string;
  /** Name of the schema of an application/json response. */
  readonly schema?: SchemaName;
  /** True for an application/json response without a fixed schema. */
  readonly isAnyJson?: true;
  /** Text media types that the response can have. */
  readonly texts?: readonly string[];
  /** Binary media types that the response can have. */
  readonly bytes?: readonly string[];
  /** Schemas of the events of a text/event-stream response; each event matches one of them. */
  readonly stream?: SchemaName | readonly SchemaName[];
  /** Response headers in addition to x-request-id, which every response has. */
  readonly headers?: readonly HeaderName[];
}
