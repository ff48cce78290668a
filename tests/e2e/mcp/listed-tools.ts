/** Keys that list their tools: no others are there, whichever way they are asked for. */
import type { Client } from "@modelcontextprotocol/client";
import { beforeAll, expect, test } from "bun:test";

import { callOfResponse } from "#shared/responses/ids.ts";
import { createWorkspace } from "#tests/faults/bed.ts";
import { eventually } from "#tests/faults/wait.ts";
import type { Tenant } from "#tests/support/tenant.ts";

import { called, connect, newTenant, post } from "./shared-service.ts";

const REGEX = { input: { text: { text: "abc" } }, params: { pattern: "b" } };
const DEFINITION = {
  steps: [{ id: "find", type: "capability", capability: "code.diff", input: {}, params: {} }],
  output: {},
};

let tenant: Tenant;
/** Lists code.regex and one workflow. */
let key: string;
let listed: string;
let other: string;
let earlier: string;

const http = (method: string, path: string, body?: object, by = key): Promise<Response> =>
  fetch(`${tenant.baseUrls[0]}${path}`, {
    method,
    headers: { authorization: `Bearer ${by}`, ...(body ? { "content-type": "application/json" } : {}) },
    ...(body ? { body: JSON.stringify(body) } : {}),
  });
const codeOf = async (answer: Promise<Response>): Promise<string> =>
  ((await (await answer).json()) as { error: { code: string } }).error.code;

beforeAll(async () => {
  tenant = await newTenant();
  const store = async (name: string): Promise<string> => {
    const steps = [
      { id: "say", type: "model", model: "sandbox-chat", params: { messages: [{ role: "user", content: "hi" }] } },
    ];
    const made = await http("POST", "/v1/workflows", { name, definition: { steps, output: { name } } }, tenant.key);
    return ((await made.json()) as { id: string }).id;
  };
  [listed, other] = [await store("listed"), await store("other")];
  const run = await http(
    "POST",
    "/v1/capabilities/code.diff/run",
    { input: { old: { text: "a" }, new: { text: "b" } }, async: true },
    tenant.key,
  );
  earlier = ((await run.json()) as { id: string }).id;
  const body = { name: "for an agent", tools: ["code.regex", listed] };
  const made = await http("POST", `/workspaces/${tenant.workspace.id}/api-keys`, body, tenant.key);
  ({ key } = (await made.json()) as { key: string });
}, 240_000);

const found = async (client: Client): Promise<string[]> =>
  ((await called(client, "search_tools", { limit: 100 }))["tools"] as { tool: string }[]).map(({ tool }) => tool);

test("listed tools are found, described and run; other tools do not exist", async () => {
  const client = await connect({ ...tenant, key });
  expect((await found(client)).toSorted()).toEqual(["code.regex", listed].toSorted());
  expect(await called(client, "describe_tool", { tool: "code.regex" })).toMatchObject({ tool: "code.regex" });
  expect(await called(client, "run_tool", { tool: "code.regex", ...REGEX })).toMatchObject({ status: "completed" });
  expect(await called(client, "run_tool", { tool: listed })).toMatchObject({ output: { name: "listed" } });
  for (const name of ["describe_tool", "run_tool"]) {
    for (const [tool, code] of [
      ["code.diff", "capability_not_found"],
      [other, "workflow_not_found"],
    ]) {
      const { structuredContent } = await client.callTool({ name, arguments: { tool, ...REGEX } });
      expect([name, structuredContent]).toMatchObject([name, { error: { code } }]);
    }
  }
  await client.close();
}, 60_000);

test("alone are tools of their own", async () => {
  const all = await connect({ ...tenant, key }, { path: "/mcp/all" });
  const names = (await all.listTools()).tools.map(({ name }) => name);
  expect(names).toEqual(["code_regex", "list_files", "get_file_link", "get_result"]);
  expect(await all.callTool({ name: "code_diff", arguments: {} }).catch(String)).toContain("Unknown tool");
  await all.close();
});

test("listed tools have tasks; work of other tools has none", async () => {
  const client = await connect({ ...tenant, key });
  const run = (await called(client, "run_tool", { tool: "code.regex", ...REGEX })) as { id: string };
  expect(await called(client, "get_result", { id: run.id })).toMatchObject({ capability: "code.regex" });
  const { structuredContent } = await client.callTool({ name: "get_result", arguments: { id: earlier } });
  expect(structuredContent).toMatchObject({ error: { code: "job_not_found" } });
  const meta = {
    "io.modelcontextprotocol/protocolVersion": "2026-07-28",
    "io.modelcontextprotocol/clientCapabilities": { extensions: { "io.modelcontextprotocol/tasks": {} } },
  };
  for (const method of ["tasks/get", "tasks/cancel"]) {
    const headers = { "mcp-protocol-version": "2026-07-28", "mcp-method": method, "mcp-name": earlier };
    const message = { jsonrpc: "2.0", id: 1, method, params: { taskId: earlier, _meta: meta } };
    expect(await (await post({ ...tenant, key }, message, headers)).text()).toContain("There is no such task");
    expect(await (await post(tenant, message, headers)).text()).not.toContain("There is no such task");
  }
  await client.close();
}, 60_000);

test("are all that the key has over HTTP", async () => {
  const { data } = (await (await http("GET", "/v1/tools")).json()) as { data: { id: string }[] };
  expect(data.map(({ id }) => id)).toEqual(["code.regex"]);
  const models = (await (await http("GET", "/v1/models?include_tools=true")).json()) as {
    data: { id: string; _svc: { kind: string } }[];
  };
  expect(models.data.filter(({ _svc }) => _svc.kind === "tool").map(({ id }) => id)).toEqual(["code.regex"]);
  for (const act of ["run", "estimate"]) {
    expect(await codeOf(http("POST", `/v1/capabilities/code.diff/${act}`, REGEX))).toBe("capability_not_found");
    expect((await http("POST", `/v1/capabilities/code.regex/${act}`, REGEX)).status).toBe(200);
  }
  const page = (await (await http("GET", "/v1/workflows?limit=1")).json()) as {
    items: { id: string }[];
    total: number;
  };
  expect([page.items.map(({ id }) => id), page.total]).toEqual([[listed], 1]);
  for (const path of [`/v1/workflows/${other}`, `/v1/workflows/${other}/versions`]) {
    expect(await codeOf(http("GET", path))).toBe("workflow_not_found");
  }
  expect(await codeOf(http("POST", `/v1/workflows/${other}/runs`, {}))).toBe("workflow_not_found");
  expect(await codeOf(http("POST", "/v1/workflows/estimate", { workflow_id: other }))).toBe("workflow_not_found");
  expect(await (await http("GET", "/v1/key")).json()).toMatchObject({ tools: ["code.regex", listed].toSorted() });
}, 60_000);

test("are all whose jobs and runs it reads or ends over HTTP", async () => {
  const idOf = async (path: string, body: object): Promise<string> =>
    ((await (await http("POST", path, body, tenant.key)).json()) as { id: string }).id;
  const [ours, theirs] = [
    await idOf(`/v1/workflows/${listed}/runs`, {}),
    await idOf(`/v1/workflows/${other}/runs`, {}),
  ];
  // Models are open to every key.
  const said = await idOf("/v1/responses", { model: "sandbox-chat", input: "hi", background: true });
  const stepOf = async (run: string): Promise<string> =>
    (await tenant.query<{ id: string }>("select id from job where run_id = $1", [run]))[0]?.id ?? "";
  const [step, hidden] = [await stepOf(ours), await stepOf(theirs)];
  const seen = await Promise.all(
    [ours, theirs].map(async (id) => (await http("GET", `/v1/workflows/runs/${id}`)).status),
  );
  expect(seen).toEqual([200, 404]);
  for (const path of [`${theirs}/events`, `${theirs}/steps/say/output`]) {
    expect(await codeOf(http("GET", `/v1/workflows/runs/${path}`))).toBe("run_not_found");
  }
  expect(await codeOf(http("POST", `/v1/workflows/runs/${theirs}/cancel`))).toBe("run_not_found");
  const page = (await (await http("GET", "/v1/workflows/runs?limit=100")).json()) as { items: { id: string }[]; total: number }; // prettier-ignore
  const ids = page.items.map(({ id }) => id);
  expect([ids.includes(ours), ids.includes(theirs), page.total]).toEqual([true, false, ids.length]);
  for (const [id, status] of [
    [step, 200],
    [callOfResponse(said) ?? "", 200],
    [hidden, 404],
    [earlier, 404],
  ] as const) {
    // prettier-ignore
    expect([id, (await http("GET", `/v1/images/jobs/${id}`)).status]).toEqual([id, status]);
  }
  expect(await codeOf(http("POST", `/v1/images/jobs/${earlier}/cancel`))).toBe("job_not_found");
}, 60_000);

test("cannot be got round by definitions of the key's own, or by another key", async () => {
  for (const [method, path, body] of [
    ["POST", "/v1/pipelines/runs", { definition: DEFINITION }],
    ["POST", "/v1/workflows", { name: "mine", definition: DEFINITION }],
    ["PUT", `/v1/workflows/${listed}`, { definition: DEFINITION }],
    ["DELETE", `/v1/workflows/${listed}`],
    ["POST", `/workspaces/${tenant.workspace.id}/api-keys`, { name: "wider", tools: null }],
  ] as const) {
    expect([path, await codeOf(http(method, path, body))]).toEqual([path, "permission_denied"]);
  }
});

test("change within a second", async () => {
  const few = await createWorkspace(tenant, { creditsNano: 10n ** 12n });
  const seen = async () =>
    ((await (await http("GET", "/v1/tools", undefined, few.key)).json()) as { data: object[] }).data.length;
  expect(await seen()).toBeGreaterThan(80);
  const path = `/workspaces/${few.id}/api-keys/${few.keyId}`;
  expect((await http("PATCH", path, { tools: ["web.*"] }, few.key)).status).toBe(200);
  await eventually("the list is short", async () => (await seen()) < 20);
}, 60_000);
