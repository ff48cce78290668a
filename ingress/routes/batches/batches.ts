/** /v1/batches: creates and manages batches, which run the calls of a file within a day. */
import type { Batch, BatchRequest } from "#schemas/generated/types.ts";
import { checkEndpoint } from "#shared/access/access-lists.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { viewerOf } from "#shared/access/viewer.ts";
import type { CallLabels } from "#shared/calls/labels.ts";
import { lowerMax, takeMaxCredits } from "#shared/calls/max-credits.ts";
import { parse } from "#shared/json/contracts.ts";
import {
  type BatchRow,
  cancelBatch,
  findBatch,
  findRepeated,
  insertBatch,
  listBatches,
  listEndedLines,
  type NewBatch,
  OPEN_BATCHES_MAX,
} from "#shared/database/batches.ts";
import { findFile } from "#shared/database/files.ts";
import { ApiError } from "#shared/base/errors.ts";
import { isFileId } from "#shared/files/id.ts";
import { jobIdOf, newId } from "#shared/base/ids.ts";
import { LEAST_NANO } from "#shared/ledger/call-admission.ts";
import { creditsNumber } from "#shared/base/money.ts";
import { paced } from "#shared/config/pace.ts";
import { checkSameRequest, fingerprintOfJson } from "#shared/json/same-request.ts";

import { json, JSON_TYPE } from "../../core/answers.ts";
import { batchIdOf, batchName, lineJobOf, lineName } from "./ids.ts";
import { onePage, readRecords } from "./parts.ts";
import { targetOf } from "./read-line.ts";
import { readBody } from "../../core/body.ts";
import type { IngressContext } from "../../context.ts";
import { readLabels, TAGS_REQUEST } from "../../core/labels.ts";
import { headerMax, MAX_CREDITS_REQUEST } from "../../core/max-credits.ts";
import { IDEMPOTENCY_KEY, idempotencyKeyOf } from "../../core/idempotency-key.ts";
import { allowRoles } from "../../core/roles.ts";
import { errorsOf } from "../../core/route-errors.ts";
import type { RouteCall } from "../../core/call.ts";
import type { KeyRoute } from "../../core/route.ts";
import { limitIn, LIST_QUERY, pageAnswer, queryOf, unsupported } from "../../core/page.ts";

const LIST = "/v1/batches";
const ONE = `${LIST}/{batch_id}`;

/** Maximum size of an input file, in bytes; the same as at OpenAI. */
const INPUT_BYTES_MAX = 200_000_000;

/** Time after the creation of a batch at which its remaining calls are no longer started, in milliseconds. */
const WINDOW_MS = paced(24 * 3_600_000);

export function batches(context: IngressContext): readonly KeyRoute[] {
  const common = {
    tags: ["Batches"],
    auth: "key",
    authorize: allowRoles("owner", "admin", "developer"),
  } as const satisfies Partial<KeyRoute>;
  return [
    {
      ...common,
      method: "POST",
      path: LIST,
      operationId: "createBatch",
      summary: "Create batch",
      description:
        "Runs every line of the input file as a call for the key that created the batch. All lines are validated " +
        "before the first call. Lines run within a day, as rate limit and balance of the workspace allow; each " +
        "line runs and is billed once. With `max_credits` the lines never cost more together. The output file contains the successful responses, the error file rejected " +
        "and failed lines, in the order of their end. The member who created the batch, owners and admins can read " +
        "and cancel it. A repeat by the same member with the same `Idempotency-Key` returns the same batch while " +
        "it is kept.",
      request: { schema: "BatchRequest" },
      requestHeaders: [IDEMPOTENCY_KEY, MAX_CREDITS_REQUEST, TAGS_REQUEST],
      responses: { 200: { description: "The batch", schema: "Batch" } },
      errors: errorsOf(
        ["reads_json", "names_files"],
        "unknown_parameter",
        "idempotency_key_reused",
        "overloaded",
        "insufficient_credits",
        "budget_reached",
        "service_unavailable",
      ),
      handle: (call) => create(context, call),
    },
    {
      ...common,
      method: "GET",
      path: LIST,
      operationId: "listBatches",
      summary: "List batches",
      description: "Lists the caller's batches. Owners and admins see all batches of the workspace.",
      query: LIST_QUERY,
      responses: { 200: { description: "A page of batches, newest first", schema: "BatchList" } },
      errors: ["unsupported_value"],
      handle: (call) => list(context, call),
    },
    {
      ...common,
      method: "GET",
      path: ONE,
      operationId: "getBatch",
      summary: "Retrieve batch",
      responses: { 200: { description: "The batch", schema: "Batch" } },
      errors: ["batch_not_found"],
      handle: async (call) => json(presentBatch(await find(context, call))),
    },
    {
      ...common,
      method: "POST",
      path: `${ONE}/cancel`,
      operationId: "cancelBatch",
      summary: "Cancel batch",
      description:
        "No further line starts, and running lines are cancelled. Completed lines are in the files and are billed.",
      responses: { 200: { description: "The batch after the cancellation", schema: "Batch" } },
      errors: ["batch_not_found", "conflict"],
      handle: (call) => cancel(context, call),
    },
    {
      ...common,
      method: "GET",
      path: `${ONE}/lines`,
      operationId: "listBatchLines",
      summary: "List batch lines",
      description:
        "Lists ended lines in the order of their end, also while the batch runs. Use the last `id` of a page as " +
        "`after`, also to receive lines that end later. A page has at most 4 MB.",
      query: LIST_QUERY,
      responses: { 200: { description: "A page of lines", schema: "BatchLineList" } },
      errors: ["batch_not_found", "file_not_found", "unsupported_value", "service_unavailable"],
      handle: (call) => listLines(context, call),
    },
  ];
}

async function find({ database }: IngressContext, call: RouteCall): Promise<BatchRow> {
  const id = batchIdOf(call.params["batch_id"] ?? "");
  const row = id === undefined ? undefined : await findBatch(database, viewerOf(call.caller), id);
  if (!row) throw new ApiError("batch_not_found", "There is no such batch in this workspace.");
  return row;
}

async function create(context: IngressContext, call: RouteCall): Promise<Response> {
  const { caller } = call;
  const { workspaceId, memberId, keyId } = caller;
  const { value } = await readBody(context, call);
  const { request: asked, maxNano: ownMax } = takeMaxCredits(parse("BatchRequest", value));
  const headers: BatchHeaders = { maxNano: headerMax(call.request), labels: readLabels(call) };
  const key = idempotencyKeyOf(call.request.headers);
  const batch: NewBatch = {
    id: newId(),
    repeatId: key === null ? null : jobIdOf(workspaceId, `batches:${memberId}:${key}`),
    workspace_id: workspaceId,
    key_id: keyId,
    fingerprint: key === null ? null : await fingerprintOf(value, headers),
    endpoint: asked.endpoint,
    input_file_id: asked.input_file_id,
    metadata: asked.metadata == null ? null : JSON.stringify(asked.metadata),
    output_expires_s: asked.output_expires_after?.seconds ?? null,
    maxNano: lowerMax(ownMax, headers.maxNano),
    labels: headers.labels,
    windowMs: WINDOW_MS,
  };
  const known = await findRepeated(context.database, batch);
  if (known) return json(presentBatch(same(known, batch)));
  await checkInput(context, caller, asked);
  // Checked first, so that a workspace without credits stores no lines.
  await context.calls.check(workspaceId, null, LEAST_NANO);
  const id = await insertBatch(context.database, batch);
  if (id === null) {
    throw new ApiError(
      "overloaded",
      `A workspace has at most ${OPEN_BATCHES_MAX} open batches; cancel one, or wait until one ends.`,
    );
  }
  const row = await findBatch(context.database, viewerOf(caller), id);
  if (!row) throw new Error("a batch that was made is not there");
  return json(presentBatch(same(row, batch)));
}

/** Values of the headers that determine a batch, besides its body. */
interface BatchHeaders {
  readonly maxNano: bigint | undefined;
  readonly labels: CallLabels | undefined;
}

function fingerprintOf(body: unknown, { maxNano, labels }: BatchHeaders): Promise<string> {
  const isPlain = maxNano === undefined && labels === undefined;
  return fingerprintOfJson(isPlain ? body : [body, maxNano?.toString() ?? null, labels ?? null]);
}

/**
 * Checks that an existing batch was created by an equal request, and returns it. @throws ApiError `idempotency_key_reused` for another
 * request
 */
function same(row: BatchRow, { fingerprint }: Pick<NewBatch, "fingerprint">): BatchRow {
  checkSameRequest(row, { fingerprint }, "This Idempotency-Key was used for another batch; use a new key.");
  return row;
}

/** Checks endpoint and input file of a new batch. @throws ApiError for an endpoint that batches may not call, or an unsuitable file */
async function checkInput({ database }: IngressContext, caller: Caller, asked: BatchRequest): Promise<void> {
  if (!targetOf(asked.endpoint)) {
    const expected = "the path of a call, a capability run or a workflow run";
    throw new ApiError("unsupported_value", `Expected endpoint to be ${expected}.`, { param: "endpoint" });
  }
  checkEndpoint(caller, asked.endpoint);
  const param = "input_file_id";
  const id = asked.input_file_id;
  const file = isFileId(id) ? await findFile(database, viewerOf(caller), id) : undefined;
  if (!file) throw new ApiError("file_not_found", "There is no such file in this workspace.", { param });
  if (file.purpose !== "batch") {
    throw new ApiError("invalid_request", "Expected a file of the purpose batch.", { param });
  }
  if (file.bytes > INPUT_BYTES_MAX) {
    throw new ApiError("invalid_request", `Expected a file of at most ${INPUT_BYTES_MAX} bytes.`, { param });
  }
}

function list(context: IngressContext, call: RouteCall): Promise<Response> {
  const page = { after: nameIn(call, "the id of a batch", batchIdOf), limit: limitIn(call) };
  const viewer = viewerOf(call.caller);
  return pageAnswer(page, (asked) => listBatches(context.database, viewer, asked), presentBatch);
}

function nameIn(call: RouteCall, expected: string, idOf: (name: string) => string | undefined): string | null {
  const after = queryOf(call).get("after") || null;
  const id = after === null ? null : idOf(after);
  if (id === undefined) throw unsupported("after", expected, after ?? "");
  return id;
}

async function cancel(context: IngressContext, call: RouteCall): Promise<Response> {
  const { id, workspace_id } = await find(context, call);
  const isAsked = await cancelBatch(context.database, workspace_id, id);
  const row = await find(context, call);
  if (!isAsked && row.ends_as !== "cancelled") {
    throw new ApiError(
      "conflict",
      `Expected a batch that is being validated or in progress, got a batch in the state ${row.state}.`,
    );
  }
  return json(presentBatch(row));
}

async function listLines(context: IngressContext, call: RouteCall): Promise<Response> {
  const limit = limitIn(call);
  const after = nameIn(call, "the id of a line", lineJobOf);
  const batch = await find(context, call);
  const rows = await listEndedLines(context.database, batch.id, { after, limit: limit + 1 });
  const page = onePage(rows.slice(0, limit));
  const records = await readRecords(context, batch, page);
  const [first, last] = [page[0], page.at(-1)];
  const tail = JSON.stringify({
    first_id: first ? lineName(first.job_id) : null,
    last_id: last ? lineName(last.job_id) : null,
    has_more: rows.length > page.length,
  });
  // Records are JSON texts already.
  const text = `{"object":"list","data":[${records.join(",")}],${tail.slice(1)}`;
  return new Response(text, { headers: { "content-type": JSON_TYPE } });
}

/** Converts a batch to OpenAI's batch object, and adds the cost of the batch. */
function presentBatch(row: BatchRow): Batch {
  const input = Number(row.input_tokens);
  const output = Number(row.output_tokens);
  const faults = row.errors === null ? undefined : (JSON.parse(row.errors) as NonNullable<Batch["errors"]>["data"]);
  return {
    id: batchName(row.id),
    object: "batch",
    endpoint: row.endpoint,
    ...(row.model === null ? {} : { model: row.model }),
    ...(faults === undefined ? {} : { errors: { object: "list", data: faults } }),
    input_file_id: row.input_file_id,
    completion_window: "24h",
    status: row.state,
    ...(row.output_file_id === null ? {} : { output_file_id: row.output_file_id }),
    ...(row.error_file_id === null ? {} : { error_file_id: row.error_file_id }),
    created_at: seconds(row.created_at),
    ...timesOf(row),
    expires_at: seconds(row.expires_at),
    request_counts: { total: row.total, completed: row.completed, failed: row.failed },
    usage: {
      input_tokens: input,
      input_tokens_details: { cached_tokens: Number(row.cached_tokens) },
      output_tokens: output,
      output_tokens_details: { reasoning_tokens: Number(row.reasoning_tokens) },
      total_tokens: input + output,
    },
    credits_used: creditsNumber(row.credits),
    ...(row.max_nano === null ? {} : { max_credits: creditsNumber(row.max_nano) }),
    metadata: row.metadata === null ? null : (JSON.parse(row.metadata) as Record<string, string>),
  };
}

const TIMES = [
  "in_progress_at",
  "finalizing_at",
  "completed_at",
  "failed_at",
  "expired_at",
  "cancelling_at",
  "cancelled_at",
] as const satisfies readonly (keyof BatchRow)[];

/** Returns the time at which the batch reached each of its states. */
function timesOf(row: BatchRow): Partial<Record<(typeof TIMES)[number], number>> {
  return Object.fromEntries(
    TIMES.flatMap((name) => {
      const at = row[name];
      return at === null ? [] : [[name, seconds(at)]];
    }),
  );
}

function seconds(at: Date): number {
  return Math.floor(at.getTime() / 1_000);
}
