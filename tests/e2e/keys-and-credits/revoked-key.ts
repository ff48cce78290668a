/**
 * A revoked key dies on every ingress and stays dead, whatever else is broken. That it does so within a second
 * is proven with an injected clock in tests/shared/access/authenticate.test.ts.
 */
import { beforeAll, expect, test } from "bun:test";

import { audit } from "#tests/faults/audit.ts";
import { ask, type Bed, createWorkspace, FLAT_NANO, type Workspace } from "#tests/faults/bed.ts";
import { errorCode } from "#tests/faults/client.ts";
import { eventually } from "#tests/faults/wait.ts";

import { sharedBed } from "./shared-bed.ts";

/** Uses after the first refusal: a key that comes back to life would be seen in them. */
const USES_AFTER = 20;

let bed: Bed;
beforeAll(async () => {
  bed = await sharedBed();
});

async function use(ingress: number, { key }: Workspace): Promise<number> {
  const headers = { authorization: `Bearer ${key}` };
  const answer = await fetch(`${bed.target(ingress).url}/v1/models`, { headers });
  await answer.arrayBuffer();
  return answer.status;
}

/** Brings the key into both caches, revokes it, and expects both ingresses to refuse it from some moment on. */
async function expectDeath(workspace: Workspace, revoke: () => Promise<unknown>): Promise<void> {
  for (const ingress of [0, 1]) expect(await use(ingress, workspace)).toBe(200);
  await revoke();
  for (const ingress of [0, 1]) {
    await eventually("it is refused", async () => (await use(ingress, workspace)) === 401);
    for (let after = 0; after < USES_AFTER; after += 1) expect(await use(ingress, workspace)).toBe(401);
  }
}

const revoke = ({ keyId }: Workspace): Promise<unknown> =>
  bed.stack.query("update api_key set revoked_at = now() where id = $1", [keyId]);

test("a revoked key is rejected by both ingresses, for chat too", async () => {
  const workspace = await createWorkspace(bed.stack, { creditsNano: 10n * FLAT_NANO });
  await expectDeath(workspace, () => revoke(workspace));
  for (const ingress of [0, 1]) {
    const answer = await bed.client.chat(bed.target(ingress, workspace.key), ask("flat"));
    expect([answer.status, errorCode(answer)]).toEqual([401, "invalid_api_key"]);
  }
  await audit(bed);
});

test.each(["member where workspace_id", "workspace where id"])(
  "a key whose %s is disabled is rejected in the same way",
  async (what) => {
    const [table, column] = what.split(" where ");
    const workspace = await createWorkspace(bed.stack, { creditsNano: 0n });
    await expectDeath(workspace, () =>
      bed.stack.query(`update ${table} set is_active = false where ${column} = $1`, [workspace.id]),
    );
  },
);

test("a stream is interrupted when its key is revoked, and a stream of another key continues", async () => {
  const [mine, other] = [
    await createWorkspace(bed.stack, { creditsNano: 10n * FLAT_NANO }),
    await createWorkspace(bed.stack, { creditsNano: 10n * FLAT_NANO }),
  ];
  const stream = ({ key }: Workspace) => bed.client.open(bed.target(0, key), ask("mock-stall", { stream: true }));
  const [broken, whole] = await Promise.all([stream(mine), stream(other)]);
  await Promise.all([broken.frames(1), whole.frames(1)]);
  await revoke(mine);
  expect(await broken.ended).toMatchObject({ isCut: true });
  expect(whole.answer.endedAt).toBeFalsy();
  whole.leave();
  await whole.ended;
  await audit(bed);
});

test("a revoked key is rejected while NATS is stopped", async () => {
  const workspace = await createWorkspace(bed.stack, { creditsNano: 0n });
  await bed.stack.nats.stop();
  await expectDeath(workspace, () => revoke(workspace));
  await bed.stack.nats.start();
  const other = await createWorkspace(bed.stack, { creditsNano: 10n * FLAT_NANO });
  for (const ingress of [0, 1]) {
    await eventually("calls go on", async () => {
      return (await bed.client.chat(bed.target(ingress, other.key), ask("flat"))).status === 200;
    });
  }
  await audit(bed);
});
