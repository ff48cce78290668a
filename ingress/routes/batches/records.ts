/** Creates the records of ended lines, in the format of the output and error files. */
import type { MediaOutcome } from "#schemas/generated/types.ts";
import { isMediaKind, KINDS } from "#shared/calls/kinds/kinds.ts";
import type { BatchLine } from "#shared/database/batch-work.ts";
import type { BatchEnd } from "#shared/database/batches.ts";
import { findJob, type JobRow } from "#shared/database/jobs.ts";
import { type ApiError, errorEnvelope } from "#shared/base/errors.ts";
import { loadResult } from "#shared/jobs/result.ts";
import { creditsNumber } from "#shared/base/money.ts";
import { findPublishedRun, jobOfRun, resultOfRun } from "#shared/workflows/published-run.ts";

import type { RunOutcome } from "../media/present-capability.ts";
import type { IngressContext } from "../../context.ts";
import { presentJob } from "../media/jobs.ts";
import { failureOf } from "../media/media-job.ts";
import { asOutcome } from "../media/present.ts";

import { lineName } from "./ids.ts";

export interface LineRecord {
  readonly number: number;
  /** Final state of the line. The record of a completed line goes to the output file, any other to the error file. */
  readonly outcome: BatchEnd | "failed";
  /** Record as one line of JSON, including its line break. */
  readonly text: string;
}

/** Returns the record of a line whose call was refused or failed. */
export function refusedRecord(line: BatchLine, error: ApiError): LineRecord {
  const body = JSON.stringify(errorEnvelope(error.code, error.message, error.param));
  return answeredRecord(line, error.status, body);
}

const UNRUN_MESSAGES: Readonly<Record<Exclude<BatchEnd, "completed">, string>> = {
  expired: "The batch expired before this line was processed.",
  cancelled: "The batch was cancelled before this line was processed.",
};

/** Returns the record of a line that never ran. */
export function unrunRecord(line: BatchLine, end: Exclude<BatchEnd, "completed">): LineRecord {
  return recordOf(line, end, "null", JSON.stringify({ code: `batch_${end}`, message: UNRUN_MESSAGES[end] }));
}

/**
 * Returns the record of a line that received a response.
 * @param body JSON text of the response
 */
function answeredRecord(line: BatchLine, status: number, body: string): LineRecord {
  // A line break between members would end the file's line. JSON strings contain no raw line breaks.
  const singleLine = body.includes("\n") || body.includes("\r") ? body.replaceAll(/[\r\n]+/g, " ") : body;
  const response = `{"status_code":${status},"request_id":${JSON.stringify(line.job_id)},"body":${singleLine}}`;
  return recordOf(line, status < 400 ? "completed" : "failed", response, "null");
}

function recordOf(line: BatchLine, outcome: LineRecord["outcome"], response: string, error: string): LineRecord {
  const { number, custom_id, job_id } = line;
  const head = `{"id":"${lineName(job_id)}","custom_id":${JSON.stringify(custom_id)}`;
  return { number, outcome, text: `${head},"response":${response},"error":${error}}\n` };
}

type Context = Pick<IngressContext, "database" | "storage">;

/**
 * Returns the record of a line whose job or run has ended.
 * @param end final state of a batch that is ending; null while the batch runs
 * @throws Error when the job's result cannot currently be read
 */
export async function endedRecord(
  context: Context,
  workspaceId: string,
  line: BatchLine,
  end: BatchEnd | null,
): Promise<LineRecord> {
  const { row, text } = await endedJob(context, workspaceId, line.job_id);
  if (row.state === "cancelled" && end !== null && end !== "completed") return unrunRecord(line, end);
  if (row.state !== "completed") return refusedRecord(line, failureOf(row));
  return answeredRecord(line, 200, bodyOf(row, text ?? "null"));
}

async function endedJob(
  context: Context,
  workspaceId: string,
  id: string,
): Promise<{ readonly row: JobRow; readonly text: string | null }> {
  const row = await findJob(context.database, workspaceId, id);
  if (row) return { row, text: await loadResult(context.storage, row) };
  const run = await findPublishedRun(context.database, workspaceId, id);
  if (!run) throw new Error(`the job ${id} of a line is not there`);
  return { row: jobOfRun(run), text: await resultOfRun(context, run) };
}

/**
 * Returns the response body as JSON text. Text results have their endpoint's format, media are listed as files, and capabilities and runs
 * as jobs.
 */
function bodyOf(row: JobRow, text: string): string {
  const kind = Object.values(KINDS).find(({ name }) => name === row.kind);
  if (kind && !isMediaKind(kind)) return text;
  const result = JSON.parse(text) as Record<string, unknown>;
  const outcome = kind && asOutcome(result);
  if (outcome && kind.route.answers !== "job") {
    const { created } = outcome;
    return JSON.stringify({ created, data: mediaFilesOf(outcome), credits_used: creditsNumber(row.credits ?? 0n) });
  }
  if (outcome) return JSON.stringify(presentJob(row, mediaFilesOf(outcome)));
  const presented = row.kind === "capability" ? ranOf(row, result as unknown as RunOutcome) : result;
  return JSON.stringify(presentJob(row, [presented]));
}

/** Returns the files of a media result by id instead of by link, because links expire after an hour. */
function mediaFilesOf({ data }: MediaOutcome): Record<string, unknown>[] {
  return data.map(({ file_id, content_type, duration_seconds }) => ({
    file_id,
    content_type,
    ...(duration_seconds === undefined ? {} : { duration_seconds }),
  }));
}

function ranOf({ id, credits }: JobRow, { capability, output, files, duration_ms }: RunOutcome) {
  const head = { id, object: "capability.run", capability, status: "completed", output };
  return { ...head, files, credits_used: creditsNumber(credits ?? 0n), duration_ms };
}
