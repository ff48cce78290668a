/** The door itself: keys, origins, hostile bodies, windows. */
import { beforeAll, expect, test } from "bun:test";

import { MCP_BODY_BYTES_MAX } from "#ingress/routes/mcp/mcp.ts";
import { createWorkspace } from "#tests/faults/bed.ts";
import type { Tenant } from "#tests/support/tenant.ts";

import { newTenant, post } from "./shared-service.ts";

let tenant: Tenant;
beforeAll(async () => {
  tenant = await newTenant();
}, 240_000);

const LIST = { jsonrpc: "2.0", id: 1, method: "tools/list" };
const codeOf = async (answer: Response) => [
  answer.status,
  ((await answer.json()) as { error: { code: string } }).error.code,
];

test("without a key, or with a wrong key, a request receives the authentication challenge", async () => {
  for (const key of ["", `slk_${"0".repeat(38)}`]) {
    const answer = await post({ ...tenant, key }, LIST, key === "" ? { authorization: "" } : {});
    expect(answer.headers.get("www-authenticate")).toBe("Bearer");
    expect(await codeOf(answer)).toEqual([401, key === "" ? "missing_api_key" : "invalid_api_key"]);
  }
});

test.each(["GET", "DELETE", "PUT"])("%s is not a supported method", async (method) => {
  for (const path of ["/mcp", "/mcp/all"]) {
    const headers = { authorization: `Bearer ${tenant.key}`, accept: "text/event-stream" };
    const answer = await fetch(`${tenant.baseUrls[0]}${path}`, { method, headers });
    expect([answer.status, answer.headers.get("allow")]).toEqual([405, "POST, OPTIONS"]);
  }
});

test.each([
  ["http://localhost:6274", 200],
  ["http://127.0.0.1", 200],
  ["http://evil.example", 403],
  ["http://localhost.evil.example", 403],
  ["null", 403],
])("a page of the origin %s receives %d", async (origin, status) => {
  expect((await post(tenant, LIST, { origin })).status).toBe(status);
});

test("a page with a rebound host name is rejected", async () => {
  const names = { origin: "http://localhost", host: "evil.example" };
  expect(await codeOf(await post(tenant, LIST, names))).toEqual([403, "permission_denied"]);
  expect((await post(tenant, LIST, { host: "gateway.internal" })).status).toBe(200);
});

test.each([
  ["no JSON", "{", 400, "invalid_json"],
  ["nothing", "", 400, "invalid_json"],
  ["a list of messages", [LIST], 400, "invalid_request"],
  ["a number", "7", 400, "invalid_request"],
  ["deep nesting", `${"[".repeat(5_000)}${"]".repeat(5_000)}`, 400, "invalid_json"],
  ["too many bytes", `{"jsonrpc":"2.0","method":"${"x".repeat(MCP_BODY_BYTES_MAX)}"}`, 413, "request_too_large"],
] as const)("%s receives the error envelope", async (_what, body, status, code) => {
  expect(await codeOf(await post(tenant, body))).toEqual([status, code]);
});

test("another media type receives the error envelope", async () => {
  expect(await codeOf(await post(tenant, LIST, { "content-type": "text/plain" }))).toEqual([
    415,
    "unsupported_media_type",
  ]);
});

test.each([
  ["no message", { hello: 1 }],
  ["another protocol", { jsonrpc: "1.0", id: 1, method: "tools/list" }],
  ["an id that is none", { jsonrpc: "2.0", id: {}, method: "tools/list" }],
  ["an unknown method", { jsonrpc: "2.0", id: 1, method: "tools/steal" }],
  [
    "a prototype",
    `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"__proto__","arguments":{"__proto__":{}}}}`,
  ],
  ["a tool that is no text", { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: 7 } }],
  [
    "arguments that are none",
    { jsonrpc: "2.0", id: 1, method: "tools/call", params: { name: "run_tool", arguments: [] } },
  ],
])("%s is a protocol error", async (_what, body) => {
  const answer = await post(tenant, body);
  const text = await answer.text();
  expect(text).toMatch(/"code":-32\d{3}/);
  expect(answer.status).toBeLessThan(500);
});

test("a client that subscribes to changes receives the information that there are none, and no stream stays open", async () => {
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const params = { notifications: { toolsListChanged: true, taskIds: ["1"] }, _meta: meta };
  const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": "subscriptions/listen" };
  const answer = await post(tenant, { ...LIST, method: "subscriptions/listen", params }, headers);
  expect((await answer.text()).match(/"resultType":"complete"/g)).toHaveLength(1);
});

test("the window counts each message that runs a tool once, and no message that reads", async () => {
  const few = { ...tenant, ...(await createWorkspace(tenant, { creditsNano: 10n ** 12n, preset: "free" })) };
  const call = (name: string, given: object) => ({
    ...LIST,
    method: "tools/call",
    params: { name, arguments: given },
  });
  const run = { tool: "code.regex", input: { text: { text: "abc" } }, params: { pattern: "b" } };
  const reads = [
    LIST,
    { jsonrpc: "2.0", method: "notifications/initialized" },
    call("search_tools", {}),
    call("list_files", {}),
    { ...LIST, method: "no/such" },
  ];
  const runs = [call("run_tool", run), call("run_tool", { ...run, params: {} }), call("no_such_tool", {})];
  const answers: number[] = [];
  for (const message of [...reads, ...Array.from({ length: 10 }, () => runs).flat(), ...reads]) {
    const answer = await post(few, message);
    answers.push(answer.status);
    expect(await answer.text()).not.toContain("rate_limit_exceeded");
  }
  expect(new Set(answers)).toEqual(new Set([200, 202]));
  expect(await (await post(few, call("run_tool", run))).text()).toContain("rate_limit_exceeded");
  const rows = await tenant.query("select 1 from usage_record where workspace_id = $1", [few.id]);
  expect(rows).toHaveLength(10);
}, 60_000);

test("messages rejected or dropped before a tool call count as well", async () => {
  const few = { ...tenant, ...(await createWorkspace(tenant, { creditsNano: 10n ** 12n, preset: "free" })) };
  const call = {
    jsonrpc: "2.0",
    method: "tools/call",
    params: { name: "run_tool", arguments: { tool: "code.regex" } },
  };
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": {},
  };
  const newest = { "mcp-protocol-version": "2026-07-28", "mcp-method": "tools/call", "mcp-name": "run_tool" };
  const variants: [object, Record<string, string>][] = [
    [call, {}],
    [{ ...call, params: { ...call.params, _meta } }, newest],
    [{ ...call, id: null }, {}],
    [{ ...call, id: 1, params: { ...call.params, arguments: [] } }, {}],
    [{ ...call, id: 1, params: { ...call.params, _meta: 5 } }, {}],
    [{ ...call, id: 1, params: { ...call.params, _meta: { progressToken: {} } } }, {}],
    [
      { ...call, id: 1, params: { ...call.params, _meta } },
      { ...newest, "mcp-name": "list_files" },
    ],
    [{ ...call, id: 1, params: { ...call.params, _meta, arguments: "none" } }, newest],
    [{ ...call, id: 1, params: { ...call.params, task: 1 } }, {}],
    [{ ...call, id: 1 }, { accept: "application/json" }],
  ];
  for (const [message, headers] of [...variants, ...variants, ...variants]) {
    expect(await (await post(few, message, headers)).text()).not.toContain("rate_limit_exceeded");
  }
  expect(await codeOf(await post(few, call))).toEqual([403, "rate_limit_exceeded"]);
}, 60_000);
