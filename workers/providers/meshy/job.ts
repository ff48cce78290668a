/** Stored state of a job at Meshy, sufficient for another process to poll it and to start its second phase. */
import type { ProviderJob } from "../media.ts";

import { isMeshInputName, type MeshInputName } from "../mesh-inputs.ts";
import { isTaskName, type TaskName } from "./tasks.ts";

export interface MeshyJob extends ProviderJob, TaskFacts {
  readonly id: string;
}

/** Facts of a task that are known before its id. */
export interface TaskFacts {
  readonly task: TaskName;
  /** Names of the task's inputs. */
  readonly given: readonly MeshInputName[];
  /** Body of the second task, for the first of two phases. */
  readonly refine?: Readonly<Record<string, unknown>>;
  /** Id of the first task, for the second of two phases. */
  readonly preview?: string;
}

const ID = /^[A-Za-z0-9_-]{1,128}$/;

/** Returns true for a valid id, which is inserted into a path. */
export function isTaskId(value: unknown): value is string {
  return typeof value === "string" && ID.test(value);
}

/** Returns a stored job; undefined for jobs of other families. */
export function readJob({ task, id, given, refine, preview }: ProviderJob): MeshyJob | undefined {
  if (!isTaskName(task) || !isTaskId(id)) return undefined;
  if (!Array.isArray(given) || !given.every(isMeshInputName)) return undefined;
  if (preview !== undefined && !isTaskId(preview)) return undefined;
  if (refine !== undefined && (typeof refine !== "object" || refine === null)) return undefined;
  return {
    task,
    id,
    given,
    ...(refine === undefined ? {} : { refine: refine as Readonly<Record<string, unknown>> }),
    ...(preview === undefined ? {} : { preview }),
  };
}
