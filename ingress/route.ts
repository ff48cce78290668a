/** What a route declares: the OpenAPI document is built from it, and app.ts registers it. */
import type { SchemaName } from "#schemas/generated/types.ts";
import type { Code } from "#shared/errors.ts";

export interface RouteSpec {
  readonly method: "GET" | "POST" | "PUT" | "PATCH" | "DELETE";
  /** With `{name}` for path parameters. */
  readonly path: string;
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly auth: "key" | "none";
  readonly request?: { readonly schema: SchemaName; readonly mediaType?: string };
  readonly query?: readonly { readonly name: string; readonly description: string; readonly schema: object }[];
  readonly responses: Readonly<
    Record<number, { readonly description: string; readonly schema?: SchemaName; readonly mediaType?: string; readonly stream?: SchemaName }>
  >;
  readonly errors: readonly Code[];
}
