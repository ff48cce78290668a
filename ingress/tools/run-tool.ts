/** Runs a capability or workflow for a model through its API route. The model receives the result as a text of limited length. */
import type { CapabilityRun, SluiceFile, WorkflowRun } from "#schemas/generated/types.ts";
import { type BilledWork, findBilledWork } from "#shared/database/holds.ts";
import { ApiError } from "#shared/base/errors.ts";
import { isUuid } from "#shared/base/ids.ts";
import { formatCredits, parseCredits } from "#shared/base/money.ts";
import { paced } from "#shared/config/pace.ts";

import type { ApiClient, Asked } from "./api-client.ts";
import type { Arguments } from "./arguments.ts";
import { endWork, errorBodyOf } from "./work.ts";

/** Maximum size of a result for the model, in bytes. The model pays for the result again in every later turn. */
export const OUTPUT_BYTES_MAX = 16_384;
/** Maximum length of an error message for the model, in characters. In JSON each character takes six bytes at most. */
const MESSAGE_CHARACTERS_MAX = 2_000;
/** Maximum number of files in a result for the model. All files stay in the workspace. */
const FILES_MAX = 32;

export interface ToolOutcome {
  readonly status: "completed" | "failed";
  readonly output: string;
  readonly files: readonly SluiceFile[];
  readonly nano: bigint;
  /** Nano-credits held for jobs of the run that have not ended and may still be charged. */
  readonly heldNano?: bigint;
  /** Members of the output item that reports the run, if the item is not a `sluice_call`. */
  readonly itemFields?: object;
}

/** Route operations that run, estimate and cancel a capability or a workflow. */
export interface WorkRoute {
  readonly run: string;
  /** Returns the operation and the request that estimate the price. In the response, `max_credits` is the maximum cost of the run. */
  readonly estimate: (asked: Asked) => { readonly operationId: string } & Asked;
  readonly cancel: string;
  /** Name of the id parameter in the URL path of `cancel`. */
  readonly param: string;
}

/** Limits of one tool run. */
export interface RunBounds {
  /** Signal that aborts when no caller waits for the result. The run is then cancelled. */
  readonly clientSignal: AbortSignal;
  /** Maximum cost of the run, in nano-credits. Absent if only the workspace's balance limits it. */
  readonly mostNano?: bigint;
}

export function runTool(api: ApiClient, id: string, args: Arguments, bounds: RunBounds): Promise<ToolOutcome> {
  const route = isUuid(id) ? WORKFLOW : CAPABILITY;
  return runWork(api, route, { params: { id }, body: route.bodyOf(args) }, bounds, async (answer, nano) =>
    outcomeOf((await answer.json()) as CapabilityRun | WorkflowRun, nano),
  );
}

/**
 * Runs a capability or workflow. Errors of the route become results for the model.
 * @param read converts the response and the charge of a successful run into its outcome
 */
export async function runWork(
  api: ApiClient,
  route: WorkRoute,
  asked: Asked,
  { clientSignal, mostNano }: RunBounds,
  read: (answer: Response, nano: bigint) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  try {
    if (mostNano !== undefined) await checkPrice(api, route.estimate(asked), mostNano);
    const answer = await api.ask(route.run, { ...asked, signal: clientSignal });
    return await read(answer, parseCredits(answer.headers.get("x-credits-used") ?? "0"));
  } catch (error) {
    // An abandoned run is cancelled: otherwise its price would remain unknown.
    const params = { [route.param]: api.call.requestId };
    const isRefused =
      error instanceof ApiError && error.status < 500 && error.jobId === undefined && !clientSignal.aborted;
    if (!isRefused) await endWork(api, { operationId: route.cancel, params });
    const { billedNano, heldNano } = isRefused ? FREE : await billOf(api, clientSignal);
    return { ...failure(await errorBodyOf(api, error), billedNano), heldNano };
  }
}

/**
 * Rejects a run that may cost more than the unspent remainder of `max_credits`. @throws ApiError `insufficient_credits`; errors of the
 * estimate
 */
async function checkPrice(
  api: ApiClient,
  { operationId, ...asked }: ReturnType<WorkRoute["estimate"]>,
  mostNano: bigint,
) {
  const answer = await api.ask(operationId, asked);
  const { max_credits: credits } = (await answer.json()) as { readonly max_credits: number };
  if (parseCredits(String(credits)) <= mostNano) return;
  const message = `The run may cost up to ${credits} credits, and ${formatCredits(mostNano)} are left of max_credits.`;
  throw new ApiError("insufficient_credits", message);
}

/** Returns the outcome of a failed run, with the error for the model. */
export function failure(
  { code, message }: { readonly code: string; readonly message: string },
  nano = 0n,
): ToolOutcome {
  const error = { code, message: message.slice(0, MESSAGE_CHARACTERS_MAX) };
  return { status: "failed", output: JSON.stringify({ error }), files: [], nano };
}

const CAPABILITY = {
  run: "runCapability",
  estimate: (asked: Asked) => ({ operationId: "estimateCapability", ...asked }),
  cancel: "cancelJob",
  param: "job_id",
  bodyOf: ({ input, params }: Arguments) => ({ input, params }),
} as const;

const WORKFLOW = {
  run: "runWorkflow",
  estimate: ({ params, body }: Asked) => ({
    operationId: "estimateWorkflow",
    body: { ...body, workflow_id: params?.["id"] },
  }),
  cancel: "cancelRun",
  param: "id",
  bodyOf: (input: Arguments) => ({ mode: "sync", input }),
} as const;

function outcomeOf(run: CapabilityRun | WorkflowRun, nano: bigint): ToolOutcome {
  if ("capability" in run) {
    const files = run.files as readonly SluiceFile[];
    return {
      status: "completed",
      output: modelTextOf({ output: run.output }, files),
      files: files.slice(0, FILES_MAX),
      nano,
    };
  }
  if (run.error) return failure(run.error, nano);
  const status = run.status === "succeeded" ? "completed" : "failed";
  return { status, output: modelTextOf({ status: run.status, output: run.output }, []), files: [], nano };
}

/**
 * Converts a result into text for the model. Normally the text is JSON. If it is too long, the text contains the files and the beginning of
 * the result.
 */
function modelTextOf(result: object, files: readonly SluiceFile[]): string {
  const some = files.slice(0, FILES_MAX);
  const more = files.length > some.length ? { more_files: files.length - some.length } : {};
  const fileFields = files.length === 0 ? {} : { files: some, ...more };
  const text = JSON.stringify({ ...result, ...fileFields });
  if (Buffer.byteLength(text) <= OUTPUT_BYTES_MAX) return text;
  const ids = files.length === 0 ? {} : { files: some.map(({ file_id, content_type }) => ({ file_id, content_type })) };
  const whole = JSON.stringify(result);
  const cut = (characters: number): string =>
    JSON.stringify({
      note: "The result is too long; this is its beginning.",
      ...ids,
      ...more,
      beginning: whole.slice(0, characters),
    });
  // In the worst case each character is escaped or takes several bytes.
  let characters = OUTPUT_BYTES_MAX;
  while (Buffer.byteLength(cut(characters)) > OUTPUT_BYTES_MAX && characters > 0)
    characters = Math.floor(characters * 0.8);
  return cut(characters);
}

const FREE: BilledWork = { billedNano: 0n, heldNano: 0n };
/** Maximum time that a cancelled run has to release its holds, in milliseconds. */
const END_WAIT_MS = paced(5_000);
const END_POLL_INTERVAL_MS = paced(250);

/** Waits for a limited time until a cancelled run has no more holds, and returns its charge. The charge is final only without holds. */
async function billOf(
  { context: { database }, caller, call }: ApiClient,
  clientSignal: AbortSignal,
): Promise<BilledWork> {
  const until = performance.now() + END_WAIT_MS;
  for (;;) {
    const bill = await findBilledWork(database, caller.workspaceId, call.requestId);
    if (bill.heldNano === 0n || clientSignal.aborted || performance.now() >= until) return bill;
    await Bun.sleep(END_POLL_INTERVAL_MS);
  }
}
