/** What a route declares: the OpenAPI document is built from it, and app.ts registers it. */
import type { SchemaName } from "#schemas/generated/types.ts";
import type { Scope } from "#shared/database/operator-tokens.ts";
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
  /** What an operator's token must be good for; absent: `money`, which is everything. */
  readonly scope?: Scope;
  /** Clients of Anthropic's API call it: errors have that API's form too, and `request-id` repeats `x-request-id`. */
  readonly isAnthropic?: boolean;
  readonly request?: { readonly schema: SchemaName; readonly mediaType?: string };
  readonly query?: readonly { readonly name: string; readonly description: string; readonly schema: object }[];
  /** Headers that it reads, beside those that every route reads. */
  readonly requestHeaders?: readonly { readonly name: string; readonly description: string; readonly schema: object }[];
  readonly responses: Readonly<Record<number, RouteResponse>>;
  /** Codes of the route itself; what every route can answer is added to the document by its builder. */
  readonly errors: readonly Code[];
}

export interface RouteResponse {
  readonly description: string;
  readonly schema?: SchemaName;
  /** Of a body without a schema too, such as text/html; application/json when there is a schema. */
  readonly mediaType?: string;
  /** Its body is application/json, of any form. */
  readonly isAnyJson?: true;
  /** `Accept: text/csv` gives it as a table. */
  readonly isCsvToo?: true;
  /** What each event of a text/event-stream answer holds. */
  readonly stream?: SchemaName;
  /** Beside x-request-id, which every answer carries. */
  readonly headers?: readonly HeaderName[];
}
