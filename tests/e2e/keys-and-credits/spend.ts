/** Spending as people see it on the real service: the price of each call, sums that are the ledger's, budgets that stop calls. */
import { beforeAll, describe, expect, test } from "bun:test";

import type { SchemaName, SchemaTypes } from "#schemas/generated/types.ts";
import { parse } from "#shared/json/contracts.ts";
import { newId } from "#shared/base/ids.ts";

import { ask, type Bed, createWorkspace, FLAT_NANO, type Workspace } from "#tests/faults/bed.ts";
import { type Answer, errorCode, requestId } from "#tests/faults/client.ts";
import { eventually } from "#tests/faults/wait.ts";
import { openPublisher } from "#tests/faults/publisher.ts";

import { sharedBed } from "./shared-bed.ts";

let bed: Bed;
beforeAll(async () => {
  bed = await sharedBed();
});

/** A workspace whose only member is its owner. */
async function owned(credits: bigint): Promise<Workspace> {
  const workspace = await createWorkspace(bed.stack, { creditsNano: credits * FLAT_NANO });
  await bed.stack.query("update member set role = 'owner' where workspace_id = $1", [workspace.id]);
  return workspace;
}

async function settings(workspace: Workspace, method: string, path: string, body?: object): Promise<Response> {
  return fetch(`${bed.target().url}/workspaces/${workspace.id}${path}`, {
    method,
    headers: { authorization: `Bearer ${workspace.key}`, "content-type": "application/json" },
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
}

async function read<N extends SchemaName>(name: N, workspace: Workspace, path: string): Promise<SchemaTypes[N]> {
  const answer = await settings(workspace, "GET", path);
  const value: unknown = await answer.json();
  expect([path, answer.status, value]).toEqual([path, 200, expect.anything()]);
  return parse(name, value);
}

const chat = (workspace: Workspace, body = ask("flat")): Promise<Answer> =>
  bed.client.chat(bed.target(0, workspace.key), body);

async function totalOf(workspace: Workspace): Promise<{ readonly calls: number; readonly credits: number }> {
  const { data } = await read("UsagePage", workspace, "/usage?group_by=model");
  const results = data.flatMap((bucket) => bucket.results);
  const nano = results.reduce((sum, { credits }) => sum + Math.round(credits * 1e9), 0);
  return { calls: results.reduce((sum, { calls }) => sum + calls, 0), credits: nano / 1e9 };
}

async function takenFrom(workspace: Workspace): Promise<number> {
  const { data } = await read("LedgerList", workspace, "/credits/ledger?kind=settle&limit=100");
  return data.reduce((sum, { credits }) => sum - Math.round(credits * 1e9), 0) / 1e9;
}

test("calls are found by their request id with their price, including streamed calls, and their sum equals the ledger", async () => {
  const workspace = await owned(100n);
  const answers = [
    await chat(workspace),
    await chat(workspace, ask("metered")),
    await chat(workspace, ask("metered", { stream: true })),
  ];
  for (const answer of answers) expect(answer.status).toBe(200);
  await bed.stack.settled();
  const prices = await Promise.all(
    answers.map((answer) => read("UsageRequest", workspace, `/usage/requests/${requestId(answer)}`)),
  );
  expect(prices.map(({ request_id }) => request_id)).toEqual(answers.map(requestId));
  expect(prices.map(({ model, status }) => [model, status])).toEqual([
    ["flat", "succeeded"],
    ["metered", "succeeded"],
    ["metered", "succeeded"],
  ]);
  expect(prices[0]?.credits).toBe(1);
  for (const { credits } of prices) expect(credits).toBeGreaterThan(0);
  const total = await totalOf(workspace);
  expect(total.calls).toBe(3);
  expect(total.credits).toBe(prices.reduce((sum, { credits }) => sum + Math.round(credits * 1e9), 0) / 1e9);
  expect(total.credits).toBe(await takenFrom(workspace));
  const { credits } = await read("Credits", workspace, "/credits");
  expect(credits).toBe(Math.round((100 - total.credits) * 1e9) / 1e9);
});

test("a call of another workspace has no price", async () => {
  const [workspace, other] = [await owned(10n), await owned(0n)];
  const paid = await chat(workspace);
  await bed.stack.settled();
  expect((await settings(other, "GET", `/usage/requests/${requestId(paid)}`)).status).toBe(404);
});

describe("a refused call", () => {
  const found = (workspace: Workspace, id: string): Promise<SchemaTypes["UsageRequest"]> =>
    eventually("the refusal is stored", async () => {
      const answer = await settings(workspace, "GET", `/usage/requests/${id}`);
      return answer.ok && parse("UsageRequest", await answer.json());
    });
  const listed = async (workspace: Workspace, query: string): Promise<unknown[]> =>
    (await read("UsageRequestList", workspace, `/usage/requests?${query}`)).data.map(({ request_id: id }) => id);

  async function refusedBy(workspace: Workspace, path: string, body: object): Promise<string> {
    const answer = await fetch(`${bed.target().url}${path}`, {
      method: "POST",
      headers: {
        authorization: `Bearer ${workspace.key}`,
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
      },
      body: JSON.stringify(body),
    });
    await answer.text();
    return answer.headers.get("x-request-id") ?? "";
  }

  test("is found by its owner with the reason, over HTTP, as a run and as a tool", async () => {
    const workspace = await owned(0n);
    const message = [{ role: "user", content: "hi" }];
    const tool = { name: "code_regex", arguments: { input: { text: { text: "abc" } }, params: { pattern: "b" } } };
    const calls = [
      ["/v1/chat/completions", { model: "flat", messages: message }, "insufficient_credits", null, "flat"],
      ["/v1/chat/completions", { model: "flat" }, "missing_required_parameter", "messages", "flat"],
      ["/v1/messages", { model: "none", max_tokens: 5, messages: message }, "model_not_found", "model", null],
      ["/v1/pipelines/runs", {}, "missing_required_parameter", "definition", null],
      ["/v1/capabilities/image.resize/run", {}, "missing_required_parameter", "input", "image.resize"],
    ] as const;
    const ids: string[] = [];
    // The last entry is null for a model that does not exist, which is a text of the caller.
    for (const [path, body, code, param, asked] of calls) {
      const id = await refusedBy(workspace, path, body);
      ids.push(id);
      const { error_code, status, refusal, credits, held, model } = await found(workspace, id);
      expect([path, error_code, status, refusal?.param, credits, held, model]).toEqual([path, code, "refused", param, 0, 0, asked]); // prettier-ignore
    }
    const asTool = { jsonrpc: "2.0", id: 1, method: "tools/call", params: tool };
    const viaMcp = await refusedBy(workspace, "/mcp/all", asTool);
    expect((await found(workspace, viaMcp)).refusal?.endpoint).toBe("/v1/capabilities/{id}/run");
    ids.push(viaMcp);
    expect(await listed(workspace, "status=refused")).toEqual(ids.toReversed());
    expect(await listed(workspace, "")).toEqual([]);
    expect(await listed(workspace, "status=refused&model=flat")).toEqual([ids[1] ?? "", ids[0] ?? ""]);
    expect(await listed(workspace, `status=refused&limit=2&after=${ids[4] ?? ""}`)).toEqual([ids[3], ids[2]]);
    const table = await fetch(`${bed.target().url}/workspaces/${workspace.id}/usage/requests?status=refused`, {
      headers: { authorization: `Bearer ${workspace.key}`, accept: "text/csv" },
    });
    expect((await table.text()).split("\n")).toHaveLength(ids.length + 2);
  });

  test("is found by no other workspace, and by no other developer", async () => {
    const [workspace, other] = [await owned(0n), await owned(0n)];
    const id = await refusedBy(workspace, "/v1/embeddings", { model: "flat" });
    await found(workspace, id);
    const as = async (role: string): Promise<number> => {
      await bed.stack.query("update member set role = $2 where workspace_id = $1", [workspace.id, role]);
      return (await settings(workspace, "GET", `/usage/requests/${id}`)).status;
    };
    expect((await settings(other, "GET", `/usage/requests/${id}`)).status).toBe(404);
    expect(await listed(other, "status=refused")).toEqual([]);
    // The same key as a developer's: its own call.
    expect(await as("developer")).toBe(200);
    await bed.stack.query("update refused_call set key_id = gen_random_uuid() where request_id = $1", [id]);
    await eventually("the role is read again", async () => (await listed(workspace, "status=refused")).length === 0);
    expect((await settings(workspace, "GET", `/usage/requests/${id}`)).status).toBe(404);
  });

  test("by a full window or a spent budget is found, and stored for a flood within bounds", async () => {
    const workspace = await owned(100n);
    const body = { name: "a day", threshold_credits: 1, period: "daily", stops_calls: true };
    expect((await settings(workspace, "POST", "/budget-alerts", body)).status).toBe(201);
    await chat(workspace);
    await bed.stack.settled();
    const answers = await Promise.all(Array.from({ length: 200 }, () => chat(workspace)));
    expect(new Set(answers.map(errorCode))).toEqual(new Set(["budget_reached"]));
    const ids = new Set(answers.map(requestId));
    const count = async (): Promise<number> =>
      (await bed.stack.query("select from refused_call where workspace_id = $1", [workspace.id])).length;
    await eventually("refusals are stored", async () => (await count()) > 100);
    const [first] = (await read("UsageRequestList", workspace, "/usage/requests?status=refused&limit=1")).data;
    expect([first?.error_code, ids.has(first?.request_id ?? "")]).toEqual(["budget_reached", true]);
  });
});

describe("a budget", () => {
  const firings = (workspace: Workspace): Promise<Record<string, unknown>[]> =>
    bed.stack.query("select metadata from event where workspace_id = $1 and type = 'budget.threshold_reached'", [
      workspace.id,
    ]);

  test("that 100 calls cross together fires once", async () => {
    const workspace = await owned(200n);
    const body = { name: "a day", threshold_credits: 50, period: "daily" };
    expect((await settings(workspace, "POST", "/budget-alerts", body)).status).toBe(201);
    const answers = await Promise.all(Array.from({ length: 100 }, () => chat(workspace)));
    expect(new Set(answers.map(({ status }) => status))).toEqual(new Set([200]));
    await bed.stack.settled();
    await eventually("it fires", async () => (await firings(workspace)).length > 0);
    const isDue = "select 1 from budgets_to_check() as id where id = $1";
    expect(await bed.stack.query(isDue, [workspace.id])).toEqual([]);
    expect(await firings(workspace)).toHaveLength(1);
    expect((await totalOf(workspace)).credits).toBe(100);
  });

  test("that stops calls rejects the next one over HTTP, as a batch message and as a step, until it is deleted", async () => {
    const workspace = await owned(100n);
    const alert = { id: newId(), name: "a day", threshold_credits: 2, period: "daily", stops_calls: true };
    expect((await settings(workspace, "POST", "/budget-alerts", alert)).status).toBe(201);
    for (let call = 0; call < 2; call++) expect((await chat(workspace)).status).toBe(200);
    await bed.stack.settled();
    // The call after the settle that reached it, without any wait for a janitor.
    const refusal = await chat(workspace);
    expect([refusal.status, errorCode(refusal)]).toEqual([402, "budget_reached"]);
    expect(refusal.body).toContain("a day");
    expect(refusal.body).not.toContain("2 credits");

    const publisher = await openPublisher(bed.stack.natsUrl, workspace);
    try {
      const told = await publisher.submit({ endpoint: "/v1/chat/completions", body: ask("flat") });
      expect([told.status, told["error"]?.["code"]]).toEqual(["refused", "budget_reached"]);
    } finally {
      await publisher.close();
    }
    const step = { id: "say", type: "model", model: "flat", params: { messages: ask("flat")["messages"] } };
    const run = await fetch(`${bed.target().url}/v1/pipelines/runs`, {
      method: "POST",
      headers: { authorization: `Bearer ${workspace.key}`, "content-type": "application/json" },
      body: JSON.stringify({ definition: { steps: [step] } }),
    });
    const ran = (await run.json()) as { status: string; error: { code: string; message: string } };
    expect([ran.status, ran.error.code]).toEqual(["failed", "budget_reached"]);
    expect(ran.error.message).toContain("a day");

    // The janitor tells, sooner or later; of an alert that is gone by then it does not.
    await eventually("it has fired", async () => (await firings(workspace)).length > 0);
    expect((await settings(workspace, "DELETE", `/budget-alerts/${alert.id}`)).status).toBe(200);
    expect((await chat(workspace)).status).toBe(200);
    expect(await firings(workspace)).toHaveLength(1);
  });
});
