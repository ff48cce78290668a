/** The exact window of 60 seconds, shared by two ingress processes (design part 5). */
import { beforeAll, expect, test } from "bun:test";

import { audit } from "#tests/faults/audit.ts";
import { ask, type Bed, createWorkspace, FLAT_NANO, type Workspace } from "#tests/faults/bed.ts";
import { type Answer, errorCode } from "#tests/faults/client.ts";

import { sharedBed } from "./shared-bed.ts";

/** The limit of the preset `thirty`. */
const LIMIT = 30;

let bed: Bed;
beforeAll(async () => {
  bed = await sharedBed();
});

const workspaceOfThirty = (): Promise<Workspace> =>
  createWorkspace(bed.stack, { creditsNano: 1_000n * FLAT_NANO, preset: "thirty" });

function burst(workspace: Workspace, count: number, body = ask("flat")): Promise<Answer[]> {
  return Promise.all(
    Array.from({ length: count }, (_, index) => bed.client.chat(bed.target(index % 2, workspace.key), body)),
  );
}

/** All calls that went into the window, refused ones too. */
async function counted(workspace: Workspace): Promise<bigint | undefined> {
  const [window] = await bed.stack.query<{ calls: bigint }>("select calls from rate_window where workspace_id = $1", [
    workspace.id,
  ]);
  return window?.calls;
}

test("a burst of a hundred on two ingresses admits exactly the limit", async () => {
  const workspace = await workspaceOfThirty();
  const answers = await burst(workspace, 100);
  const refused = answers.filter((answer) => answer.status !== 200);
  expect(answers.length - refused.length).toBe(LIMIT);
  expect(new Set(refused.map((answer) => answer.status))).toEqual(new Set([403]));
  expect(new Set(refused.map(errorCode))).toEqual(new Set(["rate_limit_exceeded"]));
  expect(refused.filter((answer) => answer.headers.has("retry-after"))).toEqual([]);
  expect(await counted(workspace)).toBe(100n);
  await audit(bed);
});

test("calls rejected with 400 or 402 count like any other, reads do not", async () => {
  const workspace = await createWorkspace(bed.stack, { creditsNano: 0n, preset: "thirty" });
  const invalid = await burst(workspace, 10, { model: "flat" });
  expect(new Set(invalid.map((answer) => answer.status))).toEqual(new Set([400]));
  const unpaid = await burst(workspace, 20);
  expect(new Set(unpaid.map((answer) => answer.status))).toEqual(new Set([402]));
  const late = await burst(workspace, 4, { model: "flat" });
  expect(new Set(late.map(errorCode))).toEqual(new Set(["rate_limit_exceeded"]));
  const read = async (index: number) =>
    (await fetch(`${bed.target(index % 2).url}/v1/key`, { headers: { authorization: `Bearer ${workspace.key}` } }))
      .status;
  expect(new Set(await Promise.all(Array.from({ length: 15 }, (_, index) => read(index))))).toEqual(new Set([200]));
  expect(await counted(workspace)).toBe(34n);
  await audit(bed);
});
