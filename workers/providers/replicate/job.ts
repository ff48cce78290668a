/** Stored state of a prediction: enough for another process to poll it, and nothing that could lead elsewhere. */
import type { Members } from "../json.ts";
import type { ProviderJob } from "../media.ts";

export interface Prediction extends ProviderJob {
  readonly id: string;
  /** Number of results requested. */
  readonly asked: number;
}

const ID = /^[A-Za-z0-9_-]{1,128}$/;

/** The job of an answer; undefined when that names none. */
export function newJob(answer: Members | undefined, asked: number): Prediction | undefined {
  const id = answer?.["id"];
  return typeof id === "string" && ID.test(id) ? { id, asked } : undefined;
}

/** A stored job; undefined when it is none of ours. */
export function readJob({ id, asked }: ProviderJob): Prediction | undefined {
  return typeof id === "string" && ID.test(id) && typeof asked === "number" ? { id, asked } : undefined;
}
