/** The protocol's own suite: scenarios that call tools, resources and prompts of the suite's own, behind the entry that serves ours. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { Server } from "@modelcontextprotocol/server";

import type { ApiClient } from "#ingress/tools/api-client.ts";
import { answerMessage } from "#ingress/mcp/server.ts";
import { createLogger } from "#shared/logger.ts";

import { checksOf } from "#tests/e2e/mcp/suite.ts";

const PNG =
  "iVBORw0KGgoAAAANSUhEUgAAAAIAAAADCAIAAAA2iEnWAAAAFElEQVR4nGP8z8DAwMDAxMDAwIBMAQALAQEE6Xm2ZAAAAABJRU5ErkJggg==";
const TEXT = { type: "text", text: "This is a simple text response for testing." } as const;
const IMAGE = { type: "image", data: PNG, mimeType: "image/png" } as const;
const RESOURCE = {
  type: "resource",
  resource: { uri: "test://embedded-resource", mimeType: "text/plain", text: "This is an embedded resource content." },
} as const;

const RESULTS = {
  test_simple_text: { content: [TEXT] },
  test_image_content: { content: [IMAGE] },
  test_audio_content: { content: [{ type: "audio", data: "UklGRiQAAABXQVZFZm10IA==", mimeType: "audio/wav" }] },
  test_embedded_resource: { content: [RESOURCE] },
  test_multiple_content_types: { content: [TEXT, IMAGE, RESOURCE] },
  test_error_handling: {
    isError: true,
    content: [{ type: "text", text: "This tool intentionally returns an error for testing" }],
  },
  test_tool_with_progress: { content: [TEXT] },
} as const;

function isResult(name: string): name is keyof typeof RESULTS {
  return Object.hasOwn(RESULTS, name);
}

function fixtureServer(): Server {
  const server = new Server(
    { name: "fixtures", version: "1" },
    { capabilities: { tools: {}, resources: {}, prompts: {} } },
  );
  server.setRequestHandler("tools/list", () => ({
    tools: Object.keys(RESULTS).map((name) => ({ name, description: name, inputSchema: { type: "object" as const } })),
  }));
  server.setRequestHandler("tools/call", async ({ params: { name } }, { mcpReq }) => {
    if (!isResult(name)) throw new Error(`there is no fixture ${name}`);
    const progressToken = mcpReq._meta?.progressToken;
    if (name === "test_tool_with_progress" && progressToken !== undefined) {
      for (const progress of [0, 50, 100]) {
        await mcpReq.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
      }
    }
    return structuredClone(RESULTS[name]) as { content: [typeof TEXT] };
  });
  server.setRequestHandler("resources/list", () => ({
    resources: [
      { uri: "test://static-text", name: "text" },
      { uri: "test://static-binary", name: "binary" },
    ],
  }));
  server.setRequestHandler("resources/read", ({ params: { uri } }) => {
    if (uri === "test://static-binary") return { contents: [{ uri, mimeType: "image/png", blob: PNG }] };
    return { contents: [{ uri, mimeType: "text/plain", text: `The content of ${uri}` }] };
  });
  server.setRequestHandler("prompts/list", () => ({
    prompts: ["test_simple_prompt", "test_prompt_with_arguments"].map((name) => ({ name, description: name })),
  }));
  server.setRequestHandler("prompts/get", ({ params: { name, arguments: given = {} } }) => {
    const text = { type: "text" as const, text: `${name} ${JSON.stringify(given)}` };
    const content = name.endsWith("image") ? IMAGE : name.endsWith("embedded_resource") ? RESOURCE : text;
    return {
      messages: [
        { role: "user" as const, content },
        { role: "user" as const, content: text },
      ],
    };
  });
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

const SCENARIOS = [
  "tools-call-simple-text",
  "tools-call-image",
  "tools-call-audio",
  "tools-call-embedded-resource",
  "tools-call-mixed-content",
  "tools-call-error",
  "tools-call-with-progress",
  "resources-read-text",
  "resources-read-binary",
  "resources-templates-read",
  "prompts-list",
  "prompts-get-simple",
  "prompts-get-with-args",
  "prompts-get-embedded-resource",
  "prompts-get-with-image",
] as const;

test.each([
  ["2026-07-28", SCENARIOS],
  ["2025-11-25", ["tools-call-mixed-content", "tools-call-error", "tools-call-with-progress", "resources-read-binary"]],
])(
  "revision %s: the scenarios of tools, resources and prompts",
  async (revision, scenarios) => {
    for (const scenario of scenarios) {
      const checks = await checksOf(`http://127.0.0.1:${door.port}/mcp`, scenario, revision);
      expect([scenario, checks.filter(({ status }) => status === "FAILURE")]).toEqual([scenario, []]);
      expect([scenario, checks.some(({ status }) => status === "SUCCESS")]).toEqual([scenario, true]);
    }
  },
  240_000,
);
