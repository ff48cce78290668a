/** Presents the results of a media job as links to its files, or as base64 that is read while the response is sent. */
import type { MediaOutcome, MediaResult } from "#schemas/generated/types.ts";
import { validate } from "#shared/json/contracts.ts";
import { findBlocks } from "#shared/database/files.ts";
import type { EndedJob } from "#shared/database/jobs.ts";
import { ApiError } from "#shared/base/errors.ts";
import { readFile } from "#shared/files/read.ts";
import { loadResult } from "#shared/jobs/result.ts";
import { creditsNumber, formatCredits } from "#shared/base/money.ts";
import type { Fallback } from "#shared/queue/frames.ts";

import { fallbackHeaders, json, JSON_TYPE } from "../../core/answers.ts";
import type { IngressContext } from "../../context.ts";
import { streamOf } from "../../core/response-body.ts";
import type { RouteCall } from "../../core/call.ts";

type Context = Pick<IngressContext, "config" | "database" | "links" | "log" | "storage">;

/** Returns the result as the outcome of a media job; undefined if the job was of another kind. */
export function asOutcome(result: unknown): MediaOutcome | undefined {
  return validate("MediaOutcome", result) === null ? (result as MediaOutcome) : undefined;
}

/** Loads the outcome of a media job. @throws ApiError `service_unavailable` when the object store of the result is unavailable */
export async function outcomeOf(context: Pick<Context, "storage">, row: EndedJob): Promise<MediaOutcome> {
  try {
    const outcome = asOutcome(JSON.parse((await loadResult(context.storage, row)) ?? "null"));
    if (outcome) return outcome;
    throw new Error("a media job without an outcome");
  } catch (error) {
    throw new ApiError("service_unavailable", `The result cannot be read right now; collect it as job ${row.id}.`, {
      shouldRetry: false,
      jobId: row.id,
      cause: error,
    });
  }
}

/** Returns the response headers with the serving model and the charged credits (spec "General rules" 6). */
export function servedHeaders(
  outcome: { readonly model: string; readonly fallback?: Fallback | undefined },
  nano?: bigint,
): Record<string, string> {
  return {
    ...(nano === undefined ? {} : { "x-credits-used": formatCredits(nano) }),
    "x-model-used": outcome.model,
    ...fallbackHeaders(outcome.fallback),
  };
}

/** Returns the complete response of a media endpoint: `created`, `data`, `credits_used`. */
export async function respondWithMedia(
  context: Context,
  call: RouteCall,
  row: EndedJob,
  isInline: boolean,
): Promise<Response> {
  const outcome = await outcomeOf(context, row);
  const nano = row.credits ?? 0n;
  const credits = creditsNumber(nano);
  const headers = servedHeaders(outcome, nano);
  if (isInline) {
    const wrap = {
      head: `{"created":${outcome.created},"data":[`,
      tail: `],"credits_used":${JSON.stringify(credits)}}`,
    };
    const body = await streamInlineMedia(context, row.id, outcome, wrap);
    return new Response(body, { headers: { "content-type": JSON_TYPE, ...headers } });
  }
  return json(
    { created: outcome.created, data: withLinks(context, row, outcome, call.request), credits_used: credits },
    headers,
  );
}

/** Returns the results with download links. @param request its origin is used in the links if no public URL is configured */
export function withLinks(
  { links, config }: Pick<Context, "links" | "config">,
  row: Pick<EndedJob, "workspace_id">,
  { data }: MediaOutcome,
  request: Request,
): MediaResult[] {
  const base = config.publicUrl ?? new URL(request.url).origin;
  return data.map(({ file_id, content_type, duration_seconds }) => ({
    url: links.url(base, row.workspace_id, file_id),
    file_id,
    content_type,
    ...(duration_seconds === undefined ? {} : { duration_seconds }),
  }));
}

/**
 * Builds a response body from `head`, the files of a media job in base64, and `tail`. Only one block of a file is in memory at a time.
 * @param isNamed true to include the file ids
 * @throws ApiError `service_unavailable` when the first file cannot be read
 */
async function streamInlineMedia(
  context: Pick<Context, "database" | "storage" | "log">,
  jobId: string,
  { data }: MediaOutcome,
  { head, tail, isNamed = true }: { readonly head: string; readonly tail: string; readonly isNamed?: boolean },
): Promise<ReadableStream<Uint8Array>> {
  const pieces = inlineMediaPieces(context, data, head, tail, isNamed);
  const fail = (error: unknown): void =>
    context.log.error({ err: error, job_id: jobId }, "a job's result could not be read");
  try {
    // The first block is read before the status is sent.
    const opening = await pieces.next();
    const first = await pieces.next();
    if (opening.done === true || first.done === true) throw new Error("a media job that made nothing");
    return streamOf(Buffer.concat([opening.value, first.value]), pieces, fail);
  } catch (error) {
    fail(error);
    throw new ApiError("service_unavailable", "The result cannot be read right now; collect it by its job id.", {
      shouldRetry: false,
      jobId,
      cause: error,
    });
  }
}

/** Yields `head`, the files of a media job in base64, and `tail`, chunk by chunk. The chunks can be sent inside another stream. */
export async function* inlineMediaPieces(
  { database, storage }: Pick<Context, "database" | "storage">,
  data: MediaOutcome["data"],
  head: string,
  tail: string,
  isNamed: boolean,
): AsyncGenerator<Uint8Array, void, void> {
  yield Buffer.from(head);
  for (const [at, one] of data.entries()) {
    const blocks = await findBlocks(database, one.file_id);
    if (!blocks) throw new Error(`${one.file_id} is not there any more`);
    let text = `${at === 0 ? "" : ","}{"b64_json":"`;
    // Three bytes become four characters: the remainder of a block is encoded with the next one.
    let remainder: Buffer = Buffer.alloc(0);
    for await (const block of readFile(storage, blocks)) {
      const bytes = Buffer.concat([remainder, block]);
      const whole = bytes.length - (bytes.length % 3);
      yield Buffer.from(text + bytes.toString("base64", 0, whole), "latin1");
      text = "";
      remainder = bytes.subarray(whole);
    }
    const { file_id, content_type, duration_seconds } = one;
    const beside = {
      ...(isNamed ? { file_id } : {}),
      content_type,
      ...(duration_seconds === undefined ? {} : { duration_seconds }),
    };
    yield Buffer.from(`${text}${remainder.toString("base64")}",${JSON.stringify(beside).slice(1)}`);
  }
  yield Buffer.from(tail);
}
