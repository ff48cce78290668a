/** One running service for the stories that sandbox models are enough for, each in a workspace of its own. */
import { asNewWorkspace, type Tenant } from "#tests/support/tenant.ts";

import { type Bench, benchOf, startBench } from "./bench.ts";

let started: Promise<Bench> | undefined;

export function sharedBench(): Promise<Bench> {
  started ??= startBench({
    apart: true,
    pools: ["chat", "image", "audio", "video"],
    env: { SLUICE_WORKER_SLOTS: "16" },
  });
  return started;
}

export type WorkspaceBench = Bench & Pick<Tenant, "workspace">;

export async function benchOfNewWorkspace(): Promise<WorkspaceBench> {
  const tenant = await asNewWorkspace((await sharedBench()).stack);
  return { ...benchOf(tenant), workspace: tenant.workspace };
}
