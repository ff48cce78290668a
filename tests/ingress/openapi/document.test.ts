import { describe, expect, test } from "bun:test";

import { buildOpenApi } from "#ingress/openapi/document.ts";
import { standalone } from "#ingress/openapi/references.ts";
import type { RouteSpec } from "#ingress/core/route.ts";
import components from "#schemas/generated/components.json" with { type: "json" };
import { GOOD_BODIES } from "#tests/schemas/chat-bodies.ts";

import { Ajv2020 } from "ajv/dist/2020.js";
import addFormats from "ajv-formats";

const CHAT: RouteSpec = {
  method: "POST",
  path: "/v1/chat/completions",
  operationId: "createChatCompletion",
  summary: "Create chat completion",
  description: "Whole or streamed.",
  tags: ["Chat"],
  auth: "key",
  request: { schema: "ChatCompletionRequest" },
  responses: {
    200: {
      description: "The answer",
      schema: "ChatCompletion",
      stream: "ChatCompletionChunk",
      headers: ["x-credits-used"],
    },
  },
  errors: ["model_not_found", "invalid_json", "insufficient_credits", "upstream_error", "invalid_api_key"],
};

const SCHEMA_FILE: RouteSpec = {
  method: "GET",
  path: "/schemas/{name}.json",
  operationId: "getSchema",
  summary: "One schema",
  tags: ["Discovery"],
  auth: "none",
  query: [{ name: "pretty", description: "Indented", schema: { type: "boolean" } }],
  responses: { 200: { description: "The schema", texts: ["application/schema+json"] } },
  errors: ["not_found"],
};

type Content = Record<string, { schema: object; example?: unknown; examples?: object }>;

interface Operation {
  operationId: string;
  security: object[];
  parameters: { name: string; in: string; required: boolean; description?: string }[];
  requestBody?: { required: boolean; content: Content };
  responses: Record<string, { description: string; headers: Record<string, object>; content?: Content }>;
}

interface Document {
  openapi: string;
  tags: { name: string; description?: string }[];
  paths: Record<string, Record<string, Operation>>;
  components: {
    schemas: Record<string, object>;
    headers: Record<string, object>;
    examples: Record<string, object>;
    securitySchemes: Record<string, object>;
  };
}

function build(...routes: RouteSpec[]): Document {
  return buildOpenApi(routes, components) as Document;
}

function operation(route: RouteSpec): Operation {
  const found = build(route).paths[route.path]?.[route.method.toLowerCase()];
  if (found === undefined) throw new Error("the route is not in the document");
  return found;
}

/** Targets of references that cannot be resolved within the document. */
function dangling(document: object): string[] {
  return [...JSON.stringify(document).matchAll(/"\$ref":"([^"]+)"/g)]
    .map(([, target]) => target ?? "")
    .filter((target) => {
      let node: unknown = document;
      for (const step of target.split("/").slice(1)) node = (node as Record<string, unknown> | undefined)?.[step];
      return !target.startsWith("#/") || node === undefined;
    });
}

describe("the OpenAPI document", () => {
  test("is OpenAPI 3.1 with one path per route and no reference that leads nowhere", () => {
    const document = build(CHAT, SCHEMA_FILE);
    expect(document.openapi).toBe("3.1.0");
    expect(Object.keys(document.paths)).toEqual(["/v1/chat/completions", "/schemas/{name}.json"]);
    expect(document.tags).toEqual([{ name: "Chat", description: expect.any(String) }, { name: "Discovery" }]);
    expect(dangling(document)).toEqual([]);
    expect(JSON.parse(JSON.stringify(document)) as unknown).toEqual(document);
  });

  test("holds the schemas its routes reach, and no others", () => {
    const names = Object.keys(build(CHAT).components.schemas);
    expect(names).toContain("UserMessage");
    expect(names).toContain("ErrorEnvelope");
    expect(names).not.toContain("JobMessage");
    expect(names).not.toContain("CatalogueFile");
    expect(names).toEqual(names.toSorted());
  });

  test("describes body, answer and stream of a route", () => {
    const { requestBody, responses } = operation(CHAT);
    const reference = (name: string) => ({ schema: { $ref: `#/components/schemas/${name}` } });
    expect(requestBody).toEqual({
      required: true,
      content: { "application/json": reference("ChatCompletionRequest") },
    });
    expect(responses["200"]?.content).toEqual({
      "application/json": reference("ChatCompletion"),
      "text/event-stream": reference("ChatCompletionChunk"),
    });
    expect(Object.keys(responses["200"]?.headers ?? {})).toEqual(["x-request-id", "x-credits-used"]);
  });

  test("groups error codes by status, including those of the gates, each once", () => {
    const { responses } = operation(CHAT);
    const descriptions = Object.fromEntries(
      Object.entries(responses).map(([status, { description }]) => [status, description]),
    );
    expect(descriptions).toEqual({
      200: "The answer",
      400: "Error with code `invalid_request`, `model_not_found`, `invalid_json`",
      401: "Error with code `missing_api_key`, `invalid_api_key`",
      402: "Error with code `insufficient_credits`",
      403: "Error with code `permission_denied`, `rate_limit_exceeded`",
      429: "Error with code `ip_rate_limit_exceeded`",
      500: "Error with code `internal_error`",
      502: "Error with code `upstream_error`",
      503: "Error with code `overloaded`, `service_unavailable`",
    });
    expect(responses["402"]?.content).toEqual({
      "application/json": {
        schema: { $ref: "#/components/schemas/ErrorEnvelope" },
        examples: { insufficient_credits: { $ref: "#/components/examples/insufficient_credits" } },
      },
    });
    for (const response of Object.values(responses)) expect(Object.keys(response.headers)).toContain("x-request-id");
    expect(Object.keys(responses["500"]?.headers ?? {})).toContain("x-should-retry");
  });

  test("requires a key only if the route does", () => {
    expect(operation(CHAT).security).toEqual([{ key: [] }, { apiKeyHeader: [] }]);
    expect(operation(SCHEMA_FILE).security).toEqual([]);
    expect(operation(SCHEMA_FILE).responses["401"]).toBeUndefined();
    expect(build(CHAT).components.securitySchemes["key"]).toMatchObject({ type: "http", scheme: "bearer" });
  });

  test("describes path and query parameters, and a body without a schema", () => {
    const { parameters, responses } = operation(SCHEMA_FILE);
    expect(parameters).toEqual([
      expect.objectContaining({ name: "name", in: "path", required: true }),
      expect.objectContaining({ name: "pretty", in: "query", required: false, description: "Indented" }),
    ]);
    expect(responses["200"]?.content).toEqual({ "application/schema+json": { schema: { type: "string" } } });
  });

  test("names every form of an answer, including frames of several kinds and bytes of any type", () => {
    const { responses } = operation({
      ...CHAT,
      responses: {
        200: {
          description: "Said",
          schema: "Transcription",
          texts: ["text/vtt"],
          stream: ["ChatCompletionChunk", "ErrorEnvelope"],
        },
        206: { description: "Heard", bytes: ["audio/mpeg", "*/*"] },
      },
    });
    const reference = (name: string) => ({ $ref: `#/components/schemas/${name}` });
    expect(responses["200"]?.content).toEqual({
      "application/json": { schema: reference("Transcription") },
      "text/vtt": { schema: { type: "string" } },
      "text/event-stream": { schema: { anyOf: [reference("ChatCompletionChunk"), reference("ErrorEnvelope")] } },
    });
    const binary = { schema: { type: "string", format: "binary" } };
    expect(responses["206"]?.content).toEqual({ "audio/mpeg": binary, "*/*": binary });
  });

  test("contains examples of path and body, an optional body, and a form beside JSON", () => {
    const { parameters, requestBody } = operation({
      ...CHAT,
      path: "/v1/things/{id}",
      pathExamples: { id: "image.resize" },
      request: {
        schema: "TranscriptionRequest",
        example: { model: "m" },
        isOptional: true,
        form: { members: {}, files: { file: { isRequired: true }, mask: {} } },
      },
    });
    expect(parameters[0]).toMatchObject({ name: "id", example: "image.resize" });
    expect(requestBody).toMatchObject({
      required: false,
      content: {
        "application/json": { example: { model: "m" } },
        "multipart/form-data": {
          schema: {
            allOf: [
              { $ref: "#/components/schemas/TranscriptionRequest" },
              {
                type: "object",
                required: ["file"],
                properties: {
                  file: { type: "string", format: "binary" },
                  mask: { type: "string", format: "binary" },
                },
              },
            ],
          },
        },
      },
    });
  });

  test("contains examples of a request, of a response and of events, unless the route has its own", () => {
    const followed = {
      ...CHAT,
      path: "/v1/followed",
      operationId: "follow",
      responses: { 200: { description: "Events", stream: "MediaState" } },
    } as const;
    const examples = {
      createChatCompletion: { request: { model: "m" }, responses: { 200: { id: "a" } } },
      follow: { request: { model: "other" }, responses: { 200: { status: "queued" } } },
    };
    const own = { ...followed, request: { schema: "ChatCompletionRequest", example: { model: "own" } } } as const;
    const { paths } = buildOpenApi([CHAT, own], components, examples) as Document;
    const [chat, follow] = [paths[CHAT.path]?.["post"], paths[own.path]?.["post"]];
    expect(chat?.requestBody?.content).toMatchObject({ "application/json": { example: { model: "m" } } });
    expect(chat?.responses["200"]?.content).toMatchObject({ "application/json": { example: { id: "a" } } });
    expect(chat?.responses["200"]?.content?.["text/event-stream"]).not.toHaveProperty("example");
    expect(follow?.requestBody?.content).toMatchObject({ "application/json": { example: { model: "own" } } });
    expect(follow?.responses["200"]?.content).toMatchObject({ "text/event-stream": { example: { status: "queued" } } });
  });

  test("describes errors to clients of Anthropic's API in its format", () => {
    const { responses } = operation({ ...CHAT, isAnthropic: true });
    const examples = { anthropic_model_not_found: { $ref: "#/components/examples/anthropic_model_not_found" } };
    expect(responses["404"]?.content).toMatchObject({ "application/json": { examples } });
    expect(build({ ...CHAT, isAnthropic: true }).components.examples["anthropic_model_not_found"]).toMatchObject({
      value: { type: "error", error: { type: "not_found_error", code: "model_not_found" } },
    });
  });

  test("omits provider callbacks", () => {
    expect(build(CHAT, { ...SCHEMA_FILE, isHidden: true }).paths).not.toHaveProperty([SCHEMA_FILE.path]);
  });

  test("joins the methods of one path", () => {
    const document = build(SCHEMA_FILE, { ...SCHEMA_FILE, method: "DELETE", operationId: "deleteSchema" });
    expect(Object.keys(document.paths[SCHEMA_FILE.path] ?? {})).toEqual(["get", "delete"]);
  });

  test.each<[string, RouteSpec[], string]>([
    ["two routes on one method and path", [CHAT, { ...CHAT, operationId: "other" }], "is declared twice"],
    ["two routes of one name", [CHAT, { ...SCHEMA_FILE, operationId: CHAT.operationId }], "two routes are called"],
    [
      "a status that is both answer and error",
      [{ ...CHAT, errors: ["service_unavailable"], responses: { 503: { description: "Down" } } }],
      "declares 503 twice",
    ],
  ])("rejects %s", (_name, routes, message) => {
    expect(() => build(...routes)).toThrow(message);
  });

  test("rejects a schema that does not exist", () => {
    expect(() => buildOpenApi([CHAT], { schemas: {} })).toThrow("there is no schema");
  });
});

describe("a published schema", () => {
  test("is self-contained and validates like the contract", () => {
    const schema = standalone("ChatCompletionRequest", components.schemas);
    expect(dangling(schema ?? {})).toEqual([]);
    const ajv = new Ajv2020({ strict: false });
    addFormats(ajv);
    const isValid = ajv.compile(schema ?? {});
    for (const body of Object.values(GOOD_BODIES)) expect(isValid(body)).toBe(true);
    expect(isValid({ model: "m", messages: [{ role: "robot" }] })).toBe(false);
  });

  test("maps a discriminator to its own parts", () => {
    const text = JSON.stringify(standalone("ChatCompletionRequest", components.schemas));
    expect(text).toContain('"user":"#/$defs/UserMessage"');
    expect(text).not.toContain("#/components/");
  });

  test("without parts has no discriminator", () => {
    expect(standalone("Health", components.schemas)).toMatchObject({ title: "Health" });
    expect(standalone("Health", components.schemas)).not.toHaveProperty("$defs");
  });

  test.each(["Nothing", "", "constructor", "__proto__", "../error"])("does not exist under the name %j", (name) => {
    expect(standalone(name, components.schemas)).toBeUndefined();
  });
});
