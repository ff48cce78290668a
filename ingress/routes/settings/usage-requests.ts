/** …/usage/requests of a workspace: lists usage and charge of each call, for members and operators. */
import type { UsageRequest, UsageRequestList } from "#schemas/generated/types.ts";
import type { Role } from "#shared/access/authenticate.ts";
import {
  findRunUsage,
  findUsageRequest,
  pageUsageRequests,
  type UsagePlace,
  type UsageRequestQuery,
  type UsageRequestRow,
} from "#shared/database/usage-requests.ts";
import {
  findRefusedCall,
  pageRefusedCalls,
  REFUSED_CALL_HOURS,
  REFUSED_CALLS_MAX,
  type RefusedCallRow,
} from "#shared/database/refused-calls.ts";
import type { Queryable } from "#shared/database/client.ts";
import type { FailureFacts } from "#shared/database/usage-failures.ts";
import { endpointOfKind, kindOfEndpoint, RUNS_ENDPOINT } from "#shared/calls/usage-kind.ts";
import { ERROR_GUIDE } from "#shared/base/error-guide.ts";
import { ApiError, type Code, ERROR_CODES, statusOf } from "#shared/base/errors.ts";
import { isUuid } from "#shared/base/ids.ts";
import { placeOfFailure } from "#shared/ledger/failure-log.ts";
import { creditsNumber, formatCredits } from "#shared/base/money.ts";

import { json } from "../../core/answers.ts";
import type { IngressContext } from "../../context.ts";
import { allow, ANY_ROLE } from "../../core/roles.ts";
import type { RequestFacts, SettingsCall } from "../../core/call.ts";
import type { Route } from "../../core/route.ts";
import { CSV_ROWS_MAX } from "./csv.ts";
import { TABLE_TYPES, tableFormatOf, tableResponse } from "./tables.ts";
import { labelsIn, presentLabels } from "./usage-labels.ts";
import { idIn, LIST_QUERY, limitIn, oneOf, queryOf, SPAN_QUERY, textIn, timeIn, unsupported } from "../../core/page.ts";
import { FILTER_QUERY, ownerIn, STATUSES } from "./usage.ts";
import { type Within, workspaceIdOf } from "./within.ts";

const SPENDING = {
  tags: ["Usage and billing"],
  auth: "key",
  authorize: allow(...ANY_ROLE),
} as const satisfies Partial<Route>;
const OWN = { path: "/workspaces/{workspaceId}", readers: SPENDING, operationInfix: "" } as const;

const ENDPOINT_QUERY: NonNullable<Route["query"]>[number] = {
  name: "endpoint",
  description: "Endpoint of the calls, such as `/v1/chat/completions`, as in `endpoint`. Default: all.",
  schema: { type: "string", maxLength: 256 },
};

const RUN_QUERY: NonNullable<Route["query"]>[number] = {
  name: "run_id",
  description: "Id of a run: calls of its steps, and of the runs that they started. Default: all.",
  schema: { type: "string", format: "uuid" },
};

const REQUEST_STATUSES = [...STATUSES, "refused"] as const;
const STATUS_QUERY: NonNullable<Route["query"]>[number] = {
  name: "status",
  description: "Result of the calls. Default: all but refused calls.",
  schema: { type: "string", enum: REQUEST_STATUSES },
};

export function usageRequests(
  context: IngressContext,
  { path, readers, operationInfix }: Omit<Within, "writers"> = OWN,
): readonly Route[] {
  const all = `${path}/usage/requests`;
  return [
    {
      ...readers,
      method: "GET",
      path: all,
      operationId: `list${operationInfix}UsageRequests`,
      summary: "List usage of calls",
      description:
        "Lists ended calls with their usage and price. A developer sees only calls of own keys. As CSV or JSON lines, " +
        `the list is one table of the newest ${CSV_ROWS_MAX} rows. With the status \`refused\`, lists calls that were refused before ` +
        `they held credits: the last ${REFUSED_CALLS_MAX.toLocaleString("en")} of ${REFUSED_CALL_HOURS} hours. They have no run and labels.`,
      query: [
        ...LIST_QUERY,
        ...FILTER_QUERY.filter(({ name }) => name !== "status"),
        STATUS_QUERY,
        ENDPOINT_QUERY,
        RUN_QUERY,
        ...SPAN_QUERY,
      ],
      responses: { 200: { description: "A page of calls", schema: "UsageRequestList", texts: TABLE_TYPES } },
      errors: ["not_found", "unsupported_value"],
      handle: (call: SettingsCall) => list(context, call),
    },
    {
      ...readers,
      method: "GET",
      path: `${all}/{request_id}`,
      operationId: `get${operationInfix}UsageRequest`,
      summary: "Retrieve usage of call",
      description:
        "Returns usage and price of an ended call by its `x-request-id` or the id of its job. A suffix such as " +
        "`:1` selects an attempt other than the last. The id of a run returns the sum of its steps. A call that was " +
        `refused before it held credits is returned for ${REFUSED_CALL_HOURS} hours, with the status \`refused\`.`,
      responses: { 200: { description: "The usage of the call", schema: "UsageRequest" } },
      errors: ["not_found"],
      handle: (call: SettingsCall) => read(context, call),
    },
  ];
}

async function list(context: IngressContext, call: SettingsCall): Promise<Response> {
  const { database } = context;
  const workspaceId = await workspaceIdOf(database, call);
  const status = oneOf(call, "status", REQUEST_STATUSES);
  const endpoint = textIn(call, "endpoint");
  const kind = endpoint === null ? null : (kindOfEndpoint(endpoint) ?? "");
  const query: Omit<UsageRequestQuery, "limit" | "status"> = {
    memberId: ownerIn(call),
    keyId: idIn(call, "key_id"),
    model: textIn(call, "model"),
    labels: labelsIn(call),
    runId: idIn(call, "run_id"),
    kind,
    start: timeIn(call, "start_time"),
    end: timeIn(call, "end_time"),
    after: afterIn(call),
  };
  const pageOf = (max: number): Promise<readonly ListedRow[]> =>
    status === "refused"
      ? listRefused(database, workspaceId, { ...query, endpoint, limit: max })
      : pageUsageRequests(database, workspaceId, { ...query, status, limit: max });
  const format = tableFormatOf(call);
  if (format !== undefined) {
    const rows = await pageOf(CSV_ROWS_MAX);
    return tableResponse(context, format, { rows, present: line, columns: COLUMNS, name: "requests" });
  }
  const limit = limitIn(call);
  const rows = await pageOf(limit + 1);
  const page = rows.slice(0, limit);
  const [first, last] = [page[0], page.at(-1)];
  return json({
    object: "list",
    data: page.map((row) => present(row, call)),
    first_id: first ? idOf(first) : null,
    last_id: last ? idOf(last) : null,
    has_more: rows.length > limit,
  } satisfies UsageRequestList);
}

/** Row of the list: the usage record of a call, or a refused call. */
type ListedRow = Omit<UsageRequestRow, "status"> & {
  readonly status: UsageRequestRow["status"] | "refused";
  readonly refusal?: NonNullable<UsageRequest["refusal"]>;
};

async function listRefused(
  target: Queryable,
  workspaceId: string,
  { after, runId, labels, ...query }: Omit<UsageRequestQuery, "status"> & { readonly endpoint: string | null },
): Promise<readonly ListedRow[]> {
  // Refused calls have no run and labels.
  if (runId !== null || Object.keys(labels).length > 0) return [];
  const rows = await pageRefusedCalls(target, workspaceId, { ...query, after: after?.jobId ?? null });
  return rows.map(rowOfRefused);
}

function rowOfRefused(row: RefusedCallRow): ListedRow {
  const { request_id, key_id, at, endpoint, code, param, model, message, has_bodies } = row;
  return {
    job_id: request_id,
    attempt: 1,
    key_id,
    model,
    source: null,
    status: "refused",
    job_error: code,
    failure: null,
    refusal: { endpoint, param, message: message ?? ERROR_GUIDE[code].cause.replaceAll("`", "") },
    units: {},
    is_estimated: false,
    tokens: 0n,
    held: 0n,
    settled: 0n,
    uncollected: 0n,
    workflow_id: null,
    run_id: null,
    labels: null,
    started_at: at,
    ended_at: at,
    parts: [],
    has_bodies,
    kind: null,
    asked_ms: null,
    first_ms: null,
    tries: null,
  };
}

async function read({ database, sealer, log }: IngressContext, call: SettingsCall): Promise<Response> {
  const place = placeOf(call.params["request_id"] ?? "");
  const workspaceId = await workspaceIdOf(database, call);
  const memberId = ownerIn(call);
  const row =
    place &&
    ((await findUsageRequest(database, workspaceId, { ...place, memberId })) ??
      (await findRunUsage(database, workspaceId, { runId: place.jobId, memberId })));
  if (row) {
    const { failure, ...request } = present(row, call);
    if (failure === undefined || !("caller" in call) || !TEXT_READERS.has(call.caller.role)) {
      return json({ ...request, ...(failure && { failure }) });
    }
    const text = providerTextOf({ sealer, log }, workspaceId, row);
    return json({ ...request, failure: { ...failure, provider_text: text } });
  }
  const refused = place && (await findRefusedCall(database, workspaceId, { requestId: place.jobId, memberId }));
  if (refused) return json(present(rowOfRefused(refused), call));
  throw new ApiError("not_found", "The call has not ended yet, or is unknown.");
}

/** Roles that may read a provider's error texts. Such texts can repeat prompts. */
const TEXT_READERS: ReadonlySet<Role> = new Set(["owner", "admin"]);

/** Returns a provider's error text; null if it cannot be decrypted because its encryption key was removed from the settings. */
function providerTextOf(
  { sealer, log }: Pick<IngressContext, "sealer" | "log">,
  workspaceId: string,
  { job_id: jobId, attempt, failure }: UsageRequestRow,
): string | null {
  if (failure === null || failure.text === null) return null;
  try {
    return sealer.open(placeOfFailure({ workspaceId, jobId, attempt }), failure.text);
  } catch (error) {
    log.warn({ err: error, job_id: jobId }, "a provider's error text could not be decrypted");
    return null;
  }
}

/** Parses the id of a request. An id such as `…:2` includes an attempt, for requests with several attempts. */
function placeOf(text: string): { readonly jobId: string; readonly attempt: number | null } | undefined {
  const [id = "", attempt, ...rest] = text.toLowerCase().split(":");
  if (!isUuid(id) || rest.length > 0) return undefined;
  if (attempt === undefined) return { jobId: id, attempt: null };
  return /^[1-9]\d{0,3}$/.test(attempt) ? { jobId: id, attempt: Number(attempt) } : undefined;
}

const idOf = ({ job_id, attempt }: ListedRow): string => (attempt === 1 ? job_id : `${job_id}:${attempt}`);

/** Reads the cursor `after` from the query string; null if absent. @throws ApiError `unsupported_value` */
function afterIn(call: RequestFacts): UsagePlace | null {
  const text = queryOf(call).get("after") || null;
  if (text === null) return null;
  const place = placeOf(text);
  if (place === undefined) throw unsupported("after", "the last_id of a page", text);
  return { jobId: place.jobId, attempt: place.attempt ?? 1 };
}

function present(row: ListedRow, call?: SettingsCall): UsageRequest {
  const parts = row.parts.map(({ model, source, amount, units, is_estimated, fault }) => ({
    model,
    source,
    credits: creditsNumber(BigInt(amount)),
    fault,
    ...(call && "operator" in call && { units, is_estimated }),
  }));
  return {
    object: "usage.request",
    request_id: row.job_id,
    attempt: row.attempt,
    key_id: row.key_id,
    model: row.model,
    source: row.source,
    status: row.status,
    endpoint: endpointOf(row),
    http_status: httpStatusOf(row),
    error_code: codeOf(row),
    ...(row.failure && { failure: presentFailure(row.failure) }),
    ...(row.refusal && { refusal: row.refusal }),
    units: row.units,
    is_estimated: row.is_estimated,
    tokens: Number(row.tokens),
    held: creditsNumber(row.held),
    credits: creditsNumber(row.settled),
    uncollected: creditsNumber(row.uncollected),
    workflow_id: row.workflow_id,
    run_id: row.run_id,
    ...presentLabels(row.labels),
    started_at: row.started_at.toISOString(),
    first_token_at: row.first_ms === null ? null : later(row.started_at, row.first_ms),
    ended_at: row.ended_at.toISOString(),
    provider_attempts: attemptsOf(row),
    has_bodies: row.has_bodies,
    ...(parts.length === 0 ? {} : { parts }),
  };
}

/** Returns the error code of a failed call; null if it succeeded or was cancelled. A call whose worker was lost gets a general code. */
function codeOf({ status, failure, job_error: jobError }: ListedRow): string | null {
  if (status === "succeeded" || status === "cancelled") return null;
  return failure?.code ?? jobError ?? (status === "lost" ? ("worker_lost" satisfies Code) : null);
}

function endpointOf({ refusal, model, kind }: ListedRow): string | null {
  if (refusal) return refusal.endpoint;
  return model === null ? RUNS_ENDPOINT : endpointOfKind(kind);
}

/** Returns the HTTP status of a response that waits for the result; null if there is none or no reason is recorded. */
function httpStatusOf(row: ListedRow): number | null {
  // The response of a run that failed is the run.
  if (row.status === "cancelled" || (row.model === null && !row.refusal)) return null;
  // A stream has sent its status before it fails.
  if (row.status === "succeeded" || row.first_ms !== null) return 200;
  const code = codeOf(row);
  if (code === null || !Object.hasOwn(ERROR_CODES, code)) return null;
  return statusOf(code as Code, endpointOf(row) === endpointOfKind("messages"));
}

/** Returns the attempts at providers in order. The last one of a call that did not fail served it, as far as it went. */
function attemptsOf({ status, source, failure, tries, ...row }: ListedRow): UsageRequest["provider_attempts"] {
  const failed = (failure?.attempts ?? tries ?? []).map((attempt) => ({ ...attempt }));
  if (status === "failed" || source === null || row.asked_ms === null) return failed;
  const last = failed.at(-1);
  const failedUntil = last === undefined ? 0 : Date.parse(last.started_at) + last.duration_ms;
  // Times are rounded to milliseconds, so that an attempt could seem to start before the one before it.
  const startedAt = new Date(Math.max(row.started_at.getTime() + row.asked_ms, failedUntil)).toISOString();
  const durationMs = Math.max(0, row.ended_at.getTime() - Date.parse(startedAt));
  return [...failed, { source, error: null, status: null, started_at: startedAt, duration_ms: durationMs }];
}

const later = (start: Date, ms: number): string => new Date(start.getTime() + ms).toISOString();

function presentFailure({ attempts }: FailureFacts): NonNullable<UsageRequest["failure"]> {
  const last = attempts.at(-1);
  return {
    provider_status: last?.status ?? null,
    provider_error: last?.error ?? null,
    attempts: attempts.map((attempt) => ({ ...attempt })),
  };
}

const COLUMNS = [
  "request_id",
  "attempt",
  "key_id",
  "model",
  "source",
  "status",
  "endpoint",
  "http_status",
  "error_code",
  "units",
  "is_estimated",
  "tokens",
  "held",
  "credits",
  "uncollected",
  "workflow_id",
  "run_id",
  "user",
  "chain",
  "tags",
  "started_at",
  "first_token_at",
  "ended_at",
  "has_bodies",
] as const satisfies readonly (keyof UsageRequest)[];

/** Returns the columns of a CSV line. Amounts keep every digit. */
function line(row: ListedRow): Readonly<Record<string, unknown>> {
  const { held, settled, uncollected } = row;
  return {
    ...present(row),
    held: formatCredits(held),
    credits: formatCredits(settled),
    uncollected: formatCredits(uncollected),
  };
}
