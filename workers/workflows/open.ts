/** Opens the runners of workflow runs for both lanes. */
import type { Publishers } from "#shared/access/authenticate.ts";
import { openOffered } from "#shared/calls/capabilities/offered.ts";
import { findWorkspace } from "#shared/database/workspaces.ts";
import { serviceSecret } from "#shared/database/service-secrets.ts";
import { createJobAdmission } from "#shared/jobs/admission.ts";
import { createJobDispatcher } from "#shared/jobs/dispatcher.ts";
import type { Lifecycle } from "#shared/lifecycle.ts";
import { createPublisher } from "#shared/queue/publish.ts";
import { cancelSubject, type Lane, LANES } from "#shared/queue/subjects.ts";
import { createJobTokens } from "#shared/secrets/job-token.ts";

import { randomBytes } from "node:crypto";

import type { WorkerContext } from "../context.ts";
import type { Runner } from "../runner/runner.ts";
import type { WorkflowContext } from "./context.ts";
import { RunLoop, startWorkflowRunner } from "./runner.ts";
import type { RunStore } from "./store.ts";
import { RunPermits } from "./permits.ts";

/** Shares of the slots of the process for concurrent passes of runs. A pass takes milliseconds, mostly in the database. */
export const WORKFLOW_SHARES = { liveShare: 1 / 8, batchShare: 1 / 8 } as const;

/** Most concurrent starts of work; most of the time, they wait for a database connection of the process. */
const STARTS_MAX = 16;

type Opened = Pick<
  WorkerContext,
  "config" | "log" | "metrics" | "database" | "storage" | "catalogue" | "probes" | "work" | "replies"
>;

export async function startWorkflows(
  context: Opened & {
    readonly lifecycle: Pick<Lifecycle, "onStop">;
    readonly store: RunStore;
    readonly publishers: Publishers;
    slots(lane: Lane): number;
  },
): Promise<readonly Runner[]> {
  const adminWorkspaceId = await adminWorkspaceOf(context);
  const { database, catalogue, log, metrics, lifecycle, work, replies } = context;
  const offered = await openOffered({ database, catalogue, log });
  lifecycle.onStop("capabilities offered", () => offered.close());
  const dispatcher = createJobDispatcher({ database, publisher: createPublisher(work, "worker"), metrics, log });
  lifecycle.onStop("dispatches", () => dispatcher.idle());
  const tokens = createJobTokens(await serviceSecret(database, "cancels", randomBytes(32)));
  const own: WorkflowContext = {
    ...context,
    offered,
    adminWorkspaceId,
    jobs: createJobAdmission({ database, metrics }),
    dispatcher,
    starts: new RunPermits(STARTS_MAX),
    cancel(jobId) {
      if (!replies.isClosed()) replies.publish(cancelSubject(jobId), tokens.of(jobId));
    },
  };
  const runs = new RunLoop(own);
  return LANES.map((lane) => startWorkflowRunner({ context: own, runs, work, lane, slots: context.slots(lane) }));
}

/** Returns the id of the workspace with the name in the setting, looked up once at the start. @throws Error */
async function adminWorkspaceOf({
  config,
  database,
}: Pick<Opened, "config" | "database">): Promise<string | undefined> {
  const { adminWorkspace: word } = config;
  if (word === undefined) return undefined;
  const row = await findWorkspace(database, word);
  if (row !== undefined) return row.id;
  throw new Error(
    `SLUICE_ADMIN_WORKSPACE names no workspace: ${word}; give the id or the name of one, made by admin workspace create`,
  );
}
