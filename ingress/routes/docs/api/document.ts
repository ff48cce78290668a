/** Types of the OpenAPI 3.1 document, limited to what the API reference shows. */

export interface Schema {
  readonly $ref?: string;
  readonly title?: string;
  readonly description?: string;
  readonly type?: string | readonly string[];
  readonly format?: string;
  readonly pattern?: string;
  readonly enum?: readonly unknown[];
  readonly const?: unknown;
  readonly default?: unknown;
  readonly example?: unknown;
  readonly examples?: readonly unknown[];
  readonly minimum?: number;
  readonly maximum?: number;
  readonly exclusiveMinimum?: number;
  readonly minLength?: number;
  readonly maxLength?: number;
  readonly minItems?: number;
  readonly maxItems?: number;
  readonly required?: readonly string[];
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly additionalProperties?: boolean | Schema;
  readonly items?: Schema;
  readonly allOf?: readonly Schema[];
  readonly anyOf?: readonly Schema[];
  readonly oneOf?: readonly Schema[];
  readonly if?: Schema;
  readonly then?: Schema;
  readonly propertyNames?: { readonly pattern?: string };
  readonly discriminator?: { readonly propertyName: string };
  readonly deprecated?: boolean;
}

export interface MediaType {
  readonly schema?: Schema;
  readonly example?: unknown;
  readonly examples?: Readonly<Record<string, NamedExample>>;
}

export interface NamedExample {
  readonly $ref?: string;
  readonly value?: unknown;
}

interface Header {
  readonly $ref?: string;
  readonly description?: string;
}

export interface ApiResponse {
  readonly description: string;
  readonly headers?: Readonly<Record<string, Header>>;
  readonly content?: Readonly<Record<string, MediaType>>;
}

export interface Parameter {
  readonly name: string;
  readonly in: "path" | "query" | "header";
  readonly required?: boolean;
  readonly description?: string;
  readonly schema: Schema;
  readonly example?: unknown;
}

export interface Operation {
  readonly operationId: string;
  readonly summary: string;
  readonly description?: string;
  readonly tags: readonly string[];
  readonly security: readonly Readonly<Record<string, readonly string[]>>[];
  readonly parameters: readonly Parameter[];
  readonly requestBody?: { readonly required?: boolean; readonly content: Readonly<Record<string, MediaType>> };
  readonly responses: Readonly<Record<string, ApiResponse>>;
}

export interface OpenApiDocument {
  readonly tags: readonly { readonly name: string; readonly description?: string }[];
  readonly paths: Readonly<Record<string, Readonly<Record<string, Operation>>>>;
  readonly components: {
    readonly schemas: Readonly<Record<string, Schema>>;
    readonly headers: Readonly<Record<string, Header>>;
    readonly examples?: Readonly<Record<string, NamedExample>>;
  };
}

/** Operation with its method and URL. */
export interface Endpoint extends Operation {
  /** HTTP method, in upper case. */
  readonly method: string;
  readonly url: string;
}

/** Returns the schema that a reference names, or the schema itself if it is not a reference. */
export type Resolve = (schema: Schema) => Schema;

export function resolverOf({ components }: OpenApiDocument): Resolve {
  const resolve = (schema: Schema): Schema => {
    if (schema.$ref === undefined) return schema;
    const name = schema.$ref.split("/").at(-1) ?? "";
    const target = Object.hasOwn(components.schemas, name) ? components.schemas[name] : undefined;
    if (!target) throw new Error(`the OpenAPI document has no schema ${name}`);
    return resolve(target);
  };
  return resolve;
}

/** Returns the example that the OpenAPI document contains for a body; undefined if there is none. */
export function statedExample({ example, examples = {} }: MediaType, { components }: OpenApiDocument): unknown {
  if (example !== undefined) return example;
  const [first] = Object.values(examples);
  const name = first?.$ref?.split("/").at(-1);
  return name === undefined ? first?.value : components.examples?.[name]?.value;
}

export function endpointsOf({ paths }: OpenApiDocument): readonly Endpoint[] {
  return Object.entries(paths).flatMap(([url, methods]) =>
    Object.entries(methods).map(([method, operation]) => ({ ...operation, url, method: method.toUpperCase() })),
  );
}

/** Returns the types that a schema allows; empty if it allows any type. */
export function typesOf({ type }: Schema): readonly string[] {
  if (type === undefined) return [];
  return typeof type === "string" ? [type] : type;
}

/** Returns an object schema that includes the members of its `allOf`. */
export function mergedObject(schema: Schema, resolve: Resolve): Schema {
  const { allOf, ...own } = resolve(schema);
  if (!allOf) return own;
  const parts = [own, ...allOf.map((part) => mergedObject(part, resolve))];
  return {
    ...Object.assign({}, ...parts),
    properties: Object.assign({}, ...parts.map(({ properties }) => properties ?? {})) as Record<string, Schema>,
    required: parts.flatMap(({ required = [] }) => required),
  } as Schema;
}
