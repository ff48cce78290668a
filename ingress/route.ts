/** Declaration of a route: the OpenAPI document is built from it, and app.ts registers it. */
import type { SchemaName } from "#schemas/generated/types.ts";
import type { Scope } from "#shared/database/operator-tokens.ts";
import type { FormParts } from "#shared/calls/kinds/kind.ts";
import type { Code } from "#shared/errors.ts";

import type { HeaderName } from "./openapi/headers.ts";

export interface RouteSpec {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With `{name}` for path parameters. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly auth: "key" | "operator" | "none";
  /** Scope that an operator's token needs; absent: `money`, which includes the others. */
  readonly scope?: Scope;
  /** Clients of Anthropic's API call it: errors have that API's form too, and `request-id` repeats `x-request-id`. */
  readonly isAnthropic?: boolean;
  /** Load balancers ask it all the time: it counts in no limit. */
  readonly isProbe?: true;
  /** Only providers call it, or browsers visit it: it does not stand in the document. */
  readonly isHidden?: true;
  /** Values of path parameters that work, for those who try it out. */
  readonly pathExamples?: Readonly<Record<string, string>>;
  readonly request?: RouteRequest;
  readonly query?: readonly { readonly name: string; readonly description: string; readonly schema: object }[];
  /** Headers that it reads, beside those that every route reads. */
  readonly requestHeaders?: readonly { readonly name: string; readonly description: string; readonly schema: object }[];
  readonly responses: Readonly<Record<number, RouteResponse>>;
  /** Codes of the route itself; those of every route are added to the document by its builder. */
  readonly errors: readonly Code[];
}

export interface RouteRequest {
  readonly schema: SchemaName;
  readonly mediaType?: string;
  /** It may come without a body. */
  readonly isOptional?: true;
  /** It may come as a form too. */
  readonly form?: FormParts;
  /** A body that works as it is, for those who try it out. */
  readonly example?: object;
}

export interface RouteResponse {
  readonly description: string;
  /** Schema of an answer in application/json. */
  readonly schema?: SchemaName;
  /** Its body is application/json, of any form. */
  readonly isAnyJson?: true;
  /** Media types of texts that it may be. */
  readonly texts?: readonly string[];
  /** Media types of bytes that it may be. */
  readonly bytes?: readonly string[];
  /** Schemas of the events of a text/event-stream answer: each is one of these. */
  readonly stream?: SchemaName | readonly SchemaName[];
  /** Beside x-request-id, which every answer carries. */
  readonly headers?: readonly HeaderName[];
}
