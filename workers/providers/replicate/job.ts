/** Stored state of a prediction, sufficient for polling by another process, without addresses. */
import type { Members } from "../json.ts";
import type { ProviderJob } from "../media.ts";

export interface Prediction extends ProviderJob {
  readonly id: string;
  /** Number of results requested. */
  readonly asked: number;
}

const ID = /^[A-Za-z0-9_-]{1,128}$/;

/** Returns the job of a response; undefined without an id. */
export function newJob(answer: Members | undefined, asked: number): Prediction | undefined {
  const id = answer?.["id"];
  return typeof id === "string" && ID.test(id) ? { id, asked } : undefined;
}

/** Returns a stored job; undefined for other values. */
export function readJob({ id, asked }: ProviderJob): Prediction | undefined {
  return typeof id === "string" && ID.test(id) && typeof asked === "number" ? { id, asked } : undefined;
}
