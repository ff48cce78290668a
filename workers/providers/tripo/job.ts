/** Stored state of a job at Tripo: enough for another process to poll it. */
import type { ProviderJob } from "../media.ts";
import { isMeshInputName, type MeshInputName } from "../mesh-inputs.ts";

export interface TripoJob extends ProviderJob {
  readonly task_id: string;
  /** The inputs that it was given. */
  readonly given: readonly MeshInputName[];
}

const ID = /^[A-Za-z0-9_-]{1,128}$/;

/** Ids become part of a path. */
export function isTaskId(value: unknown): value is string {
  return typeof value === "string" && ID.test(value);
}

/** A stored job; undefined when it is none of Tripo's. */
export function readJob({ task_id, given }: ProviderJob): TripoJob | undefined {
  if (!isTaskId(task_id) || !Array.isArray(given) || !given.every(isMeshInputName)) return undefined;
  return { task_id, given };
}
