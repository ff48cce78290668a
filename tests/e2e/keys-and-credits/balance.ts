/** A balance for ten calls, two hundred at once over two ingress processes. */
import { beforeAll, expect, test } from "bun:test";

import { readBalance } from "#shared/database/credits.ts";
import { audit } from "#tests/faults/audit.ts";
import { ask, type Bed, createWorkspace, FLAT_NANO, type Workspace } from "#tests/faults/bed.ts";
import { errorCode } from "#tests/faults/client.ts";

import { sharedBed } from "./shared-bed.ts";

let bed: Bed;
beforeAll(async () => {
  bed = await sharedBed();
});

/** Looks at the available balance without pause; the result stops that and tells the lowest it has seen. */
function watchAvailable(workspace: Workspace): () => Promise<bigint> {
  const stopping = new AbortController();
  const watching = (async () => {
    let lowest = 10n * FLAT_NANO;
    for (;;) {
      const last = stopping.signal.aborted;
      const [row] = await bed.stack.query<{ available: bigint }>(
        "select amount - held as available from balance where workspace_id = $1",
        [workspace.id],
      );
      if (row && row.available < lowest) lowest = row.available;
      if (last) return lowest;
      await Bun.sleep(5);
    }
  })();
  return () => {
    stopping.abort();
    return watching;
  };
}

test("a balance for ten calls serves exactly ten of two hundred concurrent calls", async () => {
  const { stack, client, upstream } = bed;
  // The upstream answers late, so that all two hundred find the ten holds open.
  upstream.setDefault({ delayMs: 1_000 });
  const workspace = await createWorkspace(stack, { creditsNano: 10n * FLAT_NANO });
  const lowest = watchAvailable(workspace);
  const before = upstream.requests.length;
  const answers = await Promise.all(
    Array.from({ length: 200 }, (_, index) => client.chat(bed.target(index % 2, workspace.key), ask("flat"))),
  );
  upstream.setDefault({});

  expect(await lowest()).toBe(0n);
  const served = answers.filter((answer) => answer.status === 200);
  const refused = answers.filter((answer) => answer.status === 402);
  expect({ served: served.length, refused: refused.length }).toEqual({ served: 10, refused: 190 });
  expect(new Set(refused.map(errorCode))).toEqual(new Set(["insufficient_credits"]));
  expect(new Set(served.map((answer) => answer.headers.get("x-credits-used")))).toEqual(new Set(["1"]));
  expect(upstream.requests.length - before).toBe(10);
  await stack.settled();
  // The last of the ten may be paid out of a credit line, whose settled calls the columns of the table do not contain yet.
  expect(await readBalance(stack, workspace.id)).toEqual({ amount: 0n, held: 0n });
  await audit(bed);
});

test("a failed call releases its credit for the next one", async () => {
  const { stack, client, upstream } = bed;
  const workspace = await createWorkspace(stack, { creditsNano: FLAT_NANO });
  upstream.next("reset");
  const failed = await client.chat(bed.target(0, workspace.key), ask("flat"));
  expect([failed.status, errorCode(failed)]).toEqual([502, "upstream_error"]);
  const served = await client.chat(bed.target(1, workspace.key), ask("flat"));
  expect(served.status).toBe(200);
  const refused = await client.chat(bed.target(0, workspace.key), ask("flat"));
  expect(refused.status).toBe(402);
  await audit(bed);
});
