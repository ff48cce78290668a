/** Stored state of a job at Meshy: enough for another process to poll it and to begin its second phase. */
import type { ProviderJob } from "../media.ts";

import { isMeshInputName, type MeshInputName } from "../mesh-inputs.ts";
import { isTaskName, type TaskName } from "./tasks.ts";

export interface MeshyJob extends ProviderJob, TaskFacts {
  readonly id: string;
}

/** Facts of a task before it has an id. */
export interface TaskFacts {
  readonly task: TaskName;
  /** The inputs that it was given. */
  readonly given: readonly MeshInputName[];
  /** The first of two phases: what its second task is begun with. */
  readonly refine?: Readonly<Record<string, unknown>>;
  /** The second of two phases: the first one's id. */
  readonly preview?: string;
}

const ID = /^[A-Za-z0-9_-]{1,128}$/;

/** Ids become part of a path. */
export function isTaskId(value: unknown): value is string {
  return typeof value === "string" && ID.test(value);
}

/** A stored job; undefined when it is none of Meshy's. */
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
