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

test("a call that was rejected, or belongs to another workspace, has no price", async () => {
  const [workspace, other] = [await owned(10n), await owned(0n)];
  const refused = await chat(other);
  expect([refused.status, errorCode(refused)]).toEqual([402, "insufficient_credits"]);
  const paid = await chat(workspace);
  await bed.stack.settled();
  for (const answer of [refused, paid]) {
    expect((await settings(other, "GET", `/usage/requests/${requestId(answer)}`)).status).toBe(404);
  }
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
