/**
 * Tool loop: calls the model, runs its tool calls, and calls it again with the results, until the model answers or a limit is reached. Each
 * model turn and each tool run is a separate call with its own id, hold, usage record and count in the rate-limit window.
 */
import type { SluiceCall, SluiceSummary } from "#schemas/generated/types.ts";
import { ApiError, type Code, ERROR_CODES } from "#shared/base/errors.ts";
import { newId } from "#shared/base/ids.ts";
import { creditsNumber, formatCredits } from "#shared/base/money.ts";
import { lowerMax } from "#shared/calls/max-credits.ts";

import { asApiError } from "../core/answers.ts";
import type { IngressContext } from "../context.ts";
import { type Meter, type RouteCall, UNMETERED } from "../core/call.ts";
import { authenticate } from "../core/caller.ts";
import { type ApiClient, openApiClient } from "./api-client.ts";
import type { Arguments } from "./arguments.ts";
import { failure, type RunBounds, type ToolOutcome } from "./run-tool.ts";

/** Function that the model may call and the service runs. */
export interface LoopTool {
  /** Public id of the capability or workflow that the function runs. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly parameters: Readonly<Record<string, unknown>>;
  /** Maximum number of runs of this tool per response. Absent if only the limit of all tools together applies. */
  readonly most?: number;
  /** Runs the tool. @param api client with a separate request id. @throws Error for failures that the model did not cause */
  run(api: ApiClient, args: Arguments, bounds: RunBounds): Promise<ToolOutcome>;
}

export interface LoopLimits {
  readonly rounds: number;
  readonly runs: number;
  /** Amount from which no turn and no run starts, in nano-credits (`max_credits` of the tool). A turn may exceed it. */
  readonly nano: bigint | undefined;
  /** Maximum cost of all turns and runs, in nano-credits (`max_credits` of the call). Every turn and run is limited to the remainder. */
  readonly maxNano?: bigint | undefined;
}

/** Call of a tool that the service runs, as the model wrote it. */
export interface AskedCall {
  readonly callId: string;
  readonly name: string;
  readonly text: string;
  /** Provider-specific members of the call, which are sent back to the provider in the next turn. */
  readonly extra?: unknown;
}

/** Result of one model turn. */
export interface Turn {
  /** Calls of tools that the service runs. */
  readonly asked: readonly AskedCall[];
  /** True if the model calls functions of the caller. The loop then ends, and the caller continues the conversation. */
  readonly handsOver: boolean;
}

/** Adapter for the caller's API format. It calls the model and builds the caller's events. */
export interface ToolLoopFormat {
  /** Calls the model with all previous messages, and yields events for the caller. @throws ApiError, also for an aborted stream */
  ask(api: ApiClient, round: number, clientSignal: AbortSignal): AsyncGenerator<Uint8Array, Turn>;
  /** Returns the event that reports to the caller that a tool run begins or has ended. @param itemFields further members of an ended run */
  formatCall(call: SluiceCall, itemFields?: object): Uint8Array;
}

export interface Loop {
  readonly context: IngressContext;
  readonly call: RouteCall;
  readonly tools: ReadonlyMap<string, LoopTool>;
  readonly limits: LoopLimits;
  /** Signal that aborts when the caller has disconnected. */
  readonly clientSignal: AbortSignal;
}

/**
 * Failure of a turn after earlier turns or runs were or may be charged. The caller should not retry, because a retry would pay for them
 * again.
 */
export class TurnsFailed extends ApiError {
  readonly summary: SluiceSummary;

  constructor({ code, message, param, headers, jobId }: ApiError, summary: SluiceSummary, nano: bigint) {
    super(code, message, {
      param,
      shouldRetry: false,
      headers: { ...headers, "x-credits-used": formatCredits(nano) },
      ...(jobId === undefined ? {} : { jobId }),
    });
    this.summary = summary;
  }
}

/**
 * Runs the tool loop and yields events for the caller. @returns the summary of the loop. @throws TurnsFailed if a turn fails after a
 * charge; ApiError if nothing was charged
 */
export async function* runLoop(loop: Loop, format: ToolLoopFormat): AsyncGenerator<Uint8Array, SluiceSummary> {
  const { context, limits, call, clientSignal } = loop;
  const turns: SluiceSummary["turns"] = [];
  const calls: SluiceCall[] = [];
  let spent = 0n;
  /** Nano-credits held for aborted runs that have not ended. Other runs cannot use these credits, but they are not reported as used. */
  let held = 0n;
  const least = lowerMax(limits.nano, limits.maxNano);
  const isSpent = (): boolean => least !== undefined && spent + held >= least;
  const remaining = (): bigint | undefined => limits.maxNano && limits.maxNano - spent - held;
  const summary = (endedBy: SluiceSummary["ended_by"]): SluiceSummary => ({
    ended_by: endedBy,
    credits_used: creditsNumber(spent),
    turns,
    calls,
  });
  const addCharge: Meter["addCharge"] = (nano) => {
    spent += nano;
    const turn = turns.at(-1);
    if (turn) turn.credits_used = creditsNumber(nano);
  };
  try {
    for (let round = 1; ; round++) {
      const requestId = round === 1 ? call.requestId : newId();
      const api = await openCall(loop, requestId, { ...call.meter, addCharge }, remaining());
      turns.push({ request_id: requestId, credits_used: 0 });
      const turn = yield* format.ask(api, round, clientSignal);
      const { asked, handsOver } = turn;
      if (asked.length === 0) return summary(handsOver ? "handover" : "answer");
      // No further turn would read the results.
      if (!handsOver && round >= limits.rounds) return summary("max_rounds");
      for (const one of asked) {
        if (isSpent()) break;
        const most = limits.nano === undefined ? {} : { mostNano: limits.nano - spent - held };
        const bounds = { clientSignal, ...most };
        const { requestId: runId, outcome } = await begin(loop, one, calls, bounds, remaining());
        const begun = begunCall(loop, one, { round, at: calls.length, runId });
        yield format.formatCall(begun);
        const { status, output, files, nano, heldNano = 0n, itemFields } = await outcome();
        spent += nano;
        held += heldNano;
        const ended: SluiceCall = { ...begun, status, output, files: [...files], credits_used: creditsNumber(nano) };
        calls.push(ended);
        if (clientSignal.aborted) throw new ApiError("request_timeout", "The client closed the connection.");
        yield format.formatCall(ended, itemFields);
      }
      if (handsOver) return summary("handover");
      if (isSpent()) return summary("max_credits");
    }
  } catch (error) {
    const isRefusedTurn = error instanceof ApiError && error.code === "max_credits_exceeded" && turns.length > 1;
    if (isRefusedTurn && least !== undefined) {
      turns.pop();
      return summary("max_credits");
    }
    if (spent + held === 0n) throw error;
    throw new TurnsFailed(asApiError(error, context.log, call.requestId), summary("error"), spent);
  }
}

interface Begun {
  /** Id of the run. Absent if no run started. */
  readonly requestId?: string;
  readonly outcome: () => Promise<ToolOutcome>;
}

async function begin(
  loop: Loop,
  { name, text }: AskedCall,
  earlier: readonly SluiceCall[],
  bounds: RunBounds,
  maxNano: bigint | undefined,
): Promise<Begun> {
  const { runs } = loop.limits;
  if (earlier.length >= runs)
    return refused("invalid_request", `Expected at most ${runs} tool calls for one response.`);
  const tool = loop.tools.get(name);
  const { most = runs } = tool ?? {};
  if (earlier.filter((one) => one.name === name).length >= most) {
    return refused("invalid_request", `Expected at most ${most} calls of ${name} for one response.`);
  }
  const args = argumentsOf(text);
  if (!tool || !args) return refused("invalid_json", "Expected the arguments to be a JSON object.");
  const requestId = newId();
  const api = await openCall(loop, requestId, loop.call.meter, maxNano);
  return { requestId, outcome: () => tool.run(api, args, bounds) };
}

function refused(code: Code, message: string): Begun {
  return { outcome: () => Promise.resolve(failure({ code, message })) };
}

function argumentsOf(text: string): Arguments | undefined {
  try {
    const value: unknown = JSON.parse(text === "" ? "{}" : text);
    return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Arguments) : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Opens the client of one turn or run. The caller is authenticated each time, so that an inactive key or session starts nothing more.
 * @param maxNano maximum cost of the turn or run, in nano-credits
 * @throws ApiError `invalid_api_key`; `service_unavailable` if the process is about to end
 */
async function openCall(
  { context, call }: Loop,
  requestId: string,
  meter: Meter,
  maxNano: bigint | undefined,
): Promise<ApiClient> {
  const max = maxNano === undefined ? {} : { maxNano };
  const isFirst = requestId === call.requestId;
  if (context.closing.aborted && !isFirst) {
    throw new ApiError("service_unavailable", "The service is restarting.", { shouldRetry: false });
  }
  if (isFirst) return openApiClient(context, { ...call, ...max, meter });
  const caller = await authenticate(context, call);
  // The rate window counts each later call by itself: it must not mark the first one as counted.
  const own = { ...meter, markCounted: UNMETERED.markCounted };
  return openApiClient(context, { ...call, ...max, caller, requestId, startedAt: performance.now(), meter: own });
}

function begunCall(
  { tools, call }: Loop,
  { callId, name, text, extra }: AskedCall,
  { round, at, runId }: { readonly round: number; readonly at: number; readonly runId: string | undefined },
): SluiceCall {
  return {
    id: `sc_${call.requestId.replaceAll("-", "")}_${at}`,
    type: "sluice_call",
    status: "in_progress",
    call_id: callId,
    tool: tools.get(name)?.id ?? name,
    name,
    arguments: text,
    round,
    ...(runId === undefined ? {} : { request_id: runId }),
    output: null,
    files: [],
    credits_used: 0,
    ...(extra === undefined ? {} : { extra_content: extra }),
  };
}

/** Converts the error in a stream's last event into an ApiError. */
export function failureIn({ code, message, param }: Readonly<Record<string, unknown>>): ApiError {
  const known = typeof code === "string" && code in ERROR_CODES ? (code as Code) : "internal_error";
  return new ApiError(known, String(message), { param: typeof param === "string" ? param : null, shouldRetry: false });
}

/**
 * Returns the tool choice for turns after the first. A forced call has already been made then, so the choice becomes `auto`; `none` is
 * kept.
 */
export function laterChoice(choice: string): string {
  return choice === "none" ? choice : "auto";
}
