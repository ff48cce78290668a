/** Long work as tasks, and files as resources. */
import type { Client } from "@modelcontextprotocol/client";
import { afterAll, beforeAll, expect, test } from "bun:test";

import { RESOURCE_BYTES_MAX } from "#ingress/routes/mcp/server.ts";
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

const VERSION = "2026-07-28";
const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} } };

interface Told {
  readonly status: number;
  readonly result?: Readonly<Record<string, unknown>>;
  readonly error?: { readonly code: number; readonly message: string };
}

/** A request of the newest revision as it goes over the wire; the stock client takes no tasks for results. */
async function ask(
  method: string,
  params: Readonly<Record<string, unknown>>,
  { capabilities = TASKS, of = tenant }: { readonly capabilities?: object; readonly of?: Tenant } = {},
): Promise<Told> {
  const _meta = {
    "io.modelcontextprotocol/protocolVersion": VERSION,
    "io.modelcontextprotocol/clientCapabilities": capabilities,
  };
  const { name, taskId } = params as { name?: string; taskId?: string };
  const headers = { "mcp-protocol-version": VERSION, "mcp-method": method, "mcp-name": name ?? taskId ?? "" };
  const answer = await post(of, { jsonrpc: "2.0", id: 1, method, params: { ...params, _meta } }, headers);
  const text = await answer.text();
  const data = text.startsWith("{") ? text : (/^data: (.*)$/m.exec(text)?.[1] ?? "");
  return { status: answer.status, ...(JSON.parse(data) as object) };
}

const run = (tool: string, more: object) => ask("tools/call", { name: "run_tool", arguments: { tool, ...more } });
const ended = (taskId: unknown) =>
  eventually("the task has ended", async () => {
    const { result, error } = await ask("tasks/get", { taskId });
    if (error) throw new Error(JSON.stringify(error));
    return result?.["status"] === "working" ? undefined : result;
  });
const usageOf = (id: unknown) =>
  tenant.query<{ settled: bigint }>("select settled from usage_record where job_id = $1", [String(id)]);

interface Task {
  readonly status: string;
  readonly result?: unknown;
}

const SCRIPT = (code: string, timeout = 5) => ({ input: { code: { text: code } }, params: { timeout } });
/** A script of 1.5 seconds. The service offers a task after one second at the pace of tests. */
const LONG = "const end = Date.now() + 1_500; while (Date.now() < end); 7";
const ENDLESS = "for (let i = 0; ; i++) {}";

test("a client that supports tasks is offered them, and receives fast results directly", async () => {
  const discovered = await ask("server/discover", {});
  expect(discovered.result).toMatchObject({ capabilities: TASKS });
  // On a busy machine nothing is quick at times.
  const result = await eventually("one is quick", async () => {
    const told = await run("code.run_javascript", SCRIPT("1 + 1"));
    return told.result?.["resultType"] === "task" ? undefined : told.result;
  });
  expect(result).toMatchObject({ resultType: "complete", structuredContent: { status: "completed" } });
}, 60_000);

test("slow work is a task that can be followed to its end, and is charged once", async () => {
  const { result: made } = await run("code.run_javascript", SCRIPT(LONG));
  expect(made).toMatchObject({ resultType: "task", status: "working", ttlMs: null });
  const task = await ended(made?.["taskId"]);
  expect(task).toMatchObject({
    resultType: "complete",
    status: "completed",
    result: { structuredContent: { capability: "code.run_javascript", status: "completed" } },
  });
  const { result } = task as { result: { _meta: Record<string, number> } };
  expect(await ended(made?.["taskId"])).toMatchObject({ result });
  const rows = await usageOf(made?.["taskId"]);
  expect(rows.map(({ settled }) => Number(settled))).toEqual([
    Math.round((result._meta["sluice/credits_used"] ?? 0) * 1e9),
  ]);
  expect(rows[0]?.settled).toBeGreaterThan(0n);
}, 60_000);

test("the stock client follows a task to its end, and cancels another", async () => {
  const made: string[] = [];
  const onAnswer = (text: string): void => {
    const [, id] = /"taskId":"([^"]+)"/.exec(text) ?? [];
    if (id !== undefined) made.push(id);
  };
  const own = await connect(tenant, { capabilities: TASKS, onAnswer });
  const begin = async (code: string): Promise<string> => {
    const given = { tool: "code.run_javascript", ...SCRIPT(code) };
    // It tells its application that this result is for the application to follow.
    const told = await own.callTool({ name: "run_tool", arguments: given }).catch((error: unknown) => error);
    expect(told).toMatchObject({ code: "UNSUPPORTED_RESULT_TYPE", data: { resultType: "task" } });
    return made.at(-1) ?? "";
  };
  const asIs = { "~standard": { version: 1, vendor: "story", validate: (value: unknown) => ({ value }) } } as const;
  const follow = (taskId: string) =>
    eventually("the task has ended", async () => {
      const task = (await own.request({ method: "tasks/get", params: { taskId } }, asIs)) as Task;
      return task.status === "working" ? undefined : task;
    });
  const long = await begin(LONG);
  expect(await follow(long)).toMatchObject({ status: "completed", result: { structuredContent: { status: "completed" } } }); // prettier-ignore
  const endless = await begin(ENDLESS);
  await own.request({ method: "tasks/cancel", params: { taskId: endless } }, asIs);
  expect((await follow(endless)).status).toBe("cancelled");
  await own.close();
}, 60_000);

test("a task whose tool fails is completed with the tool's error", async () => {
  const { result: made } = await run("code.run_javascript", SCRIPT(ENDLESS, 1.5));
  expect(await ended(made?.["taskId"])).toMatchObject({
    status: "completed",
    result: { isError: true, structuredContent: { error: { code: "unprocessable_input" } } },
  });
}, 60_000);

test("a run of a workflow is a task; its result contains its cost", async () => {
  const content = "Say exactly: hello";
  const definition = {
    steps: [{ id: "one", type: "model", model: "sandbox-chat", params: { messages: [{ role: "user", content }] } }],
    output: { text: "${{ steps.one.output.text }}" },
  };
  const { id } = (await (await post(tenant, { name: "One", definition }, {}, "/v1/workflows")).json()) as {
    id: string;
  };
  const { result: made, error: refused } = await run(id, {});
  expect(refused).toBeUndefined();
  const task = await ended(made?.["taskId"]);
  expect(task).toMatchObject({ status: "completed", result: { structuredContent: { output: { text: "hello" } } } });
  const { result } = task as { result: { _meta: Record<string, number> } };
  const [row] = await tenant.query<{ credits: bigint }>("select credits from run where id = $1", [
    String(made?.["taskId"]),
  ]);
  expect(Math.round((result._meta["sluice/credits_used"] ?? 0) * 1e9)).toBe(Number(row?.credits));
  // Clients without tasks ask for it, too.
  expect(await called(client, "get_result", { id: made?.["taskId"] })).toMatchObject({ output: { text: "hello" } });
}, 60_000);

test("a task can be cancelled by its client only", async () => {
  const { result: made } = await run("code.run_javascript", SCRIPT(ENDLESS));
  const params = { taskId: made?.["taskId"] };
  const stranger = await newTenant();
  for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
    const none = { code: -32602, message: "There is no such task in this workspace." };
    expect((await ask(method, params, { of: stranger })).error).toMatchObject(none);
    expect((await ask(method, { taskId: "none" })).error).toMatchObject(none);
    expect((await ask(method, {})).error?.code).toBe(-32602);
    const undeclared = await ask(method, params, { capabilities: {} });
    expect([undeclared.status, undeclared.error?.code]).toEqual([400, -32021]);
  }
  expect((await ask("tasks/update", params)).result).toMatchObject({ resultType: "complete" });
  expect((await ask("tasks/cancel", params)).result).toMatchObject({ resultType: "complete" });
  await ended(params.taskId);
  expect((await ask("tasks/cancel", params)).result).toMatchObject({ resultType: "complete" });
}, 60_000);

test("a rejection is returned immediately, and creates no task", async () => {
  const { result } = await run("image.resize", { input: {} });
  expect(result).toMatchObject({ resultType: "complete", isError: true });
});

const store = async (bytes: string | Uint8Array<ArrayBuffer>, name: string): Promise<string> => {
  const form = new FormData();
  form.set("purpose", "user_data");
  form.set("file", new Blob([bytes]), name);
  const headers = { authorization: `Bearer ${tenant.key}` };
  const stored = await fetch(`${tenant.baseUrls[0]}/v1/files`, { method: "POST", headers, body: form });
  return ((await stored.json()) as { id: string }).id;
};

test("files are resources: listed page by page, read completely, and isolated by workspace", async () => {
  const own = await newTenant();
  expect((await (await connect(own)).listResources()).resources).toEqual([]);
  const id = await store("hello", "hello.txt");
  const uri = `sluice://files/${id}`;
  const { resources } = await client.listResources();
  expect(resources[0]).toMatchObject({ uri, name: "hello.txt", size: 5 });
  expect((await client.readResource({ uri })).contents).toEqual([{ uri, mimeType: expect.stringContaining("text/plain") as string, text: "hello" }]); // prettier-ignore
  const { url } = await called(client, "get_file_link", { file_id: id });
  expect((await client.readResource({ uri: String(url) })).contents).toMatchObject([{ text: "hello" }]);
  const photo = await client.readResource({ uri: "sluice://files/file-sample-chart" });
  expect(photo.contents).toMatchObject([{ mimeType: "image/png", blob: expect.stringMatching(/^iVBOR/) as string }]);
  const stranger = await connect(own);
  for (const one of [uri, String(url), "sluice://files/none", "file:///etc/passwd"]) {
    expect(await stranger.readResource({ uri: one }).catch(({ code }: { code: number }) => code)).toBe(-32602);
  }
  const large = await store("x".repeat(RESOURCE_BYTES_MAX + 1), "large.txt");
  const refused = client.readResource({ uri: `sluice://files/${large}` });
  expect(await refused.catch(String)).toContain("get_file_link gives a link to it");
}, 60_000);
