/** Tools as a stock client finds and runs them. */
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, describe, expect, test } from "bun:test";

import { eventually } from "#tests/faults/wait.ts";
import type { Tenant } from "#tests/support/tenant.ts";

import { called, connect, newTenant, post } from "./shared-service.ts";

let tenant: Tenant;
let client: Client;
beforeAll(async () => {
  tenant = await newTenant();
  client = await connect(tenant);
}, 240_000);
afterAll(() => client?.close());

const LONG = { code: { text: "for (let i = 0; ; i++) {}" } };
const PHOTO = { input: { image: { file_id: "file-sample-photo" } }, params: { width: 32 } };
const TEN = [
  "image.resize",
  "image.metadata",
  "audio.probe",
  "document.info",
  "document.markdown_to_html",
  "archive.list",
  "archive.checksum",
  "code.regex",
  "code.diff",
  "code.transform_json",
] as const;

const spentOf = async (): Promise<bigint> => {
  const [row] = await tenant.query<{ spent: bigint }>(
    "select coalesce(sum(settled), 0)::bigint as spent from usage_record where workspace_id = $1",
    [tenant.workspace.id],
  );
  return row?.spent ?? 0n;
};

describe.each(["auto", "legacy"] as const)("a client that negotiates: %s", (mode) => {
  test("lists few tools in a stable order, and finds the others by keyword", async () => {
    const other = await connect(tenant, { mode });
    expect(other.getNegotiatedProtocolVersion()).toBe(mode === "auto" ? "2026-07-28" : "2025-11-25");
    const names = (await other.listTools()).tools.map(({ name }) => name);
    expect(names).toEqual(["search_tools", "describe_tool", "run_tool", "list_files", "get_file_link", "get_result"]);
    const { tools } = await called(other, "search_tools", { query: "resize an image" });
    expect((tools as { tool: string }[])[0]?.tool).toBe("image.resize");
    const answer = await other.callTool({
      name: "run_tool",
      arguments: { tool: "code.regex", input: { text: { text: "abc" } }, params: { pattern: "b" } },
    });
    expect(answer.isError).toBeFalsy();
    expect(answer.structuredContent).toMatchObject({ object: "capability.run", capability: "code.regex" });
    await other.close();
  });
});

test("all tools of GET /v1/tools are found, each with its published description", async () => {
  const headers = { authorization: `Bearer ${tenant.key}` };
  const { data } = (await (await fetch(`${tenant.baseUrls[0]}/v1/tools`, { headers })).json()) as {
    data: { id: string }[];
  };
  const found = await called(client, "search_tools", { limit: 100 });
  expect((found["tools"] as { tool: string }[]).map(({ tool }) => tool)).toEqual(data.map(({ id }) => id));
  expect(found["total"]).toBe(data.length);
  for (const entry of data.slice(0, 5)) {
    expect(await called(client, "describe_tool", { tool: entry.id })).toEqual({ tool: entry.id, ...entry });
  }
});

test("/mcp/all lists each capability as a tool, a category path lists its capabilities", async () => {
  const all = await connect(tenant, { path: "/mcp/all" });
  const { tools } = await all.listTools();
  expect(tools.length).toBeGreaterThan(80);
  expect(new Set(tools.map(({ name }) => name)).size).toBe(tools.length);
  for (const { name } of tools) expect(name).toMatch(/^[a-z0-9_]{1,64}$/);
  const run = await called(all, "code_regex", { input: { text: { text: "abc" } }, params: { pattern: "b" } });
  expect(run).toMatchObject({ capability: "code.regex", status: "completed" });
  const some = await connect(tenant, { path: "/mcp/archive,code" });
  const names = (await some.listTools()).tools.map(({ name }) => name);
  expect(names).toContain("archive_list");
  expect(names).not.toContain("image_resize");
  const unknown = some.callTool({ name: "image_resize", arguments: {} });
  expect(await unknown.catch(String)).toContain("Unknown tool");
  await all.close();
  await some.close();
  expect((await post(tenant, { jsonrpc: "2.0", id: 1, method: "tools/list" }, {}, "/mcp/none")).status).toBe(404);
});

test("ten tools of several categories run with their samples; the reported cost is exact to the nano-credit", async () => {
  const before = await spentOf();
  let told = 0;
  for (const tool of TEN) {
    const { sample_input: input, examples } = await called(client, "describe_tool", { tool });
    const [{ params }] = examples as [{ params: object }];
    const result = await client.callTool({ name: "run_tool", arguments: { tool, input, params } });
    expect([tool, result.isError ?? false, result.content]).toEqual([tool, false, expect.any(Array)]);
    const { files, credits_used: used } = result.structuredContent as {
      files: { url: string }[];
      credits_used: number;
    };
    expect(result._meta?.["sluice/credits_used"]).toBe(used);
    told += Math.round(used * 1e9);
    const links = result.content.filter(({ type }) => type === "resource_link") as unknown as { uri: string }[];
    expect(links.map(({ uri }) => uri)).toEqual(files.map(({ url }) => url));
    for (const { uri } of links) expect((await fetch(uri)).status).toBe(200);
  }
  expect(told).toBeGreaterThan(0);
  expect((await spentOf()) - before).toBe(BigInt(told));
}, 120_000);

test("a rejection has the service's own code and sentence, and costs nothing", async () => {
  const before = await spentOf();
  const refused = async (given: Record<string, unknown>, name = "run_tool") => {
    const { isError, structuredContent, content } = await client.callTool({ name, arguments: given });
    expect(isError).toBe(true);
    const { error } = structuredContent as { error: { code: string; message: string; param: string | null } };
    expect(content).toEqual([{ type: "text", text: `${error.code}: ${error.message}` }]);
    return error;
  };
  const overHttp = async (id: string, body: object) =>
    ((await (await post(tenant, body, {}, `/v1/capabilities/${id}/run`)).json()) as { error: object }).error;
  for (const [tool, body] of [
    ["no.such", { input: {} }],
    ["image.resize", { input: { image: { file_id: "file-sample-photo" } }, params: { width: -1 } }],
    ["image.resize", { input: "a photo" }],
    ["image.resize", { input: { image: { url: "http://10.0.0.1/a.png" } }, params: { width: 1 } }],
    ["image.resize", { input: { image: { file_id: `file-${"0".repeat(32)}` } }, params: { width: 1 } }],
  ] as const) {
    expect((await refused({ tool, ...body })) as object).toEqual(await overHttp(tool, body));
  }
  const regex = { tool: "code.regex", input: { text: { text: "abc" } }, params: { pattern: "b" } };
  expect(await refused({ ...regex, max_credits: 1e-9 })).toMatchObject({ code: "max_credits_exceeded" });
  expect(await refused({ ...regex, max_credit: 1 })).toMatchObject({ code: "unknown_parameter", param: "max_credit" });
  expect(await refused({})).toMatchObject({ code: "missing_required_parameter", param: "tool" });
  expect(await refused({ category: "tea" }, "search_tools")).toMatchObject({
    code: "unsupported_value",
    param: "category",
  });
  expect(await refused({ limit: 101 }, "search_tools")).toMatchObject({ code: "unsupported_value", param: "limit" });
  expect(await refused({ query: "x ".repeat(251) }, "search_tools")).toMatchObject({
    code: "unsupported_value",
    param: "query",
  });
  expect(await refused({ id: "00000000-0000-7000-8000-000000000000" }, "get_result")).toMatchObject({
    code: "job_not_found",
  });
  expect(await spentOf()).toBe(before);
  expect(await tenant.query("select * from hold where workspace_id = $1", [tenant.workspace.id])).toEqual([]);
});

const jobs = (state: string) =>
  tenant.query<{ id: string }>(`select id from job where workspace_id = $1 and ${state}`, [tenant.workspace.id]);

test("a client receives progress on request; a client that disconnects ends its job, and no other", async () => {
  const endless = { tool: "code.run_javascript", input: LONG, params: { timeout: 5 } };
  const left = new AbortController();
  const told: number[] = [];
  const leaves = client.callTool(
    { name: "run_tool", arguments: endless },
    { signal: left.signal, onprogress: ({ progress }) => told.push(progress) },
  );
  await eventually("it is at work", async () => (await jobs("state = 'running'")).length === 1);
  const [leaving] = await jobs("state = 'running'");
  await eventually("progress is told", () => told.length > 0);
  const stays = called(client, "run_tool", { tool: "image.resize", ...PHOTO });
  left.abort();
  expect(await leaves.catch(String)).toContain("Abort");
  await eventually("its job is cancelled", async () => (await jobs("state = 'cancelled'")).length === 1);
  expect(await jobs("state = 'cancelled'")).toEqual([{ id: leaving?.id ?? "" }]);
  expect(await stays).toMatchObject({ status: "completed" });
  expect(told).toEqual(told.toSorted((a, b) => a - b));
  expect(new Set(told).size).toBe(told.length);
}, 60_000);

test("a client of an earlier revision that disconnects ends its job too, as does a client of a waiting job", async () => {
  const before = (await jobs("state = 'cancelled'")).length;
  const legacy = await connect(tenant, { mode: "legacy" });
  const endless = { tool: "code.run_javascript", input: LONG, params: { timeout: 5 } };
  const calls = Array.from({ length: 6 }, () => legacy.callTool({ name: "run_tool", arguments: endless }));
  const ended = Promise.allSettled(calls);
  await eventually("all are admitted", async () => (await jobs("state in ('queued', 'running')")).length === 6);
  await legacy.close();
  await eventually("all are cancelled", async () => (await jobs("state = 'cancelled'")).length === before + 6);
  await ended;
}, 60_000);

test("files are listed and linked; files of another workspace are not found", async () => {
  const form = new FormData();
  form.set("purpose", "user_data");
  form.set("file", new Blob(["hello"]), "hello.txt");
  const headers = { authorization: `Bearer ${tenant.key}` };
  const { id } = (await (
    await fetch(`${tenant.baseUrls[0]}/v1/files`, { method: "POST", headers, body: form })
  ).json()) as { id: string };
  const { data } = (await called(client, "list_files", { limit: 1 })) as { data: { id: string }[] };
  expect(data.map((file) => file.id)).toEqual([id]);
  const { url } = await called(client, "get_file_link", { file_id: id });
  expect(await (await fetch(String(url))).text()).toBe("hello");
  const stranger = await connect(await newTenant());
  expect((await called(stranger, "list_files"))["data"]).toEqual([]);
  for (const name of ["get_file_link"]) {
    const { isError, structuredContent } = await stranger.callTool({ name, arguments: { file_id: id } });
    expect([isError, structuredContent]).toMatchObject([true, { error: { code: "file_not_found" } }]);
  }
  const input = { file: { file_id: id } };
  const { structuredContent } = await stranger.callTool({
    name: "run_tool",
    arguments: { tool: "archive.checksum", input },
  });
  expect(structuredContent).toMatchObject({ error: { code: "file_not_found" } });
  await stranger.close();
});

test("workflows that the caller may run are tools, and no others", async () => {
  const definition = {
    inputs: { name: { type: "string", required: true, description: "Who is greeted." } },
    steps: [
      {
        id: "greet",
        type: "model",
        model: "sandbox-chat",
        params: { messages: [{ role: "user", content: "Say exactly: hello ${{ inputs.name }}" }] },
      },
    ],
    output: { text: "${{ steps.greet.output.text }}" },
  };
  const body = { name: "Greeting machine", description: "Greets.", definition };
  const { id } = (await (await post(tenant, body, {}, "/v1/workflows")).json()) as { id: string };
  const found = async (one: Client) =>
    ((await called(one, "search_tools", { query: "greeting" }))["tools"] as { tool: string }[]).map(({ tool }) => tool);
  expect(await found(client)).toContain(id);
  expect(await called(client, "describe_tool", { tool: id })).toMatchObject({
    name: "Greeting machine",
    input_schema: { properties: { name: { type: "string" } }, required: ["name"] },
  });
  const run = await client.callTool({ name: "run_tool", arguments: { tool: id, input: { name: "Ada" } } });
  expect(run.structuredContent).toMatchObject({ status: "succeeded", output: { text: "hello Ada" } });
  expect(run._meta?.["sluice/credits_used"]).toBe((run.structuredContent as { creditsUsed: number }).creditsUsed);
  const missing = await client.callTool({ name: "run_tool", arguments: { tool: id } });
  expect(missing.isError).toBe(true);
  const stranger = await connect(await newTenant());
  expect(await found(stranger)).toEqual([]);
  for (const name of ["describe_tool", "run_tool"]) {
    const { structuredContent } = await stranger.callTool({ name, arguments: { tool: id, input: { name: "Ada" } } });
    expect(structuredContent).toMatchObject({ error: { code: "workflow_not_found" } });
  }
  await stranger.close();
}, 60_000);
