/** GET /v1/key over HTTP: what a client with nothing but its key learns, by two ingress processes. */
import { beforeAll, expect, test } from "bun:test";

import type { Key } from "#schemas/generated/types.ts";
import { validate } from "#shared/json/contracts.ts";

import { ask, type Bed, createWorkspace, FLAT_NANO, type Workspace } from "#tests/faults/bed.ts";

import { sharedBed } from "./shared-bed.ts";

let bed: Bed;
beforeAll(async () => {
  bed = await sharedBed();
});

function askKey(ingress: number, key?: string): Promise<Response> {
  const headers: Record<string, string> = key === undefined ? {} : { authorization: `Bearer ${key}` };
  return fetch(`${bed.target(ingress).url}/v1/key`, { headers });
}

async function read(ingress: number, { key }: Workspace): Promise<Key> {
  const response = await askKey(ingress, key);
  const body = (await response.json()) as Key;
  expect([response.status, validate("Key", body)]).toEqual([200, null]);
  return body;
}

test("a key reads its workspace, role, preset, balance and window", async () => {
  const workspace = await createWorkspace(bed.stack, { creditsNano: 5n * FLAT_NANO, preset: "narrow" });
  expect(await read(0, workspace)).toEqual({
    object: "key",
    id: workspace.keyId,
    name: "test",
    workspace: { id: workspace.id, name: `test ${workspace.id}` },
    role: "developer",
    preset: "narrow",
    tools: null,
    limits: null,
    limit_usage: null,
    member: { id: expect.any(String), limits: null, limit_usage: null },
    balance: { credits: 5, held: 0, available: 5 },
    window: { seconds: 60, limit: 4, used: 0, left: 4 },
    daily_tokens: { limit: 1_000_000, used: 0, left: 1_000_000 },
  });
  const paid = await bed.client.chat(bed.target(0, workspace.key), ask("flat"));
  expect(paid.status).toBe(200);
  await bed.stack.settled();
  const later = await read(1, workspace);
  expect(later).toMatchObject({
    balance: { credits: 4, held: 0, available: 4 },
    window: { used: 1, left: 3 },
  });
  expect(later.daily_tokens.used).toBeGreaterThan(0);
  expect(later.daily_tokens.left).toBe(1_000_000 - later.daily_tokens.used);
});

test("the remaining count is exact: at zero the next call is rejected", async () => {
  const workspace = await createWorkspace(bed.stack, { creditsNano: 0n, preset: "narrow" });
  const left = [];
  for (let call = 0; call < 4; call += 1) {
    left.push((await read(call % 2, workspace)).window.left);
    expect((await bed.client.chat(bed.target(call % 2, workspace.key), ask("flat"))).status).toBe(402);
  }
  expect(left).toEqual([4, 3, 2, 1]);
  expect((await bed.client.chat(bed.target(0, workspace.key), ask("flat"))).status).toBe(403);
  expect((await read(0, workspace)).window).toMatchObject({ used: 5, left: 0 });
});

test("without limits no remaining count is returned, and a billing key may read it", async () => {
  const workspace = await createWorkspace(bed.stack, { creditsNano: 0n, preset: "unlimited" });
  await bed.stack.query("update member set role = 'billing' where workspace_id = $1", [workspace.id]);
  expect(await read(0, workspace)).toMatchObject({
    role: "billing",
    balance: { credits: 0, available: 0 },
    window: { limit: null, used: 0, left: null },
    daily_tokens: { limit: null, used: 0, left: null },
  });
});

test("without a valid key nothing is returned", async () => {
  for (const key of [undefined, "slk_nonsense"]) expect((await askKey(0, key)).status).toBe(401);
});
