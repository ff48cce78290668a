/** Names that clients have for batches and their lines. */
import { jobIdOf } from "#shared/ids.ts";

export function batchName(id: string): string {
  return `batch_${id.replaceAll("-", "")}`;
}

/** The name of a line, of its job or run. */
export function lineName(jobId: string): string {
  return `batch_req_${jobId.replaceAll("-", "")}`;
}

/** The id behind a name; undefined for what is no such name. */
export function batchIdOf(name: string): string | undefined {
  return uuidIn(/^batch_([0-9a-f]{32})$/.exec(name));
}

/** The same of a line. */
export function lineJobOf(name: string): string | undefined {
  return uuidIn(/^batch_req_([0-9a-f]{32})$/.exec(name));
}

/** Returns the id of a line's job or run: the same whoever admits it, and however often. */
export function jobOfLine(workspaceId: string, batchId: string, number: number): string {
  return jobIdOf(workspaceId, `batch:${batchId}:${number}`);
}

function uuidIn(match: RegExpExecArray | null): string | undefined {
  return match?.[1]?.replace(/^(.{8})(.{4})(.{4})(.{4})/, "$1-$2-$3-$4-");
}
