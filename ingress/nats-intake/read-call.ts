/** Reads the call or run in a batch message, with the checks of its endpoint over HTTP. */
import type { WorkflowRunRequest } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { checkEndpoint } from "#shared/access/access-lists.ts";
import { checkTool } from "#shared/access/tools.ts";
import { RUN_KIND } from "#shared/calls/capabilities/read-run.ts";
import { type CallLabels, labelsInHeader, labelsOf } from "#shared/calls/labels.ts";
import { kindAt, KINDS } from "#shared/calls/kinds/kinds.ts";
import { type CallTarget, type ReadCall, readCall } from "#shared/calls/read.ts";
import { parse } from "#shared/json/contracts.ts";
import type { Queryable } from "#shared/database/client.ts";
import type { NewRun } from "#shared/database/runs.ts";
import { ApiError } from "#shared/base/errors.ts";
import { refuseBesideBody } from "#shared/json/misspelt-members.ts";
import { exactIntegersOf } from "#shared/json/serialize.ts";
import type { Addressed } from "#shared/jobs/answer.ts";
import { type JsonBody, readJson, readJsonInSlices } from "#shared/json/parse.ts";
import type { Pool } from "#shared/queue/subjects.ts";
import { fingerprintOfJson } from "#shared/json/same-request.ts";
import { TimeSlices } from "#shared/base/time-slices.ts";
import { refuseMisspeltMembers } from "#shared/workflows/inputs.ts";
import { newRunOf } from "#shared/workflows/new-run.ts";

import { findVisibleWorkflow } from "../routes/workflows/access.ts";
import { JSON_AT_ONCE_BYTES_MAX } from "#shared/json/tokens.ts";

type Context = Parameters<typeof readCall>[0];

interface Arrived {
  readonly caller: Caller;
  readonly job: Addressed;
  readonly pool: Pool;
  readonly data: Uint8Array;
  /** Value of the header `x-tags`; empty if absent. */
  readonly tags: string;
  /** Number of deliveries of the message, including the current one. */
  readonly deliveries: number;
  /**
   * True when the message has waited longer than a rate window lasts, and no message has found capacity in the window for as long. The
   * message is then admitted even if the window is full.
   */
  readonly starves: boolean;
}

type BatchContext = Context & { readonly database: Queryable };

/** Returns the call or run that a message requests. @throws the ApiErrors of the endpoint over HTTP, with parameter names below `body` */
export async function readBatchCall(context: BatchContext, arrived: Arrived): Promise<ReadCall | NewRun> {
  const { caller, pool, data, tags, deliveries: tries } = arrived;
  const labels = labelsInHeader(caller, tags);
  const message = await readMessage(data);
  const request = parse("BatchMessage", message.value);
  refuseBesideBody(request);
  const { endpoint = CHAT_ENDPOINT, capability = "", workflow = "", body } = request;
  checkEndpoint(caller, endpoint);
  if (endpoint === WORKFLOW_ENDPOINT) {
    checkPool(endpoint, { pool: "workflow" }, pool);
    return readRun(context, arrived, workflow, body, labels);
  }
  const target: CallTarget = endpoint === RUN_ENDPOINT ? { capability } : { kind: kindAt(endpoint) };
  checkPool(endpoint, "kind" in target ? target.kind : RUN_KIND, pool);
  if ("capability" in target) checkTool(caller, target.capability);
  return readCall(context, {
    caller,
    draw: { id: arrived.job.id },
    target,
    body,
    exactIntegers: exactIntegersOf(message.text),
    tries,
    labels,
  });
}

function checkPool(endpoint: string, { pool: own }: { readonly pool: Pool }, pool: Pool): void {
  if (own === pool) return;
  const message = `Expected ${endpoint} on batch.${own}.<workspace id>.<key id>, got batch.${pool}.`;
  throw new ApiError("invalid_request", message, { param: "endpoint" });
}

/** Parses a message. A large message is parsed in time slices, because HTTP callers share the thread. @throws the errors of `readJson` */
async function readMessage(data: Uint8Array): Promise<JsonBody> {
  if (data.length <= JSON_AT_ONCE_BYTES_MAX) return readJson(data);
  const slices = new TimeSlices();
  const message = await readJsonInSlices(data, slices);
  await slices.next();
  return message;
}

/** Returns the fingerprint of a request: a hash of 64 hex digits. It does not depend on the order of the request's members. */
export async function fingerprintOf(data: Uint8Array): Promise<string> {
  try {
    const { text, value } = await readMessage(data);
    const { endpoint, capability, workflow, body } = value as Readonly<Partial<Record<string, unknown>>>;
    // Large integers may parse to the same double; their digits distinguish them.
    const integers = [...(exactIntegersOf(text)?.values() ?? [])].toSorted();
    const named = [capability, workflow].filter((one) => one != null);
    const more = [...named, ...(integers.length === 0 ? [] : [integers])];
    return await fingerprintOfJson([endpoint ?? CHAT_ENDPOINT, body, ...more]);
  } catch {
    return new Bun.CryptoHasher("sha256").update(data).digest("hex");
  }
}

/** Returns the endpoint that a message names. Returns the endpoint of chat calls if the message names none or cannot be parsed. */
export async function endpointOf(data: Uint8Array): Promise<string> {
  try {
    const { endpoint } = (await readMessage(data)).value as Readonly<Partial<Record<string, unknown>>>;
    return typeof endpoint === "string" && ENDPOINTS.has(endpoint) ? endpoint : CHAT_ENDPOINT;
  } catch {
    return CHAT_ENDPOINT;
  }
}

const CHAT_ENDPOINT = "/v1/chat/completions";
const WORKFLOW_ENDPOINT = "/v1/workflows/{id}/runs";
const RUN_ENDPOINT = "/v1/capabilities/{id}/run";
const ENDPOINTS: ReadonlySet<string> = new Set([
  ...Object.values(KINDS).map(({ endpoint }) => endpoint),
  WORKFLOW_ENDPOINT,
  RUN_ENDPOINT,
]);

/** Reads a workflow run. @throws the ApiErrors of `POST /v1/workflows/{id}/runs` */
async function readRun(
  { database }: BatchContext,
  { caller, job, data, starves }: Arrived,
  workflowId: string,
  body: unknown,
  outer: CallLabels | undefined,
): Promise<NewRun> {
  const request: WorkflowRunRequest = parse("WorkflowRunRequest", body);
  refuseMisspeltMembers(request);
  const { input, version, max_credits: maxCredits } = request;
  const labels = labelsOf(caller, body, outer);
  const workflow = await findVisibleWorkflow(database, caller, workflowId);
  const asked = {
    id: job.id,
    workflow,
    version,
    input,
    maxCredits,
    mode: "async",
    lane: "batch",
    depth: 0,
    labels,
  } as const;
  const run = await newRunOf(database, caller, asked);
  const limit = caller.preset.requests_per_minute;
  const publisher = { key: job.publisher_key, reply: job.reply, limit, starves };
  return { ...run, publisher, fingerprint: await fingerprintOf(data) };
}
