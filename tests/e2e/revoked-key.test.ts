/** KEY-1, F43: a revoked key is dead on every ingress within a second, whatever else is broken. */
import { afterAll, beforeAll, expect, test } from "bun:test";

import { audit } from "../faults/audit.ts";
import { ask, type Bed, createWorkspace, FLAT_NANO, startBed, type Workspace } from "../faults/bed.ts";
import { errorCode } from "../faults/client.ts";

/** The promise; the database's answer to the revocation is its start. */
const DEAD_WITHIN_MS = 1_000;
/** Watched beyond the promise, so that a key that comes back to life is seen. */
const WATCHED_MS = 1_500;

let bed: Bed;
beforeAll(async () => {
  bed = await startBed({ ingress: 2 });
});
afterAll(() => bed?.stop());

interface Use {
  readonly ingress: number;
  readonly status: number;
  /** When the request was sent, against the moment the revocation was committed. */
  readonly sentMs: number;
}

/** Uses the key on both ingresses without pause, revokes it by `revoke` meanwhile, and returns what each use got. */
async function useWhileRevoking(workspace: Workspace, revoke: () => Promise<unknown>): Promise<Use[]> {
  const uses: { ingress: number; status: number; at: number }[] = [];
  let revokedAt = Infinity;
  const user = async (ingress: number): Promise<void> => {
    while (performance.now() < revokedAt + WATCHED_MS) {
      const at = performance.now();
      const answer = await fetch(`${bed.target(ingress).url}/v1/models`, {
        headers: { authorization: `Bearer ${workspace.key}` },
      });
      await answer.arrayBuffer();
      uses.push({ ingress, status: answer.status, at });
    }
  };
  const users = [user(0), user(1)];
  // Both have the key in their caches, fresh from just now.
  while (![0, 1].every((ingress) => uses.filter((use) => use.ingress === ingress && use.status === 200).length > 20)) {
    await Bun.sleep(5);
  }
  await revoke();
  revokedAt = performance.now();
  await Promise.all(users);
  return uses.map((use) => ({ ingress: use.ingress, status: use.status, sentMs: use.at - revokedAt }));
}

const revokeNow = (workspace: Workspace) => (): Promise<unknown> =>
  bed.stack.query("update api_key set revoked_at = now() where id = $1", [workspace.keyId]);

function expectDead(uses: readonly Use[], refusals: readonly number[] = [401]): void {
  for (const ingress of [0, 1]) {
    const late = uses.filter((use) => use.ingress === ingress && use.sentMs >= DEAD_WITHIN_MS);
    expect(late.length).toBeGreaterThan(0);
    expect(late.filter((use) => !refusals.includes(use.status))).toEqual([]);
  }
}

test("a revoked key dies on both ingresses within a second, for chat too", async () => {
  const workspace = await createWorkspace(bed.stack, { creditsNano: 10n * FLAT_NANO });
  expectDead(await useWhileRevoking(workspace, revokeNow(workspace)));
  for (const ingress of [0, 1]) {
    const answer = await bed.client.chat(bed.target(ingress, workspace.key), ask("flat"));
    expect([answer.status, errorCode(answer)]).toEqual([401, "invalid_api_key"]);
  }
  await audit(bed);
});

test("a key of a member or a workspace that was switched off dies the same way", async () => {
  const [first, second] = [
    await createWorkspace(bed.stack, { creditsNano: 0n }),
    await createWorkspace(bed.stack, { creditsNano: 0n }),
  ];
  const [ofMember, ofWorkspace] = await Promise.all([
    useWhileRevoking(first, () =>
      bed.stack.query("update member set is_active = false where workspace_id = $1", [first.id]),
    ),
    useWhileRevoking(second, () =>
      bed.stack.query("update workspace set is_active = false where id = $1", [second.id]),
    ),
  ]);
  expectDead(ofMember);
  expectDead(ofWorkspace);
});

test("nothing stale is served while the table of keys cannot be read", async () => {
  const workspace = await createWorkspace(bed.stack, { creditsNano: 0n });
  let locked: Promise<unknown> = Promise.resolve();
  const uses = await useWhileRevoking(workspace, async () => {
    await revokeNow(workspace)();
    locked = bed.stack.query("do $$ begin lock table api_key in access exclusive mode; perform pg_sleep(1.4); end $$");
  });
  await locked;
  expectDead(uses, [401, 503]);
});

test("a revoked key dies within a second while NATS is stopped", async () => {
  const workspace = await createWorkspace(bed.stack, { creditsNano: 0n });
  await bed.stack.nats.stop();
  expectDead(await useWhileRevoking(workspace, revokeNow(workspace)));
  await bed.stack.nats.start();
  await audit(bed);
});
