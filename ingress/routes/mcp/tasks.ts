/** Presents jobs and workflow runs as tasks of MCP's Tasks extension. */
import type { CallToolResult } from "@modelcontextprotocol/server";

import type { Job, WorkflowRun } from "#schemas/generated/types.ts";
import { ApiError } from "#shared/base/errors.ts";
import { isUuid } from "#shared/base/ids.ts";

import type { ApiClient } from "../../tools/api-client.ts";
import { jobResult, workflowResult } from "./results.ts";

export interface Task {
  readonly taskId: string;
  readonly status: "working" | "completed" | "cancelled";
  readonly statusMessage: string;
  readonly createdAt: string;
  readonly lastUpdatedAt: string;
  readonly ttlMs: null;
  readonly pollIntervalMs: number;
}

export interface FoundTask {
  readonly task: Task;
  /** Job or workflow run as its HTTP route returns it. */
  readonly resource: Job | WorkflowRun;
  /** Tool result of the task. Absent while the task runs and after a cancellation. */
  readonly result?: CallToolResult;
  /** Cancels the job or run, best effort. */
  cancel(): Promise<unknown>;
}

/** Returns the task; undefined if it does not exist or the caller may not see it. */
export async function findTask(api: ApiClient, id: string): Promise<FoundTask | undefined> {
  if (!isUuid(id)) return undefined;
  const job = await found<Job>(api, "getJob", { job_id: id });
  if (job) return { ...taskOfJob(job), cancel: () => api.ask("cancelJob", { params: { job_id: id } }) };
  const run = api.may("getRun") ? await found<WorkflowRun>(api, "getRun", { id }) : undefined;
  return run && { ...taskOfRun(run), cancel: () => api.ask("cancelRun", { params: { id } }) };
}

async function found<T>(
  api: ApiClient,
  operationId: string,
  params: Readonly<Record<string, string>>,
): Promise<T | undefined> {
  try {
    return (await (await api.ask(operationId, { params })).json()) as T;
  } catch (error) {
    if (error instanceof ApiError && error.status === 404) return undefined;
    throw error;
  }
}

function taskOfJob(job: Job): Omit<FoundTask, "cancel"> {
  const hasEnded = job.status === "completed" || job.status === "failed";
  return {
    task: {
      taskId: job.id,
      // A tool's error is a result too.
      status: hasEnded ? "completed" : job.status === "cancelled" ? "cancelled" : "working",
      statusMessage: job.progress > 0 && !hasEnded ? `${job.status}, ${Math.round(job.progress * 100)} %` : job.status,
      createdAt: new Date(job.created * 1_000).toISOString(),
      lastUpdatedAt: new Date((job.completed ?? job.started ?? job.created) * 1_000).toISOString(),
      ...LIFE,
    },
    resource: job,
    ...(hasEnded ? { result: jobResult(job) } : {}),
  };
}

function taskOfRun(run: WorkflowRun): Omit<FoundTask, "cancel"> {
  const hasEnded = run.status === "succeeded" || run.status === "failed";
  return {
    task: {
      taskId: run.id,
      status: hasEnded ? "completed" : run.status === "cancelled" ? "cancelled" : "working",
      statusMessage: run.status,
      createdAt: run.createdAt,
      lastUpdatedAt: new Date(Date.parse(run.createdAt) + run.durationMs).toISOString(),
      ...LIFE,
    },
    resource: run,
    ...(hasEnded ? { result: workflowResult(run) } : {}),
  };
}

/** Members that are the same in every task. `ttlMs` is null because the operator configures how many days jobs and runs are kept. */
const LIFE = { ttlMs: null, pollIntervalMs: 2_000 } as const;
