/** Conversion between ids and the public names of batches and batch lines. */
import { jobIdOf } from "#shared/base/ids.ts";

export function batchName(id: string): string {
  return `batch_${id.replaceAll("-", "")}`;
}

/** Returns the public name of a line, built from the id of its job or run. */
export function lineName(jobId: string): string {
  return `batch_req_${jobId.replaceAll("-", "")}`;
}

/** Returns the id in a batch's public name; undefined for an invalid name. */
export function batchIdOf(name: string): string | undefined {
  return uuidIn(/^batch_([0-9a-f]{32})$/.exec(name));
}

/** Returns the id of the job or run in a line's public name; undefined for an invalid name. */
export function lineJobOf(name: string): string | undefined {
  return uuidIn(/^batch_req_([0-9a-f]{32})$/.exec(name));
}

/** Returns the id of a line's job or run. It is the same in every process and every attempt. */
export function jobOfLine(workspaceId: string, batchId: string, number: number): string {
  return jobIdOf(workspaceId, `batch:${batchId}:${number}`);
}

function uuidIn(match: RegExpExecArray | null): string | undefined {
  return match?.[1]?.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
