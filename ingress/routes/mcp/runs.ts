/**
 * Runs capabilities and workflows for MCP tools. A run sends progress notifications while the client waits, and is cancelled when the
 * client disconnects.
 */
import type { CallToolResult } from "@modelcontextprotocol/server";

import type { CapabilityRun, WorkflowRun } from "#schemas/generated/types.ts";
import { sleep } from "#shared/base/abortable.ts";
import { findJob } from "#shared/database/jobs.ts";
import { findRunById } from "#shared/database/runs.ts";
import { paced } from "#shared/config/pace.ts";

import type { ApiClient } from "../../tools/api-client.ts";
import { endWork, type WorkEnd } from "../../tools/work.ts";
import { capabilityResult, workflowResult } from "./results.ts";
import { findTask } from "./tasks.ts";

/** Interval of progress notifications, in milliseconds. */
const PROGRESS_MS = paced(2_000);

/** Time after which a running capability is returned as a task, in milliseconds. */
const TASK_AFTER_MS = paced(5_000);

export interface Progress {
  readonly progress: number;
  readonly total?: number;
}

/** MCP client that made a tool call. */
export interface Client {
  /** Signal that aborts when the client has disconnected. */
  readonly signal: AbortSignal;
  /** True if the client has declared the Tasks extension, so that long runs can be returned as tasks. */
  readonly takesTasks: boolean;
  /** Sends a progress notification. Absent if the client requested none. */
  readonly reportProgress?: (progress: Progress) => Promise<void>;
}

interface Work {
  readonly cancel: WorkEnd;
  progress(): Promise<Progress | undefined>;
}

export async function runCapability(api: ApiClient, id: string, body: object, client: Client): Promise<CallToolResult> {
  const { context, caller, call } = api;
  const work: Work = {
    cancel: { operationId: "cancelJob", params: { job_id: call.requestId } },
    async progress() {
      const row = await findJob(context.database, caller.workspaceId, call.requestId);
      return row && { progress: row.progress, total: 1 };
    },
  };
  return watched(api, client, work, async () => {
    const asked = { params: { id }, body: { ...body, async: client.takesTasks }, signal: client.signal };
    if (client.takesTasks) {
      await api.ask("runCapability", asked);
      const { workspaceId } = caller;
      await context.waiter.wait({ workspaceId, jobId: call.requestId, ms: TASK_AFTER_MS, clientSignal: client.signal });
      return resultOrTask(api);
    }
    return capabilityResult((await (await api.ask("runCapability", asked)).json()) as CapabilityRun);
  });
}

export async function runWorkflow(api: ApiClient, id: string, body: object, client: Client): Promise<CallToolResult> {
  const { context, call } = api;
  const work: Work = {
    cancel: { operationId: "cancelRun", params: { id: call.requestId } },
    async progress() {
      const row = await findRunById(context.database, call.requestId);
      return row && { progress: row.frames };
    },
  };
  return watched(api, client, work, async () => {
    const mode = client.takesTasks ? "async" : "sync";
    const asked = { params: { id }, body: { ...body, mode }, signal: client.signal };
    if (client.takesTasks) {
      await api.ask("runWorkflow", asked);
      return resultOrTask(api);
    }
    return workflowResult((await (await api.ask("runWorkflow", asked)).json()) as WorkflowRun);
  });
}

async function resultOrTask(api: ApiClient): Promise<CallToolResult> {
  const found = await findTask(api, api.call.requestId);
  if (!found) throw new Error("the work that was begun is gone");
  return found.result ?? { ...found.task, resultType: "task", content: [] };
}

async function watched<T>(api: ApiClient, client: Client, work: Work, run: () => Promise<T>): Promise<T> {
  const over = new AbortController();
  const progressReports = reportProgress(api, client, work, over.signal);
  try {
    return await run();
  } finally {
    over.abort();
    await progressReports;
    if (client.signal.aborted) await endWork(api, work.cancel);
  }
}

/** Sends progress notifications, best effort. Errors are ignored because the result contains all necessary data. */
async function reportProgress(
  { context, call }: ApiClient,
  client: Client,
  work: Work,
  over: AbortSignal,
): Promise<void> {
  if (!client.reportProgress) return;
  let last = -1;
  try {
    for (;;) {
      const now = await work.progress();
      if (over.aborted) return;
      if (now && now.progress > last) {
        last = now.progress;
        await client.reportProgress(now);
      }
      await sleep(PROGRESS_MS, over);
    }
  } catch (error) {
    if (!over.aborted)
      context.log.warn({ err: error, job_id: call.requestId }, "progress could not be reported to an MCP client");
  }
}
