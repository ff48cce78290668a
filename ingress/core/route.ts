/** Routes: the declaration, from which the OpenAPI document and the routing table are built, and the handler. */
import type { SchemaName } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import type { Scope } from "#shared/database/operator-tokens.ts";
import type { FormParts } from "#shared/calls/kinds/kind.ts";
import type { Code } from "#shared/base/errors.ts";

import type { OperatorCall, RequestFacts, RouteCall } from "./call.ts";
import type { HeaderName } from "./response-headers.ts";

/** Route with its handler, which receives the call of the callers that `auth` admits. */
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
  handle(call: RequestFacts): Promise<Response> | Response;
}

/** Rules that the gates apply before and after the handler. */
interface RouteRules extends RouteSpec {
  /** Refuses callers without permission, before the call is counted (design part 5). Absent: every caller is allowed. @throws ApiError */
  authorize?(call: RouteCall): void;
  /** Returns headers for every response to an authenticated caller, errors included; called after the route has finished. */
  extraHeaders?(caller: Caller): Promise<Readonly<Record<string, string>>>;
  /** True when the route counts its call in the rate window itself, together with its hold. */
  readonly countsItself?: true;
  /** True when a call may load stored content: a small body can then be a large request. */
  readonly canLoadStoredContent?: true;
  /** Header `www-authenticate` of responses with status 401. */
  readonly challenge?: string;
}

export interface RouteSpec {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** Path with `{name}` for parameters. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly auth: "key" | "operator" | "none";
  /** Scope that an operator's token needs. Default `money`, which includes the others. */
  readonly scope?: Scope;
  /** True for routes of Anthropic's API: errors also have that API's form, and `request-id` repeats `x-request-id`. */
  readonly isAnthropic?: boolean;
  /** True for routes that load balancers poll: no limit counts their requests. */
  readonly isProbe?: true;
  /** True for routes that only providers or browsers use: the OpenAPI document omits them. */
  readonly isHidden?: true;
  /** Working values of path parameters, for examples. */
  readonly pathExamples?: Readonly<Record<string, string>>;
  readonly request?: RouteRequest;
  readonly query?: readonly { readonly name: string; readonly description: string; readonly schema: object }[];
  /** Request headers of the route, beyond those of every route. */
  readonly requestHeaders?: readonly RequestHeader[];
  readonly responses: Readonly<Record<number, RouteResponse>>;
  /** Error codes of the route itself. The builder of the document adds the codes of every route. */
  readonly errors: readonly Code[];
}

export interface RequestHeader {
  readonly name: string;
  readonly description: string;
  readonly schema: object;
  /** Value that the examples of the documentation send. */
  readonly example?: string;
}

export interface RouteRequest {
  readonly schema: SchemaName;
  readonly mediaType?: string;
  /** True when the body may be absent. */
  readonly isOptional?: true;
  /** Parts of the form that the route accepts instead of JSON. */
  readonly form?: FormParts;
  /** Valid example of a body. */
  readonly example?: object;
}

export interface RouteResponse {
  readonly description: string;
  /** Schema of an application/json response. */
  readonly schema?: SchemaName;
  /** True for an application/json response of any shape. */
  readonly isAnyJson?: true;
  /** Text media types of the response. */
  readonly texts?: readonly string[];
  /** Binary media types of the response. */
  readonly bytes?: readonly string[];
  /** Schemas of the events of a text/event-stream response; each event matches one of them. */
  readonly stream?: SchemaName | readonly SchemaName[];
  /** Response headers beyond x-request-id, which every response has. */
  readonly headers?: readonly HeaderName[];
}
