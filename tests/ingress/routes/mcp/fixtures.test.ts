/** The protocol's own suite: scenarios that call tools, resources and prompts of the suite's own, behind the entry that serves ours. */
import { afterAll, beforeAll, test } from "bun:test";

import {
  acceptedContent,
  type CallToolResult,
  createRequestStateCodec,
  type GetPromptResult,
  inputRequired,
  type InputRequiredResult,
  inputResponse,
  type McpRequestContext,
  MissingRequiredClientCapabilityError,
  ResourceNotFoundError,
  Server,
  type ServerContext,
} from "@modelcontextprotocol/server";

import { answerMessage } from "#ingress/routes/mcp/server.ts";
import type { ApiClient } from "#ingress/tools/api-client.ts";
import { createLogger } from "#shared/base/logger.ts";
import { expectConformance, REVISIONS } from "#tests/e2e/mcp/suite.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAFElEQVR4nGP8z8DAwMDAxMDAwIBMAQALAQEE6Xm2ZAAAAABJRU5ErkJggg==";
const TEXT = { type: "text", text: "This is a simple text response for testing." } as const;
const IMAGE = { type: "image", data: PNG, mimeType: "image/png" } as const;
const RESOURCE = {
  type: "resource",
  resource: { uri: "test://embedded-resource", mimeType: "text/plain", text: "This is an embedded resource content." },
} as const;

type Result = CallToolResult | InputRequiredResult;
type Tool = (server: Server, context: ServerContext) => Result | Promise<Result>;

const gives =
  (...content: CallToolResult["content"]): Tool =>
  () => ({ content });
const state = createRequestStateCodec<number>({ key: "0123456789abcdef0123456789abcdef" });

const STRING = { type: "string" } as const;
const BOOLEAN = { type: "boolean" } as const;
const form = (message: string, name: string, property: typeof STRING | typeof BOOLEAN = STRING) =>
  inputRequired.elicit({
    message,
    requestedSchema: { type: "object", properties: { [name]: property }, required: [name] },
  });
const sample = (text: string) =>
  inputRequired.createMessage({ messages: [{ role: "user", content: { type: "text", text } }], maxTokens: 50 });

/** Asks until each of these is answered. */
const asks =
  (inputRequests: Parameters<typeof inputRequired>[0]["inputRequests"] & object, isKept = false): Tool =>
  async (_server, { mcpReq }) => {
    const isAnswered = Object.keys(inputRequests).every(
      (key) => inputResponse(mcpReq.inputResponses, key).kind !== "missing",
    );
    if (isAnswered) return { content: [TEXT] };
    return inputRequired({ inputRequests, ...(isKept ? { requestState: await state.mint(1) } : {}) });
  };

const TOOLS: Readonly<Record<string, Tool>> = {
  test_simple_text: gives(TEXT),
  test_image_content: gives(IMAGE),
  test_audio_content: gives({ type: "audio", data: "UklGRiQAAABXQVZFZm10IA==", mimeType: "audio/wav" }),
  test_embedded_resource: gives(RESOURCE),
  test_multiple_content_types: gives(TEXT, IMAGE, RESOURCE),
  test_error_handling: () => ({
    isError: true,
    content: [{ type: "text", text: "This tool intentionally returns an error for testing" }],
  }),
  async test_tool_with_progress(_server, { mcpReq }) {
    const progressToken = mcpReq._meta?.progressToken;
    for (const progress of progressToken === undefined ? [] : [0, 50, 100]) {
      await mcpReq.notify({
        method: "notifications/progress",
        params: { progressToken: progressToken ?? 0, progress, total: 100 },
      });
    }
    return { content: [TEXT] };
  },
  async test_tool_with_logging(_server, { mcpReq }) {
    for (const data of ["started", "half way", "done"])
      await mcpReq.notify({ method: "notifications/message", params: { level: "info", data } });
    return { content: [TEXT] };
  },
  async test_logging_tool(_server, { mcpReq }) {
    await mcpReq.log("info", "worked");
    return { content: [TEXT] };
  },
  test_missing_capability(server) {
    if (server.getClientCapabilities()?.sampling) return { content: [TEXT] };
    throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
  },
  test_streaming_elicitation: asks({ user_name: form("What is your name?", "name") }),
  test_input_required_result_elicitation: (_server, context) => {
    const name = acceptedContent<{ name: string }>(context.mcpReq.inputResponses, "user_name")?.name;
    if (name !== undefined) return { content: [{ type: "text", text: `Hello, ${name}!` }] };
    return inputRequired({ inputRequests: { user_name: form("What is your name?", "name") } });
  },
  test_input_required_result_sampling: asks({ capital_question: sample("What is the capital of France?") }),
  test_input_required_result_list_roots: asks({ client_roots: inputRequired.listRoots() }),
  test_input_required_result_request_state: asks({ confirm: form("Please confirm", "ok", BOOLEAN) }, true),
  test_input_required_result_tampered_state: asks({ confirm: form("Please confirm", "ok", BOOLEAN) }, true),
  test_input_required_result_multiple_inputs: asks(
    {
      user_name: form("What is your name?", "name"),
      greeting: sample("Generate a greeting"),
      client_roots: inputRequired.listRoots(),
    },
    true,
  ),
  async test_input_required_result_multi_round(_server, { mcpReq }) {
    const round = (mcpReq.requestState<number>() ?? 0) + 1;
    if (round > 2) return { content: [TEXT] };
    const asked = round === 1 ? form("What is your name?", "name") : form("What is your favourite colour?", "color");
    return inputRequired({ inputRequests: { [`step${round}`]: asked }, requestState: await state.mint(round) });
  },
  test_input_required_result_capabilities: (server) => {
    const { sampling, elicitation } = server.getClientCapabilities() ?? {};
    return inputRequired({
      inputRequests: {
        ...(sampling ? { question: sample("Well?") } : {}),
        ...(elicitation ? { confirm: form("Please confirm", "ok", BOOLEAN) } : {}),
      },
    });
  },
  json_schema_2020_12_tool: gives(TEXT),
};

const SCHEMAS: Readonly<Record<string, object>> = {
  json_schema_2020_12_tool: {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    $defs: {
      address: {
        $anchor: "addressDef",
        type: "object",
        properties: { street: { type: "string" }, city: { type: "string" } },
      },
    },
    properties: {
      name: { type: "string" },
      address: { $ref: "#/$defs/address" },
      contactMethod: { type: "string", enum: ["phone", "email"] },
      phone: { type: "string" },
      email: { type: "string" },
    },
    allOf: [{ anyOf: [{ required: ["phone"] }, { required: ["email"] }] }],
    if: { properties: { contactMethod: { const: "phone" } }, required: ["contactMethod"] },
    // Written out, it would make a promise of the object.
    ...(JSON.parse('{ "then": { "required": ["phone"] } }') as object),
    else: { required: ["email"] },
    additionalProperties: false,
  },
};

function fixtureServer(_api: unknown, _surface: unknown, { era }: McpRequestContext): Server {
  const server = new Server(
    { name: "fixtures", version: "1" },
    {
      capabilities: {
        tools: {},
        resources: era === "modern" ? {} : { subscribe: true },
        prompts: {},
        completions: {},
        logging: {},
      },
      requestState: { verify: (text, context) => state.verify(text, context) },
    },
  );
  server.setRequestHandler("tools/list", () => ({
    tools: Object.keys(TOOLS).map((name) => ({
      name,
      description: name,
      inputSchema: { type: "object" as const, ...SCHEMAS[name] },
    })),
  }));
  server.setRequestHandler("tools/call", ({ params: { name } }, context) => {
    const tool = Object.hasOwn(TOOLS, name) ? TOOLS[name] : undefined;
    if (!tool) throw new Error(`there is no fixture ${name}`);
    return tool(server, context);
  });
  server.setRequestHandler("resources/list", () => ({
    resources: [
      { uri: "test://static-text", name: "text" },
      { uri: "test://static-binary", name: "binary" },
    ],
  }));
  server.setRequestHandler("resources/templates/list", () => ({
    resourceTemplates: [{ uriTemplate: "test://template/{id}/data", name: "template" }],
  }));
  server.setRequestHandler("resources/read", ({ params: { uri } }) => {
    if (uri === "test://static-binary") return { contents: [{ uri, mimeType: "image/png", blob: PNG }] };
    if (!/^test:\/\/(static-text|template\/\w+\/data)$/.test(uri)) throw new ResourceNotFoundError(uri);
    return { contents: [{ uri, mimeType: "text/plain", text: `The content of ${uri}` }] };
  });
  server.setRequestHandler("prompts/list", () => ({
    prompts: ["test_simple_prompt", "test_prompt_with_arguments"].map((name) => ({ name, description: name })),
  }));
  server.setRequestHandler(
    "prompts/get",
    ({ params: { name, arguments: given = {} } }, { mcpReq }): GetPromptResult | InputRequiredResult => {
      if (name === "test_input_required_result_prompt" && mcpReq.inputResponses === undefined) {
        return inputRequired({
          inputRequests: { user_context: form("What context should the prompt use?", "context") },
        });
      }
      const text = { type: "text" as const, text: `${name} ${JSON.stringify(given)}` };
      const content = name.endsWith("image") ? IMAGE : name.endsWith("embedded_resource") ? RESOURCE : text;
      return {
        messages: [
          { role: "user" as const, content },
          { role: "user" as const, content: text },
        ],
      };
    },
  );
  server.setRequestHandler("completion/complete", ({ params: { argument } }) => ({
    completion: { values: [`${argument.value}ris`], total: 1, hasMore: false },
  }));
  if (era !== "modern") {
    server.setRequestHandler("logging/setLevel", () => ({}));
    server.setRequestHandler("resources/subscribe", () => ({}));
    server.setRequestHandler("resources/unsubscribe", () => ({}));
  }
  return server;
}

let door: Bun.Server<undefined>;
beforeAll(() => {
  const log = createLogger({ role: "ingress", level: "silent" });
  door = Bun.serve({
    port: 0,
    hostname: "127.0.0.1",
    idleTimeout: 0,
    async fetch(request) {
      // Only clients of the earlier revision ask for a stream of their own.
      if (request.method !== "POST") return new Response(null, { status: 405 });
      const api = { context: { log }, call: { request, requestId: "fixture" } } as unknown as ApiClient;
      return answerMessage(api, undefined, (await request.json()) as object, fixtureServer);
    },
  });
});
afterAll(() => door?.stop(true));

/** The stream of a call is open before its tool is asked, so that no tool can have another status told. */
const EXCEPT: ReadonlySet<string> = new Set(["sep-2575-missing-capability-http-400"]);

test.each(REVISIONS)(
  "revision %s: the fixtures of the conformance suite",
  (revision) => expectConformance(`http://127.0.0.1:${door.port}/mcp`, revision, "fixtures", EXCEPT),
  120_000,
);
