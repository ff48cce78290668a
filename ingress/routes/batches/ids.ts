/** Public names of batches and their lines. */
import { jobIdOf } from "#shared/base/ids.ts";

export function batchName(id: string): string {
  return `batch_${id.replaceAll("-", "")}`;
}

/** Returns the name of a line, of its job or of its run. */
export function lineName(jobId: string): string {
  return `batch_req_${jobId.replaceAll("-", "")}`;
}

/** Returns the id in a batch's name; undefined for an invalid name. */
export function batchIdOf(name: string): string | undefined {
  return uuidIn(/^batch_([0-9a-f]{32})$/.exec(name));
}

/** Returns the job id in a line's name; undefined for an invalid name. */
export function lineJobOf(name: string): string | undefined {
  return uuidIn(/^batch_req_([0-9a-f]{32})$/.exec(name));
}

/** Returns the id of a line's job or run: the same for every process and every attempt. */
export function jobOfLine(workspaceId: string, batchId: string, number: number): string {
  return jobIdOf(workspaceId, `batch:${batchId}:${number}`);
}

function uuidIn(match: RegExpExecArray | null): string | undefined {
  return match?.[1]?.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
