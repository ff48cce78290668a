/** Running services for the stories of this folder: starting one for each takes longer than most of them. */
import { asNewWorkspace, type Tenant } from "#tests/support/tenant.ts";

import { type RunsBench, runsBenchOf, startRunsBench } from "./runs-bench.ts";

let plain: Promise<RunsBench> | undefined;
let wide: Promise<RunsBench> | undefined;

/** With the pools that most runs need. */
export function sharedRuns(): Promise<RunsBench> {
  plain ??= startRunsBench();
  return plain;
}

/** With images too, for estimates and templates. */
export function sharedMediaRuns(): Promise<RunsBench> {
  wide ??= startRunsBench({
    pools: ["chat", "image", "capability", "workflow"],
    env: { SLUICE_WORKER_SLOTS: "64" },
  });
  return wide;
}

export type WorkspaceRuns = RunsBench & Pick<Tenant, "workspace">;

/** Runs of a workspace of one's own on a service that is shared. */
export async function runsOfNewWorkspace(shared: Promise<RunsBench>): Promise<WorkspaceRuns> {
  const tenant = await asNewWorkspace((await shared).stack);
  return { ...runsBenchOf(tenant), workspace: tenant.workspace };
}
