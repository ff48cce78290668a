/** The OpenAPI 3.1 document, from the routes that are registered and the schemas they name. */
import { type Code, PASSING_STATUSES, statusOf } from "#shared/errors.ts";

import type { RouteRequest, RouteResponse, RouteSpec } from "../route.ts";
import { type HeaderName, HEADERS } from "./headers.ts";
import { reachable, reference } from "./references.ts";

/** Content of schemas/generated/components.json. */
export interface Components {
  readonly schemas: Readonly<Record<string, object>>;
}

/** Error codes of the gates in front of every route (design part 5). */
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
  "One OpenAI-compatible API in front of many providers, paid from prepaid credits. Errors have one envelope; branch " +
  "on its `code`. Unknown members of a body never fail a call. In every body null for an optional member says that the member is absent, " +
  "unless its schema accepts null or has `x-svc-refuses-null`. Bytes that are not HTTP get the server's bare 400.";

const OPERATOR_TOKEN =
  "`Authorization: Bearer <token>` with a token of `admin operator add` or that of SLUICE_OPERATOR_TOKEN. While there is none, " +
  "paths under /operator answer 404.";

/** Security requirements of a route, by its kind of authentication. */
const SECURITY: Readonly<Record<RouteSpec["auth"], readonly object[]>> = {
  key: [{ key: [] }, { apiKeyHeader: [] }],
  operator: [{ operatorToken: [] }],
  none: [],
};

const BEARER =
  "A key of a workspace, without `Bearer`: `npm start` prints one, and POST /workspaces/{workspaceId}/api-keys makes more. It goes " +
  "out as `Authorization: Bearer <key>`.";

const X_API_KEY = "The same key; not looked at where `Authorization` comes too";

/**
 * The document for a list of routes: only schemas that a route reaches are in it.
 * @throws Error when two routes share a method and path or an operationId, or a schema is not among the components
 */
export function buildOpenApi(routes: readonly RouteSpec[], components: Components): object {
  const paths: Record<string, Record<string, object>> = {};
  const operationIds = new Set<string>();
  const shown = routes.filter(({ isHidden }) => isHidden !== true);
  for (const route of shown) {
    const methods = (paths[route.path] ??= {});
    const method = route.method.toLowerCase();
    if (methods[method] !== undefined) throw new Error(`${route.method} ${route.path} is declared twice`);
    if (operationIds.has(route.operationId)) throw new Error(`two routes are called ${route.operationId}`);
    operationIds.add(route.operationId);
    methods[method] = operation(route);
  }
  return {
    openapi: "3.1.0",
    info: { title: "Sluice", version: "1", description: DESCRIPTION },
    servers: [{ url: "/", description: "The address this document came from" }],
    tags: [...new Set(shown.flatMap((route) => route.tags))].map((name) => ({ name })),
    paths,
    components: {
      schemas: reachable(paths, components.schemas),
      headers: HEADERS,
      securitySchemes: {
        key: { type: "http", scheme: "bearer", description: BEARER },
        operatorToken: { type: "http", scheme: "bearer", description: OPERATOR_TOKEN },
        apiKeyHeader: { type: "apiKey", in: "header", name: "x-api-key", description: X_API_KEY },
      },
    },
  };
}

function operation(route: RouteSpec): object {
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
        ...(name === "workspaceId" ? { description: "Id or name of the workspace, as GET /v1/key tells them." } : {}),
        ...exampleOf(route.pathExamples?.[name]),
      })),
      ...(route.query ?? []).map((parameter) => ({ ...parameter, in: "query", required: false })),
      ...(route.requestHeaders ?? []).map((parameter) => ({ ...parameter, in: "header", required: false })),
    ],
    ...(route.request === undefined ? {} : { requestBody: requestBody(route.request) }),
    responses: { ...successes(route), ...failures(route) },
  };
}

function requestBody({ schema, mediaType = "application/json", isOptional, form, example }: RouteRequest): object {
  const content: Record<string, object> = { [mediaType]: { schema: reference(schema), ...exampleOf(example) } };
  if (form) {
    const names = Object.keys(form.files);
    const required = names.filter((name) => form.files[name]?.isRequired === true);
    const parts = { type: "object", required, properties: Object.fromEntries(names.map((name) => [name, BYTES])) };
    content["multipart/form-data"] = { schema: { allOf: [reference(schema), parts] } };
  }
  return { required: isOptional !== true, content };
}

function exampleOf(example: unknown): { readonly example?: unknown } {
  return example === undefined ? {} : { example };
}

const BYTES = { type: "string", format: "binary" };

function descriptionOf({ auth, scope = "money", description }: RouteSpec): { description?: string } {
  const needs = auth === "operator" ? [`Needs the scope \`${scope}\`.`] : [];
  const sentences = [...(description === undefined ? [] : [description]), ...needs];
  return sentences.length === 0 ? {} : { description: sentences.join(" ") };
}

function successes(route: RouteSpec): Record<string, object> {
  return Object.fromEntries(
    Object.entries(route.responses).map(([status, response]) => [
      status,
      { description: response.description, headers: headerReferences(response.headers ?? []), ...contentOf(response) },
    ]),
  );
}

function contentOf(response: RouteResponse): { content?: object } {
  const content: Record<string, object> = {};
  if (response.schema !== undefined) content["application/json"] = { schema: reference(response.schema) };
  else if (response.isAnyJson === true) content["application/json"] = { schema: {} };
  for (const type of response.texts ?? []) content[type] = { schema: { type: "string" } };
  for (const type of response.bytes ?? []) content[type] = { schema: BYTES };
  const [frame, ...others] = [response.stream ?? []].flat();
  if (frame !== undefined) {
    const schema = others.length === 0 ? reference(frame) : { anyOf: [frame, ...others].map(reference) };
    content["text/event-stream"] = { schema };
  }
  return Object.keys(content).length === 0 ? {} : { content };
}

/** One answer per status, naming the codes that come with it. */
function failures(route: RouteSpec): Record<string, object> {
  const codes = [...new Set([...GATE_CODES[route.auth], ...route.errors])];
  const isAnthropic = route.isAnthropic === true;
  const statuses = [...new Set(codes.map((code) => statusOf(code, isAnthropic)))].toSorted((a, b) => a - b);
  return Object.fromEntries(
    statuses.map((status) => {
      if (route.responses[status] !== undefined) throw new Error(`${route.operationId} declares ${status} twice`);
      const names = codes.filter((code) => statusOf(code, isAnthropic) === status).map((code) => `\`${code}\``);
      return [
        String(status),
        {
          description: `Error with code ${names.join(", ")}`,
          headers: headerReferences(PASSING_STATUSES.has(status) ? [] : ["x-should-retry"]),
          content: { "application/json": { schema: reference("ErrorEnvelope") } },
        },
      ];
    }),
  );
}

function headerReferences(names: readonly HeaderName[]): object {
  const all: readonly HeaderName[] = ["x-request-id", ...names];
  return Object.fromEntries(all.map((name) => [name, { $ref: `#/components/headers/${name}` }]));
}
