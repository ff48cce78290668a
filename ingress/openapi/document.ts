/** Builds the OpenAPI 3.1 document from the registered routes and the schemas that they name. */
import { type Code, PASSING_STATUSES, statusOf } from "#shared/base/errors.ts";

import type { RouteRequest, RouteResponse, RouteSpec } from "../core/route.ts";
import { type ErrorExample, errorExampleOf } from "./error-examples.ts";
import type { OperationExamples } from "./examples.ts";
import { type HeaderName, HEADERS } from "../core/response-headers.ts";
import { reachable, reference } from "./references.ts";
import { PATH_PARAMETERS, pathParameterKey, TAGS } from "./texts.ts";

/** Content of schemas/generated/components.json. */
export interface Components {
  readonly schemas: Readonly<Record<string, object>>;
}

/** Error codes of the checks that run before every route, by kind of authentication (design part 5). */
const GATE_CODES: Readonly<Record<RouteSpec["auth"], readonly Code[]>> = {
  operator: [
    "invalid_request",
    "missing_api_key",
    "invalid_api_key",
    "permission_denied",
    "rate_limit_exceeded",
    "not_found",
    "ip_rate_limit_exceeded",
    "internal_error",
    "service_unavailable",
  ],
  none: ["invalid_request", "ip_rate_limit_exceeded", "internal_error"],
  key: [
    "invalid_request",
    "missing_api_key",
    "invalid_api_key",
    "permission_denied",
    "rate_limit_exceeded",
    "ip_rate_limit_exceeded",
    "internal_error",
    "overloaded",
    "service_unavailable",
  ],
};

const DESCRIPTION =
  "OpenAI-compatible AI gateway with prepaid credits. All errors have the same envelope; branch on its `code`. Unknown members of a " +
  "request body are accepted, except by settings and operator routes, which return `unknown_parameter`. Null for an optional member means that the member is absent, unless its schema accepts null or has " +
  "`x-svc-refuses-null`. Requests that are not valid HTTP return status 400 without a body.";

const OPERATOR_TOKEN =
  "Operator token, sent as `Authorization: Bearer <token>`. Create one with `admin operator add`, or set SLUICE_OPERATOR_TOKEN. " +
  "While none exists, paths below /operator return 404.";

/** Security requirements of a route, by its kind of authentication. */
const SECURITY: Readonly<Record<RouteSpec["auth"], readonly object[]>> = {
  key: [{ key: [] }, { apiKeyHeader: [] }],
  operator: [{ operatorToken: [] }],
  none: [],
};

const BEARER =
  "API key of a workspace, sent as `Authorization: Bearer <key>`. `npm start` prints one; " +
  "POST /workspaces/{workspaceId}/api-keys creates more.";

const X_API_KEY = "The same API key. Ignored when the request has an `Authorization` header.";

/**
 * Builds the OpenAPI document for a list of routes, with the schemas that the routes use.
 * @param examples by operationId
 * @throws Error when two routes share a method and path or an operationId, or a schema is not among the components
 */
export function buildOpenApi(
  routes: readonly RouteSpec[],
  components: Components,
  examples: Readonly<Record<string, OperationExamples>> = {},
): object {
  const paths: Record<string, Record<string, object>> = {};
  const operationIds = new Set<string>();
  const errorExamples = new Map<string, ErrorExample>();
  const listed = routes.filter(({ isHidden }) => isHidden !== true);
  for (const route of listed) {
    const methods = (paths[route.path] ??= {});
    const method = route.method.toLowerCase();
    if (methods[method] !== undefined) throw new Error(`${route.method} ${route.path} is declared twice`);
    if (operationIds.has(route.operationId)) throw new Error(`two routes are called ${route.operationId}`);
    operationIds.add(route.operationId);
    methods[method] = operation(route, examples[route.operationId] ?? {}, failures(route, components, errorExamples));
  }
  return {
    openapi: "3.1.0",
    info: { title: "Sluice", version: "1", description: DESCRIPTION },
    servers: [{ url: "/", description: "Host that returned this document." }],
    tags: tagsOf(listed),
    paths,
    components: {
      schemas: reachable(paths, components.schemas),
      headers: HEADERS,
      examples: Object.fromEntries(
        [...errorExamples.values()]
          .toSorted((a, b) => (a.name < b.name ? -1 : 1))
          .map(({ name, value }) => [name, { value }]),
      ),
      securitySchemes: {
        key: { type: "http", scheme: "bearer", description: BEARER },
        operatorToken: { type: "http", scheme: "bearer", description: OPERATOR_TOKEN },
        apiKeyHeader: { type: "apiKey", in: "header", name: "x-api-key", description: X_API_KEY },
      },
    },
  };
}

/** Returns the tags of the routes. Tags listed in TAGS come first, in that order. */
function tagsOf(routes: readonly RouteSpec[]): readonly object[] {
  const used = new Set(routes.flatMap((route) => route.tags));
  const known = Object.keys(TAGS).filter((name) => used.has(name));
  return [...new Set([...known, ...used])].map((name) => ({ name, ...described(TAGS[name]) }));
}

function described(description: string | undefined): { readonly description?: string } {
  return description === undefined ? {} : { description };
}

function operation(route: RouteSpec, examples: OperationExamples, failed: Record<string, object>): object {
  return {
    operationId: route.operationId,
    summary: route.summary,
    ...descriptionOf(route),
    tags: route.tags,
    security: SECURITY[route.auth],
    parameters: [
      ...[...route.path.matchAll(/\{(\w+)\}/g)].map(([, name = ""]) => ({
        name,
        in: "path",
        required: true,
        schema: { type: "string" },
        ...described(PATH_PARAMETERS[pathParameterKey(route.path, name)]),
        ...exampleOf(route.pathExamples?.[name]),
      })),
      ...(route.query ?? []).map((parameter) => ({ ...parameter, in: "query", required: false })),
      ...(route.requestHeaders ?? []).map((parameter) => ({ ...parameter, in: "header", required: false })),
    ],
    ...(route.request === undefined ? {} : { requestBody: requestBody({ ...examplesOf(examples), ...route.request }) }),
    responses: { ...successes(route, examples.responses ?? {}), ...failed },
  };
}

function examplesOf({ request }: OperationExamples): Pick<RouteRequest, "example"> {
  return request === undefined ? {} : { example: request };
}

function requestBody({ schema, mediaType = "application/json", isOptional, form, example }: RouteRequest): object {
  const content: Record<string, object> = { [mediaType]: { schema: reference(schema), ...exampleOf(example) } };
  if (form) {
    const names = Object.keys(form.files);
    const required = names.filter((name) => form.files[name]?.isRequired === true);
    const parts = { type: "object", required, properties: Object.fromEntries(names.map((name) => [name, FORM_FILE])) };
    content["multipart/form-data"] = { schema: { allOf: [reference(schema), parts] } };
  }
  return { required: isOptional !== true, content };
}

function exampleOf(example: unknown): { readonly example?: unknown } {
  return example === undefined ? {} : { example };
}

const BYTES = { type: "string", format: "binary" };
const FORM_FILE = { ...BYTES, description: "Content of the file." };

function descriptionOf({ auth, scope = "money", description }: RouteSpec): { description?: string } {
  const needs = auth === "operator" ? [`Requires the scope \`${scope}\`.`] : [];
  const sentences = [...(description === undefined ? [] : [description]), ...needs];
  return sentences.length === 0 ? {} : { description: sentences.join(" ") };
}

function successes(route: RouteSpec, examples: Readonly<Record<string, unknown>>): Record<string, object> {
  return Object.fromEntries(
    Object.entries(route.responses).map(([status, response]) => [
      status,
      {
        description: response.description,
        headers: headerReferences(response.headers ?? []),
        ...contentOf(response, examples[status]),
      },
    ]),
  );
}

/**
 * Builds the `content` member of a response. @param example JSON body, or the data of an event when the response is only an event stream
 */
function contentOf(response: RouteResponse, example: unknown): { content?: object } {
  const content: Record<string, object> = {};
  const isJson = response.schema !== undefined || response.isAnyJson === true;
  if (isJson) {
    const schema = response.schema === undefined ? {} : reference(response.schema);
    content["application/json"] = { schema, ...exampleOf(example) };
  }
  for (const type of response.texts ?? []) content[type] = { schema: { type: "string" } };
  for (const type of response.bytes ?? []) content[type] = { schema: BYTES };
  const [frame, ...others] = [response.stream ?? []].flat();
  if (frame !== undefined) {
    const schema = others.length === 0 ? reference(frame) : { anyOf: [frame, ...others].map(reference) };
    content["text/event-stream"] = { schema, ...(isJson ? {} : exampleOf(example)) };
  }
  return Object.keys(content).length === 0 ? {} : { content };
}

/** Builds one error response per status, which lists its codes. @param used receives the examples that the responses refer to */
function failures(route: RouteSpec, components: Components, used: Map<string, ErrorExample>): Record<string, object> {
  const isAnthropic = route.isAnthropic === true;
  const schema = route.request === undefined ? undefined : components.schemas[route.request.schema];
  const codes = [...new Set([...GATE_CODES[route.auth], ...bodyCodes(schema), ...route.errors])];
  const facts = {
    isAnthropic,
    isOperator: route.auth === "operator",
    hasBody: route.request !== undefined,
    requiredMember: requiredMemberOf(schema),
    hasLimit: route.query?.some(({ name }) => name === "limit") === true,
  };
  const statuses = [...new Set(codes.map((code) => statusOf(code, isAnthropic)))].toSorted((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      if (route.responses[status] !== undefined) throw new Error(`${route.operationId} declares ${status} twice`);
      const own = codes.filter((code) => statusOf(code, isAnthropic) === status);
      const example = errorExampleOf(own, facts);
      if (example !== undefined) used.set(example.name, example);
      return [
        String(status),
        {
          description: `Error with code ${own.map((code) => `\`${code}\``).join(", ")}`,
          headers: headerReferences(PASSING_STATUSES.has(status) ? [] : ["x-should-retry"]),
          content: {
            "application/json": {
              schema: reference("ErrorEnvelope"),
              ...(example === undefined
                ? {}
                : { examples: { [example.name]: { $ref: `#/components/examples/${example.name}` } } }),
            },
          },
        },
      ];
    }),
  );
}

/** Returns the error codes of a body that follow from its schema. */
function bodyCodes(schema: { readonly additionalProperties?: unknown } = {}): readonly Code[] {
  return schema.additionalProperties === false ? ["unknown_parameter"] : [];
}

function requiredMemberOf(schema: { readonly required?: readonly string[] } = {}): string | undefined {
  return schema.required?.[0];
}

function headerReferences(names: readonly HeaderName[]): object {
  const all: readonly HeaderName[] = ["x-request-id", ...names];
  return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
