/** Reads one line of a batch: validates it against its endpoint's schema, and returns the call or run that it requests. */
import type { ResponsesRequest, WorkflowRunRequest } from "#schemas/generated/types.ts";
import type { Caller } from "#shared/access/authenticate.ts";
import { checkEndpoint } from "#shared/access/access-lists.ts";
import { checkTool } from "#shared/access/tools.ts";
import { EMBEDDINGS } from "#shared/calls/kinds/embeddings.ts";
import type { Kind } from "#shared/calls/kinds/kind.ts";
import { firstModelOf, withFirstModel } from "#shared/calls/kinds/first-model.ts";
import { KINDS } from "#shared/calls/kinds/kinds.ts";
import { labelled, type ReadCall, readCall, readResponsesCall } from "#shared/calls/read.ts";
import { type CallLabels, labelsOf, USER_LABEL } from "#shared/calls/labels.ts";
import { costMaxOf, type OuterMax, takeMaxCredits } from "#shared/calls/max-credits.ts";
import { refuseUnsupported } from "#shared/calls/unsupported.ts";
import { parse } from "#shared/json/contracts.ts";
import type { Led } from "#shared/database/batch-work.ts";
import type { NewRun } from "#shared/database/runs.ts";
import { ApiError } from "#shared/base/errors.ts";
import { exactIntegersOf, findingExactIntegers } from "#shared/json/serialize.ts";
import { type JsonBody, readJson, readJsonInSlices } from "#shared/json/parse.ts";
import { JSON_AT_ONCE_BYTES_MAX } from "#shared/json/tokens.ts";
import type { TimeSlices } from "#shared/base/time-slices.ts";
import { refuseBesideBody } from "#shared/json/misspelt-members.ts";
import { refuseMisspeltMembers } from "#shared/workflows/inputs.ts";
import { newRunOf } from "#shared/workflows/new-run.ts";

import type { IngressContext } from "../../context.ts";
import { readConversation } from "../responses/history.ts";
import { checkRepeated, responseOf } from "../../core/response-object.ts";
import { renamedTools } from "../responses/declared-tools.ts";
import { servedElsewhere } from "../responses/settings.ts";
import { storedItems } from "../responses/stored-items.ts";
import { translatingRequest } from "../responses/translate.ts";
import { findVisibleWorkflow } from "../workflows/access.ts";
import { withParam } from "../../core/with-param.ts";

/** Endpoint that every line of a batch calls. */
export type LineTarget =
  | { readonly kind: Kind }
  | { readonly api: "responses" }
  | { readonly capability: string }
  | { readonly workflow: string };

/**
 * Returns the target for an endpoint's path; undefined for a path that batch lines may not call. Ids in the path may contain only letters,
 * digits and `_.-`: the path is stored, and Postgres rejects some texts.
 */
export function targetOf(endpoint: string): LineTarget | undefined {
  if (endpoint === "/v1/responses") return { api: "responses" };
  const kind = Object.values(KINDS).find((one) => one.endpoint === endpoint);
  if (kind) return { kind };
  const capability = /^\/v1\/capabilities\/([\w.-]{1,128})\/run$/.exec(endpoint)?.[1];
  if (capability !== undefined) return { capability };
  const workflow = /^\/v1\/workflows\/([\w.-]{1,128})\/runs$/.exec(endpoint)?.[1];
  return workflow === undefined ? undefined : { workflow };
}

/** Returns the path by which limits of keys name the endpoint of a line. */
function pathOf(target: LineTarget): string {
  if ("kind" in target) return target.kind.endpoint;
  if ("api" in target) return "/v1/responses";
  return "capability" in target ? "/v1/capabilities" : "/v1/workflows";
}

/** Maximum length of a line's `custom_id`, in characters. */
const CUSTOM_ID_CHARS_MAX = 512;

export interface CheckedLine {
  readonly customId: string;
  /** Model that the line requests; undefined if it names none. */
  readonly model: string | undefined;
  /** Number of texts in an embeddings call; 1 for other calls. */
  readonly inputs: number;
}

/** Validation error of a line, in the format of the batch's `errors`. */
export class LineFault extends Error {
  readonly code: string;
  readonly param: string | null;

  constructor(code: string, message: string, param: string | null = null) {
    super(message);
    this.code = code;
    this.param = param;
  }
}

type Members = Readonly<Partial<Record<string, unknown>>>;

/** Validates a line of the input file. @throws LineFault */
export async function checkLine(
  bytes: Uint8Array,
  endpoint: string,
  target: LineTarget,
  slices: TimeSlices,
): Promise<CheckedLine> {
  const line = await readMembers(bytes, slices);
  const { custom_id: customId, method, url, body } = line;
  if (customId === undefined) throw missing("custom_id");
  if (typeof customId !== "string" || customId === "" || customId.length > CUSTOM_ID_CHARS_MAX || !isPlain(customId)) {
    throw new LineFault(
      "invalid_custom_id",
      `Expected a string of 1 to ${CUSTOM_ID_CHARS_MAX} characters.`,
      "custom_id",
    );
  }
  if (method !== "POST") throw new LineFault("invalid_method", "Expected method to be POST.", "method");
  if (url !== endpoint) {
    throw new LineFault("invalid_url", `Expected url to be the batch's endpoint ${endpoint}.`, "url");
  }
  if (body === undefined) throw missing("body");
  if (!isObject(body)) throw new LineFault("invalid_request", "Expected body to be an object.", "body");
  await slices.yieldIfOver();
  withLineFaults(() => refuseBesideBody(line));
  withLineFaults(() => checkBody(target, body), "body");
  const { input }: Members = body;
  const model = firstModelOf(body);
  const inputs = "kind" in target && target.kind === EMBEDDINGS && Array.isArray(input) ? countTexts(input) : 1;
  return { customId, model: typeof model === "string" ? model : undefined, inputs };
}

/** Runs a check of the line, or of one of its members. @throws LineFault instead of ApiError */
function withLineFaults(check: () => void, member?: string): void {
  try {
    check();
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const path = [member, error.param].filter((part) => part != null);
    throw new LineFault(error.code, error.message, path.length === 0 ? null : path.join("."));
  }
}

function missing(param: string): LineFault {
  return new LineFault("missing_required_parameter", `Missing required member ${param} of the line.`, param);
}

/** Validates a request body against the published schema. Models, files and funds are checked later, when the line runs. */
function checkBody(target: LineTarget, body: Readonly<Record<string, unknown>>): void {
  if ("kind" in target) {
    refuseUnsupported(body);
    takeMaxCredits(target.kind.read(body));
  } else if ("api" in target) {
    takeMaxCredits(readResponses(body));
  } else if ("capability" in target) {
    takeMaxCredits(parse("CapabilityRunRequest", body));
  } else {
    refuseMisspeltMembers(parse("WorkflowRunRequest", body));
  }
}

function readResponses(body: Readonly<Record<string, unknown>>): ResponsesRequest {
  refuseUnsupported(body);
  const asked = parse("ResponsesRequest", withFirstModel(body));
  for (const [param, isAsked] of [
    ["background", asked.background === true],
    ["conversation", asked.conversation != null],
    ["generate", asked.generate === false],
    ["tools", asked.tools?.some(({ type }) => type === "sluice") === true],
  ] as const) {
    if (isAsked) throw new ApiError("unsupported_value", NOT_IN_A_BATCH[param], { param });
  }
  if (asked.tools?.some(({ type }) => type === "image_generation") === true) throw servedElsewhere("tools");
  return asked;
}

const NOT_IN_A_BATCH = {
  background: "Lines of a batch already run in the background; remove background or set it to false.",
  conversation: "Lines of a batch do not support conversation; use previous_response_id.",
  generate: "Lines of a batch always generate a response; remove generate or set it to true.",
  tools: "Tools of type sluice work only in direct calls of POST /v1/chat/completions and /v1/responses.",
} as const;

/** Returns the number of texts to embed. An array of numbers is the tokens of one text. */
function countTexts(input: readonly unknown[]): number {
  return typeof input[0] === "number" ? 1 : input.length;
}

async function readMembers(bytes: Uint8Array, slices: TimeSlices): Promise<Members> {
  try {
    const { value } = await readText(bytes, slices);
    if (isObject(value)) return value;
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    throw new LineFault("invalid_json_line", error.message.replace("The body", "The line"));
  }
  throw new LineFault("invalid_json_line", "Expected the line to be a JSON object.");
}

async function readText(bytes: Uint8Array, slices: TimeSlices): Promise<JsonBody> {
  return bytes.length <= JSON_AT_ONCE_BYTES_MAX ? readJson(bytes) : readJsonInSlices(bytes, slices);
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Returns true for text that Postgres stores unchanged. */
function isPlain(text: string): boolean {
  return !text.includes("\u0000") && text.isWellFormed();
}

type CallContext = Pick<
  IngressContext,
  "catalogue" | "availableCapabilities" | "storage" | "probes" | "database" | "responses"
>;

export interface LineCall {
  readonly caller: Caller;
  /** Batch of the line, and the process that leads the batch. */
  readonly batch: Led;
  readonly target: LineTarget;
  /** Id of the line's job or run. */
  readonly id: string;
  /** Content of the line, already validated. */
  readonly bytes: Uint8Array;
  readonly tries: number;
  readonly starves: boolean;
  /** Labels from the metadata of the batch; undefined for none. */
  readonly labels: CallLabels | undefined;
  /** Amount that is left of `max_credits` of the batch, and the share of the price that its lines pay. */
  readonly max: OuterMax;
}

/** Returns the call or run that a line requests. @throws the ApiErrors of the endpoint */
export async function readLine(context: CallContext, line: LineCall, slices: TimeSlices): Promise<ReadCall | NewRun> {
  const { caller, target, bytes, tries, labels, max } = line;
  checkEndpoint(caller, pathOf(target));
  const { text, value } = await readText(bytes, slices);
  const body = (value as Members)["body"] as Readonly<Record<string, unknown>>;
  await slices.yieldIfOver();
  if ("workflow" in target) return readRun(context, line, target.workflow, body);
  const exactIntegers =
    bytes.length <= JSON_AT_ONCE_BYTES_MAX ? exactIntegersOf(text) : await slices.run(findingExactIntegers(text));
  if ("capability" in target) checkTool(caller, target.capability);
  if (!("api" in target)) {
    return readCall(context, { caller, draw: { id: line.id }, target, body, exactIntegers, tries, labels, max });
  }
  const { request: asked, maxNano } = takeMaxCredits(readResponses(body));
  const { items, own, root } = await readConversation(context.responses, caller, asked);
  const translated = await slices.run(translatingRequest(asked, items));
  const response = responseOf(asked, line.id, Math.floor(Date.now() / 1_000));
  checkRepeated(response);
  const input = response.store ? storedItems(own, line.id) : undefined;
  const beside = {
    response,
    response_tools: renamedTools(translated.tools),
    ...(input === undefined ? {} : { response_input: input }),
  };
  const draw = { id: line.id, conversation: root ?? response.id, endUser: labels?.[USER_LABEL] };
  try {
    const call = await readResponsesCall(context, caller, translated.request, {
      draw,
      exactIntegers,
      beside,
      max: costMaxOf(maxNano, max),
    });
    return labelled(call, labelsOf(caller, body, labels));
  } catch (error) {
    throw withParam(error, translated.paramOf);
  }
}

async function readRun(
  { database }: CallContext,
  { caller, batch, id, starves, labels: outer, max }: LineCall,
  workflowId: string,
  body: unknown,
): Promise<NewRun> {
  const request: WorkflowRunRequest = parse("WorkflowRunRequest", body);
  refuseMisspeltMembers(request);
  const { input, version, max_credits: maxCredits } = request;
  const labels = labelsOf(caller, body, outer);
  const workflow = await findVisibleWorkflow(database, caller, workflowId);
  const asked = { id, workflow, version, input, maxCredits, mode: "async", lane: "batch", depth: 0, labels } as const;
  const run = await newRunOf(database, caller, {
    ...asked,
    ...(max.sharedNano === undefined ? {} : { limitedBatch: batch.id }),
  });
  const { requests_per_minute: limit } = caller.preset;
  return { ...run, publisher: { key: null, reply: null, limit, starves, batch } };
}
