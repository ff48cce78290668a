/** One run of a capability or a workflow that a model asked for: made by its route, and told to the model in a text of bounded length. */
import type { CapabilityRun, SluiceFile, WorkflowRun } from "#schemas/generated/types.ts";
import { type BilledWork, findBilledWork } from "#shared/database/holds.ts";
import { ApiError } from "#shared/errors.ts";
import { isUuid } from "#shared/ids.ts";
import { formatCredits, parseCredits } from "#shared/money.ts";
import { paced } from "#shared/pace.ts";

import type { ApiClient, Asked } from "./api-client.ts";
import type { Arguments } from "./arguments.ts";
import { endWork, shownError } from "./work.ts";

/** Bytes that a model is told of a run: it pays for them in every turn that follows. */
export const OUTPUT_BYTES_MAX = 16_384;
/** Characters of an error that it is told; in JSON each has six bytes at most. */
const MESSAGE_CHARACTERS_MAX = 2_000;
/** Files that it is told of; the others stay in the workspace. */
const FILES_MAX = 32;

export interface ToolOutcome {
  readonly status: "completed" | "failed";
  readonly output: string;
  readonly files: readonly SluiceFile[];
  readonly nano: bigint;
  /** Nano-credits held for what of it goes on, which may yet be billed. */
  readonly heldNano?: bigint;
  /** Members of the item that tells of it, where that is no `sluice_call`. */
  readonly shown?: object;
}

/** The routes of a kind of work, by their operations. */
export interface WorkRoute {
  readonly run: string;
  /** Operation and request that return the most that a run of this request costs, as `max_credits`. */
  readonly estimate: (asked: Asked) => { readonly operationId: string } & Asked;
  readonly cancel: string;
  /** Name of the parameter by which that has its id. */
  readonly param: string;
}

/** Bounds of one run. */
export interface RunBounds {
  /** Aborts when nobody waits for the result any more, which ends the run. */
  readonly left: AbortSignal;
  /** Nano-credits that the run may cost at most; absent: as many as the workspace has. */
  readonly mostNano?: bigint;
}

export function runTool(api: ApiClient, id: string, given: Arguments, bounds: RunBounds): Promise<ToolOutcome> {
  const route = isUuid(id) ? WORKFLOW : CAPABILITY;
  return runWork(api, route, { params: { id }, body: route.bodyOf(given) }, bounds, async (answer, nano) =>
    outcomeOf((await answer.json()) as CapabilityRun | WorkflowRun, nano),
  );
}

/** Tells the model what the route refuses, too. @param read outcome of work that ended well */
export async function runWork(
  api: ApiClient,
  route: WorkRoute,
  asked: Asked,
  { left, mostNano }: RunBounds,
  read: (answer: Response, nano: bigint) => Promise<ToolOutcome>,
): Promise<ToolOutcome> {
  try {
    if (mostNano !== undefined) await checkPrice(api, route.estimate(asked), mostNano);
    const answer = await api.ask(route.run, { ...asked, signal: left });
    return await read(answer, parseCredits(answer.headers.get("x-credits-used") ?? "0"));
  } catch (error) {
    // A run that is given up is ended: its price could not be told otherwise.
    const params = { [route.param]: api.call.requestId };
    const isRefused = error instanceof ApiError && error.status < 500 && error.jobId === undefined && !left.aborted;
    if (!isRefused) await endWork(api, { operationId: route.cancel, params });
    const { billedNano, heldNano } = isRefused ? FREE : await billOf(api, left);
    return { ...failure(await shownError(api, error), billedNano), heldNano };
  }
}

/** Refuses a run that may cost more than is left of `max_credits`. @throws ApiError `insufficient_credits`; as the estimate does */
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

/** Outcome of a run that failed: the model reads the error. */
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
    return { status: "completed", output: told({ output: run.output }, files), files: files.slice(0, FILES_MAX), nano };
  }
  if (run.error) return failure(run.error, nano);
  const status = run.status === "succeeded" ? "completed" : "failed";
  return { status, output: told({ status: run.status, output: run.output }, []), files: [], nano };
}

/** Returns the text for the model: JSON, or its beginning where that is too long, behind the files. */
function told(result: object, files: readonly SluiceFile[]): string {
  const some = files.slice(0, FILES_MAX);
  const more = files.length > some.length ? { more_files: files.length - some.length } : {};
  const shown = files.length === 0 ? {} : { files: some, ...more };
  const text = JSON.stringify({ ...result, ...shown });
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
  // In the worst case each character is escaped, or has several bytes.
  let characters = OUTPUT_BYTES_MAX;
  while (Buffer.byteLength(cut(characters)) > OUTPUT_BYTES_MAX && characters > 0)
    characters = Math.floor(characters * 0.8);
  return cut(characters);
}

const FREE: BilledWork = { billedNano: 0n, heldNano: 0n };
/** Time in which what was ended lets go of its providers. */
const END_WAIT_MS = paced(5_000);
const END_LOOK_MS = paced(250);

/** Returns the bill of a run that was given up. It is final once nothing is held for the run. */
async function billOf({ context: { database }, caller, call }: ApiClient, left: AbortSignal): Promise<BilledWork> {
  const until = performance.now() + END_WAIT_MS;
  for (;;) {
    const bill = await findBilledWork(database, caller.workspaceId, call.requestId);
    if (bill.heldNano === 0n || left.aborted || performance.now() >= until) return bill;
    await Bun.sleep(END_LOOK_MS);
  }
}
