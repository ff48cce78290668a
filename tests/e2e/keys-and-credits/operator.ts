/** The first hour of an operator, on the real service: a token by command, then everything over HTTP. */
import { beforeAll, expect, test } from "bun:test";

import type {
  OperatorLedgerAudit,
  OperatorPoolList,
  OperatorStatus,
  OperatorWorkspaceCreated,
  SchemaName,
  SchemaTypes,
} from "#schemas/generated/types.ts";
import { parse } from "#shared/json/contracts.ts";
import { newId } from "#shared/base/ids.ts";

import { eventually } from "#tests/faults/wait.ts";
import type { Stack } from "#tests/support/stack.ts";

import { sharedBed } from "./shared-bed.ts";

let stack: Stack;
beforeAll(async () => {
  ({ stack } = await sharedBed());
});

async function send(ingress: number, token: string, method: string, path: string, body?: unknown): Promise<Response> {
  return fetch(`${stack.baseUrls[ingress]}${path}`, {
    method,
    headers: { authorization: `Bearer ${token}`, "content-type": "application/json" },
    ...(body !== undefined && { body: JSON.stringify(body) }),
  });
}

/** Its path on one of the ingresses, in turn. */
let turn = 0;
async function ask<N extends SchemaName>(
  name: N,
  token: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<SchemaTypes[N]> {
  turn += 1;
  const response = await send(turn % 2, token, method, path, body);
  const value: unknown = await response.json();
  expect([method, path, response.ok, value]).toEqual([method, path, true, expect.anything()]);
  return parse(name, value);
}

test("a token created by command creates a workspace, tops it up and sees its call; after its revocation it is rejected everywhere", async () => {
  await stack.query("delete from operator_token");
  for (const ingress of [0, 1]) {
    await eventually(
      "the paths go",
      async () => (await send(ingress, "slo_x", "GET", "/operator/status")).status === 404,
    );
  }
  const { stdout } = await stack.command("admin", "operator", "add", "first", "--scope", "money", "--json");
  const { token } = JSON.parse(stdout) as { token: string };
  for (const ingress of [0, 1]) {
    await eventually("the paths appear", async () => (await send(ingress, token, "GET", "/operator/status")).ok);
  }

  const body = { id: newId(), name: "e2e team", owner: { name: "ada", email: "ada@example.com" } };
  const made: OperatorWorkspaceCreated = await ask(
    "OperatorWorkspaceCreated",
    token,
    "POST",
    "/operator/workspaces",
    body,
  );
  const key = made.api_key.key ?? "";
  const chat = { model: "flat", messages: [{ role: "user", content: "say it works" }] };
  const call = (): Promise<Response> => send(0, key, "POST", "/v1/chat/completions", chat);
  expect((await call()).status).toBe(402);

  const path = `/operator/workspaces/${body.id}`;
  const topUp = { id: newId(), kind: "top_up", credits: "100.5", note: "first" };
  for (const _twice of [1, 2]) {
    const move = await ask("OperatorCreditMove", token, "POST", `${path}/credits`, topUp);
    expect(move.balance).toMatchObject({ credits: 100.5, held: 0 });
  }
  const answer = await call();
  expect(answer.status).toBe(200);
  expect(await answer.text()).toContain("it works");
  await stack.settled();

  const ledger = await ask("OperatorLedgerList", token, "GET", `${path}/ledger`);
  expect(ledger.data.map(({ kind }) => kind)).toEqual(["settle", "top_up"]);
  const [settled, toppedUp] = ledger.data;
  const { credits } = await ask("OperatorCredits", token, "GET", `${path}/credits`);
  expect(credits).toBeCloseTo((settled?.credits ?? 0) + (toppedUp?.credits ?? 0), 9);
  const audit: OperatorLedgerAudit = await ask("OperatorLedgerAudit", token, "POST", "/operator/ledger/audit");
  expect(audit).toEqual({ ok: true, faults: [] });

  const status: OperatorStatus = await ask("OperatorStatus", token, "GET", "/operator/status");
  expect(status).toMatchObject({ ok: true, versions: { nats: expect.stringMatching(/^2\./) as string } });
  expect(status.dependencies.map(({ name }) => name).toSorted()).toEqual(["database", "queue", "storage"]);
  for (const pool of ["chat", "workflow"]) {
    const lanes: OperatorPoolList = await ask("OperatorPoolList", token, "GET", `/operator/pools/${pool}`);
    for (const lane of lanes.data) expect(lane).toMatchObject({ processes: 1, running: 0, wanted_processes: 0 });
  }
  const log = await ask("OperatorAuditLogList", token, "GET", `/operator/audit-log?subject=${topUp.id}`);
  expect(log.data).toMatchObject([{ actor: { type: "operator", id: "first" }, ip: "127.0.0.1" }]);

  expect((await send(0, key, "GET", "/operator/status")).status).toBe(401);
  expect((await send(0, token, "GET", "/v1/models")).status).toBe(401);

  // One that stays, so that the paths do.
  await stack.command("admin", "operator", "add", "second", "--scope", "read");
  expect((await stack.command("admin", "operator", "revoke", "first")).code).toBe(0);
  for (const ingress of [0, 1]) {
    await eventually(
      "it is refused",
      async () => (await send(ingress, token, "GET", "/operator/status")).status === 401,
    );
    for (let after = 0; after < 20; after += 1) {
      expect((await send(ingress, token, "GET", "/operator/status")).status).toBe(401);
    }
  }
});
